"""The bytes of an Example: equal to protobuf's, and fixed for good."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from schemagen.runtime.cells.part import BYTES, FLOAT, INT, Part
from schemagen.runtime.cells.written import (
    EXAMPLE,
    SEQUENCE_EXAMPLE,
    Written,
    WrittenRecords,
)
from schemagen.runtime.shared import wire
from schemagen.runtime.shared.tfrecord import frame
from schemagen.runtime.shared.wire import Pieces, pack_row, varint
from tensorflow.train import (
    BytesList,
    Example,
    Feature,
    Features,
    Int64List,
    SequenceExample,
)

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


def _example(*entries: Pieces) -> bytes:
    """Return the Example that consists of these entries."""
    joined = b"".join(piece for pieces in entries for piece in pieces)
    return wire.example_head(len(joined)) + joined


@pytest.mark.parametrize("size", [0, 1, 127, 128, 16_383, 16_384, 2_097_152])
def test_entries_around_the_edges_of_varints_are_those_of_protobuf(size: int) -> None:
    """Every length in an entry grows at its own edge; none is off by one."""
    value = b"v" * size
    serialized = _example(wire.Entry("key", wire.BYTES_LIST).pieces([value]))
    expected = Features(feature={"key": Feature(bytes_list=BytesList(value=[value]))})
    assert serialized == Example(features=expected).SerializeToString()


@pytest.mark.parametrize("arrays", [False, True])
def test_the_bytes_of_an_example_are_pinned(arrays: bool) -> None:
    """The bytes of one small Example, written out: they may never change."""
    integers, floats = [1, 300, -1], [0.5]
    entries = [
        wire.Entry("a", wire.INT64_LIST).pieces(
            np.array(integers) if arrays else integers
        ),
        wire.Entry("b", wire.FLOAT_LIST).pieces([]),
        wire.Entry("c", wire.FLOAT_LIST).pieces(
            np.array(floats, np.float32) if arrays else floats
        ),
        wire.Entry("é", wire.BYTES_LIST).pieces([b"hi"]),
    ]
    assert _example(*entries).hex(" ") == (
        "0a 3e "
        "0a 16 0a 01 61 12 11 1a 0f 0a 0d 01 ac 02 ff ff ff ff ff ff ff ff ff 01 "
        "0a 07 0a 01 62 12 02 12 00 "
        "0a 0d 0a 01 63 12 08 12 06 0a 04 00 00 00 3f "
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


def _absent(rows: list[Any], missing: list[bool]) -> tuple[list[Any], list[int]]:
    """Return the rows that are not missing, and the number of values of each row."""
    pairs = [(row, is_missing) for row, is_missing in zip(rows, missing, strict=False)]
    given = [row for row, is_missing in pairs if not is_missing]
    return given, [-1 if is_missing else len(row) for row, is_missing in pairs]


_MISSING = st.lists(st.booleans(), min_size=6, max_size=6)


@given(st.lists(_arrays(), max_size=6), _MISSING)
def test_columns_of_numbers_are_rows_one_after_the_other(
    rows: list[NDArray[np.int64]], missing: list[bool]
) -> None:
    """The entry of a row does not depend on the others, empty and missing ones included."""
    entry = wire.Entry("key", wire.INT64_LIST)
    given, counts = _absent(rows, missing)
    values = np.concatenate([np.empty(0, np.int64), *given])
    column = Written(values, np.array(counts, np.int64))
    records = WrittenRecords([(Part("key", INT, None), column)], len(rows), EXAMPLE)
    assert records.unframed() == [
        _example(*([] if is_missing else [entry.pieces(row)]))
        for row, is_missing in zip(rows, missing, strict=False)
    ]


@given(
    st.lists(st.lists(st.binary(max_size=300), max_size=4), max_size=6),
    _MISSING,
    st.booleans(),
)
def test_columns_of_bytes_are_rows_one_after_the_other(
    rows: list[list[bytes]], missing: list[bool], views: bool
) -> None:
    """Also where values are no bytes objects."""
    entry = wire.Entry("key", wire.BYTES_LIST)
    given, counts = _absent(rows, missing)
    values = [memoryview(each) if views else each for row in given for each in row]
    column = Written(values, np.array(counts, np.int64))
    records = WrittenRecords([(Part("key", BYTES, None), column)], len(rows), EXAMPLE)
    assert records.unframed() == [
        _example(*([] if is_missing else [entry.pieces(row)]))
        for row, is_missing in zip(rows, missing, strict=False)
    ]


@given(st.lists(st.lists(_arrays(20), max_size=4), max_size=6), _MISSING)
def test_feature_lists_are_those_of_protobuf(
    rows: list[list[NDArray[np.int64]]], missing: list[bool]
) -> None:
    """Rows without steps have an empty list, and missing ones none."""
    given, counts = _absent(rows, missing)
    steps = [step for row in given for step in row]
    column = Written(
        np.concatenate([np.empty(0, np.int64), *steps]),
        np.array([*map(len, steps)], np.int64),
        np.array(counts, np.int64),
    )
    records = WrittenRecords(
        [(Part("key", INT, None), column)], len(rows), SEQUENCE_EXAMPLE
    )
    for record, row, is_missing in zip(records.unframed(), rows, missing, strict=False):
        found = SequenceExample.FromString(record)
        lists = found.feature_lists.feature_list
        assert ("key" in lists) == (not is_missing)
        if not is_missing:
            features = lists["key"].feature
            assert [[*each.int64_list.value] for each in features] == [
                step.tolist() for step in row
            ]
            assert found.SerializeToString(deterministic=True) == record


def test_a_long_batch_comes_in_several_runs() -> None:
    """About two megabytes each, one record at least; together they are all records."""
    lengths = np.array([5, 600_000, 0, *[20_000] * 90, 400_000, 1])
    values = np.arange(lengths.sum(), dtype=np.float32)
    columns = [(Part("key", FLOAT, None), Written(values, lengths))]
    records = WrittenRecords(columns, len(lengths), EXAMPLE)
    runs = list(records.framed())
    sizes = [len(run.data) for run in runs]
    assert sum(len(run) for run in runs) == len(lengths)
    assert all(
        size <= 1 << 21 or len(run) == 1 for size, run in zip(sizes, runs, strict=True)
    )
    assert len(runs) > 4
    # What was written has to be measured again.
    messages = WrittenRecords(columns, len(lengths), EXAMPLE).unframed()
    assert b"".join(run.data for run in runs) == b"".join(map(frame, messages))
    for message, row in zip(
        messages, np.split(values, np.cumsum(lengths)[:-1]), strict=True
    ):
        found = Example.FromString(message).features.feature["key"].float_list.value
        np.testing.assert_array_equal(found, row)
