"""What every kind of field has: a wire key, a role, checks, and a feature."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from typing import Any, ClassVar, Literal, get_args

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from ..support.errors import Problem, did_you_mean
from ..support.features import Feature

Role = Literal["input", "target", "weight", "info"]
ROLES: tuple[str, ...] = get_args(Role)


@dataclass(frozen=True)
class Kind(ABC):
    """How a field is stored and modelled; given in `Annotated[type, kind]`.

    What the parameters hold is checked when the schema is read, not when a kind
    is made, so that all mistakes of a schema are found in one go.

    Attributes:
        key: the feature's key in the Example; the field's name if None.
        role: input, target, weight or info; the kind's default if None.
    """

    _: KW_ONLY
    key: str | None = None
    role: Role | None = None

    name: ClassVar[str]
    """The word for this kind in schemas, specs and messages."""

    holds: ClassVar[str]
    """Which Python types a field of this kind may be declared with, in words."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, list):  # a list says the same, but has no hash
                object.__setattr__(self, field.name, tuple(value))

    @abstractmethod
    def accepts(self, python_type: Any) -> bool:
        """Tell whether a field of this kind may be declared with this type."""

    @abstractmethod
    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong with the parameters, apart from key and role."""

    @abstractmethod
    def feature(self, name: str, *, optional: bool) -> Feature:
        """Return what checks and encodes the field's values."""

    def common_problems(self) -> Iterator[Problem]:
        """Yield what is wrong with key and role."""
        if self.key is not None and (not isinstance(self.key, str) or not self.key):
            yield Problem(f"key={self.key!r}", "a non-empty str")
        elif self.key is not None and not is_utf8(self.key):
            yield Problem(f"key={self.key!r}", "text that UTF-8 can hold")
        if self.role is not None:
            yield from choice_problems("role", self.role, ROLES)

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler | None = None
    ) -> CoreSchema:
        """Leave the value to the Record, which knows the field as a whole.

        Pydantic calls it on the class where a schema forgets the parentheses; that
        has no `handler`, and gets its finding with all others.
        """
        return core_schema.any_schema()


def is_utf8(text: str) -> bool:
    """Tell whether text has no half of a surrogate pair, which UTF-8 cannot hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def choice_problems(
    parameter: str, value: object, choices: Sequence[str]
) -> Iterator[Problem]:
    """Yield a parameter that should be one of several words and is not.

    A type that bears one of the words, such as np.float32, is not the word:
    generated code is made from text.
    """
    if not isinstance(value, str) or value not in choices:
        word = getattr(value, "__name__", value)
        expected = f"one of {', '.join(choices)}"
        yield Problem(f"{parameter}={value!r}", expected, did_you_mean(word, choices))


def is_shape(value: object, *, allow_empty: bool = False) -> bool:
    """Tell whether a parameter is a tuple of positive ints."""
    return (
        isinstance(value, tuple)
        and (allow_empty or bool(value))
        and all(type(size) is int and size > 0 for size in value)
    )


def is_positive(value: object) -> bool:
    """Tell whether a parameter is a positive int."""
    return type(value) is int and value > 0


def flag_problems(**flags: object) -> Iterator[Problem]:
    """Yield the parameters that should be True or False and are neither."""
    for name, value in flags.items():
        if not isinstance(value, bool):
            yield Problem(f"{name}={value!r}", "True or False")
