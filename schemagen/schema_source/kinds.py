"""The declaration of a field: its kind with few parameters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import MISSING, Field, fields, replace
from typing import Any

from ..runtime.codecs.kind import Kind
from ..runtime.codecs.parameters import Parameters, parameters_of
from ..runtime.shared.errors import Problem
from ..spec.field import FieldSpec
from ..spec.training import with_role

# Those of every kind, which come last.
_SHARED = parameters_of(Kind)


def kind_of(field: FieldSpec, name: str) -> Kind:
    """Return a field's kind with as few parameters as it takes.

    Args:
        field: the field, with its keys as they are in its own model.
        name: its name there.
    """
    return _shortest(field.kind, name)


def _shortest(kind: Kind, name: str) -> Kind:
    """Give every parameter the shortest value that means the same with it."""
    meant = _meaning(kind, name)
    for parameter in fields(kind):
        for value in _shorter(parameter, getattr(kind, parameter.name)):
            shorter = replace(kind, **{parameter.name: value})
            with suppress(Problem):  # of parameters that need each other
                if _meaning(shorter, name) == meant:
                    kind = shorter
    return kind


def _shorter(parameter: Field[Any], value: Any) -> Iterator[Any]:
    """Yield shorter values of a parameter, the shortest last."""
    if isinstance(value, Kind):  # of one step
        yield _shortest(value, "")
    if parameter.name.endswith("_key") and isinstance(value, tuple) and len(value) == 1:
        yield value[0]
    if parameter.default is not MISSING:
        yield parameter.default


def _meaning(kind: Kind, name: str) -> str:
    """Return the settled kind as text, so that 0.0 differs from 0 and from -0.0."""
    return repr(with_role(kind.settled(name)))


def said(kind: Parameters) -> list[tuple[str, Any]]:
    """Return the parameters that are no defaults, those of every kind last.

    The first one has no name if it has no default.
    """
    declared: Any = kind
    parameters = sorted(
        fields(declared), key=lambda each: (each.kw_only, each.name in _SHARED)
    )
    given = [
        (each.name, getattr(kind, each.name))
        for each in parameters
        if repr(getattr(kind, each.name)) != repr(each.default)
    ]
    if parameters[0].default is MISSING:
        given[0] = ("", given[0][1])
    return given
