"""Fields under numbered keys. Only a schema says of keys that they are of one field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...runtime.cells.columns import Column, Columns, OnDemand
from .model import by_name

if TYPE_CHECKING:
    from ...spec.model import RecordSpec

Numbered = Mapping[str, Sequence[str]]
"""The keys of fields under numbered keys, by the first one."""


def numbered_of(spec: RecordSpec | None) -> dict[str, Sequence[str]]:
    """Return the fields whose values have a key each."""
    every = {field.key: field.numbered_keys for field in (spec.fields if spec else ())}
    return {key: keys for key, keys in every.items() if len(keys) > 1}


def with_numbered(columns: Columns, numbered: Numbered) -> Columns:
    """Return columns in which the first key of a field has the values of all of them."""
    if not numbered:
        return columns
    first = {key: keys[0] for keys in numbered.values() for key in keys}
    kept = sorted({first.get(key, key) for key in columns.by_key})

    def made(key: str, _: str) -> tuple[Column, ...]:
        if key not in numbered:
            return columns.by_key[key]
        every = (columns.by_key.get(each, ()) for each in numbered[key])
        kinds = by_name({each.kind: each} for some in every for each in some)
        return tuple(_joined(key, same, len(numbered[key])) for same in kinds.values())

    return replace(columns, by_key=OnDemand({key: key for key in kept}, made))


def _joined(key: str, columns: Sequence[Column], count: int) -> Column:
    """Return the values of columns of one kind, one after the other in each row."""
    owners = np.concatenate([np.repeat(each.rows, each.lengths) for each in columns])
    values = np.concatenate([each.values for each in columns])
    rows = np.unique(np.concatenate([each.rows for each in columns]))
    lengths = np.bincount(np.searchsorted(rows, owners), minlength=len(rows))
    keys = tuple(each.key for each in columns)
    return replace(
        columns[0],
        key=key,
        rows=rows,
        lengths=lengths,
        values=values[np.argsort(owners, kind="stable")],
        keys=keys if (lengths == count).all() else (),
    )
