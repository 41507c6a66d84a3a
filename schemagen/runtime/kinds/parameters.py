"""Parameters of kinds: how they are declared, and which values they take.

One run reports all mistakes of a schema. So a wrong parameter is not an error where a kind is
made: the kind keeps it. Where schemas are loaded, pydantic compares parameters with the type
hints here; see `schema/parameters.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, dataclass_transform

import numpy as np
from annotated_types import Ge, Gt, Lt, MinLen

from ..shared.errors import Problem
from ..shared.values import shortened

if TYPE_CHECKING:
    from .changes import Judgement

C = TypeVar("C")

# What is in a value of a class that derives from one of these, such as an enumeration.
_PLAIN: dict[type, Callable[[Any], Any]] = {
    str: str.__str__,
    bytes: lambda value: b"".join([value]),
    int: int.__int__,
    float: float.__float__,
}

# The attribute of parameters that can no longer be changed.
_IS_FROZEN = "_is_frozen"

# Text in the metadata of a hint says in words which values it allows.
TransferEncoding = Literal["base64"] | None
Size = Annotated[int, Gt(0), Lt(2**62), "a positive int"]
ItemShape = Annotated[tuple[Size, ...], "a tuple of positive ints, such as (8,)"]
FixedShape = Annotated[ItemShape, MinLen(1)]
HeightAndWidth = Annotated[
    tuple[Size, Size], "(height, width) in pixels, such as (224, 224)"
]
Integer = Annotated[int, Gt(-(2**62)), Lt(2**62), "an int"]
Count = Annotated[int, Ge(0), Lt(2**62), "0 or a positive int"]
Name = Annotated[str, MinLen(1), "a non-empty str in UTF-8"]
Utf8 = Annotated[str, MinLen(0), "text in UTF-8"]
Number = Annotated[bool | int | float, "one number"]
RealNumber = Annotated[int | float, "a number"] | None
Padding = Annotated[bool | int | float | Utf8 | bytes, "one number or text"]
TooLong = Literal["error", "keep_head", "keep_tail"]


@dataclass(frozen=True)
class OneOf:
    """Metadata of a type: text that is one of several words."""

    words: tuple[str, ...]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return {"type": "literal", "expected": [*self.words]}


class Instance:
    """Metadata of a class: a value is an instance of it."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return {"type": "is-instance", "cls": source}


def parameter(
    *judged: Judgement, default: Any = MISSING, omit_default: bool = False
) -> Any:
    """Declare a parameter of a kind.

    Args:
        *judged: the rules for a change of it; none where a change cannot alter the values
            that records hold, only what becomes of them. No change comes under two.
        default: its default; it has to be given if there is none.
        omit_default: whether the JSON of a spec leaves it out where it has its default.
    """
    return field(
        default=default, metadata={"judged": judged, "omit_default": omit_default}
    )


@dataclass_transform(eq_default=False, field_specifiers=(parameter,))
def declared(cls: type[C]) -> type[C]:
    """Make a dataclass of the parameters that a class declares."""
    return dataclass(eq=False)(cls)


class Unfit:
    """A value that no parameter can hold, whatever its methods raise."""

    def __init__(self, value: object) -> None:
        self._text = shortened(value, 200)

    def __repr__(self) -> str:
        return self._text


class Parameters:
    """The base of dataclasses whose fields are parameters in a schema.

    They are equal if their parameters are, and cannot be changed.
    """

    def __post_init__(self) -> None:
        known = vars(self)
        for name in parameters_of(type(self)):
            known[name] = _kept(getattr(self, name))
        known[_IS_FROZEN] = True

    def __setattr__(self, name: str, value: Any) -> None:
        if _IS_FROZEN in vars(self):
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)

    def rules(self) -> Iterator[Problem]:
        """Yield what is wrong with parameters that all have their types."""
        yield from ()

    def _mutable_state(self) -> dict[str, Any]:
        """Return the attributes for a copy that can still be changed."""
        return {name: value for name, value in vars(self).items() if name != _IS_FROZEN}

    def by_name(self) -> dict[str, Any]:
        """Return all parameters by name."""
        return {name: getattr(self, name) for name in parameters_of(type(self))}

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, Parameters):
            return NotImplemented
        return self.by_name() == other.by_name()

    def __hash__(self) -> int:
        return hash((type(self), *self.by_name().values()))

    def __get_pydantic_core_schema__(self, source: Any, handler: Any = None) -> Any:
        """Leave the value to the Record, which knows the field as a whole.

        Pydantic calls it on the class where a schema forgets the parentheses; that
        has no `handler`, and gets its finding with all others.
        """
        return {"type": "any"}


def parameters_of(cls: Any) -> tuple[str, ...]:
    """Return the names of a class's parameters."""
    return tuple(each.name for each in fields(cls))


def _kept(value: Any) -> Any:
    """Return a value as a kind keeps it: a list says the same as a tuple."""
    if isinstance(value, (list, dict)):
        value = tuple(value.items() if isinstance(value, dict) else value)
    try:
        value = _plain(value)
        hash(value)
    except Exception:  # of any class
        return Unfit(value)
    return value


def _plain(value: Any) -> Any:
    """Return a value of Python's own type, of one that is derived from it, or of numpy's."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    for cls, plain in _PLAIN.items():
        if isinstance(value, cls) and type(value) not in (cls, bool):
            return plain(value)
    return value


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
