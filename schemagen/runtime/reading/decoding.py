"""From records to columns: all records take each step of parsing together.

The first entry of every record is read at once, then the second of all that have one,
and so on, so that a thousand records share the cost of a call of numpy. Only usual
records are read like this: sizes that fit, lists in one packed piece. `message` reads
any other record, for the same columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .columns import Columns, Malformed, Piece, Pieces, Rows, gathered
from .message import (
    BYTES,
    FLOAT,
    INT64,
    NOTHING,
    MalformedError,
    parse_message,
    read_varint,
)
from .records import Records
from .varint_arrays import read_sizes, read_varints

_FIRST, _SECOND = 0x0A, 0x12
_KINDS = {0x0A: BYTES, 0x12: FLOAT, 0x1A: INT64}

# Where less than this many records have yet another value, numpy's calls cost more
# than they save.
_FEW = 16

# Longer keys, and more map entries in a record, are read record by record: a step of
# numpy for each entry of a single record costs more than reading it.
_LONGEST_KEY = 1 << 12
_MOST_ENTRIES = 1 << 12

_MARKED_BYTES, _FACTOR = 64, np.uint64(0x9E37_79B9_7F4A_7C15)

# How often unusual rows are set aside. Where each row is unusual in a way of its own,
# reading all of them one by one is faster.
_PASSES = 8


class _Entry(NamedTuple):
    """Map entries of one key: the rows that have it, and the extents of its values."""

    rows: Rows
    starts: Rows
    stops: Rows


class _UnusualError(Exception):
    """Some rows are not as they usually are."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        super().__init__()


def decode(records: Records) -> Columns:
    """Read records into columns."""
    usual = np.ones(len(records), np.bool_)
    for _ in range(_PASSES):
        try:
            reader = _Reader(records, np.flatnonzero(usual))
            break
        except _UnusualError as unusual:
            usual[unusual.rows] = False
    else:
        usual[:] = False
        reader = _Reader(records, np.flatnonzero(usual))
    return _joined(records, reader, np.flatnonzero(~usual))


