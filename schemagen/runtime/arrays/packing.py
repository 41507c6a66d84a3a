"""Packing: lists of several records in rows of one fixed length.

The order of an epoch is cut into windows of records, whose lists are packed together. Where
their pieces stand follows from the lengths of the lists alone, so that rows are a sequence
of their own, of known length, which readers share as they share records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ..cells.columns import Rows
from ..native import pieces_of, row_counts
from ..records.decoder import Batch, Row
from ..records.groups import group_of
from ..shared.errors import DatasetError, with_suggestion
from ..shared.options import check_choice, integer
from ..shared.values import shape_text
from .ahead import ReadSteps
from .batches import State
from .collation import DTypes, merged
from .lengths import check_list, lists_of
from .order import STORED, Epoch
from .views import LoadedColumns, LoadedRecords, Readable, View

WINDOW = 2048
"""How many consecutive records of the order are packed together."""

TooLong = Literal["cut", "drop"]

# How many records tell whether functions add the same lists to all.
_COMPARED = 64


@dataclass(frozen=True)
class Packing:
    """What is packed, and how.

    Attributes:
        name: of the list whose lengths rows follow from.
        size: how many items a row has.
        too_long: "cut" divides longer lists into several rows, "drop" leaves them out.
        lists: the names of all lists that are packed.
        documents: the names of fields with one value for each segment.
        shapes: those of one of their values, by column.
    """

    name: str
    size: int
    too_long: TooLong
    lists: tuple[str, ...]
    documents: tuple[str, ...]
    shapes: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class Pieces:
    """Pieces of lists, and where they stand in rows.

    Attributes:
        lists: int64 [P], which list each is of.
        starts: int64 [P], where it begins in its list.
        lengths: int64 [P], how many items it has.
        rows: int64 [P], its row.
        places: int64 [P], where it begins in the row.
        segments: int64 [P], which piece of the row it is, from 1.
    """

    lists: Rows
    starts: Rows
    lengths: Rows
    rows: Rows
    places: Rows
    segments: Rows

    def of(self, lists: Rows, rows: Rows) -> Pieces:
        """Return those of some lists and rows.

        Args:
            lists: int64 [lists], a new number for each list; -1 leaves it out.
            rows: int64 [rows], a new number for each row; -1 leaves it out.
        """
        new_lists, new_rows = lists[self.lists], rows[self.rows]
        kept = (new_lists >= 0) & (new_rows >= 0)
        return Pieces(
            new_lists[kept],
            self.starts[kept],
            self.lengths[kept],
            new_rows[kept],
            self.places[kept],
            self.segments[kept],
        )


@dataclass(frozen=True)
class RowGroup:
    """Some rows, and the records that they are made of.

    Attributes:
        rows: how many rows.
        numbers: int64 [N], of the records.
        lengths: int32 [N], of their lists.
        pieces: those of the rows.
    """

    rows: int
    numbers: Rows
    lengths: Rows
    pieces: Pieces

    def only(self, rows: Rows) -> tuple[RowGroup, Rows]:
        """Return some of the rows, and which of the records they are made of.

        Args:
            rows: int64 [N], the rows.
        """
        places = np.full(self.rows, -1)
        places[rows] = np.arange(len(rows))
        used = np.zeros(len(self.numbers), np.bool_)
        used[self.pieces.lists[places[self.pieces.rows] >= 0]] = True
        lists = np.where(used, np.cumsum(used) - 1, -1)
        pieces = self.pieces.of(lists, places)
        part = RowGroup(len(rows), self.numbers[used], self.lengths[used], pieces)
        return part, np.flatnonzero(used)


@dataclass(frozen=True)
class Packed:
    """Rows whose records were fetched.

    Attributes:
        rows: int64 [N], their numbers.
        parts: what they are made of, one behind the other, and the records.
    """

    rows: Rows
    parts: Sequence[tuple[RowGroup, Any]]

    @property
    def nbytes(self) -> int:
        """How many bytes the records have."""
        return sum(fetched.nbytes for _, fetched in self.parts)

    def only(self, rows: Rows) -> Packed:
        """Return some of them, by their places."""
        found, begin = [], 0
        for whole, fetched in self.parts:
            end = begin + whole.rows
            part, used = whole.only(rows[(rows >= begin) & (rows < end)] - begin)
            found.append((part, fetched.only(used)))
            begin = end
        return Packed(self.rows[rows], found)


class PackedRows(Readable):
    """The packed rows of one epoch, in place of its records.

    Args:
        view: the records.
        packing: what is packed of them.
        epoch: their order.
    """

    unit = "rows"

    def __init__(self, view: View, packing: Packing, epoch: Epoch) -> None:
        self.views = (view,)
        self._view = view
        self._packing = packing
        self._epoch = epoch

    @property
    def options(self) -> State:
        """What rows follow from besides the order of the records."""
        how = self._packing
        return {"pack": {how.name: how.size}, "too_long": how.too_long}

    @cached_property
    def _lengths(self) -> Any:
        """The lengths of the lists, in the order of the epoch: int32 [records]."""
        numbers = self._view.numbers(np.arange(len(self._view)), self._epoch)
        return self._view.lengths(self._packing.name, numbers, self._epoch)

    @cached_property
    def _first_rows(self) -> Rows:
        """The first row of each window, and how many rows there are."""
        how, drop = self._packing, self._packing.too_long == "drop"
        counts = row_counts(self._lengths, WINDOW, how.size, drop=drop)
        return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])

    def __len__(self) -> int:
        """Return how many rows there are."""
        return int(self._first_rows[-1])

    def described(self, rows: int | None = None) -> dict[str, str]:
        how, known = self._packing, self._view.decoder.collators
        places = shape_text((rows, how.size))
        lists = {name: known[name].dtype.name for name in how.lists if name in known}
        added = (f"{how.name}_segments", f"{how.name}_positions")
        documents = {
            name: f"{known[name].dtype.name} {shape_text((rows, None, *shape))}"
            for name, shape in how.shapes.items()
            if name in known
        }
        columns = lists | dict.fromkeys(added, "int32")
        return {name: f"{each} {places}" for name, each in columns.items()} | documents

    def _of_rows(self, count: int) -> int:
        """Return how many rows so many records make, about."""
        return max(1, count * len(self) // max(1, len(self._view)))

    def numbers(self, positions: Rows, epoch: Epoch = STORED) -> Rows:
        """Return the numbers of rows, which are their positions."""
        return positions

    def window(self, epoch: Epoch) -> int:
        """Return how many rows are made of records that are near each other in files."""
        records = self._view.window(epoch)
        return 1 if records == 1 else self._of_rows(max(WINDOW, records))

    def steps(self, epoch: Epoch = STORED) -> ReadSteps[LoadedColumns]:
        """Return how rows are read: of compressed files, window by window."""
        steps = self._view.steps(self._epoch)
        last: dict[int, tuple[RowGroup, Any]] = {}

        def fetch(rows: Rows) -> Packed:
            whole = self._of_windows(np.unique(self._windows(rows)))
            part, _ = whole.only(self._places(rows))
            return Packed(rows, [(part, steps.fetch(part.numbers))])

        def fetch_in_sequence(rows: Rows) -> Packed:
            windows, found = self._windows(rows), []
            for window in np.unique(windows).tolist():
                if window not in last:
                    part = self._of_windows(np.array([window]))
                    last.clear()
                    last[window] = part, steps.fetch(part.numbers)
                part, fetched = last[window]
                own, used = part.only(self._places(rows[windows == window]))
                found.append((own, fetched.only(used)))
            return Packed(rows, found)

        def decode(packed: Packed) -> LoadedColumns:
            found, begin = list[tuple[Rows, Batch]](), 0
            for part, fetched in packed.parts:
                places = np.arange(begin, begin + part.rows)
                found.append((places, self._packed(part, steps.decode(fetched))))
                begin += part.rows
            columns, collators = found[0][1], self._view.decoder.collators
            if len(found) > 1:
                columns = merged(found, [0] * len(found), begin, collators, DTypes())
            return PackedColumns(self, packed.rows, columns)

        in_sequence = self._view.is_sequential
        return steps.by(fetch_in_sequence if in_sequence else fetch, decode)

    def _windows(self, rows: Rows) -> Rows:
        """Return the window of each row: int64 [N]."""
        found: Rows = np.searchsorted(self._first_rows, rows, "right") - 1
        return found

    def _of_windows(self, windows: Rows) -> RowGroup:
        """Return all rows of some windows, made of all records of them.

        Args:
            windows: int64 [N], ascending.
        """
        how, drop = self._packing, self._packing.too_long == "drop"
        positions = np.add.outer(windows * WINDOW, np.arange(WINDOW)).ravel()
        positions = positions[positions < len(self._view)]
        lengths = self._lengths[positions]
        # Pieces count the rows of these windows alone.
        pieces = Pieces(*pieces_of(lengths, WINDOW, how.size, drop=drop).T)
        rows = int(np.diff(self._first_rows)[windows].sum())
        numbers = self._view.numbers(positions, self._epoch)
        return RowGroup(rows, numbers, lengths, pieces)

    def _places(self, rows: Rows) -> Rows:
        """Return where rows are among all rows of their windows: int64 [N]."""
        windows, of_rows = np.unique(self._windows(rows), return_inverse=True)
        first_rows, counts = (
            self._first_rows[windows],
            np.diff(self._first_rows)[windows],
        )
        begins = np.cumsum(counts) - counts
        found: Rows = rows - first_rows[of_rows] + begins[of_rows]
        return found

    def _packed(self, part: RowGroup, loaded: LoadedRecords) -> Batch:
        """Return the columns of rows.

        Args:
            part: the rows.
            loaded: the records that they are made of.

        Raises:
            DatasetError: a list does not have its length, or a value has another shape.
        """
        how, pieces, known = self._packing, part.pieces, part.lengths
        kept = np.isin(part.numbers, loaded.numbers)
        if not kept.all():
            # Of records that are corrupt in another field the places are empty.
            lists = np.where(kept, np.cumsum(kept) - 1, -1)
            pieces, known = pieces.of(lists, np.arange(part.rows)), known[kept]
        starts = np.cumsum(known, dtype=np.int64) - known
        table = RowBuffer(
            part.rows, how.size, pieces, starts[pieces.lists] + pieces.starts
        )
        columns: Batch = {}
        for name in how.lists:
            items, lengths = loaded.lists(name)
            self._check(name, loaded.numbers, lengths, known)
            columns[name] = table.packed(items, self._filler(name, items))
        columns[f"{how.name}_segments"] = table.segments
        columns[f"{how.name}_positions"] = table.positions
        if how.documents:
            columns |= self._documents(part, pieces, loaded)
        return columns

    def _filler(self, name: str, values: Any) -> Any:
        known = self._view.decoder.collators.get(name)
        if known:
            return known.filler
        return "" if values.dtype.kind in "OUS" else 0

    def _check(self, name: str, numbers: Rows, lengths: Rows, known: Rows) -> None:
        """Refuse lists that do not have the lengths that rows were made by."""
        if np.array_equal(lengths, known):
            return
        at = int(np.argmax(lengths != known))
        place = f"{self._view.place(int(numbers[at]))}: pack: field {name!r} has"
        if name == self._packing.name:
            raise DatasetError(
                f"{place} {lengths[at]} items, and had {known[at]} when lengths were "
                "read; a function has to return equal lengths each time: take random "
                "numbers from the generator that it is given"
            )
        words = (
            f"{place} {lengths[at]} items, and {self._packing.name!r} has {known[at]}"
        )
        if name not in self._view.decoder.record.fields:
            words += (
                "; return lists of one length, or leave the field out of what the "
                "function returns"
            )
        raise DatasetError(words)

    def _documents(
        self, part: RowGroup, pieces: Pieces, loaded: LoadedRecords
    ) -> Batch:
        """Return columns with one value for each segment: [rows, segments, ...]."""
        how, count = self._packing, len(loaded.numbers)
        values = loaded.batch(0, count, how.documents) or {}
        most = int(pieces.segments.max(initial=0))
        columns = {}
        for name, column in values.items():
            if (
                not isinstance(column, np.ndarray)
                or len(column) != count
                or column.shape[1:] != how.shapes.get(name, ())
            ):
                raise DatasetError(
                    f"{self._view.place(int(loaded.numbers[0]))} and {count - 1} more: "
                    f"per_segment: field {name!r} has values of several shapes, or "
                    "records are corrupt; return arrays of one shape, or leave it out"
                )
            shape = (part.rows, most, *column.shape[1:])
            is_mask = name not in how.documents
            filler = False if is_mask else self._filler(name, column)
            columns[name] = np.full(shape, filler, column.dtype)
            columns[name][pieces.rows, pieces.segments - 1] = column[pieces.lists]
        return columns

    def cut(self, columns: Batch) -> Batch:
        """Return rows with as many places for segments as the row with most of them."""
        how = self._packing
        if not how.documents:
            return columns
        counts = columns[f"{how.name}_segments"].max(axis=1, initial=0)
        most = int(counts.max(initial=0))
        found = {}
        for name, column in columns.items():
            field = name.removesuffix("_present")
            image = self._view.decoder.record.sizes.get(name)
            if not {name, field, image}.isdisjoint(how.documents):
                column = column[:, :most]
            is_added = field != name and field not in self._view.decoder.collators
            if is_added and (column == (np.arange(most) < counts[:, np.newaxis])).all():
                continue  # as in batches, which have it if a value is missing
            found[name] = column
        return found


@dataclass(frozen=True)
class RowBuffer:
    """Rows to be filled.

    Attributes:
        rows: how many there are.
        size: how many items each has.
        pieces: what is in them.
        sources: int64 [P], where each piece begins among the items of all lists.
    """

    rows: int
    size: int
    pieces: Pieces
    sources: Rows

    def packed(self, items: Any, filler: Any) -> Any:
        """Return the items of all lists in their rows: [rows, size, ...]."""
        dtype = np.dtype(object) if items.dtype.kind in "US" else items.dtype
        found = np.full((self.rows * self.size, *items.shape[1:]), filler, dtype)
        for source, length, place, _ in self._pieces():
            found[place : place + length] = items[source : source + length]
        return found.reshape(self.rows, self.size, *items.shape[1:])

    @property
    def segments(self) -> Any:
        """Which piece of its row each item is of, from 1; 0 for padding: int32."""
        found = np.zeros(self.rows * self.size, np.int32)
        for _, length, place, segment in self._pieces():
            found[place : place + length] = segment
        return found.reshape(self.rows, self.size)

    @property
    def positions(self) -> Any:
        """The place of each item in its piece, from 0; 0 for padding: int32."""
        found = np.zeros(self.rows * self.size, np.int32)
        places = np.arange(self.size, dtype=np.int32)
        for _, length, place, _ in self._pieces():
            found[place : place + length] = places[:length]
        return found.reshape(self.rows, self.size)

    def _pieces(self) -> Iterator[tuple[int, int, int, int]]:
        # Copying each piece is faster than an index of all items.
        pieces, places = self.pieces, self.pieces.rows * self.size + self.pieces.places
        columns = (self.sources, pieces.lengths, places, pieces.segments)
        return zip(*(column.tolist() for column in columns), strict=True)


class PackedColumns:
    """Packed rows.

    Args:
        view: of which.
        numbers: int64 [N], of the rows.
        columns: all of them.
    """

    def __init__(self, view: PackedRows, numbers: Rows, columns: Batch) -> None:
        self.numbers = numbers
        self._view = view
        self._columns = columns

    def batch(
        self, start: int, stop: int, fields: tuple[str, ...] | None = None
    ) -> Batch | None:
        some = {name: each[start:stop] for name, each in self._columns.items()}
        return self._view.cut(some)


def packed_rows(
    view: View,
    epoch: Epoch,
    pack: Any,
    too_long: TooLong,
    per_segment: Sequence[str] | None,
) -> PackedRows:
    """Return the packed rows of an epoch.

    Args:
        view: the records.
        epoch: their order.
        pack: a dict of one list and the length of a row.
        too_long: what becomes of longer lists.
        per_segment: the names of fields with one value for each segment.

    Raises:
        DatasetError: an option is wrong, a record is corrupt, or a function fails.
    """
    if not isinstance(pack, Mapping) or len(pack) != 1:
        raise DatasetError(
            f"pack={pack!r}: expected one field and the length of a row, such as "
            "{'tokens': 2048}; fields of its group are packed with it"
        )
    [(name, size)] = pack.items()
    size = integer(f"pack[{name!r}]", size, 1)
    check_list(view, name, f"pack={pack!r}")
    check_choice("too_long", too_long, TooLong)
    if isinstance(per_segment, str):
        raise DatasetError(
            f"per_segment={per_segment!r}: expected a list of names, such as "
            f"[{per_segment!r}]"
        )
    documents = tuple(per_segment or ())
    if not view.changed:
        _check_documents(view, documents)
    listed = lists_of(view.decoder)
    group = group_of(listed.get(name))
    others = (n for n, kind in listed.items() if group and group_of(kind) == group)
    lists = tuple(dict.fromkeys((name, *others)))
    packing = Packing(name, size, too_long, lists, documents, {})
    narrow = view.only((*lists, *documents))
    if view.changed or documents:
        packing = _completed(narrow, packing, epoch)
    return PackedRows(narrow, packing, epoch)


def _check_documents(view: View, names: tuple[str, ...]) -> None:
    """Refuse fields of the schema whose values do not have one shape."""
    decoder = view.decoder
    codecs = {name: decoder.record[name] for name in decoder.fields}
    known = [
        name
        for name, codec in codecs.items()
        if "." not in codec.label and None not in codec.delivered.shape
    ]
    for name in names:
        if name not in known:
            words = (
                f"per_segment: {name!r} is not a field whose values have one shape: "
                f"expected some of {', '.join(known) or 'none'}"
            )
            raise DatasetError(with_suggestion(words, name, known))


def _completed(view: View, packing: Packing, epoch: Epoch) -> Packing:
    """Return a packing with the lists that a function has added, and shapes of values.

    Both are those of the first record whose list is not empty, and whose values are not
    missing if the schema does not know them.
    """
    unknown = packing.documents if view.changed else ()
    unknown = tuple(n for n in unknown if n not in view.decoder.collators)
    stored, steps = view.numbers(np.arange(len(view))), view.steps(epoch)
    # Not as a list: the first one is mostly the one.
    for at in np.flatnonzero(view.lengths(packing.name, stored, epoch)):
        loaded = steps.read(stored[at : at + 1])
        _, rows = loaded.rows()
        if not rows:  # corrupt in another field
            continue
        if any(rows[0].get(name, 0) is None for name in unknown):
            continue
        added = _added(view, packing, rows[0])
        if view.changed and not view.is_sequential:
            _check_added(view, packing, epoch, added)
        columns = loaded.batch(0, 1, packing.documents) or {}
        for name, column in columns.items():
            if not isinstance(column, np.ndarray):
                raise DatasetError(
                    f"{view.place(int(loaded.numbers[0]))}: per_segment: field {name!r} "
                    "is not a value of one shape; leave it out"
                )
        return replace(
            packing,
            lists=(*packing.lists, *added),
            shapes={name: column.shape[1:] for name, column in columns.items()},
        )
    return packing


def _added(view: View, packing: Packing, row: Row) -> list[str]:
    """Return the names of the lists that functions have added to a record."""
    record = view.decoder.record
    others = {*record.fields, *record.sizes, *packing.documents, *packing.lists}
    return [
        name for name, value in row.items() if name not in others and _is_list(value)
    ]


def _check_added(view: View, packing: Packing, epoch: Epoch, added: list[str]) -> None:
    """Refuse splits of a mixture whose functions add different lists.

    Some records of the whole order tell it.
    """
    places = np.unique(np.linspace(0, len(view) - 1, _COMPARED).astype(np.int64))
    numbers, rows = view.steps(epoch).read(view.numbers(places)).rows()
    for number, row in zip(numbers.tolist(), rows, strict=True):
        odd = {*_added(view, packing, row)} - {*added}
        if odd:
            raise DatasetError(
                f"{view.place(number)}: pack: field {min(odd)!r} is a list here and is not "
                "in other records; return it for all of them, also of other splits of a "
                "mixture, or leave it out"
            )


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or bool(getattr(value, "shape", ()))
