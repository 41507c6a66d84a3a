"""Nested values: dicts and models in rows, dicts of tensors in batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..shared.errors import Problem, RecordError, did_you_mean
from ..shared.requirements import lazy_tf as tf
from ..shared.values import described, raising


def nested(
    batch: Mapping[str, Any], paths: Mapping[str, tuple[str, ...]]
) -> dict[str, Any]:
    """Put tensors into their places in nested dicts.

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
    if not isinstance(value, tf.SparseTensor):
        return value[0]
    alone = tf.SparseTensor(value.indices[:, 1:], value.values, value.dense_shape[1:])
    alone.set_shape(value.shape[1:])
    return alone


def nested_members(
    name: str, value: Any, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return the members of a nested value; None for optional ones that are not given.

    Args:
        name: what to call the value in errors.
        value: a dict, or an instance of a pydantic model.
        required: the names that have to be there.
        optional: the names that may be.

    Raises:
        RecordError: no such value, or a name too few or too many.
    """
    names = (*required, *optional)
    try:
        if hasattr(type(value), "model_fields"):
            value = dict(value)
        return _members(name, value, names, required)
    except RecordError:
        raise
    except Exception as error:  # of a mapping's own
        listed = ", ".join(map(repr, names))
        problem = raising(value, error, f"a dict with {listed}")
        raise RecordError.of(problem, name) from error


def _members(
    name: str, value: Any, names: tuple[str, ...], required: tuple[str, ...]
) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        listed = ", ".join(map(repr, names))
        problem = Problem(described(value), f"a dict with {listed}")
        raise RecordError.of(problem.about(value), name)
    for key in value:
        if key not in names:
            advice = did_you_mean(key, names)
            listed = ", ".join(map(repr, names))
            raise RecordError(
                name, f"the name {key!r}", f"names out of {listed}", advice
            )
    for key in required:
        if key not in value:
            raise RecordError(name, f"no {key!r}", "a value for each required name")
    return {key: value.get(key) for key in names}
