"""64-bit digests of records and of single values, in which duplicates show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...runtime.cells.columns import Column, Columns
from ...runtime.native import BYTES, INT64, digests

Digested = NDArray[np.uint64]

_NONE = np.empty(0, np.uint64)


@dataclass(frozen=True)
class Digests:
    """The digests of some records.

    Attributes:
        records: [N], of the bytes of each record.
        values: by key, of each value, where records have a single integer or a single
            bytes value. It is empty for a key whose values repeat too often to
            identify a record.
    """

    records: Digested = field(default_factory=_NONE.copy)
    values: Mapping[str, Digested] = field(default_factory=dict)


def merged_digests(parts: Sequence[Digests], keys: Iterable[str]) -> Digests:
    """Return the digests of all parts, of the values of some keys."""
    some = {key: [p.values[key] for p in parts if key in p.values] for key in keys}
    return Digests(
        np.concatenate([_NONE, *(part.records for part in parts)]),
        {
            key: np.concatenate(v) if all(map(len, v)) else _NONE
            for key, v in some.items()
            if v
        },
    )


def digests_of(columns: Columns, keys: Iterable[str]) -> Digests:
    """Return the digests of some records, and of their values of some keys."""
    records = columns.records
    extents = np.stack([records.starts, records.stops], axis=1)
    every = {key: columns.by_key.get(key, ()) for key in keys}
    values = {
        key: _values(some[0])
        for key, some in every.items()
        if len(some) == 1 and some[0].kind in (BYTES, INT64)
    }
    return Digests(digests(records.data, extents), values)


def _values(column: Column) -> Digested:
    if (column.lengths != 1).any():
        return _NONE
    if column.kind == INT64:
        found: Digested = column.values.astype(np.int64).view(np.uint64)
    else:
        found = digests(column.data, column.values)
    return found if 2 * len(np.unique(found)) >= len(found) else _NONE
