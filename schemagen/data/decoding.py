"""From records to columns: all records take each step of parsing together.

The first entry of every record is read at once, then the second of all that have one,
and so on; numpy's price for a step is shared by a thousand records. Only what protobuf
writers usually write is read like that: sizes that fit, lists in one packed piece. Any
other record goes to `message`, and then into the same columns.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .columns import Column, Columns, Malformed
from .message import BYTES, FLOAT, INT64, NOTHING, MalformedError, parse_message
from .pieces import Piece, Rows, add_message, column_of, step_column
from .records import Records
from .varint_arrays import gathered, read_sizes, read_varints

_FIRST, _SECOND = 0x0A, 0x12
_KINDS = {0x0A: BYTES, 0x12: FLOAT, 0x1A: INT64}

# Where less than this many records have yet another value, numpy's calls cost more
# than they save.
_FEW = 16

# No one has longer keys; a record that claims to is not read a thousand times at once.
_LONGEST_KEY = 1 << 12

# Records with more map entries than this are read one by one: a step of numpy for each
# entry of a single record costs more than reading it.
_MOST_ENTRIES = 1 << 12

# How often rows are sorted out. Where every row is unusual in a way of its own, it is
# quicker to read all of them one by one.
_PASSES = 8


class _Entry(NamedTuple):
    """Map entries of one key: which rows have it, and where the value stands."""

    key: str
    rows: Rows
    starts: Rows
    stops: Rows


class _Unusual(Exception):
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
        except _Unusual as unusual:
            usual[unusual.rows] = False
    else:
        usual[:] = False
        reader = _Reader(records, np.flatnonzero(usual))
    return _joined(records, reader, np.flatnonzero(~usual))


class _Reader:
    """Reads rows of records that are as usual.

    Attributes:
        pieces: the features, by key and kind.
        steps: which rows have a feature list, and how many steps, by key.
        step_pieces: the features of steps, by key and kind; their rows are
            row * 2 ** 32 + step.
        sequences: which rows have a field of feature lists.

    Raises:
        _Unusual: with rows that are not.
    """

    def __init__(self, records: Records, rows: Rows) -> None:
        self._data = records.data if records.data.size else np.zeros(1, np.uint8)
        self._view = memoryview(self._data.data)
        self.pieces: dict[tuple[str, str], list[Piece]] = {}
        self.steps: dict[str, list[tuple[Rows, Rows]]] = {}
        self.step_pieces: dict[tuple[str, str], list[Piece]] = {}
        starts, stops = records.starts[rows], records.stops[rows]
        inside = np.flatnonzero(starts < stops)
        rows, at, stops = rows[inside], starts[inside], stops[inside]
        behind = self._read_map(rows, at, stops, _FIRST, self._features)
        rest = np.flatnonzero(behind < stops)
        self.sequences = rows[rest]
        at = self._read_map(
            rows[rest], behind[rest], stops[rest], _SECOND, self._feature_lists
        )
        self._see(at == stops[rest], rows[rest])

    def _see(self, usual: NDArray[np.bool_], rows: Rows) -> None:
        if not usual.all():
            raise _Unusual(rows[~usual])

    def _sized(self, rows: Rows, at: Rows, stops: Rows, tag: int) -> tuple[Rows, Rows]:
        """Read a tag and a size: where what they announce begins and ends."""
        usual = self._data.take(at, mode="clip") == tag
        sizes, begin = read_sizes(self._data, at + 1)
        end = begin + sizes
        self._see(usual & (end <= stops), rows)
        return begin, end

    def _read_map(self, rows: Rows, at: Rows, stops: Rows, tag: int, read: Any) -> Rows:
        """Read the entries of a map, and return where it ends.

        A record may begin with field 2, if its map of field 1 is empty.
        """
        if not len(rows):
            return at
        if tag == _FIRST:
            without = self._data.take(at, mode="clip") == _SECOND
            if without.any():
                ends = at.copy()
                have = np.flatnonzero(~without)
                ends[have] = self._read_map(
                    rows[have], at[have], stops[have], tag, read
                )
                return ends
        at, ends = self._sized(rows, at, stops, tag)
        found: dict[str, list[_Entry]] = {}
        active = np.flatnonzero(at < ends)
        rows_left, at, stop = rows[active], at[active], ends[active]
        passes = 0
        while len(rows_left):
            passes += 1
            if passes > _MOST_ENTRIES:
                raise _Unusual(rows_left)
            at, entry_ends = self._sized(rows_left, at, stop, _FIRST)
            keys, key_ends = self._sized(rows_left, at, entry_ends, _FIRST)
            begin, end = self._sized(rows_left, key_ends, entry_ends, _SECOND)
            self._see(end == entry_ends, rows_left)
            for key, which in self._by_key(rows_left, keys, key_ends):
                entry = _Entry(key, rows_left[which], begin[which], end[which])
                found.setdefault(key, []).append(entry)
            more = np.flatnonzero(entry_ends < stop)
            rows_left, at, stop = rows_left[more], entry_ends[more], stop[more]
        for key, entries in found.items():
            entry = entries[0]
            if len(entries) > 1:
                parts = [
                    np.concatenate(part)
                    for part in zip(*(each[1:] for each in entries), strict=True)
                ]
                entry = _Entry(key, *parts)
                order = np.argsort(entry.rows, kind="stable")
                entry = _Entry(key, *(part[order] for part in parts))
                repeated = entry.rows[1:] == entry.rows[:-1]
                self._see(~repeated, entry.rows[1:])
            read(entry)
        return ends

    def _by_key(
        self, rows: Rows, starts: Rows, stops: Rows
    ) -> Iterable[tuple[str, Any]]:
        """Tell which rows have which key."""
        sizes = stops - starts
        self._see(sizes <= _LONGEST_KEY, rows)
        if (sizes == sizes[0]).all():
            table = self._data[starts[:, np.newaxis] + np.arange(sizes[0])]
            if (table == table[0]).all():
                yield self._key(rows, starts[0], stops[0]), slice(None)
                return
        # What differs in its first, last or middle bytes differs in this number; equal
        # numbers are looked at byte by byte.
        marks = self._marks(starts, stops, sizes)
        _, first, inverse = np.unique(marks, return_index=True, return_inverse=True)
        for group, representative in enumerate(first.tolist()):
            which = np.flatnonzero(inverse == group)
            start, stop = int(starts[representative]), int(stops[representative])
            size = stop - start
            same = sizes[which] == size
            self._see(same, rows[which])
            table = self._data[starts[which][:, np.newaxis] + np.arange(size)]
            self._see((table == self._data[start:stop]).all(axis=1), rows[which])
            yield self._key(rows[which], start, stop), which

    def _marks(self, starts: Rows, stops: Rows, sizes: Rows) -> NDArray[np.uint64]:
        marks = sizes.astype(np.uint64)
        factor = np.uint64(0x9E37_79B9_7F4A_7C15)
        width = int(min(int(sizes.max(initial=0)), 64))
        table = self._data.take(
            starts[:, np.newaxis] + np.arange(width), mode="clip"
        ).astype(np.uint64)
        table[np.arange(width) >= sizes[:, np.newaxis]] = 0
        for column in table.T:
            marks = (marks ^ column) * factor
        return marks

    def _key(self, rows: Rows, start: int, stop: int) -> str:
        try:
            return self._data[start:stop].tobytes().decode()
        except UnicodeDecodeError:
            raise _Unusual(rows) from None

    def _features(self, entry: _Entry) -> None:
        for kind, piece in self._feature_pieces(
            entry.rows, entry.rows, entry.starts, entry.stops
        ):
            self.pieces.setdefault((entry.key, kind), []).append(piece)

    def _feature_lists(self, entry: _Entry) -> None:
        """Read feature lists: the extents of all steps, then their features."""
        owners, begin, end = self._elements(entry.rows, entry.starts, entry.stops)
        counts = np.bincount(
            np.searchsorted(entry.rows, owners), minlength=len(entry.rows)
        )
        self.steps.setdefault(entry.key, []).append((entry.rows, counts))
        firsts = np.cumsum(counts) - counts
        numbers = np.arange(len(owners)) - np.repeat(firsts, counts)
        for kind, piece in self._feature_pieces(
            owners, (owners << 32) + numbers, begin, end
        ):
            self.step_pieces.setdefault((entry.key, kind), []).append(piece)

    def _feature_pieces(
        self, owners: Rows, rows: Rows, starts: Rows, stops: Rows
    ) -> Iterable[tuple[str, Piece]]:
        """Read features: `owners` are their records, `rows` what the piece says."""
        none = starts == stops
        if none.any():
            without = rows[none]
            nothing = np.zeros(len(without), np.int64)
            yield NOTHING, Piece(without, nothing, np.empty(0, np.int64))
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
            which: Any = np.flatnonzero(tags == tag)
            known += len(which)
            if not len(which):
                continue
            if len(which) == len(tags):
                which = slice(None)
            read = self._bytes_piece if kind == BYTES else self._numbers_piece
            yield (
                kind,
                read(kind, owners[which], rows[which], begin[which], stops[which]),
            )
        if known < len(tags):
            raise _Unusual(owners[~np.isin(tags, list(_KINDS))])

    def _numbers_piece(
        self, kind: str, owners: Rows, rows: Rows, starts: Rows, stops: Rows
    ) -> Piece:
        full = starts < stops
        if full.all():
            starts, ends = self._sized(owners, starts, stops, _FIRST)
            self._see(ends == stops, owners)
        else:
            some = np.flatnonzero(full)
            starts = starts.copy()
            starts[some], ends = self._sized(
                owners[some], starts[some], stops[some], _FIRST
            )
            self._see(ends == stops[some], owners[some])
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
            raise _Unusual(owners[read])
        return Piece(rows, *read)

    def _bytes_piece(
        self, kind: str, owners: Rows, rows: Rows, starts: Rows, stops: Rows
    ) -> Piece:
        places = np.arange(len(rows))
        which, begin, end = self._elements(places, starts, stops, owners)
        lengths = np.bincount(which, minlength=len(rows)).astype(np.int64)
        return Piece(rows, lengths, np.stack([begin, end], axis=1))

    def _elements(
        self,
        rows: Rows,
        starts: Rows,
        stops: Rows,
        owners: Rows | None = None,
    ) -> tuple[Rows, Rows, Rows]:
        """Read lists of sized elements: of which row each is, its beginning and end.

        Args:
            rows: int64 [M], ascending.
            starts: where each list begins.
            stops: where it ends.
            owners: their records, if not the rows.
        """
        owners = rows if owners is None else owners
        found: list[tuple[Rows, Rows, Rows]] = []
        active = np.flatnonzero(starts < stops)
        at = starts[active]
        while len(active) >= _FEW or (len(active) and not found):
            begin, at = self._sized(owners[active], at, stops[active], _FIRST)
            found.append((rows[active], begin, at))
            more = np.flatnonzero(at < stops[active])
            active, at = active[more], at[more]
        for index, position in zip(active.tolist(), at.tolist(), strict=True):
            extents = self._rest_of_list(position, int(stops[index]))
            if extents is None:
                raise _Unusual(owners[index : index + 1])
            row = np.full(len(extents), rows[index])
            found.append((row, extents[:, 0], extents[:, 1]))
        if not found:
            empty = np.empty(0, np.int64)
            return empty, empty, empty
        if len(found) == 1:
            return found[0]
        joined = [np.concatenate(part) for part in zip(*found, strict=True)]
        order = np.argsort(joined[0], kind="stable")
        return joined[0][order], joined[1][order], joined[2][order]

    def _rest_of_list(self, at: int, stop: int) -> Rows | None:
        """Read the elements of one list, one after the other; None if unusual."""
        view, extents = self._view, []
        while at < stop:
            if view[at] != _FIRST or at + 1 >= stop:
                return None
            size, at = view[at + 1], at + 2
            if size >= 0x80:
                shift, size = 7, size & 0x7F
                while at < stop and shift < 35:
                    byte, at = view[at], at + 1
                    size |= (byte & 0x7F) << shift
                    shift += 7
                    if byte < 0x80:
                        break
                else:
                    return None
            if at + size > stop:
                return None
            extents.append((at, at + size))
            at += size
        return np.array(extents, np.int64).reshape(-1, 2)


def _joined(records: Records, reader: _Reader, unusual: Rows) -> Columns:
    """Put the unusual rows into the columns of the others."""
    pieces, steps, step_pieces = reader.pieces, reader.steps, reader.step_pieces
    sequences = np.zeros(len(records), np.bool_)
    sequences[reader.sequences] = True
    malformed: list[Malformed] = []
    unknown: dict[str, list[int]] = {}
    repeated: dict[str, list[int]] = {}
    divergent: dict[tuple[str, str], list[int]] = {}
    for row in unusual.tolist():
        try:
            message = parse_message(records[row])
        except MalformedError as error:
            malformed.append(Malformed(row, error.at, str(error)))
            continue
        sequences[row] = message.is_sequence
        start = int(records.starts[row])
        for facts, found in ((message.unknown, unknown), (message.repeated, repeated)):
            for fact in sorted(facts):
                found.setdefault(fact, []).append(row)
        for place in sorted(message.divergent):
            divergent.setdefault(place, []).append(row)
        add_message(message, row, start, pieces, steps, step_pieces)
    by_key: dict[str, list[Column]] = {}
    for (key, kind), some in pieces.items():
        by_key.setdefault(key, []).append(column_of(records, key, kind, some))
    return Columns(
        records=records,
        by_key={key: tuple(columns) for key, columns in sorted(by_key.items())},
        steps={
            key: step_column(records, key, steps[key], step_pieces)
            for key in sorted(steps)
        },
        sequences=sequences,
        malformed=tuple(malformed),
        unknown={fact: tuple(rows) for fact, rows in unknown.items()},
        repeated={key: tuple(rows) for key, rows in repeated.items()},
        divergent={place: tuple(rows) for place, rows in divergent.items()},
    )
