"""Shards that Ray reads as columns are what their manifest and their schema say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from digit_rows import rows
from schemagen.data.shard_values import read_values
from schemagen.runtime.shared.errors import DatasetError
from schemagen.runtime.storage import manifest
from schemagen.runtime.storage.manifest import Shard
from schemagen.runtime.storage.opening import open_directory
from schemagen.spec.model import RecordSpec
from schemagen.spec.serial import from_data

from generated.digit.serializer import write_dataset


@pytest.fixture(params=[None, "GZIP"])
def shard(tmp_path: Path, request: pytest.FixtureRequest) -> tuple[Shard, RecordSpec]:
    """The only shard of a split, and its spec."""
    write_dataset(rows(50), tmp_path, "train", shards=1, compression=request.param)
    found = manifest.load(tmp_path)
    assert found is not None
    return found.splits["train"].shards[0], from_data(found.spec)


def scans(root: Path, shard: Shard, spec: RecordSpec) -> list[int]:
    """Return the values of one field."""
    return [
        value
        for _, decoded in read_values(open_directory(root), shard, spec)
        for value in np.asarray(decoded["scan"].values()).tolist()
    ]


@pytest.mark.parametrize(
    ("listed", "value"),
    [
        ({"bytes": 7}, "7 bytes"),
        ({"crc32c": "00000000"}, "00000000"),
        ({"records": 49}, "49"),
        ({"file": "train-9"}, "train-9"),
    ],
)
def test_another_file_than_the_listed_one_is_refused(
    tmp_path: Path,
    shard: tuple[Shard, RecordSpec],
    listed: dict[str, Any],
    value: str,
) -> None:
    """The listed one is read whole."""
    assert scans(tmp_path, *shard) == list(range(50))
    with pytest.raises(DatasetError, match=value):
        scans(tmp_path, replace(shard[0], **listed), shard[1])


def test_wrong_records_are_refused_by_their_numbers(
    tmp_path: Path, shard: tuple[Shard, RecordSpec]
) -> None:
    """Those of another schema with the field, and damaged ones with the file."""
    listed, spec = shard
    fields = [
        field.replaced(num_classes=9, classes=None) if field.name == "digit" else field
        for field in spec.fields
    ]
    with pytest.raises(DatasetError, match=r"record 9: field 'digit'"):
        scans(tmp_path, listed, replace(spec, fields=tuple(fields)))
    path = tmp_path / listed.file
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(DatasetError, match=rf"{listed.file}.*: record \d+: "):
        scans(tmp_path, *shard)