class _Reader:
    """Reads rows of usual records.

    Attributes:
        pieces: what they hold.
        sequences: the rows that have a field of feature lists.

    Raises:
        _UnusualError: with rows that are not usual.
    """

    def __init__(self, records: Records, rows: Rows) -> None:
        self._data = records.data if records.data.size else np.zeros(1, np.uint8)
        self._view = memoryview(self._data.data)
        self.pieces = Pieces()
        starts, stops = records.starts[rows], records.stops[rows]
        inside = np.flatnonzero(starts < stops)
        rows, at, stops = rows[inside], starts[inside], stops[inside]
        # A record without features begins with its feature lists.
        have = np.flatnonzero(self._data.take(at, mode="clip") != _SECOND)
        at[have] = self._read_map(
            rows[have], at[have], stops[have], _FIRST, self._features
        )
        rest = np.flatnonzero(at < stops)
        self.sequences = rows[rest]
        ends = self._read_map(
            rows[rest], at[rest], stops[rest], _SECOND, self._feature_lists
        )
        self._see(ends == stops[rest], rows[rest])

    def _see(self, usual: NDArray[np.bool_], rows: Rows) -> None:
        if not usual.all():
            raise _UnusualError(rows[~usual])

    def _sized(self, rows: Rows, at: Rows, stops: Rows, tag: int) -> tuple[Rows, Rows]:
        """Read a tag and a size: where the contents begin and end."""
        usual = self._data.take(at, mode="clip") == tag
        sizes, begin = read_sizes(self._data, at + 1)
        end = begin + sizes
        self._see(usual & (end <= stops), rows)
        return begin, end

    def _read_map(
        self,
        rows: Rows,
        at: Rows,
        stops: Rows,
        tag: int,
        read: Callable[[str, _Entry], None],
    ) -> Rows:
        """Read the entries of a map, and return where it ends."""
        if not len(rows):
            return at
        at, ends = self._sized(rows, at, stops, tag)
        found: dict[str, list[_Entry]] = {}
        active = np.flatnonzero(at < ends)
        rows_left, at, stop = rows[active], at[active], ends[active]
        passes = 0
        while len(rows_left):
            passes += 1
            if passes > _MOST_ENTRIES:
                raise _UnusualError(rows_left)
            at, entry_ends = self._sized(rows_left, at, stop, _FIRST)
            keys, key_ends = self._sized(rows_left, at, entry_ends, _FIRST)
            begin, end = self._sized(rows_left, key_ends, entry_ends, _SECOND)
            self._see(end == entry_ends, rows_left)
            for key, some in self._by_key(rows_left, keys, key_ends):
                entry = _Entry(rows_left[some], begin[some], end[some])
                found.setdefault(key, []).append(entry)
            more = np.flatnonzero(entry_ends < stop)
            rows_left, at, stop = rows_left[more], entry_ends[more], stop[more]
        for key, entries in found.items():
            entry = entries[0]
            if len(entries) > 1:
                entry = _Entry(*map(np.concatenate, zip(*entries, strict=True)))
                order = np.argsort(entry.rows, kind="stable")
                entry = _Entry(*(part[order] for part in entry))
                repeated = entry.rows[1:] == entry.rows[:-1]
                self._see(~repeated, entry.rows[1:])
            read(key, entry)
        return ends

    def _by_key(
        self, rows: Rows, starts: Rows, stops: Rows
    ) -> Iterator[tuple[str, Any]]:
        """Yield each key and an index of the rows that have it."""
        sizes = stops - starts
        self._see(sizes <= _LONGEST_KEY, rows)
        if (sizes == sizes[0]).all():
            table = self._data[starts[:, np.newaxis] + np.arange(sizes[0])]
            if (table == table[0]).all():
                yield self._key(rows, table[0].tobytes()), slice(None)
                return
        # Keys that differ in their first bytes have other marks; those with equal marks
        # are compared.
        _, first, inverse = np.unique(
            self._marks(starts, sizes), return_index=True, return_inverse=True
        )
        for group, representative in enumerate(first.tolist()):
            some = np.flatnonzero(inverse == group)
            size = sizes[representative]
            self._see(sizes[some] == size, rows[some])
            table = self._data[starts[some][:, np.newaxis] + np.arange(size)]
            self._see((table == table[0]).all(axis=1), rows[some])
            yield self._key(rows[some], table[0].tobytes()), some

    def _marks(self, starts: Rows, sizes: Rows) -> NDArray[np.uint64]:
        """Return a number for each key, made of its size and first bytes."""
        marks = sizes.astype(np.uint64)
        places = np.arange(min(int(sizes.max(initial=0)), _MARKED_BYTES))
        table = self._data.take(starts[:, np.newaxis] + places, mode="clip")
        table[places >= sizes[:, np.newaxis]] = 0
        for column in table.T.astype(np.uint64):
            marks = (marks ^ column) * _FACTOR
        return marks

    def _key(self, rows: Rows, key: bytes) -> str:
        try:
            return key.decode()
        except UnicodeDecodeError:
            raise _UnusualError(rows) from None

    def _features(self, key: str, entry: _Entry) -> None:
        rows, starts, stops = entry
        self._read_features(self.pieces.features, key, rows, rows, starts, stops)

    def _feature_lists(self, key: str, entry: _Entry) -> None:
        """Read feature lists: the extents of all steps, then their features."""
        rows = entry.rows
        owners, starts, stops = self._elements(rows, entry.starts, entry.stops)
        counts = np.bincount(np.searchsorted(rows, owners), minlength=len(rows))
        self.pieces.steps.setdefault(key, []).append((rows, counts))
        firsts = np.cumsum(counts) - counts
        steps = (owners << 32) + np.arange(len(owners)) - np.repeat(firsts, counts)
        found = self.pieces.step_features
        self._read_features(found, key, owners, steps, starts, stops)

    def _read_features(
        self,
        found: dict[tuple[str, str], list[Piece]],
        key: str,
        owners: Rows,
        rows: Rows,
        starts: Rows,
        stops: Rows,
    ) -> None:
        """Add the features of a key: `owners` are their records, `rows` their rows."""
        none = starts == stops
        if none.any():
            without = rows[none]
            nothing = np.zeros(len(without), np.int64)
            piece = Piece(without, nothing, np.empty(0, np.int64))
            found.setdefault((key, NOTHING), []).append(piece)
            some = np.flatnonzero(~none)
            owners, rows = owners[some], rows[some]
            starts, stops = starts[some], stops[some]
        if not len(rows):
            return
        tags = self._data[starts]
        sizes, begin = read_sizes(self._data, starts + 1)
        self._see(begin + sizes == stops, owners)
        known = 0
        for tag, kind in _KINDS.items():
            of_kind: Any = np.flatnonzero(tags == tag)
            known += len(of_kind)
            if not len(of_kind):
                continue
            if len(of_kind) == len(tags):
                of_kind = slice(None)
            read = self._bytes_piece if kind == BYTES else self._numbers_piece
            places = (owners, rows, begin, stops)
            piece = read(kind, *(each[of_kind] for each in places))
            found.setdefault((key, kind), []).append(piece)
        if known < len(tags):
            raise _UnusualError(owners[~np.isin(tags, list(_KINDS))])

    def _numbers_piece(
        self, kind: str, owners: Rows, rows: Rows, starts: Rows, stops: Rows
    ) -> Piece:
        full = starts < stops
        if full.all():
            starts, ends = self._sized(owners, starts, stops, _FIRST)
            self._see(ends == stops, owners)
        else:
            some = np.flatnonzero(full)
            begin, ends = self._sized(owners[some], starts[some], stops[some], _FIRST)
            self._see(ends == stops[some], owners[some])
            starts = starts.copy()
            starts[some] = begin
        sizes = stops - starts
        if kind == FLOAT:
            self._see(sizes % 4 == 0, owners)
            values = gathered(self._data, self._view, starts, stops).view("<f4")
            return Piece(rows, sizes // 4, values)
        if (sizes == 1).all():
            single = self._data[starts]
            self._see(single < 0x80, owners)
            return Piece(rows, sizes, single.astype(np.int64))
        packed = gathered(self._data, self._view, starts, stops)
        read = read_varints(packed, sizes)
        if isinstance(read, np.ndarray):
            raise _UnusualError(owners[read])
        return Piece(rows, *read)

    def _bytes_piece(
        self, kind: str, owners: Rows, rows: Rows, starts: Rows, stops: Rows
    ) -> Piece:
        lists, begin, end = self._elements(np.arange(len(rows)), starts, stops, owners)
        lengths = np.bincount(lists, minlength=len(rows)).astype(np.int64)
        return Piece(rows, lengths, np.stack([begin, end], axis=1))

    def _elements(
        self, rows: Rows, starts: Rows, stops: Rows, owners: Rows | None = None
    ) -> tuple[Rows, Rows, Rows]:
        """Read lists of sized elements: the row, beginning and end of each element.

        Args:
            rows: int64 [M], ascending.
            starts: where each list begins.
            stops: where it ends.
            owners: their records, if not the rows.
        """
        owners = rows if owners is None else owners
        found = [(np.empty(0, np.int64),) * 3]
        active = np.flatnonzero(starts < stops)
        at = starts[active]
        while len(active) >= _FEW or (len(active) and len(found) == 1):
            begin, at = self._sized(owners[active], at, stops[active], _FIRST)
            found.append((rows[active], begin, at))
            more = np.flatnonzero(at < stops[active])
            active, at = active[more], at[more]
        for index, position in zip(active.tolist(), at.tolist(), strict=True):
            extents = self._rest_of_list(position, int(stops[index]))
            if extents is None:
                raise _UnusualError(owners[index : index + 1])
            row = np.full(len(extents), rows[index])
            found.append((row, extents[:, 0], extents[:, 1]))
        if len(found) <= 2:
            return found[-1]
        joined = [np.concatenate(part) for part in zip(*found, strict=True)]
        order = np.argsort(joined[0], kind="stable")
        return joined[0][order], joined[1][order], joined[2][order]

    def _rest_of_list(self, at: int, stop: int) -> Rows | None:
        """Read the elements of one list in order; None if unusual."""
        view, extents = self._view, []
        while at < stop:
            if view[at] != _FIRST or at + 1 >= stop:
                return None
            size, at = view[at + 1], at + 2
            if size >= 0x80:
                try:
                    size, at = read_varint(view, at - 1, stop)
                except MalformedError:
                    return None
            if at + size > stop:
                return None
            extents.append((at, at + size))
            at += size
        return np.array(extents, np.int64).reshape(-1, 2)


def _joined(records: Records, reader: _Reader, unusual: Rows) -> Columns:
    """Put the unusual rows into the columns of the others."""
    pieces = reader.pieces
    sequences = np.zeros(len(records), np.bool_)
    sequences[reader.sequences] = True
    malformed: list[Malformed] = []
    facts: tuple[dict[str, list[int]], ...] = ({}, {}, {})
    for row in unusual.tolist():
        try:
            message = parse_message(records[row])
        except MalformedError as error:
            malformed.append(Malformed(row, error.at, str(error)))
            continue
        sequences[row] = message.is_sequence
        of_row = (message.unknown, message.repeated, message.unusual)
        for found, some in zip(facts, of_row, strict=True):
            for fact in sorted(some):
                found.setdefault(fact, []).append(row)
        pieces.add_message(message, row, int(records.starts[row]))
    return Columns(
        records,
        pieces.columns(records.data),
        pieces.step_columns(records.data),
        sequences,
        tuple(malformed),
        *({fact: tuple(rows) for fact, rows in found.items()} for found in facts),
    )
