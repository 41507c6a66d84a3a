"""Packing: lists of several records in rows of one fixed length."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..cells.columns import Rows
from ..kinds.lists import VarLen
from ..records.decoder import Batch
from ..records.groups import group_of, has_length
from ..shared.errors import DatasetError, with_suggestion
from ..shared.options import check_choice, integer
from .batches import Batches, Reading, State, threads
from .views import Chunk, row_count

WINDOW = 2048
"""How many consecutive records of the order are packed together."""

TooLong = Literal["cut", "drop"]


@dataclass(frozen=True)
class Packing:
    """Where pieces of lists stand in rows.

    Attributes:
        rows: how many rows there are.
        size: how many items a row has.
        sources: int64 [P], where each piece begins among the items of all lists.
        lengths: int64 [P], how many items it has.
        places: int64 [P], where it begins among the items of all rows.
        segments: int64 [P], which piece of its row it is, from 1.
    """

    rows: int
    size: int
    sources: Rows
    lengths: Rows
    places: Rows
    segments: Rows

    def packed(self, items: Any, filler: Any) -> Any:
        """Return the items of all lists in their rows: [rows, size, ...]."""
        found = np.full((self.rows * self.size, *items.shape[1:]), filler, items.dtype)
        for source, length, place, _ in self._pieces():
            found[place : place + length] = items[source : source + length]
        return found.reshape(self.rows, self.size, *items.shape[1:])

    @property
    def segments_of(self) -> NDArray[np.int32]:
        """Which piece of its row each item is of, from 1; 0 for padding."""
        found = np.zeros(self.rows * self.size, np.int32)
        for _, length, place, segment in self._pieces():
            found[place : place + length] = segment
        return found.reshape(self.rows, self.size)

    @property
    def positions_of(self) -> NDArray[np.int32]:
        """The place of each item in its piece, from 0."""
        found = np.zeros(self.rows * self.size, np.int32)
        places = np.arange(self.size, dtype=np.int32)
        for _, length, place, _ in self._pieces():
            found[place : place + length] = places[:length]
        return found.reshape(self.rows, self.size)

    def _pieces(self) -> Iterator[tuple[int, int, int, int]]:
        # Copying each piece is faster than an index of all items.
        columns = (self.sources, self.lengths, self.places, self.segments)
        return zip(*(column.tolist() for column in columns), strict=True)


def layout_of(lengths: Rows, size: int, too_long: TooLong = "cut") -> Packing:
    """Pack lists into rows, each into the fullest row that has room, the longest first.

    Args:
        lengths: int64 [N], how many items each list has.
        size: how many a row has.
        too_long: "cut" divides longer lists into several rows, "drop" leaves them out.
    """
    starts = np.cumsum(lengths) - lengths
    if too_long == "drop":
        kept = lengths <= size
        starts, lengths = starts[kept], lengths[kept]
    pieces = -(-lengths // size)
    offsets = np.arange(int(pieces.sum())) - np.repeat(
        np.cumsum(pieces) - pieces, pieces
    )
    sources = np.repeat(starts, pieces) + offsets * size
    sizes = np.minimum(np.repeat(lengths, pieces) - offsets * size, size)
    rows = _best_fit(sizes, size)
    # Rows in the order of their first records, pieces in that of the records.
    order = np.argsort(rows, kind="stable")
    firsts = np.flatnonzero(np.diff(rows[order], prepend=-1))
    ranks = np.argsort(np.argsort(order[firsts]))
    counts = np.diff(np.append(firsts, len(order)))
    total = np.cumsum(sizes[order]) - sizes[order]
    inside = total - np.repeat(total[firsts], counts)
    return Packing(
        rows=len(firsts),
        size=size,
        sources=sources[order],
        lengths=sizes[order],
        places=np.repeat(ranks, counts) * size + inside,
        segments=np.arange(len(order)) - np.repeat(firsts, counts) + 1,
    )


def _best_fit(sizes: Rows, room: int) -> Rows:
    """Return the row of each piece: the fullest that has room, the longest piece first."""
    rows = np.empty_like(sizes)
    of_room: dict[int, list[int]] = {}  # the rows that have so much room
    rooms, opened = 0, 0  # a bit for each room that a row has
    longest = np.argsort(-sizes, kind="stable").tolist()
    for piece, size in zip(longest, sizes[longest].tolist(), strict=True):
        fitting = rooms >> size
        if fitting:
            found = size + (fitting & -fitting).bit_length() - 1
            row = of_room[found].pop()
            if not of_room[found]:
                rooms &= ~(1 << found)
        else:
            row, found, opened = opened, room, opened + 1
        rows[piece] = row
        left = found - size
        if left:
            of_room.setdefault(left, []).append(row)
            rooms |= 1 << left
    return rows


def _group_of(reading: Reading, name: str) -> str | None:
    decoder = reading.view.decoder
    return group_of(decoder.record[name]) if name in decoder.fields else None


def packed_fields(reading: Reading, pack: Any) -> tuple[str, int, tuple[str, ...]]:
    """Return the field that is packed, the length of a row, and all fields of its group.

    Raises:
        DatasetError: it is not a list of one dimension or of items.
    """
    if not isinstance(pack, Mapping) or len(pack) != 1:
        raise DatasetError(
            f"pack={pack!r}: expected one field and the length of a row, such as "
            "{'tokens': 2048}; fields of its group are packed with it"
        )
    [(name, size)] = pack.items()
    length = integer(f"pack[{name!r}]", size, 1)
    decoder = reading.view.decoder
    if reading.view.changed and not _group_of(reading, name):
        return name, length, (name,)
    codecs = {each: decoder.record[each] for each in decoder.fields}
    listed = {
        each: codec
        for each, codec in codecs.items()
        if isinstance(codec, VarLen) and has_length(codec) and "." not in codec.label
    }
    if name not in listed:
        known = ", ".join(listed) or "none"
        words = f"pack={pack!r}: no list {name!r}: expected one of {known}"
        raise DatasetError(with_suggestion(words, name, listed))
    group = listed[name].group
    others = (n for n, codec in listed.items() if group and codec.group == group)
    return name, length, tuple(dict.fromkeys((name, *others)))


def packed_batches(
    reading: Reading, pack: Any, too_long: TooLong, resume: State | None
) -> Batches:
    """Return batches of packed rows, or those after a state.

    Raises:
        DatasetError: no list has the name, or it is the state of another epoch.
    """
    name, size, names = packed_fields(reading, pack)
    check_choice("too_long", too_long, TooLong)
    view = reading.view.only(names)

    def facts() -> State:
        share = [reading.reader, reading.readers]
        more = {"shard": share, "pack": {name: size}, "too_long": too_long}
        return {**reading.facts(), **more}

    done = {"window": 0, "row": 0}
    if resume is not None:
        given = reading.check(resume, facts())
        done = {each: integer(f"resume: {each}", given.get(each), 0) for each in done}

    def table(asked: Rows, chunk: Chunk) -> Batch:
        items, lengths = chunk.lists(name)
        layout = layout_of(lengths, size, too_long)
        columns: Batch = {}
        for each in names:
            own, others = (items, lengths) if each == name else chunk.lists(each)
            if not np.array_equal(others, lengths):
                at = int(np.argmax(others != lengths))
                raise DatasetError(
                    f"{view.place(int(chunk.numbers[at]))}: pack: field {each!r} has "
                    f"{others[at]} items, and {name!r} has {lengths[at]}"
                )
            known = view.decoder.collators.get(each)
            columns[each] = layout.packed(own, known.filler if known else 0)
        columns[f"{name}_segments"] = layout.segments_of
        columns[f"{name}_positions"] = layout.positions_of
        return columns

    states = [done]

    def read_by(worker: int, workers: int, skip: int) -> Iterator[Batch | None]:
        turns = reading.turns
        share = turns.share(reading.reader)
        parts = (
            reading.numbers(turns, start, min(share, start + WINDOW))
            for start in range(done["window"] * WINDOW, share, WINDOW)
        )
        tables = view.chunks(parts, reading.epoch, table, threads())
        batches = _batches(tables, done, reading.batch_size, reading.drop_remainder)
        # Which records a batch has is known only when those before are packed.
        for batch, state in islice(batches, worker + skip * workers, None, workers):
            states.append(state)
            yield batch

    return Batches(read_by, None, lambda batches: {**facts(), **states[batches]})


def _batches(
    tables: Iterator[Batch], done: State, size: int, drop_remainder: bool
) -> Iterator[tuple[Batch, State]]:
    """Yield batches of rows, and what a state says after each.

    Args:
        tables: the rows of each window.
        done: the first window, and how many of its rows to leave out.
        size: rows in a batch.
        drop_remainder: leave out a last batch that is smaller.
    """
    waiting: list[Batch] = []
    count, window, skipped = 0, done["window"], done["row"]
    for columns in tables:
        rows = row_count(columns)
        first, skipped = skipped, 0
        while first < rows:
            last = min(rows, first + size - count)
            waiting.append({name: each[first:last] for name, each in columns.items()})
            count, first = count + last - first, last
            if count == size:
                yield _joined(waiting), {"window": window, "row": first}
                waiting, count = [], 0
        window += 1
    if count and not drop_remainder:
        yield _joined(waiting), {"window": window, "row": 0}


def _joined(batches: list[Batch]) -> Batch:
    if len(batches) == 1:
        return batches[0]
    names = batches[0]
    return {name: np.concatenate([each[name] for each in batches]) for name in names}
