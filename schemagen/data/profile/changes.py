"""Records that two datasets both have, with other bytes: which fields and values changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...runtime.cells import columns as cells
from ...runtime.cells.decoding import decode
from ...runtime.cells.message import Feature, parse_message
from ...runtime.cells.serialized import Records
from ...runtime.native import BYTES, FLOAT, INT64, digests
from ...runtime.shared.errors import DatasetError
from ...runtime.shared.tfrecord import MOST_RECORD_BYTES
from ..formatting import decoded, hexadecimal, key_name, quoted
from ..framing import Damage, scan, whole_range
from ..sources import Data
from ..statistics.digests import Digested, digests_of_lists
from .columns import ColumnProfile, SplitProfile
from .duplicates import Position, SplitPositions
from .profile import Profile

Rows = NDArray[np.intp]

Shown = Callable[[ColumnProfile, bytes], str]
"""Returns the values of a record in a column, for people."""

MOST_COMPARED = 10_000
"""So many changed records of a split are compared, the first ones."""

EXAMPLES = 1_000
"""So many records are named, the first ones."""

# Values of two kinds have other digests.
_KINDS = {BYTES: np.uint64(1), FLOAT: np.uint64(2), INT64: np.uint64(3)}

# An odd number by which the digest of one key is told from that of the next one.
_NEXT = np.uint64(0x9E37_79B9_7F4A_7C15)

# Of bytes whose texts are equal, so many are shown from the first one on that differs.
_BYTES = 16


@dataclass(frozen=True)
class ValueChange:
    """A field of a record that has other values in the second dataset.

    Attributes:
        field: the name of the field, or the key without a schema.
        key: the key of the field in the files.
        before: the values in the first dataset, for people; None if it is missing there.
        after: the values in the second dataset, likewise.
    """

    field: str
    key: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class RecordChange:
    """A record that has other bytes in the second dataset.

    Attributes:
        key_value: the value that identifies it, for people.
        before: where it is in the first dataset.
        after: where it is in the second one.
        fields: its fields that changed; empty if it has other bytes and equal values.
    """

    key_value: str
    before: Position
    after: Position
    fields: tuple[ValueChange, ...]


@dataclass(frozen=True)
class FieldChange:
    """A field that changed.

    Attributes:
        field: the name of the field, or the key without a schema.
        key: the key of the field in the files.
        records: in how many of the compared records it has other values.
    """

    field: str
    key: str
    records: int


@dataclass(frozen=True)
class Changes:
    """The records of a split that have other bytes in the second dataset.

    Attributes:
        records: how many there are; 0 without a key.
        compared: how many of them were compared field by field: the first ones.
        equal: how many of these have other bytes and equal values.
        fields: what changed in them, the most frequent field first.
        examples: the first records whose values changed; if there are none, the first
            ones with equal values.
    """

    records: int = 0
    compared: int = 0
    equal: int = 0
    fields: tuple[FieldChange, ...] = ()
    examples: tuple[RecordChange, ...] = ()


@dataclass(frozen=True)
class Unmatched:
    """A record that the other dataset lacks.

    Attributes:
        key_value: the value that identifies it, for people; None without a key.
        place: where it is.
    """

    key_value: str | None
    place: Position


@dataclass(frozen=True)
class Dataset:
    """One of two datasets that are compared.

    Attributes:
        name: what to call it.
        data: its files.
        profile: what is known of them, with digests.
        max_record_bytes: longer records are damage and were not read.
    """

    name: str
    data: Data
    profile: Profile
    max_record_bytes: int = MOST_RECORD_BYTES


@dataclass(frozen=True)
class Side:
    """A split of one of two datasets, whose records can be read again.

    Attributes:
        dataset: the dataset.
        split: the split.
        key: the key whose values identify its records; "" for their bytes.
    """

    dataset: Dataset
    split: SplitProfile
    key: str

    @cached_property
    def places(self) -> SplitPositions:
        """Where its records are."""
        return SplitPositions.of(self.split, self.dataset.profile.statistics.files)

    @cached_property
    def columns(self) -> dict[tuple[str, bool], ColumnProfile]:
        """Its columns, by their key and whether they are feature lists."""
        return {(each.key, each.steps): each for each in self.dataset.profile.columns}

    @property
    def values(self) -> Digested:
        """The digests of its values of the key: [N].

        Raises:
            DatasetError: these do not identify records.
        """
        found = self.split.found.digests
        if not len(found.records):
            return found.records
        values = found.values.get(self.key)
        if values is None or len(values) != len(found.records):
            raise DatasetError(
                f"{self.dataset.profile.where}: split {self.split.label!r}: the values "
                f"of {self.key!r} do not identify records; expected a single integer or "
                "text in each record that seldom repeats"
            )
        return values

    def unmatched(self, rows: Rows, shown: Shown) -> tuple[Unmatched, ...]:
        """Return the first of the records that the other dataset lacks.

        Args:
            rows: all of them.
            shown: returns values for people.
        """
        places = [self.places.place(row) for row in rows[:EXAMPLES].tolist()]
        if not self.key:
            return tuple(Unmatched(None, place) for place in places)
        records = self.records(rows[:EXAMPLES])
        return tuple(
            Unmatched(shown(self.columns[self.key, False], record), place)
            for record, place in zip(records, places, strict=True)
        )

    def read(self, rows: Rows) -> Iterator[tuple[Rows, Records]]:
        """Read some records again, file by file, up to the last one of each.

        Args:
            rows: which, in any order: [N].

        Yields:
            Places in `rows`, and the records of these. They are valid until the next
            ones are asked for.

        Raises:
            DatasetError: a file was changed since it was read.
        """
        files = {file.path: file for file in self.dataset.data.files}
        order = np.argsort(rows)
        start = done = 0
        for file in self.places.files:
            stop = int(np.searchsorted(rows[order], start + file.records))
            some, done = order[done:stop], stop
            runs = scan(
                whole_range(files[file.path]),
                max_record_bytes=self.dataset.max_record_bytes,
            )
            for at, records in _taken(runs, rows[some] - start, file.path):
                yield some[at], records
            start += file.records

    def records(self, rows: Rows) -> list[bytes]:
        """Return the bytes of a few records, in the order of their rows."""
        found = [b""] * len(rows)
        for places, records in self.read(rows):
            for at, row in enumerate(places.tolist()):
                found[row] = records[at]
        return found

    def digests(
        self, rows: Rows, wanted: Mapping[tuple[str, bool], ColumnProfile]
    ) -> dict[tuple[str, bool], Digested]:
        """Return digests of the values of records: for each key [N], 0 where it is missing.

        Args:
            rows: the records: [N].
            wanted: the keys, as in `columns`.
        """
        found = {each: np.zeros(len(rows), np.uint64) for each in wanted}
        for places, records in self.read(rows):
            columns = decode(records)
            for (key, is_steps), out in found.items():
                if is_steps:
                    steps = columns.steps.get(key)
                    if steps is not None:
                        out[places[steps.rows]] = _digests_of_steps(steps)
                    continue
                for wire in wanted[key, is_steps].keys:
                    out[places] *= _NEXT
                    for column in _with_lists(columns.by_key.get(wire, ())):
                        out[places[column.rows]] += _digests_of_rows(column)
        return found


def _taken(
    runs: Iterable[Records | Damage], wanted: Rows, file: str
) -> Iterator[tuple[slice, Records]]:
    """Yield those records of a file that are wanted, by their sorted numbers.

    Only good records count, so that damage between them does not matter.
    """
    done = first = 0
    for run in runs if len(wanted) else ():
        if isinstance(run, Damage):
            continue
        stop = int(np.searchsorted(wanted, first + len(run)))
        if stop > done:
            yield slice(done, stop), run.only(wanted[done:stop] - first)
        done, first = stop, first + len(run)
        if done == len(wanted):
            return
    if done < len(wanted):
        raise DatasetError(f"{file}: this file was changed while it was compared")


def _with_lists(columns: Iterable[cells.Column]) -> Iterator[cells.Column]:
    """Yield the columns whose features are not read as missing."""
    return (column for column in columns if column.kind)


def _digests_of_rows(column: cells.Column) -> Digested:
    """Return a digest of the values of each row, in which their kind shows: uint64 [M]."""
    values = column.values
    if column.kind == BYTES:
        values = digests(column.data, values)
    elif column.kind == FLOAT:  # one NaN is like another
        values = np.where(np.isnan(values), values.dtype.type(np.nan), values)
    found: Digested = digests_of_lists(values, column.lengths) ^ _KINDS[column.kind]
    return found


def _digests_of_steps(steps: cells.StepColumn) -> Digested:
    """Return a digest of the steps of each row: uint64 [M]."""
    found = np.zeros(int(steps.steps.sum()), np.uint64)
    for column in _with_lists(steps.columns):
        found[column.rows] = _digests_of_rows(column)
    return digests_of_lists(found, steps.steps)


def changes_of(
    sides: tuple[Side, Side], rows: tuple[Rows, Rows], shown: Shown
) -> Changes:
    """Compare changed records field by field.

    Args:
        sides: a split in both datasets.
        rows: the records in each of them, in pairs: [N].
        shown: returns values for people.

    Raises:
        DatasetError: a file was changed since it was read.
    """
    if not len(rows[0]):
        return Changes()
    first = [some[:MOST_COMPARED] for some in rows]
    columns = sides[0].columns | sides[1].columns
    before, after = (
        side.digests(some, columns) for side, some in zip(sides, first, strict=True)
    )
    differ = {key: before[key] != after[key] for key in columns}
    changed = np.zeros(len(first[0]), np.bool_)
    for each in differ.values():
        changed |= each
    counts = {key: int(np.count_nonzero(each)) for key, each in differ.items()}
    fields = [
        FieldChange(columns[key].name, columns[key].key, count)
        for key, count in counts.items()
        if count
    ]
    some = np.flatnonzero(changed if changed.any() else ~changed)[:EXAMPLES]
    pairs = zip(
        *(side.records(each[some]) for side, each in zip(sides, first, strict=True)),
        strict=True,
    )
    examples = []
    for row, records in zip(some.tolist(), pairs, strict=True):
        values = []
        for key, column in columns.items():
            if differ[key][row]:
                there = bool(before[key][row]), bool(after[key][row])
                values.append(_value_change(column, sides, records, there, shown))
        first_row, second_row = (int(each[row]) for each in first)
        examples.append(
            RecordChange(
                shown(sides[0].columns[sides[0].key, False], records[0]),
                sides[0].places.place(first_row),
                sides[1].places.place(second_row),
                tuple(values),
            )
        )
    return Changes(
        records=len(rows[0]),
        compared=len(changed),
        equal=len(changed) - int(np.count_nonzero(changed)),
        fields=tuple(sorted(fields, key=lambda field: -field.records)),
        examples=tuple(examples),
    )


def _value_change(
    column: ColumnProfile,
    sides: tuple[Side, Side],
    records: tuple[bytes, bytes],
    there: tuple[bool, bool],
    shown: Shown,
) -> ValueChange:
    """Return how the values of a record differ in a column.

    Args:
        column: the column.
        sides: the split in both datasets, whose own columns show the values.
        records: the record in both.
        there: whether it has the column, in both.
        shown: returns values for people.
    """
    key = column.key, column.steps
    before, after = (
        shown(side.columns.get(key, column), record) if has else None
        for side, record, has in zip(sides, records, there, strict=True)
    )
    if before == after:
        before, after = _first_difference(column, records)
    return ValueChange(column.name, column.key, before, after)


def _first_difference(
    column: ColumnProfile, records: tuple[bytes, bytes]
) -> tuple[str, str]:
    """Return the first values that differ in a column, whose texts are equal."""
    lists = (_values(column, record) for record in records)
    for step, both in enumerate(zip_longest(*lists, fillvalue=("", []))):
        (kind, values), (other_kind, others) = both
        place = [key_name(column.keys[step])] if len(column.keys) > 1 else []
        if kind != other_kind:
            head = "".join(f"{each}: " for each in place)
            return f"{head}{kind or 'no list'}", f"{head}{other_kind or 'no list'}"
        for at, (one, other) in enumerate(zip_longest(values, others)):
            if one != other:
                where = [f"step {step:,}"] if column.steps else place
                where += [f"value {at:,}"] if at or len(others) > 1 else []
                start = 0
                if isinstance(one, bytes) and isinstance(other, bytes):
                    start = _common(one, other)
                    where.append(f"byte {start:,}")
                head = f"{', '.join(where)}: " if where else ""
                return f"{head}{_exact(one, start)}", f"{head}{_exact(other, start)}"
    raise AssertionError("the values are equal")


def _values(column: ColumnProfile, record: bytes) -> list[tuple[str, list[Any]]]:
    """Return the kind and the values of a column in a record, of each step.

    Numbers are texts with all of their digits, in which NaN is equal to NaN.
    """
    message = parse_message(record)
    if column.steps:
        features = message.lists[column.key]
    else:
        features = [message.features.get(key, Feature()) for key in column.keys]
    found: list[tuple[str, list[Any]]] = []
    for each in features:
        values: list[Any]
        if each.kind == BYTES:
            values = [record[start:stop] for start, stop in each.values]
        else:
            exact = np.float32 if each.kind == FLOAT else int
            values = [str(exact(value)) for value in each.values]
        found.append((each.kind, values))
    return found


def _common(one: bytes, other: bytes) -> int:
    """Return how many bytes are equal at the beginning."""
    size = min(len(one), len(other))
    differ = np.frombuffer(one[:size], np.uint8) != np.frombuffer(
        other[:size], np.uint8
    )
    return int(np.argmax(differ)) if differ.any() else size


def _exact(value: str | bytes | None, start: int) -> str:
    """Return a value from a byte on; None is the end of a list."""
    if value is None:
        return "no value"
    if isinstance(value, str):
        return value
    text = decoded(value[start : start + _BYTES])
    return quoted(text, _BYTES) if text else hexadecimal(value[start:], _BYTES)
