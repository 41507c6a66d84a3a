"""Shards that are read as columns are what their manifest and their schema say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from schemagen import (
    Label,
    Ragged,
    Scalar,
    Sparse,
    Steps,
    Tensor,
    VarLen,
    Vector,
)
from schemagen.data.field_values import unreadable, values_of
from schemagen.data.shard_columns import read_columns
from schemagen.kinds.field import FieldSpec
from schemagen.runtime.shared.errors import DatasetError
from schemagen.runtime.storage import manifest
from schemagen.runtime.storage.manifest import Shard
from schemagen.runtime.storage.opening import open_directory
from schemagen.spec.model import RecordSpec
from schemagen.spec.serial import from_data

from generated.digit.serializer import write_dataset

from .messages import common


def digit(number: int) -> dict[str, Any]:
    return {
        "image": np.full((8, 8, 1), number, np.uint8),
        "ink_runs": [1] * (number % 3),
        "moments": np.full(8, number, np.float32),
        "digit": number % 10,
        "scan": number,
    }


@pytest.fixture(params=[None, "GZIP"])
def shard(tmp_path: Path, request: pytest.FixtureRequest) -> tuple[Shard, RecordSpec]:
    """The only shard of a split, and its spec."""
    rows = map(digit, range(50))
    write_dataset(rows, tmp_path, "train", shards=1, compression=request.param)
    found = manifest.load(tmp_path)
    assert found is not None
    return found.splits["train"].shards[0], from_data(found.spec)


def scans(root: Path, shard: Shard, spec: RecordSpec) -> list[int]:
    """Return the values of one field."""
    (field,) = (field for field in spec.fields if field.name == "scan")
    return [
        value
        for columns in read_columns(open_directory(root), shard, spec)
        for value in np.asarray(values_of(field, columns)).tolist()
    ]


def test_all_records_are_read(tmp_path: Path, shard: tuple[Shard, RecordSpec]) -> None:
    assert scans(tmp_path, *shard) == list(range(50))


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        (
            {"bytes": 7},
            r"found \d+ bytes, expected the 7 bytes that the manifest lists",
        ),
        ({"crc32c": "00000000"}, r"found the CRC-32C \w{8}, expected the 00000000"),
        ({"records": 49}, "found 50 records, expected the 49"),
        ({"file": "train-9"}, "train-9: found no file, expected"),
    ],
)
def test_another_file_than_the_listed_one_is_refused(
    tmp_path: Path,
    shard: tuple[Shard, RecordSpec],
    listed: dict[str, Any],
    message: str,
) -> None:
    with pytest.raises(DatasetError, match=message):
        scans(tmp_path, replace(shard[0], **listed), shard[1])


def test_a_damaged_record_is_refused_by_its_number(
    tmp_path: Path, shard: tuple[Shard, RecordSpec]
) -> None:
    path = tmp_path / shard[0].file
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(DatasetError, match=r"-00001\.tfrecord.*: record \d+: found"):
        scans(tmp_path, *shard)


def test_a_record_of_another_schema_is_refused_by_its_field(
    tmp_path: Path, shard: tuple[Shard, RecordSpec]
) -> None:
    fields = [
        field.replaced(num_classes=9, classes=None) if field.name == "digit" else field
        for field in shard[1].fields
    ]
    with pytest.raises(DatasetError, match=r"record 9: field 'digit': .*found"):
        scans(tmp_path, shard[0], replace(shard[1], fields=tuple(fields)))


@pytest.mark.parametrize(
    ("field", "why"),
    [
        (FieldSpec.of(Scalar, **common("x"), dtype="int64"), ""),
        (FieldSpec.of(Label, **common("x"), num_classes=3), ""),
        (FieldSpec.of(Scalar, **common("x"), dtype="bfloat16"), "dtype 'bfloat16'"),
        (
            FieldSpec.of(
                Vector, **common("x"), shape=(2,), dtype="uint8", dequantize=(2, 1)
            ),
            "dequantize",
        ),
        (
            FieldSpec.of(
                VarLen, **common("x"), dtype="int64", max_length=3, pad_on_disk=True
            ),
            "pad_on_disk",
        ),
        (
            FieldSpec.of(Tensor, **common("x"), shape=(None,), encoding="proto"),
            "encoding='proto'",
        ),
        (FieldSpec.of(Ragged, **common("x"), dtype="int64"), "fields of kind Ragged"),
        (
            FieldSpec.of(
                Sparse, **common("x"), shape=(9,), dtype="int64", index_key="i"
            ),
            "fields of kind Sparse",
        ),
        (
            FieldSpec.of(Steps, **common("x"), step=Scalar("int64")),
            "fields of kind Steps",
        ),
    ],
    ids=lambda value: value.kind.name if isinstance(value, FieldSpec) else None,
)
def test_fields_that_are_not_read_are_named(field: FieldSpec, why: str) -> None:
    assert unreadable(field) == why
