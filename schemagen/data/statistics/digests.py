"""64-bit digests of records and of single values, in which duplicates show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...runtime.cells.columns import Column, Columns, Rows, extents
from ...runtime.native import BYTES, INT64, digests

Digested = NDArray[np.uint64]

_NONE = np.empty(0, np.uint64)

# A value of a group is shown by so many of its bytes.
_SHOWN_BYTES = 128


@dataclass(frozen=True)
class GroupValues:
    """The values of a key by which records are grouped, such as a speaker.

    Attributes:
        rows: int64 [M], ascending: the records that have a single integer or a single
            bytes value.
        digests: [M], of these.
        names: each different value by its digest, or how it begins.
    """

    rows: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    digests: Digested = field(default_factory=_NONE.copy)
    names: Mapping[int, int | bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Digests:
    """The digests of some records.

    Attributes:
        records: [N], of the bytes of each record.
        values: by key, of each value, where records have a single integer or a single
            bytes value, or one under each of numbered keys. It is empty for a key whose values repeat too often to
            identify a record.
        groups: by key, the values of keys by which records are grouped, if any were
            asked for.
    """

    records: Digested = field(default_factory=_NONE.copy)
    values: Mapping[str, Digested] = field(default_factory=dict)
    groups: Mapping[str, GroupValues] = field(default_factory=dict)


def merged_digests(parts: Sequence[Digests], keys: Iterable[str]) -> Digests:
    """Return the digests of all parts, of the values of some keys."""
    some = {key: [p.values[key] for p in parts if key in p.values] for key in keys}
    ends = np.cumsum([len(part.records) for part in parts], dtype=np.int64)
    starts = [0, *ends.tolist()]
    grouped = dict.fromkeys(key for part in parts for key in part.groups)
    none = GroupValues()
    groups = {
        key: _merged_groups([part.groups.get(key, none) for part in parts], starts)
        for key in grouped
    }
    return Digests(
        np.concatenate([_NONE, *(part.records for part in parts)]),
        {
            key: np.concatenate(v) if all(map(len, v)) else _NONE
            for key, v in some.items()
            if v
        },
        groups,
    )


def _merged_groups(parts: Sequence[GroupValues], starts: Sequence[int]) -> GroupValues:
    """Return the values of all parts, whose records begin at these numbers."""
    rows = [part.rows + start for part, start in zip(parts, starts, strict=False)]
    return GroupValues(
        np.concatenate(rows),
        np.concatenate([part.digests for part in parts]),
        {digest: name for part in parts for digest, name in part.names.items()},
    )


def digests_of(
    columns: Columns, keys: Iterable[str], groups: Iterable[str] = ()
) -> Digests:
    """Return the digests of some records, and of their values of some keys.

    Args:
        columns: the records.
        keys: those whose values may identify a record.
        groups: the keys by which records are grouped.
    """
    records = columns.records
    extents = np.stack([records.starts, records.stops], axis=1)
    every = {key: columns.by_key.get(key, ()) for key in keys}
    values = {
        key: _values(some[0])
        for key, some in every.items()
        if len(some) == 1 and some[0].kind in (BYTES, INT64)
    }
    grouped = {key: _group(columns.by_key.get(key, ())) for key in groups}
    return Digests(digests(records.data, extents), values, grouped)


def _group(columns: Iterable[Column]) -> GroupValues:
    """Return the single values of a key."""
    some = [each for each in columns if each.kind in (BYTES, INT64)]
    singles = [column.only(column.lengths == 1) for column in some]
    names: dict[int, int | bytes] = {}
    for column in singles:
        found, first = np.unique(_digests(column), return_index=True)
        for digest, at in zip(found.tolist(), first.tolist(), strict=True):
            if column.kind == BYTES:
                names[digest] = column.bytes_at(at)[:_SHOWN_BYTES]
            else:
                names[digest] = int(column.values[at])
    none = GroupValues()
    rows = np.concatenate([none.rows, *(column.rows for column in singles)])
    every = np.concatenate([none.digests, *map(_digests, singles)])
    order = np.argsort(rows, kind="stable")
    return GroupValues(rows[order], every[order], names)


def _digests(column: Column) -> Digested:
    """Return the digest of each value."""
    if column.kind == INT64:
        found: Digested = column.values.astype(np.int64).view(np.uint64)
        return found
    return digests(column.data, column.values)


def digests_of_lists(values: NDArray[np.generic], lengths: Rows) -> Digested:
    """Return a digest of each list: uint64 [M].

    Args:
        values: the items of all lists.
        lengths: int64 [M], how many items each has.
    """
    return digests(
        np.ascontiguousarray(values).view(np.uint8),
        extents(lengths * values.itemsize),
    )


def _values(column: Column) -> Digested:
    if not column.keys and (column.lengths != 1).any():
        return _NONE
    found = _digests(column)
    if column.keys:
        found = digests_of_lists(found, column.lengths)
    return found if 2 * len(np.unique(found)) >= len(found) else _NONE
