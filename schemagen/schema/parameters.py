"""Checks of parameters by pydantic, and by the rules that pydantic cannot state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from ..runtime.kinds.kind import Kind
from ..runtime.kinds.parameters import OneOf, Parameters
from ..runtime.kinds.python_types import members
from ..runtime.kinds.registry import KINDS
from ..runtime.shared.errors import Problem, did_you_mean
from ..runtime.shared.values import shortened

# What people write for a dtype, whose nearest name is another one.
_SHORT_NAMES = {"int": "int64", "float": "float32", "str": "string"}


def problems(given: Parameters) -> Iterator[Problem]:
    """Yield what is wrong with parameters: their types, or else their values."""
    if isinstance(given, Kind) and type(given) not in KINDS.values():
        name = type(given).__name__
        yield Problem(
            name, "a kind of schemagen, since generated code supports no others"
        )
        return
    yield from type_problems(given) or given.rules()


def type_problems(given: Parameters) -> list[Problem]:
    """Return the parameters that do not have their types, inner ones included."""
    found = [_misfit(given, name) for name in _misfits(given)]
    for value in given.by_name().values():
        if isinstance(value, Parameters):
            found += problems(value)
    return found


def _misfits(given: Parameters) -> tuple[Any, ...]:
    """Return the names of the parameters that do not have their types."""
    known = vars(given)
    if "_misfits" not in known:  # asked for by each check of a field
        cls: Any = type(given)
        wrong: tuple[Any, ...] = ()
        try:
            _model(cls).model_validate(given.by_name())
        except ValidationError as error:
            places = (each["loc"][0] for each in error.errors())
            wrong = tuple(dict.fromkeys(places))
        known["_misfits"] = wrong
    found: tuple[Any, ...] = known["_misfits"]
    return found


def _misfit(given: Parameters, name: str) -> Problem:
    cls: Any = type(given)
    value, hint = getattr(given, name), _hints(cls)[name]
    word = getattr(value, "__name__", value)
    advice = did_you_mean(_SHORT_NAMES.get(str(word), word), _choices(hint))
    return Problem(f"{name}={shortened(value, 200)}", _words(hint), advice)


@cache
def _hints(cls: Any) -> dict[str, Any]:
    """Return the declared types of a class's parameters by name."""
    hints = get_type_hints(cls, include_extras=True)
    return {each.name: hints[each.name] for each in fields(cls)}


@cache
def _model(cls: Any) -> type[BaseModel]:
    """Return a model of a class's parameters."""
    types: dict[str, Any] = {name: (hint, ...) for name, hint in _hints(cls).items()}
    return create_model(cls.__name__, __config__=ConfigDict(strict=True), **types)


def _words(hint: Any) -> str:
    """Say in words what a type is."""
    if len(members(hint)) > 1:
        return " or ".join(map(_words, members(hint)))
    if _choices(hint):
        return f"one of {', '.join(_choices(hint))}"
    if get_origin(hint) is Annotated:
        described = (each for each in hint.__metadata__ if isinstance(each, str))
        return next(described, "") or _words(hint.__origin__)
    words = {bool: "True or False", NoneType: "None"}
    return words.get(hint, getattr(hint, "__name__", str(hint)))


def _choices(hint: Any) -> tuple[str, ...]:
    """Return the words that a type allows; none if it allows others."""
    if len(members(hint)) > 1:
        return tuple(word for each in members(hint) for word in _choices(each))
    if get_origin(hint) is Annotated:
        return next((e.words for e in hint.__metadata__ if isinstance(e, OneOf)), ())
    return get_args(hint) if get_origin(hint) is Literal else ()


def below(cls: Any) -> Iterator[type[Any]]:
    """Yield the classes that derive from a class, whether directly or not."""
    for each in cls.__subclasses__():
        yield each
        yield from below(each)
