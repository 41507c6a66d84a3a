"""Many records at once, as columns: for each key the rows that have it, and its values.

Decoding finds columns in pieces, in any order of rows, which are joined here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .message import BYTES, FLOAT, INT64, NOTHING, Feature, Message
from .records import Records

Rows = NDArray[np.int64]

# From here on slices are copied one by one; below, by their bytes' positions.
_LONG = 64

_DTYPES = {BYTES: np.int64, FLOAT: np.float32, INT64: np.int64}


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
    """

    key: str
    kind: str
    rows: Rows
    lengths: Rows
    values: NDArray[Any]
    data: NDArray[np.uint8]

    def __len__(self) -> int:
        """Return how many records, or steps, have it."""
        return len(self.rows)

    @property
    def starts(self) -> Rows:
        """int64 [M]: where the values of each row begin in `values`."""
        return _starts(self.lengths)

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

    def bytes_values(self) -> Iterator[bytes]:
        """Yield all bytes values."""
        view = memoryview(self.data.data)
        return (bytes(view[start:stop]) for start, stop in self.values.tolist())


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


@dataclass(frozen=True)
class Malformed:
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
    """

    records: Records
    by_key: Mapping[str, tuple[Column, ...]]
    steps: Mapping[str, StepColumn]
    sequences: NDArray[np.bool_]
    malformed: tuple[Malformed, ...] = ()
    unknown: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    repeated: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    unusual: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


def column_of(by_key: Mapping[str, tuple[Column, ...]], key: str, kind: str) -> Column:
    """Return the column of a key and a kind; it is empty if no record has the key."""
    for column in by_key.get(key, ()):
        if column.kind == kind:
            return column
    nothing = np.empty(0, np.int64)
    values = np.empty((0, 2) if kind == BYTES else 0, _DTYPES.get(kind, np.int64))
    return Column(key, kind, nothing, nothing, values, np.empty(0, np.uint8))


def gathered(
    data: NDArray[np.uint8], view: memoryview, starts: Rows, stops: Rows
) -> NDArray[np.uint8]:
    """Return the bytes of several places, one after the other."""
    sizes = stops - starts
    total = int(sizes.sum())
    if total == 0:
        return np.empty(0, np.uint8)
    if total >= _LONG * len(sizes):
        pairs = zip(starts.tolist(), stops.tolist(), strict=True)
        return np.frombuffer(bytearray().join([view[a:b] for a, b in pairs]), np.uint8)
    if (sizes == sizes[0]).all():
        return data[starts[:, np.newaxis] + np.arange(sizes[0])].reshape(-1)
    shifts = starts - (np.cumsum(sizes) - sizes)
    return data[np.repeat(shifts, sizes) + np.arange(total)]


class Piece(NamedTuple):
    """Features of one kind, as in Column; the rows in any order."""

    rows: Rows
    lengths: Rows
    values: NDArray[Any]


class Pieces:
    """Pieces of the columns of some records.

    Attributes:
        features: by key and kind.
        steps: rows and their numbers of steps, by the key of feature lists.
        step_features: features of steps, by key and kind; their rows are
            row * 2 ** 32 + step.
    """

    def __init__(self) -> None:
        self.features: dict[tuple[str, str], list[Piece]] = {}
        self.steps: dict[str, list[tuple[Rows, Rows]]] = {}
        self.step_features: dict[tuple[str, str], list[Piece]] = {}

    def add_message(self, message: Message, row: int, start: int) -> None:
        """Add a record that was read alone, and begins at `start` of the memory."""
        for key, feature in message.features.items():
            piece = _piece_of(feature, row, start)
            self.features.setdefault((key, feature.kind), []).append(piece)
        for key, features in message.lists.items():
            counts = np.array([row], np.int64), np.array([len(features)], np.int64)
            self.steps.setdefault(key, []).append(counts)
            for number, feature in enumerate(features):
                piece = _piece_of(feature, (row << 32) + number, start)
                self.step_features.setdefault((key, feature.kind), []).append(piece)

    def columns(self, data: NDArray[np.uint8]) -> dict[str, tuple[Column, ...]]:
        """Return the columns of each key, sorted; `data` is the memory of the records."""
        found: dict[str, tuple[Column, ...]] = {}
        for (key, kind), pieces in self.features.items():
            found[key] = (*found.get(key, ()), _column(key, kind, pieces, data))
        return dict(sorted(found.items()))

    def step_columns(self, data: NDArray[np.uint8]) -> dict[str, StepColumn]:
        """Return the feature lists of each key, sorted."""
        return {key: self._step_column(key, data) for key in sorted(self.steps)}

    def _step_column(self, key: str, data: NDArray[np.uint8]) -> StepColumn:
        rows, steps = map(np.concatenate, zip(*self.steps[key], strict=True))
        order = np.argsort(rows, kind="stable")
        rows, steps = rows[order], steps[order]
        firsts = _starts(steps)
        columns = []
        for kind in (BYTES, FLOAT, INT64, NOTHING):
            if (key, kind) not in self.step_features:
                continue
            column = _column(key, kind, self.step_features[key, kind], data)
            owners, numbers = column.rows >> 32, column.rows & 0xFFFF_FFFF
            numbers = firsts[np.searchsorted(rows, owners)] + numbers
            columns.append(replace(column, rows=numbers))
        return StepColumn(key, rows, steps, tuple(columns))


def _starts(lengths: Rows) -> Rows:
    ends: Rows = np.cumsum(lengths, dtype=np.int64)
    return ends - lengths


def _piece_of(feature: Feature, row: int, start: int) -> Piece:
    values: NDArray[Any]
    if feature.kind == BYTES:
        values = np.array(feature.values, np.int64).reshape(-1, 2) + start
    else:
        values = np.array(feature.values, _DTYPES.get(feature.kind, np.int64))
    return Piece(
        np.array([row], np.int64), np.array([len(feature.values)], np.int64), values
    )


def _column(
    key: str, kind: str, pieces: Sequence[Piece], data: NDArray[np.uint8]
) -> Column:
    """Join the pieces of one key and kind, sorted by their rows."""
    rows, lengths, values = pieces[0]
    if len(pieces) > 1:
        rows, lengths, values = map(np.concatenate, zip(*pieces, strict=True))
    if (rows[1:] < rows[:-1]).any():
        order = np.argsort(rows, kind="stable")
        starts = _starts(lengths)[order]
        rows, lengths = rows[order], lengths[order]
        shifts = np.repeat(starts - _starts(lengths), lengths)
        values = values[shifts + np.arange(int(lengths.sum()))]
    return Column(key, kind, rows, lengths, values, data)
