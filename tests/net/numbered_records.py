"""Records that say which generation of a split they are from, and ways to read them.

All have equal sizes, so that splits of different generations have, too. So are the last
records of four shards, which all generations of as many records have in common.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from generated.digit import serializer as digit

SPLIT = "train"

Facts = list[tuple[int, int, int]]
"""Of each record its generation, its number, and how many the generation has."""

Open = Callable[[], Any]
"""Opens a split."""

Item = int | Facts
"""The length of a split that was opened, or what was read of it."""

# Integers from 2**28 to 2**35 have five bytes.
_BASE, _NUMBERS = 1 << 34, 1 << 12

SHARDS = 4

COMMON = (1 << 22) - 1
"""What records that all generations have say in place of the generation."""


def row(generation: int, number: int, count: int) -> dict[str, Any]:
    """Return a row that says the same in several fields."""
    if number >= count - SHARDS:  # rows go to the shards in turn
        generation = COMMON
    scan = _BASE + generation * _NUMBERS + number
    return {
        "image": np.full((8, 8, 1), generation % 200, np.uint8),
        "ink_runs": [scan] * 2,
        "moments": [generation, number, count, 0, 0, 0, 0, 0],
        "digit": number % 10,
        "scan": scan,
    }


@cache
def records(generation: int, count: int) -> list[bytes]:
    """Return the records of a generation."""
    rows = [row(generation, number, count) for number in range(count)]
    columns: Any = {name: [each[name] for each in rows] for name in rows[0]}
    found = digit.serialize_batch(**columns)
    assert len({*map(len, found)}) == 1
    return found


def write(
    directory: str | Path,
    generation: int,
    count: int,
    *,
    split: str = SPLIT,
    **options: Any,
) -> None:
    """Write a generation over the one that is there."""
    with digit.Writer(directory, split, overwrite=True, **options) as writer:
        for record in records(generation, count):
            writer.append(record)


def generations_of(facts: Iterable[tuple[int, int, int]]) -> set[tuple[int, int]]:
    """Return the generations of records, each with how many it has.

    Those that all have are of the only one, if there is only one.
    """
    found = {(generation, count) for generation, _, count in facts}
    counts = {count for generation, count in found if generation != COMMON}
    return {each for each in found if each[0] != COMMON or each[1] not in counts}


def facts_of(batch: Any) -> Facts:
    """Return what the records of a batch are.

    Raises:
        AssertionError: one says different things: nobody has written it.
    """
    generations, numbers = np.divmod(batch["scan"] - _BASE, _NUMBERS)
    moments = batch["moments"].astype(np.int64)
    assert (moments[:, 0] == generations).all(), "a record that never existed"
    assert (moments[:, 1] == numbers).all(), "a record that never existed"
    assert (batch["ink_runs"] == batch["scan"][:, np.newaxis]).all()
    pixels = generations[:, np.newaxis, np.newaxis, np.newaxis] % 200
    assert (batch["image"] == pixels).all()
    return [*zip(*map(np.ndarray.tolist, moments[:, :3].T), strict=True)]


def facts_of_row(row: Any) -> Facts:
    """Return what a record is."""
    return facts_of({name: np.asarray(value)[None] for name, value in row.items()})


@dataclass(frozen=True)
class Way:
    """A way to read all records of a split once.

    Attributes:
        read: does so; the first item is the length of the split.
        records: how many to read.
        needs_any_order: whether compressed splits cannot be read so.
    """

    read: Callable[[Open], Iterable[Item]]
    records: int
    needs_any_order: bool = False


def _opened(open_it: Open) -> tuple[Any, int]:
    split = open_it()
    return split, len(split)


def _by_number(open_it: Open) -> Iterator[Item]:
    split, length = _opened(open_it)
    yield length
    for number in range(length):
        yield facts_of_row(split[number])


def _in_turn(open_it: Open) -> Iterator[Item]:
    split, length = _opened(open_it)
    yield length
    for each in split:
        yield facts_of_row(each)


def _batches(**options: Any) -> Callable[[Open], Iterator[Item]]:
    def read(open_it: Open) -> Iterator[Item]:
        split, length = _opened(open_it)
        yield length
        yield from map(facts_of, split.batches(**options))

    return read


def _shares(open_it: Open) -> Iterator[Item]:
    split, length = _opened(open_it)
    yield length
    for index in range(3):
        yield from map(facts_of, split.batches(100, shard=(index, 3)))


def _resumed(open_it: Open) -> Iterator[Item]:
    split, length = _opened(open_it)
    yield length
    batches = split.batches(100)
    yield from map(facts_of, islice(batches, len(batches) // 2))
    state = json.loads(json.dumps(batches.state()))
    split, length = _opened(open_it)
    yield length
    yield from map(facts_of, split.batches(100, resume=state))


# Batches are read ahead, a thousand records at a time; blocks are sixteen records.
_FEW, _MANY = 48, 2400

WAYS = {
    "by number": Way(_by_number, _FEW, needs_any_order=True),
    "in turn": Way(_in_turn, _FEW),
    "batches": Way(_batches(batch_size=100), _MANY),
    "shuffled": Way(_batches(batch_size=100, shuffle_seed=1), _MANY, True),
    "blocks": Way(_batches(batch_size=3, shuffle_seed=1, block=1), _FEW, True),
    "shares": Way(_shares, _MANY),
    "resumed": Way(_resumed, _MANY),
}
