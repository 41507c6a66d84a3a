"""The declaration of a field: its kind with few parameters, its type, its default."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import MISSING, fields, replace
from typing import Any

from .. import schema
from ..kinds.field import FieldSpec
from ..kinds.kind import Kind
from ..kinds.python_types import number_types
from ..runtime.shared.errors import Problem

# Those of every kind, which come last.
_SHARED = tuple(each.name for each in fields(Kind))


def kind_of(field: FieldSpec, name: str) -> Kind:
    """Return a field's kind with as few parameters as it takes.

    Args:
        field: the field, with its keys as they are in its own model.
        name: its name there.
    """
    kind = field.kind
    if isinstance(kind, schema.Steps):
        kind = replace(kind, step=_shortest(kind.step, ""))
    elif isinstance(kind, schema.Sparse) and len(kind.index_keys) == 1:
        kind = replace(kind, index_key=kind.index_keys[0])
    return _shortest(kind, name)


def _shortest(kind: Kind, name: str) -> Kind:
    """Give every parameter its default that means the same with it."""
    meant = _meaning(kind, name)
    for parameter in fields(kind):
        if parameter.default is MISSING:
            continue
        shorter = replace(kind, **{parameter.name: parameter.default})
        with suppress(Problem):  # of parameters that need each other
            if _meaning(shorter, name) == meant:
                kind = shorter
    return kind


def _meaning(kind: Kind, name: str) -> str:
    """Return the settled kind as text, so that 0.0 differs from 0 and from -0.0."""
    return repr(kind.settled(name))


def said(kind: Kind | schema.Augment) -> list[tuple[str, Any]]:
    """Return the parameters that are no defaults, those of every kind last.

    The first one has no name if it has no default.
    """
    parameters = sorted(fields(kind), key=lambda each: each.name in _SHARED)
    given = [
        (each.name, getattr(kind, each.name))
        for each in parameters
        if repr(getattr(kind, each.name)) != repr(each.default)
    ]
    if parameters[0].default is MISSING:
        given[0] = ("", given[0][1])
    return given


def type_of(kind: Kind) -> str:
    """Return the Python type that a field of a kind is declared with, as source."""
    match kind:
        case schema.Image():
            return "np.ndarray" if kind.encoding == "raw" else "bytes"
        case schema.Images():
            return "list[bytes]"
        case schema.Label():
            return "str" if kind.stored == "text" else "int"
        case schema.MultiLabel():
            return "list[str]" if kind.classes or kind.vocabulary else "list[int]"
        case schema.Ragged():
            return f"list[list[{_item(kind.dtype)}]]"
        case schema.Scalar():
            return _item(kind.dtype)
        case schema.Sparse():
            if len(kind.shape) == 1:
                return f"dict[int, {_item(kind.dtype)}]"
            return "tuple[np.ndarray, np.ndarray]"
        case schema.Steps():
            one = type_of(kind.step)
            return one if one == "np.ndarray" else f"list[{one}]"
        case schema.Text():
            return "str"
        case schema.VarLen() if not kind.item_shape:
            return f"list[{_item(kind.dtype)}]"
        case _:
            return "np.ndarray"


def _item(dtype: str) -> str:
    """Return the Python type of one value of a dtype."""
    if dtype in ("string", "bytes"):
        return "str" if dtype == "string" else "bytes"
    return number_types(dtype)[0].__name__
