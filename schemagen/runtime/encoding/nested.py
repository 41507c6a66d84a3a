"""Nested values: dicts and models of fields, whose keys have a common prefix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..shared.errors import Problem, RecordError, did_you_mean
from ..shared.values import described


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
    if hasattr(type(value), "model_fields"):
        value = dict(value)
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
