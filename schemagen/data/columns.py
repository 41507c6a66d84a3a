"""Many records at once, as columns: for each key who has it, of what kind, how long."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .message import BYTES
from .records import Records


@dataclass(frozen=True)
class Column:
    """The features of one key that are of one kind.

    Attributes:
        key: the wire key.
        kind: "bytes", "float", "int64", or "" for features that hold no list.
        rows: int64 [M], which records have it, ascending; of a step column, which
            steps, counted over all records.
        lengths: int64 [M], how many values each has.
        values: float32 or int64 [sum of lengths]; of bytes int64 [sum, 2], where each
            value begins and ends in `data`.
        data: uint8 [bytes], the memory in which bytes values stand.
    """

    key: str
    kind: str
    rows: NDArray[np.int64]
    lengths: NDArray[np.int64]
    values: NDArray[Any]
    data: NDArray[np.uint8]

    def __len__(self) -> int:
        """Return how many records, or steps, have it."""
        return len(self.rows)

    @property
    def starts(self) -> NDArray[np.int64]:
        """int64 [M]: where the values of each row begin in `values`."""
        ends: NDArray[np.int64] = np.cumsum(self.lengths, dtype=np.int64)
        return ends - self.lengths

    def bytes_at(self, value: int) -> bytes:
        """Return one bytes value, by its position in `values`."""
        start, stop = self.values[value]
        return self.data[start:stop].tobytes()

    def row_values(self, index: int) -> NDArray[Any] | list[bytes]:
        """Return the values of `rows[index]`; bytes values as a list."""
        start = int(self.lengths[:index].sum())
        stop = start + int(self.lengths[index])
        if self.kind == BYTES:
            return [self.bytes_at(at) for at in range(start, stop)]
        return self.values[start:stop]


@dataclass(frozen=True)
class StepColumn:
    """The feature lists of one key.

    Attributes:
        key: the wire key.
        rows: int64 [M], which records have it, ascending.
        steps: int64 [M], how many steps each has.
        columns: the features of all steps, those of a record one after the other, by
            kind.
    """

    key: str
    rows: NDArray[np.int64]
    steps: NDArray[np.int64]
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Malformed:
    """A record that is no tf.train.Example.

    Attributes:
        row: which of the records.
        at: the position in it from which on it is not.
        reason: what stands there.
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
        unknown: what no Example has, and which rows have it.
        repeated: keys that occur twice in a record, and in which rows.
        divergent: what tensorflow's parser does not read as protobuf does, with the key
            that it is under or "", and which rows have it.
    """

    records: Records
    by_key: Mapping[str, tuple[Column, ...]]
    steps: Mapping[str, StepColumn]
    sequences: NDArray[np.bool_]
    malformed: tuple[Malformed, ...] = ()
    unknown: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    repeated: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    divergent: Mapping[tuple[str, str], tuple[int, ...]] = field(default_factory=dict)
