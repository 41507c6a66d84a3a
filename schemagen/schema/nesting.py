"""Nested models: a pydantic model as a field's type puts its fields under a prefix."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ..runtime.kinds.kind import Kind
from ..runtime.kinds.numbering import numbering_of
from .declaration import Declaration, declaration
from .parameters import problems

SEPARATOR = "/"

# Stands for the number of numbered keys where keys are changed.
_NUMBER = "{}"


def nested_model(field: Declaration) -> type[BaseModel] | None:
    """Return the model that a field nests, or None if it nests none."""
    found: type[BaseModel] = field.python_type
    return found if is_model(found) else None


def is_model(python_type: Any) -> bool:
    """Tell whether a type is a pydantic model."""
    return isinstance(python_type, type) and issubclass(python_type, BaseModel)


def own_fields(model: type[BaseModel]) -> Iterator[Declaration]:
    """Yield the fields that a model itself has, a nested model as one field."""
    for name, info in model.model_fields.items():
        yield declaration(name, info, directory_of_field(model, name))


def declaring_class(model: type, name: str) -> type:
    """Return the class that declares a model's field: the model or one of its bases."""
    bases = model.__mro__
    declaring = (
        base for base in bases if name in vars(base).get("__annotations__", ())
    )
    return next(declaring, model)


def file_of(cls: type) -> Path:
    """Return the file in which a class stands, or an empty path if it is in none."""
    return Path(getattr(sys.modules.get(cls.__module__), "__file__", None) or "")


def directory_of_field(model: type, name: str) -> Path | None:
    """Return the directory of the file that declares a model's field, or None."""
    path = file_of(declaring_class(model, name))
    return path.parent if path.name else None


def flattened(model: type[BaseModel]) -> Iterator[Declaration]:
    """Yield the fields of a model, those of nested models in the place of the model.

    A nested field is named after its path, `steps_observation_state`, and its keys
    begin with those of the path, `steps/observation/state`. What is nested in a way
    that cannot be stored is yielded as the one field that it is.
    """
    yield from _below(model, (), "", (model,))


def _below(
    model: type[BaseModel],
    path: tuple[str, ...],
    prefix: str,
    above: tuple[type[BaseModel], ...],
) -> Iterator[Declaration]:
    for field in own_fields(model):
        inner = nested_model(field)
        here = (*path, field.name)
        if inner is not None and inner not in above and not nesting_problem(field):
            start = field.nested.key if field.nested else field.name
            below = f"{prefix}{start}{SEPARATOR}"
            yield from _below(inner, here, below, (*above, inner))
        elif path:
            kind = field.kind and within(field.kind, prefix, field.name)
            yield replace(field, name="_".join(here), path=here, kind=kind)
        else:
            yield field


def nesting_problem(field: Declaration) -> str:
    """Say why a field's nested model cannot be stored; "" if it can."""
    model = nested_model(field)
    if model is None:
        return ""
    if field.optional or field.nullable:
        return "a nested model cannot be optional, but its fields can"
    if field.foreign:
        return f"a nested model cannot have {field.foreign[0]}"
    if field.kind is not None:
        return f"{field.kind.kind} is for a single value, and the type is a model"
    if not model.model_fields:
        return f"{model.__name__} has no fields"
    for problem in problems(field.nested) if field.nested else ():
        return f"Nested cannot have {problem.found}: expected {problem.expected}"
    return ""


def within(kind: Kind, prefix: str, name: str) -> Kind:
    """Return a kind with all of its keys below a prefix, and a group of its own."""
    own = kind.default_key(name) if kind.key is None else kind.key
    return with_keys(replace(kind, key=own), lambda key: prefix + key)


def with_keys(kind: Kind, change: Callable[[str], str]) -> Kind:
    """Return a kind with its keys and its group changed by a function."""
    keys = {
        name: _changed(value, change)
        for name, value in kind.by_name().items()
        if name in ("key", "group") or name.endswith("_key")
    }
    if numbering := numbering_of(getattr(kind, "keys", None)):
        head = change(numbering.head + _NUMBER).removesuffix(_NUMBER)
        keys["keys"] = numbering._replace(head=head).text
    return replace(kind, **keys)


def _changed(keys: Any, change: Callable[[str], str]) -> Any:
    """Change keys; what is not a key stays, for its finding."""
    if isinstance(keys, tuple):
        return tuple(_changed(key, change) for key in keys)
    return change(keys) if isinstance(keys, str) and keys else keys


def members_of(value: Any) -> Mapping[str, Any] | None:
    """Return the members of a nested value by name; None if it has none."""
    if isinstance(value, BaseModel):
        return dict(value)
    return value if isinstance(value, Mapping) else None
