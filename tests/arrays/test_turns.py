"""Shares of an epoch: each position once, and others can go on where all have stopped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from schemagen.runtime.arrays.order import RoundRobin, ranges


def shares(division: RoundRobin) -> list[list[int]]:
    """Return the positions that each reader takes, in its order."""
    return [
        division.at(reader, np.arange(division.share(reader))).tolist()
        for reader in range(division.readers)
    ]


@pytest.mark.quick_cases(200)
@given(data=st.data())
def test_whoever_goes_on_reads_exactly_the_rest(data: st.DataObject) -> None:
    """For any numbers of readers one after the other, and windows of any size."""
    total = data.draw(st.integers(0, 200))
    window = data.draw(st.sampled_from([1, 3, 8, 50]))
    division = RoundRobin(0, total, window, data.draw(st.integers(1, 5)))
    seen: list[int] = []
    for _ in range(data.draw(st.integers(1, 4))):
        own = shares(division)
        assert sorted(sum(own, seen)) == list(range(total))
        sizes = [*map(len, own)]
        assert max(sizes) - min(sizes) <= 1
        assert min(sizes) == division.fewest
        each = data.draw(st.integers(0, division.fewest))
        seen = sum((positions[:each] for positions in own), seen)
        division = division.rest(each, data.draw(st.integers(1, 5)))


def test_readers_take_turns_record_by_record() -> None:
    assert shares(RoundRobin(0, 7, 1, 3)) == [[0, 3, 6], [1, 4], [2, 5]]


def test_readers_take_turns_by_windows() -> None:
    """What is too little for a window of each is divided by records."""
    assert shares(RoundRobin(0, 11, 2, 2)) == [[0, 1, 4, 5, 8, 10], [2, 3, 6, 7, 9]]


def test_windows_that_were_begun_come_first() -> None:
    rest = RoundRobin(0, 12, 3, 2).rest(1, 1)
    assert shares(rest) == [[1, 2, 4, 5, 6, 7, 8, 9, 10, 11]]


@pytest.mark.parametrize(("place", "found"), [(0, [3, 4]), (1, [4, 10]), (3, [11])])
def test_ranges_are_one_behind_the_other(place: int, found: Any) -> None:
    some = ranges((3, 5), (10, 12))
    places = np.arange(place, min(place + 2, len(some)))
    assert some.at(places).tolist() == found
