"""Varints of whole arrays: those of protobuf, whatever way they are made."""

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
