"""The core against protobuf and under sanitizers, with records that chance makes hostile."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf.message import DecodeError
from native.cases import Cases
from schemagen.runtime.cells.columns import Column
from schemagen.runtime.cells.decoding import decode
from schemagen.runtime.cells.serialized import records_of
from tensorflow.core.example.example_pb2 import SequenceExample

_CHECKOUT = Path(__file__).parents[2]
_CORE = _CHECKOUT / "schemagen" / "runtime" / "native"

_STRICTER = (
    "the wire type 3",  # a group; protobuf passes over it
    "the wire type 4",
    "a number as field",  # protobuf passes over a known field of another wire type
    "a bytes list that holds a number",
    "bytes in place of float values",
    "fixed-width numbers in an int64 list",
)
"""What the core refuses and protobuf reads: TensorFlow's parser refuses most of it."""

_DROPPED = "of a map entry"
"""Protobuf in Python drops an entry that has an unknown field; TensorFlow and we do not."""

_SECONDS = pytest.mark.parametrize(
    "seconds",
    [25, pytest.param(1800, marks=[pytest.mark.slow, pytest.mark.timeout(2400)])],
)


@_SECONDS
def test_records_are_read_as_protobuf_reads_them(seconds: float) -> None:
    """Equal features where it accepts a record, and damage where it refuses one."""
    first = random.randrange(1 << 40)
    until, seed = time.monotonic() + seconds, first
    while time.monotonic() < until:
        records = next(iter(Cases(seed)))
        _compare(records, seed)
        seed += 1
    assert seed > first + 100


def _compare(records: list[bytes], seed: int) -> None:
    columns = decode(records_of(records))
    damage = {each.row: each for each in columns.malformed}
    dropped = {
        row
        for what, rows in columns.unknown.items()
        if what.endswith(_DROPPED)
        for row in rows
    }
    found: list[Any] = [({}, {}) for _ in records]
    for key, some in columns.by_key.items():
        for column in some:
            for row, feature in zip(
                column.rows.tolist(), _features(column), strict=True
            ):
                found[row][0][key] = feature
    for key, lists in columns.steps.items():
        counts = zip(lists.rows.tolist(), lists.steps.tolist(), strict=True)
        steps: list[Any] = [None] * int(lists.steps.sum())
        for column in lists.columns:
            for step, feature in zip(
                column.rows.tolist(), _features(column), strict=True
            ):
                steps[step] = feature
        for row, count in counts:
            found[row][1][key], steps = steps[:count], steps[count:]
    for row, record in enumerate(records):
        where = f"seed {seed}, record {row}: {record.hex()}"
        try:
            message = SequenceExample.FromString(record)
        except DecodeError:
            assert row in damage, where
            assert 0 <= damage[row].at <= len(record), where
            continue
        if row in damage:
            assert any(words in damage[row].reason for words in _STRICTER), where
            continue
        if row in dropped:
            continue
        expected = (
            {key: _of_proto(each) for key, each in message.context.feature.items()},
            {
                key: [_of_proto(each) for each in lists.feature]
                for key, lists in message.feature_lists.feature_list.items()
            },
        )
        assert found[row] == expected, where


def _features(column: Column) -> list[Any]:
    bounds = np.cumsum([0, *column.lengths]).tolist()
    values: Any = column.values
    if column.kind == "bytes":
        values = list(column.bytes_values())
    elif column.kind == "float":
        values = _bits(values)
    else:
        values = values.tolist()
    return [(column.kind, values[start:stop]) for start, stop in pairwise(bounds)]


def _bits(values: Any) -> list[int]:
    """Return float32 values as bits; a signaling NaN is a quiet one, as in Python."""
    bits = values.view(np.uint32) | np.where(np.isnan(values), 1 << 22, 0)
    found: list[int] = bits.tolist()
    return found


def _of_proto(feature: Any) -> Any:
    name = feature.WhichOneof("kind")
    if name is None:
        return "", []
    values = list(getattr(feature, name).value)
    if name == "float_list":
        values = _bits(np.array(values, np.float32))
    return name.removesuffix("_list"), values


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a core with sanitizers."""
    path = tmp_path_factory.mktemp("core") / "core.so"
    sanitizers = "-fsanitize=address,undefined"
    options = ["-g", "-O1", "-std=c11", "-shared", "-fPIC", "-fno-sanitize-recover=all"]
    subprocess.run(
        ["cc", sanitizers, *options, *map(str, _CORE.glob("*.c")), "-o", str(path)],
        check=True,
    )
    return path


@_SECONDS
def test_nothing_is_read_or_written_out_of_bounds(
    watched: Path, seconds: float
) -> None:
    """Whatever the bytes of records, frames and pictures are."""
    library = subprocess.run(
        [shutil.which("cc") or "cc", "-print-file-name=libasan.so"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    seed = random.randrange(1 << 40)
    done = subprocess.run(
        [
            sys.executable,
            str(Path(__file__).with_name("under_sanitizers.py")),
            *(str(watched), str(seconds), str(seed)),
        ],
        env={**os.environ, "LD_PRELOAD": library, "ASAN_OPTIONS": "detect_leaks=0"},
        capture_output=True,
        text=True,
        check=False,
    )
    seeds = done.stdout.split()
    assert done.returncode == 0, f"seed {seeds[-1:]}\n{done.stderr[-3000:]}"
    assert len(seeds) > 100
