"""Parameters of kinds, whose types and ranges pydantic checks.

One run reports all mistakes of a schema. So a wrong parameter is not an error where a kind is
made: the kind keeps it, and yields what is wrong when the schema is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cache
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic import create_model as make_model
from pydantic_core import CoreSchema, core_schema

from ..runtime.shared.errors import Problem, did_you_mean
from ..runtime.shared.values import shortened
from .python_types import members

TransferEncoding = Literal["base64"] | None

Size = Annotated[int, Field(gt=0, lt=2**62, description="a positive int")]
Shape = Annotated[
    tuple[Size, ...], Field(description="a tuple of positive ints, such as (8,)")
]
Sizes = Annotated[Shape, Field(min_length=1)]
HeightAndWidth = Annotated[
    tuple[Size, Size],
    Field(description="(height, width) in pixels, such as (224, 224)"),
]
Count = Annotated[int, Field(ge=0, lt=2**62, description="0 or a positive int")]
Name = Annotated[str, Field(min_length=1, description="a non-empty str in UTF-8")]
Utf8 = Annotated[str, Field(min_length=0, description="text in UTF-8")]
_FROM_NUMPY = BeforeValidator(
    lambda value: value.item() if isinstance(value, np.generic) else value
)
Number = Annotated[bool | int | float, _FROM_NUMPY, Field(description="one number")]
Padding = Annotated[
    bool | int | float | Utf8 | bytes,
    _FROM_NUMPY,
    Field(description="one number or text"),
]


def seldom(default: Any) -> Any:
    """Declare a parameter that a spec's JSON leaves out where it has its default."""
    return field(default=default, metadata={"seldom": True})


@dataclass(frozen=True)
class OneOf:
    """Metadata of a type: text that is one of several words."""

    words: tuple[str, ...]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.literal_schema([*self.words])


class Unfit:
    """A value that no parameter can hold, whatever its methods raise."""

    def __init__(self, value: object) -> None:
        self._text = shortened(value, 200)

    def __repr__(self) -> str:
        return self._text


class Parameters:
    """The base of frozen dataclasses whose fields are parameters in a schema."""

    def __post_init__(self) -> None:
        """Check the parameters, and bring those that are right into one form."""
        cls: Any = type(self)
        kept = {name: _kept(value) for name, value in vars(self).items()}
        wrong: tuple[Any, ...] = ()
        try:
            kept = vars(_model(cls).model_validate(kept))
        except ValidationError as error:
            places = (each["loc"][0] for each in error.errors())
            wrong = tuple(dict.fromkeys(places))
        for name, value in {**kept, "_wrong": wrong}.items():
            object.__setattr__(self, name, value)

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong with the parameters: their types, or else their values."""
        yield from self.type_problems() or self.rules()

    def type_problems(self) -> list[Problem]:
        """Return the parameters that do not have their types, inner ones included."""
        wrong: tuple[str, ...] = vars(self)["_wrong"]
        found = [self._misfit(name) for name in wrong]
        for value in vars(self).values():
            if isinstance(value, Parameters):
                found += value.problems()
        return found

    def rules(self) -> Iterator[Problem]:
        """Yield what is wrong with parameters that all have their types."""
        yield from ()

    def __get_pydantic_core_schema__(self, source: Any, handler: Any = None) -> Any:
        """Leave the value to the Record, which knows the field as a whole.

        Pydantic calls it on the class where a schema forgets the parentheses; that
        has no `handler`, and gets its finding with all others.
        """
        return core_schema.any_schema()

    def _misfit(self, name: str) -> Problem:
        cls: Any = type(self)
        value, hint = getattr(self, name), _hints(cls)[name]
        word = getattr(value, "__name__", value)
        advice = did_you_mean(_SHORT_NAMES.get(str(word), word), _choices(hint))
        return Problem(f"{name}={shortened(value, 200)}", _words(hint), advice)


# What people write for a dtype, whose nearest name is another one.
_SHORT_NAMES = {"int": "int64", "float": "float32", "str": "string"}


def _kept(value: Any) -> Any:
    """Return a value as a kind keeps it: a list says the same as a tuple."""
    if isinstance(value, (list, dict)):
        value = tuple(value.items() if isinstance(value, dict) else value)
    try:
        hash(value)
    except Exception:  # of any class
        return Unfit(value)
    return value


@cache
def _hints(cls: Any) -> dict[str, Any]:
    """Return the declared types of a class's parameters by name."""
    hints = get_type_hints(cls, include_extras=True)
    return {each.name: hints[each.name] for each in fields(cls)}


@cache
def _model(cls: Any) -> type[BaseModel]:
    """Return a model of a class's parameters."""
    types: dict[str, Any] = {name: (hint, ...) for name, hint in _hints(cls).items()}
    return make_model(cls.__name__, __config__=ConfigDict(strict=True), **types)


def _words(hint: Any) -> str:
    """Say in words what a type is."""
    if len(members(hint)) > 1:
        return " or ".join(map(_words, members(hint)))
    if _choices(hint):
        return f"one of {', '.join(_choices(hint))}"
    if get_origin(hint) is Annotated:
        described = (getattr(each, "description", "") for each in hint.__metadata__)
        return next(filter(None, described), _words(hint.__origin__))
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


def base64_of_numbers(instead: str) -> Problem:
    """Return the problem of a list of numbers that should be base64 text.

    Args:
        instead: what stores bytes.
    """
    return Problem(
        "transfer_encoding='base64' of a list of numbers",
        instead,
        "only bytes can be stored as base64 text",
    )
