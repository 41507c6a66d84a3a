"""The bytes of an Example: equal to protobuf's, and fixed for good."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from schemagen.runtime.codecs.entry_columns import (
    EXAMPLE,
    Records,
    bytes_column,
    entries_of,
    numbers_column,
)
from schemagen.runtime.shared import wire
from schemagen.runtime.shared.tfrecord import frame
from schemagen.runtime.shared.wire import pack_row, varint
from tensorflow.train import BytesList, Example, Feature, Features, Int64List

_SIGNED = st.integers(-(2**63), 2**63 - 1)
_SIZES = (0, 1, 0x7F, 0x80, 0x3FFF, 0x4000, 2**21 - 1, 2**21, 2**63 - 1)


def _protobuf_varint(value: int) -> bytes:
    """The varint of an unsigned value, by protobuf itself: 0A is the list's tag."""
    signed = value - 2**64 if value >= 2**63 else value
    packed = Int64List(value=[signed]).SerializeToString()
    return packed[2:]


@given(st.integers(0, 2**64 - 1) | st.sampled_from([*_SIZES, 2**63, 2**64 - 1]))
def test_varint_is_that_of_protobuf(value: int) -> None:
    """At any size, and at each edge between two lengths."""
    assert wire.varint(value) == _protobuf_varint(value)


def _joined(*entries: bytes) -> bytes:
    """Return the Example that consists of these entries."""
    joined = b"".join(entries)
    return wire.example_head(len(joined)) + joined


@pytest.mark.parametrize("size", [0, 1, 127, 128, 16_383, 16_384, 2_097_152])
def test_sizes_around_the_edges_of_varints(size: int) -> None:
    """Every length in an entry grows at its own edge; none is off by one."""
    value = b"v" * size
    entry = wire.Entry("key", wire.BYTES_LIST)
    serialized = _joined(entry.packed_head(size), value)
    expected = Features(feature={"key": Feature(bytes_list=BytesList(value=[value]))})
    assert serialized == Example(features=expected).SerializeToString()


def test_golden_bytes() -> None:
    """The bytes of one small Example, written out: they may never change."""
    run = pack_row(np.array([1, 300, -1], np.int64))
    entries = [
        wire.Entry("a", wire.INT64_LIST).packed_head(len(run)) + run,
        wire.Entry("b", wire.FLOAT_LIST).empty,
        wire.Entry("é", wire.BYTES_LIST).packed_head(2) + b"hi",
    ]
    assert _joined(*entries).hex(" ") == (
        "0a 2f "
        "0a 16 0a 01 61 12 11 1a 0f 0a 0d 01 ac 02 ff ff ff ff ff ff ff ff ff 01 "
        "0a 07 0a 01 62 12 02 12 00 "
        "0a 0c 0a 02 c3 a9 12 06 0a 04 0a 02 68 69"
    )


# Where the number of bytes, or the way in which they are made, changes.
_EDGES = sorted(
    {
        number + step
        for number in (
            0,
            *(1 << 7 * groups for groups in range(1, 10)),
            1 << 16,
            1 << 32,
        )
        for step in (-1, 0, 1)
        if number + step < 2**63
    }
    | {2**63 - 1, -(2**63)}
)
_NUMBERS = st.sampled_from(_EDGES) | st.integers(-(2**63), 2**63 - 1)
_UP_TO = st.sampled_from(_EDGES).map(abs).filter(lambda top: top < 2**63)


def _one_by_one(values: NDArray[np.int64]) -> bytes:
    return b"".join(varint(value % 2**64) for value in values.tolist())


@st.composite
def _arrays(draw: st.DrawFn, most: int = 80) -> NDArray[np.int64]:
    """Draw numbers below a common limit, so that each way of making them is taken."""
    top = draw(_UP_TO)
    numbers = st.lists(st.integers(0, top) | st.sampled_from([0, top]), max_size=most)
    anything = st.lists(_NUMBERS, max_size=most)
    return np.array(draw(numbers | anything), np.int64)


@given(_arrays())
def test_a_row_is_its_numbers_one_after_the_other(values: NDArray[np.int64]) -> None:
    """The bytes of a row do not depend on what else is in it."""
    assert pack_row(values) == _one_by_one(values)


@given(st.lists(_arrays(), max_size=6))
def test_columns_of_numbers_are_rows_one_after_the_other(
    rows: list[NDArray[np.int64]],
) -> None:
    """The entry of a row does not depend on the others, empty ones included."""
    entry = wire.Entry("key", wire.INT64_LIST)
    values = np.concatenate([np.empty(0, np.int64), *rows])
    lengths = np.array([len(row) for row in rows], np.int64)
    runs = map(_one_by_one, rows)
    expected = [
        entry.packed_head(len(run)) + run if run else entry.empty for run in runs
    ]
    assert entries_of(numbers_column(entry, values, lengths), len(rows)) == expected


@given(
    st.lists(st.lists(st.binary(max_size=300), max_size=4), max_size=6), st.booleans()
)
def test_columns_of_bytes_are_rows_one_after_the_other(
    rows: list[list[bytes]], views: bool
) -> None:
    """Also where values are no bytes objects."""
    entry = wire.Entry("key", wire.BYTES_LIST)
    lengths = np.array([*map(len, rows)], np.int64)
    values = [memoryview(each) if views else each for row in rows for each in row]
    expected = [b"".join(entry.listing(row)) for row in rows]
    assert entries_of(bytes_column(entry, values, lengths), len(rows)) == expected


def test_a_long_batch_comes_in_several_runs() -> None:
    """About two megabytes each, one record at least; together they are all records."""
    entry = wire.Entry("key", wire.FLOAT_LIST)
    lengths = np.array([5, 600_000, 0, *[20_000] * 90, 400_000, 1])
    values = np.arange(lengths.sum(), dtype=np.float32)
    records = Records([numbers_column(entry, values, lengths)], len(lengths), EXAMPLE)
    runs = list(records.framed())
    sizes = [len(run.data) for run in runs]
    assert sum(len(run) for run in runs) == len(lengths)
    assert all(
        size <= 1 << 21 or len(run) == 1 for size, run in zip(sizes, runs, strict=True)
    )
    assert len(runs) > 4
    # What was written has to be measured anew.
    whole = Records([numbers_column(entry, values, lengths)], len(lengths), EXAMPLE)
    messages = whole.unframed()
    assert b"".join(run.data for run in runs) == b"".join(map(frame, messages))
    for message, row in zip(
        messages, np.split(values, np.cumsum(lengths)[:-1]), strict=True
    ):
        found = Example.FromString(message).features.feature["key"].float_list.value
        np.testing.assert_array_equal(found, row)
