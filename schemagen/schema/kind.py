"""What every kind of field has: a wire key, a role, checks, and a feature."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, get_args

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from ..runtime.encoding.base import Feature
from ..runtime.shared.errors import Problem, did_you_mean
from .parameters import Parameters

Role = Literal["input", "target", "weight", "info"]
ROLES: tuple[str, ...] = get_args(Role)


@dataclass(frozen=True)
class Kind(Parameters, ABC):
    """How a field is stored and modelled; given in `Annotated[type, kind]`.

    What the parameters hold is checked when the schema is read, not when a kind
    is made, so that all mistakes of a schema are found in one go.

    Attributes:
        key: the feature's key in the Example; the field's name if None.
        role: input, target, weight or info; the kind's default if None.
        presence: of an optional field, deliver `<name>_present`, a bool for each
            record, also where a default stands for what is missing.
    """

    _: KW_ONLY
    key: str | None = None
    role: Role | None = None
    presence: bool = False

    name: ClassVar[str]
    """The word for this kind in schemas, specs and messages."""

    holds: ClassVar[str]
    """Which Python types a field of this kind may be declared with, in words."""

    can_be_target: ClassVar[bool] = False
    """Whether the generated model has a head for it."""

    if_missing: ClassVar[str] = "a default that is a number"
    """What a target or weight of this kind has to have where values may be missing."""

    def named(self, name: str) -> Self:
        """Return the kind of a field of this name, with what it takes from the name."""
        return self

    @abstractmethod
    def accepts(self, python_type: Any) -> bool:
        """Tell whether a field of this kind may be declared with this type."""

    @abstractmethod
    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong with the parameters, apart from those of every kind."""

    @abstractmethod
    def feature(self, name: str, *, optional: bool) -> Feature:
        """Return what checks and encodes the field's values."""

    @property
    def default_role(self) -> Role:
        """The role of a field that is given none."""
        return "input"

    @property
    def opaque(self) -> str:
        """What it holds that no model can take, in words; "" if one can."""
        return ""

    @property
    def can_be_weight(self) -> bool:
        """Whether its values can weigh the records of a batch."""
        return False

    @property
    def marks_missing(self) -> bool:
        """Whether one of its own values says that there is none, as -1 does."""
        return False

    def facts(self) -> dict[str, Any]:
        """Return what the field's spec says beyond what every spec says."""
        shared = {field.name for field in fields(Kind)}
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if field.name not in shared
        }

    def companions(self) -> Mapping[str, str]:
        """Return the further keys that the field is stored under: what each holds.

        Fields may share a key if it holds the same of all of them.
        """
        return {}

    def beside(self, directory: Path | None) -> Self:
        """Return the kind with what it says in files next to the schema file filled in.

        Args:
            directory: of the file in which the field is declared; None if in none.

        Raises:
            Problem: a file that is not there, or does not hold what it should.
        """
        return self

    def missing_beside(self, inputs: Iterable[Kind]) -> Problem | None:
        """Return what a target of this kind lacks among the record's inputs."""
        return None

    def layers(self, role: str) -> tuple[str, ...]:
        """Return how the model's layers of a field are called after its name."""
        return ()

    def check_default(self, name: str, default: Any) -> None:
        """See that the field can hold its default, which is not None.

        Raises:
            Problem: it cannot.
        """
        self.feature(name, optional=True).convert(default)

    def common_problems(self) -> Iterator[Problem]:
        """Yield what is wrong with the parameters that every kind has."""
        yield from flag_problems(presence=self.presence)
        yield from key_problems("key", self.key)
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


def key_problems(parameter: str, value: object) -> Iterator[Problem]:
    """Yield a wire key that is given and is not valid."""
    if value is None:
        return
    if not isinstance(value, str) or not value:
        yield Problem(f"{parameter}={value!r}", "a non-empty str")
    elif not is_utf8(value):
        yield Problem(f"{parameter}={value!r}", "text that UTF-8 can hold")


# What people write for a dtype, whose nearest name is another one.
_SHORT_NAMES = {"int": "int64", "float": "float32", "str": "string"}


def choice_problems(
    parameter: str, value: object, choices: Sequence[str]
) -> Iterator[Problem]:
    """Yield a parameter that should be one of several words and is not.

    A type that bears one of the words, such as np.float32, is not the word:
    generated code is made from text.
    """
    if not isinstance(value, str) or value not in choices:
        word = getattr(value, "__name__", value)
        word = _SHORT_NAMES.get(str(word), word)
        expected = f"one of {', '.join(choices)}"
        yield Problem(f"{parameter}={value!r}", expected, did_you_mean(word, choices))


def is_shape(value: object, *, allow_empty: bool = False) -> bool:
    """Tell whether a parameter is a tuple of positive ints."""
    return (
        isinstance(value, tuple)
        and (allow_empty or bool(value))
        and all(map(is_positive, value))
    )


def is_positive(value: object) -> bool:
    """Tell whether a parameter is a positive int, which an int64 holds."""
    return type(value) is int and 0 < value < 2**63


def flag_problems(**flags: object) -> Iterator[Problem]:
    """Yield the parameters that should be True or False and are neither."""
    for name, value in flags.items():
        if not isinstance(value, bool):
            yield Problem(f"{name}={value!r}", "True or False")


def group_problems(value: object) -> Iterator[Problem]:
    """Yield a group's name that is given and is not valid."""
    if value is not None and (
        not isinstance(value, str) or not value or not is_utf8(value)
    ):
        yield Problem(f"group={value!r}", "a non-empty str that UTF-8 can hold")
