"""The bytes of an Example: equal to protobuf's, and fixed for good."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from schemagen.runtime.shared import wire
from schemagen.runtime.shared.wire import (
    largest_varint,
    pack_row,
    pack_rows,
    varint,
    varint_table,
)
from tensorflow.train import BytesList, Example, Feature, Features, FloatList, Int64List

_SIGNED = st.integers(-(2**63), 2**63 - 1)
_SIZES = (0, 1, 0x7F, 0x80, 0x3FFF, 0x4000, 2**21 - 1, 2**21, 2**63 - 1)


def _protobuf_varint(value: int) -> bytes:
    """The varint of an unsigned value, by protobuf itself: 0A is the list's tag."""
    signed = value - 2**64 if value >= 2**63 else value
    packed = Int64List(value=[signed]).SerializeToString()
    return packed[2:]


@given(st.integers(0, 2**64 - 1))
def test_varint_is_that_of_protobuf(value: int) -> None:
    """A single varint is what protobuf writes, at any size."""
    assert wire.varint(value) == _protobuf_varint(value)


@pytest.mark.parametrize("value", [*_SIZES, 2**63, 2**64 - 1])
def test_varint_at_the_edges_of_its_groups(value: int) -> None:
    """Each edge between two lengths takes the shorter length."""
    assert wire.varint(value) == _protobuf_varint(value)


def _joined(*entries: bytes) -> bytes:
    """Return the Example that consists of these entries."""
    joined = b"".join(entries)
    return wire.example_head(len(joined)) + joined


def _example(entries: dict[str, bytes]) -> Example:
    """Join entries by their keys and let protobuf read them."""
    return Example.FromString(
        _joined(*(entries[key] for key in sorted(entries, key=str.encode)))
    )


@pytest.mark.slow
@given(st.text(min_size=1, max_size=200), st.binary(max_size=300))
def test_a_bytes_value_comes_back(key: str, value: bytes) -> None:
    """Any key and any value of bytes are what protobuf reads."""
    entry = wire.Entry(key, wire.BYTES_LIST)
    found = _example({key: entry.packed_head(len(value)) + value})
    expected = Feature(bytes_list=BytesList(value=[value]))
    assert dict(found.features.feature) == {key: expected}


@pytest.mark.parametrize("size", [0, 1, 127, 128, 16_383, 16_384, 2_097_152])
def test_sizes_around_the_edges_of_varints(size: int) -> None:
    """Every length in an entry grows at its own edge; none is off by one."""
    value = b"v" * size
    entry = wire.Entry("key", wire.BYTES_LIST)
    serialized = _joined(entry.packed_head(size), value)
    expected = Features(feature={"key": Feature(bytes_list=BytesList(value=[value]))})
    assert serialized == Example(features=expected).SerializeToString()


@given(st.lists(st.binary(max_size=20), max_size=8))
def test_lists_of_bytes_come_back(values: list[bytes]) -> None:
    """A list of bytes, empty ones among them, is what protobuf would write."""
    entry = wire.Entry("names", wire.BYTES_LIST)
    serialized = _joined(*entry.listing(values))
    feature = Feature(bytes_list=BytesList(value=values))
    expected = Example(features=Features(feature={"names": feature}))
    assert serialized == expected.SerializeToString()


@given(st.lists(_SIGNED, min_size=1, max_size=20))
def test_lists_of_integers_come_back(values: list[int]) -> None:
    """A packed list of integers is what protobuf would write."""
    packed = pack_row(np.array(values, np.int64))
    entry = wire.Entry("ids", wire.INT64_LIST)
    serialized = _joined(entry.packed_head(len(packed)), packed)
    feature = Feature(int64_list=Int64List(value=values))
    expected = Example(features=Features(feature={"ids": feature}))
    assert serialized == expected.SerializeToString()


@pytest.mark.parametrize(
    ("tag", "feature"),
    [
        (wire.BYTES_LIST, Feature(bytes_list=BytesList())),
        (wire.FLOAT_LIST, Feature(float_list=FloatList())),
        (wire.INT64_LIST, Feature(int64_list=Int64List())),
    ],
)
def test_an_empty_list_keeps_its_type(tag: bytes, feature: Feature) -> None:
    """A list without items still says which list it is: empty is not missing."""
    found = _example({"k": wire.Entry("k", tag).empty}).features.feature["k"]
    assert found == feature
    assert found.WhichOneof("kind") == feature.WhichOneof("kind") is not None


def test_no_entries_make_an_example_without_features() -> None:
    """Nothing to write gives an Example that protobuf reads as empty."""
    assert _joined() == b"\x0a\x00"
    assert not Example.FromString(_joined()).features.feature


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
def test_rows_are_cut_where_they_end(rows: list[NDArray[np.int64]]) -> None:
    """Rows that are encoded together are the rows encoded alone, empty ones too."""
    values = np.concatenate([np.empty(0, np.int64), *rows])
    lengths = np.array([len(row) for row in rows], np.int64)
    assert pack_rows(values, lengths) == [_one_by_one(row) for row in rows]


@pytest.mark.parametrize("most", [100, 60_000, 2**20, 2**40])
def test_rows_longer_than_a_block(most: int) -> None:
    """Blocks end between rows, and a row longer than a block is one of its own."""
    chance = np.random.default_rng(0)
    lengths = np.array([3, wire._BLOCK + 1, 0, wire._BLOCK - 1, 1, 0, 5, 0])
    values = chance.integers(0, most, int(lengths.sum()))
    cuts = np.split(values, np.cumsum(lengths)[:-1])
    assert pack_rows(values, lengths) == [_one_by_one(row) for row in cuts]


@given(_arrays())
def test_a_table_says_which_bytes_are_written(values: NDArray[np.int64]) -> None:
    """The written bytes of each row of a table are the varint of its number."""
    table, written = varint_table(values)
    each = [table[at][written[at]].tobytes() for at in range(len(values))]
    assert each == [varint(value % 2**64) for value in values.tolist()]
    assert largest_varint(values) == max(map(len, each), default=1)
