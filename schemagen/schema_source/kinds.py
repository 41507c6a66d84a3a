"""From a field's spec back to its kind, its Python type and its default."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import MISSING, asdict, fields, replace
from typing import Any

from .. import schema
from ..runtime.shared.errors import Problem
from ..schema.kind import Kind
from ..schema.python_types import number_types
from ..spec import model
from ..spec.checks import role_of

# Those of every kind, which are said last.
_SHARED = ("key", "role", "presence")

_KINDS: dict[str, type[Kind]] = {name: getattr(schema, name) for name in model.KINDS}


def kind_of(field: model.FieldSpec, name: str) -> Kind:
    """Return the kind that a field was declared with, so far as it makes a difference.

    Every parameter that might as well have been left out has its default.

    Args:
        field: the field's spec, with its keys as they stand in its own model.
        name: its name there.
    """
    given: dict[str, Any] = {
        "key": field.key,
        "role": field.role,
        "presence": field.presence,
    }
    return _shortest(_KINDS[field.kind](**_parameters(field), **given), name)


def _step_kind(step: model.FieldSpec) -> Kind:
    """Return the kind of one step, which has neither key nor role of its own."""
    return _shortest(_KINDS[step.kind](**_parameters(step)), step.name)


def _parameters(field: model.FieldSpec) -> dict[str, Any]:
    """Return what the spec of a field says beyond what every spec says, as parameters."""
    shared = {each.name for each in fields(model.FieldSpec)}
    given = {
        each.name: _parameter(getattr(field, each.name))
        for each in fields(field)
        if each.name not in shared
    }
    if "classes" in given:  # either the names of the classes or their number
        given["classes"] = given["classes"] or None
        if given["classes"] is not None:
            given["num_classes"] = None
    if isinstance(field, model.SparseSpec) and len(field.index_key) == 1:
        given["index_key"] = field.index_key[0]
    own = {each.name for each in fields(_KINDS[field.kind])}
    # What follows from the dtype is a fact and no parameter: the encoding of a Scalar.
    return {name: value for name, value in given.items() if name in own}


def _parameter(value: Any) -> Any:
    if isinstance(value, model.FieldSpec):
        return _step_kind(value)
    if isinstance(value, model.AugmentSpec):
        return schema.Augment(**asdict(value))
    return value


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
    """Return what the spec says of a kind, so that 0.0 differs from 0 and from -0.0."""
    facts = kind.named(name).facts()
    return repr((kind.key or name, role_of(kind), kind.presence, facts))


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
