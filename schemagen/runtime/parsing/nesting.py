"""Nested results: dicts of tensors, and the way to them and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..shared.requirements import tf
from .sparse import first_of_sparse


def nested(
    batch: Mapping[str, Any], paths: Mapping[str, tuple[str, ...]]
) -> dict[str, Any]:
    """Put tensors where they stand in nested dicts.

    Args:
        batch: tensors by name.
        paths: where the nested ones stand, by name; the others stay at the top.
    """
    found: dict[str, Any] = {}
    for name, tensor in batch.items():
        *outer, last = paths.get(name, (name,))
        place = found
        for step in outer:
            place = place.setdefault(step, {})
        place[last] = tensor
    return found


def flattened(batch: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the tensors of nested dicts by name: a path joined by `_`."""
    found: dict[str, Any] = {}
    for name, value in batch.items():
        if isinstance(value, Mapping):
            found |= flattened(value, f"{prefix}{name}_")
        else:
            found[prefix + name] = value
    return found


def first_record(batch: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first record of a batch, nested as the batch is."""
    return {name: _first(value) for name, value in batch.items()}


def _first(value: Any) -> Any:
    if isinstance(value, Mapping):
        return first_record(value)
    return first_of_sparse(value) if isinstance(value, tf.SparseTensor) else value[0]
