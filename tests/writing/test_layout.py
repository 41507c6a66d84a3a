"""Which shard gets which record."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st
from schemagen.runtime.shared.tfrecord import Framed, frame_records
from schemagen.runtime.writing.shards import (
    ByCount,
    BySize,
    InTurn,
    Layout,
    equal_counts,
)

_RECORDS = st.lists(st.binary(max_size=40), max_size=60)
_CUTS = st.lists(st.integers(0, 60), max_size=6)


def _dealt(layout: Layout, records: list[bytes], cuts: list[int]) -> dict[int, bytes]:
    """What each shard gets when the records come in pieces."""
    shards: dict[int, bytes] = {}
    bounds = [0, *sorted(min(cut, len(records)) for cut in cuts), len(records)]
    for first, last in itertools.pairwise(bounds):
        for shard, framed in layout.deal(frame_records(records[first:last])):
            assert len(framed.ends) > 0
            assert framed.ends[-1] == len(framed.data)
            shards[shard] = shards.get(shard, b"") + bytes(framed.data)
    return shards


def _bytes(records: list[bytes]) -> bytes:
    return bytes(frame_records(records).data)


@given(_RECORDS, st.integers(1, 7), _CUTS)
def test_in_turn(records: list[bytes], shards: int, cuts: list[int]) -> None:
    """Record n goes to shard n modulo their number, in whatever pieces they come."""
    expected = {n: _bytes(records[n::shards]) for n in range(shards) if records[n:]}
    assert _dealt(InTurn(shards), records, cuts) == expected


@given(_RECORDS, st.integers(1, 200), _CUTS)
def test_by_size(records: list[bytes], limit: int, cuts: list[int]) -> None:
    """A shard is full when the next record would make it larger than asked."""
    groups: list[list[bytes]] = []
    filled = limit + 1
    for record in records:
        size = len(_bytes([record]))
        if not groups or filled + size > limit:
            groups.append([])
            filled = 0
        groups[-1].append(record)
        filled += size
    expected = {number + 3: _bytes(group) for number, group in enumerate(groups)}
    assert _dealt(BySize(limit, first=3), records, cuts) == expected


@given(_RECORDS, st.integers(1, 9), _CUTS)
def test_by_count(records: list[bytes], shards: int, cuts: list[int]) -> None:
    """Shards get equal numbers of consecutive records, or one more."""
    counts = equal_counts(len(records), shards)
    assert sum(counts) == len(records)
    assert max(counts) - min(counts) <= 1
    expected, at = {}, 0
    for shard, count in enumerate(counts):
        if count:
            expected[shard] = _bytes(records[at : at + count])
        at += count
    assert _dealt(ByCount(counts), records, cuts) == expected


def test_by_count_from_the_middle() -> None:
    """Shards that are full already are passed by."""
    records = [b"a", b"b", b"c", b"d", b"e"]
    dealt = _dealt(ByCount([2, 0, 1, 2], first=2), records[2:], [])
    assert dealt == {2: _bytes([b"c"]), 3: _bytes([b"d", b"e"])}


def test_slices_of_framed_records() -> None:
    """A slice has the records' own bytes, and ends that count from its beginning."""
    framed = frame_records([b"one", b"three", b"seven"])
    part = framed[1:2]
    assert isinstance(part, Framed)
    assert bytes(part.data) == _bytes([b"three"])
    assert part.ends.tolist() == [len(part.data)]
    assert framed[:] is framed
    assert len(framed[3:]) == len(framed[3:].data) == 0
