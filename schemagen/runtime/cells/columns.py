"""Many records at once, as columns: for each key the rows that have it, and its values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..native import BYTES, FLOAT, INT64
from .serialized import Records

Rows = NDArray[np.int64]

WRITE_EXAMPLES = "schemagen reads no other records: write them as tf.train.Examples"
"""What to do about other records."""

# So many bytes values are made at a time: a place takes more memory than an empty value.
_PIECE = 4096

# An Example without a feature takes no more bytes, with or without its empty maps.
_EMPTY_BYTES = 4

_DTYPES = {BYTES: np.int64, FLOAT: np.float32, INT64: np.int64}

NO_BYTES = np.empty(0, np.uint8)
"""The memory of a column that has no bytes values."""

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")

# What was made of so many keys is kept: readers ask again for those of their fields.
_KEPT = 1000


class OnDemand(Mapping[str, _Made]):
    """What there is of each key, made when it is asked for.

    A record may have any number of keys, and most of them may be of no field.

    Args:
        given: of what it is made, by key, sorted.
        make: makes it.
    """

    def __init__(
        self, given: Mapping[str, _Given], make: Callable[[str, _Given], _Made]
    ) -> None:
        self._given: Mapping[str, Any] = given
        self._make = make
        self._made: dict[str, _Made] = {}

    def __getitem__(self, key: str) -> _Made:
        found = self._made.get(key)
        if found is None:
            found = self._make(key, self._given[key])
            if len(self._made) < _KEPT:
                self._made[key] = found
        return found

    def __contains__(self, key: object) -> bool:
        return key in self._given

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)


@dataclass(frozen=True)
class Column:
    """The features of one key that are of one kind.

    Attributes:
        key: the wire key.
        kind: "bytes", "float", "int64", or "" for features that hold no list.
        rows: int64 [M], the records that have it, ascending; of a step column, the
            steps, counted over all records.
        lengths: int64 [M], how many values each has.
        values: float32 or int64 [sum of lengths]; of bytes int64 [sum, 2], where each
            value begins and ends in `data`.
        data: uint8 [bytes], the memory that holds bytes values.
        keys: of rows with one value from each of several keys, these keys; or ().
    """

    key: str
    kind: str
    rows: Rows
    lengths: Rows
    values: NDArray[Any]
    data: NDArray[np.uint8]
    keys: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Return how many records, or steps, have it."""
        return len(self.rows)

    @property
    def starts(self) -> Rows:
        """int64 [M]: where the values of each row begin in `values`."""
        ends: Rows = np.cumsum(self.lengths, dtype=np.int64)
        return ends - self.lengths

    @property
    def sizes(self) -> Rows:
        """int64 [sum of lengths]: the size of each bytes value."""
        sizes: Rows = self.values[:, 1] - self.values[:, 0]
        return sizes

    def only(self, keep: NDArray[np.bool_]) -> Column:
        """Return some of the rows: bool [M]."""
        if keep.all():
            return self
        return replace(
            self,
            rows=self.rows[keep],
            lengths=self.lengths[keep],
            values=self.values[np.repeat(keep, self.lengths)],
        )

    def sums(self, values: Rows) -> Rows:
        """Return the sum in each row of a number for each value: int64 [M]."""
        totals = np.concatenate([[0], np.cumsum(values)])
        starts = self.starts
        sums: Rows = totals[starts + self.lengths] - totals[starts]
        return sums

    def bytes_at(self, value: int) -> bytes:
        """Return one bytes value, by its position in `values`."""
        start, stop = self.values[value]
        return self.data[start:stop].tobytes()

    def bytes_values(self, some: NDArray[np.bool_] | None = None) -> Iterator[bytes]:
        """Yield all bytes values, or some: bool [sum of lengths]."""
        view = memoryview(self.data.data)
        values = self.values if some is None else self.values[some]
        for at in range(0, len(values), _PIECE):
            for start, stop in values[at : at + _PIECE].tolist():
                yield bytes(view[start:stop])


@dataclass(frozen=True)
class StepColumn:
    """The feature lists of one key.

    Attributes:
        key: the wire key.
        rows: int64 [M], the records that have it, ascending.
        steps: int64 [M], how many steps each has.
        columns: the features of all steps in the order of the records, by kind.
    """

    key: str
    rows: Rows
    steps: Rows
    columns: tuple[Column, ...]


class Malformed(NamedTuple):
    """A record that is not a tf.train.Example.

    Attributes:
        row: its row.
        at: the position in the record at which it stops being one.
        reason: what is there.
    """

    row: int
    at: int
    reason: str


@dataclass(frozen=True)
class Columns:
    """Some records, read.

    Attributes:
        records: what was read.
        by_key: the columns of each key, one for each kind that occurs.
        steps: the feature lists of SequenceExamples, by key.
        sequences: bool [N], which records have a field of feature lists.
        malformed: the records that are in no column.
        unknown: what no Example has, and the rows that have it.
        repeated: keys that occur twice in a record, and the rows.
        unusual: keys of features that are not as protobuf writes them, or "" for the
            map of features, and the rows.
        expected: the keys whose one column is all that the plan says.
    """

    records: Records
    by_key: Mapping[str, tuple[Column, ...]]
    steps: Mapping[str, StepColumn]
    sequences: NDArray[np.bool_]
    malformed: tuple[Malformed, ...] = ()
    unknown: Mapping[str, Sequence[int]] = field(default_factory=dict)
    repeated: Mapping[str, Sequence[int]] = field(default_factory=dict)
    unusual: Mapping[str, Sequence[int]] = field(default_factory=dict)
    expected: Set[str] = frozenset()


def extents(sizes: Rows) -> Rows:
    """Return where bytes values begin and end that follow each other: int64 [N, 2].

    Args:
        sizes: int64 [N], of each value.
    """
    ends = np.cumsum(sizes)
    return np.stack([ends - sizes, ends], axis=1)


def column_of(by_key: Mapping[str, tuple[Column, ...]], key: str, kind: str) -> Column:
    """Return the column of a key and a kind; it is empty if no record has the key."""
    for column in by_key.get(key, ()):
        if column.kind == kind:
            return column
    nothing = np.empty(0, np.int64)
    values = np.empty((0, 2) if kind == BYTES else 0, _DTYPES.get(kind, np.int64))
    return Column(key, kind, nothing, nothing, values, np.empty(0, np.uint8))


def keyed_rows(columns: Columns) -> NDArray[np.bool_]:
    """Return which records have a key: bool [N].

    Other messages may happen to be read as unusual entries without a value.
    """
    found = np.zeros(len(columns.records), np.bool_)
    usual = np.ones(len(columns.records), np.bool_)
    usual[list(columns.unusual.get("", ()))] = False
    for some in columns.by_key.values():
        for column in some:
            rows = column.rows
            found[rows if column.kind else rows[usual[rows]]] = True
        if found.all():
            return found
    for lists in columns.steps.values():
        sure = any(column.kind for column in lists.columns)
        rows = lists.rows if sure else lists.rows[usual[lists.rows]]
        found[rows] = True
    return found


def other_rows(columns: Columns) -> NDArray[np.intp]:
    """Return the rows without a key that are more than an Example without a feature."""
    records = columns.records
    sizes = records.stops - records.starts
    return np.flatnonzero(~keyed_rows(columns) & (sizes > _EMPTY_BYTES))
