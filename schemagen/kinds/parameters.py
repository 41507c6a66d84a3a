"""Parameters of kinds, and checks of their values.

Parameters are checked when a schema is read. Until then a kind keeps what it was given, of
any type: a value that cannot be compared, hashed or shown is wrapped.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, fields
from functools import cache
from itertools import chain
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from ..runtime.shared.errors import Problem, did_you_mean
from ..runtime.shared.values import shortened
from .python_types import members

_LARGEST = sys.float_info.max

TransferEncoding = Literal["base64"] | None

# Stands in advice for the name of the field.
FIELD = "<field>"


def seldom(default: Any) -> Any:
    """Declare a parameter that a spec's JSON leaves out where it has its default."""
    return field(default=default, metadata={"seldom": True})


def names_of_classes(*, seldom: bool) -> Any:
    """Declare names of classes: None if they are not declared, and () in a spec."""
    return field(default=None, metadata={"seldom": seldom, "settled": ()})


def declared_only(default: Any) -> Any:
    """Declare a parameter that a spec does not have: others say the same."""
    return field(default=default, metadata={"declared_only": True})


class Unfit:
    """A value that no parameter can hold, whatever its methods raise."""

    def __init__(self, value: object) -> None:
        self._value = value

    def __repr__(self) -> str:
        return shortened(self._value, 200)

    def __str__(self) -> str:
        """Return what a dtype is called, for what was probably meant."""
        try:
            return str(self._value)
        except Exception:
            return repr(self)


class Parameters:
    """The base of frozen dataclasses whose fields are parameters in a schema."""

    def __post_init__(self) -> None:
        """Bring what was given into a form that can be compared, hashed and shown.

        A list says the same as a tuple, but has no hash; and a member of a StrEnum is
        text.
        """
        for each in fields(self):  # type: ignore[arg-type]
            value = _settled(getattr(self, each.name))
            object.__setattr__(self, each.name, value)

    def misfits(self) -> dict[str, Any]:
        """Return the types of the parameters that hold something else, by name."""
        cls: Any = type(self)
        return {
            name: expected
            for name, expected in _types(cls).items()
            if not _fits(getattr(self, name), expected)
        }

    def common_problems(self) -> Iterator[Problem]:
        """Yield what is wrong with the parameters that all classes of a sort have."""
        yield from ()

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong with the others, as far as they have their types."""
        yield from ()

    def all_problems(self) -> Iterator[Problem]:
        """Yield what is wrong with the parameters, whatever their types are.

        `problems` may take it that they have their types: what it raises where they do
        not is of no interest. Each of a wrong type that it does not name is named here.
        """
        wrong = self.misfits()
        found: list[Problem] = []
        failed = False
        try:
            for problem in chain(self.common_problems(), self.problems()):
                found.append(problem)
                yield problem
        except Exception:
            if not wrong:
                raise
            failed = True
        for name, expected in wrong.items():
            named = any(re.search(rf"\b{name}\b", each.found) for each in found)
            if named or (found and not failed):
                continue
            value = getattr(self, name)
            if isinstance(value, Parameters):
                yield from value.all_problems()
            else:
                yield Problem(f"{name}={value!r}", _words(expected))


_PLAIN = (NoneType, int, float, complex, bytes, type, np.generic, Unfit, Parameters)


def _settled(value: object) -> object:
    if isinstance(value, Mapping):
        value = list(value.items())
    if isinstance(value, (list, tuple)):
        return tuple(map(_plain, value))
    return _plain(value)


def _plain(value: object) -> object:
    """Return a single value, or a pair of texts, as of a dict."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, tuple) and {*map(type, value)} == {str}:
        return value
    return value if isinstance(value, _PLAIN) else Unfit(value)


@cache
def _types(cls: Any) -> dict[str, Any]:
    """Return the declared types of a class's parameters by name."""
    hints = get_type_hints(cls)
    return {each.name: hints[each.name] for each in fields(cls)}


def _fits(value: object, expected: Any) -> bool:
    """Tell whether a value is of a type; how many items a tuple has does not count."""
    if len(members(expected)) > 1:
        return any(_fits(value, member) for member in members(expected))
    if get_origin(expected) is Literal:
        return isinstance(value, str)
    if get_origin(expected) is dict:
        return False  # they have become tuples of pairs
    if get_origin(expected) is tuple:
        item = get_args(expected)[0]
        return isinstance(value, tuple) and all(_fits(each, item) for each in value)
    if expected in (int, float):
        return isinstance(value, (expected, int, np.generic))
    if isinstance(value, Parameters) and value.misfits():
        return False
    return isinstance(value, expected)


def _words(expected: Any) -> str:
    """Say in words what a type is."""
    if len(members(expected)) > 1:
        return " or ".join(map(_words, members(expected)))
    if get_origin(expected) is Literal:
        return f"one of {', '.join(get_args(expected))}"
    if get_origin(expected) is tuple:
        inner = " or ".join(each.__name__ for each in members(get_args(expected)[0]))
        return f"a tuple of {inner}".replace("NoneType", "None")
    if expected is NoneType:
        return "None"
    if expected is bool:
        return "True or False"
    name = str(expected.__name__)
    return f"an {name}" if name[0] in "aeiouAEIOU" else f"a {name}"


def below(cls: Any) -> Iterator[type[Any]]:
    """Yield the classes that derive from a class, whether directly or not."""
    for each in cls.__subclasses__():
        yield each
        yield from below(each)


def is_finite(value: object) -> bool:
    """Tell whether a parameter is a number that a float can hold."""
    return type(value) in (int, float) and -_LARGEST <= value <= _LARGEST  # type: ignore[operator]


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


def sizes_problem(
    parameter: str, value: object, expected: str, *further: int
) -> Problem:
    """Return the problem of a height and a width that are not given as such.

    Args:
        parameter: its name.
        value: what was given; as much of it as is right is in the example.
        expected: what is right, in words.
        further: what follows the height and the width in the example.
    """
    given = (value, value) if is_positive(value) else value
    usual = (224, 224)
    if isinstance(given, tuple) and len(given) > 1 and is_shape(given[:2]):
        usual = given[:2]
    example = f"for example {parameter}={(*usual, *further)!r}"
    return Problem(f"{parameter}={value!r}", expected, example)


def shape_problem(parameter: str, value: object, advice: str = "") -> Problem:
    """Return the problem of a shape that is no tuple of positive ints."""
    if is_positive(value):
        advice = f"a tuple of one has a comma: ({value},)"
    return Problem(f"{parameter}={value!r}", "a tuple of positive ints", advice)


def flag_problems(**flags: object) -> Iterator[Problem]:
    """Yield the parameters that should be True or False and are neither."""
    for name, value in flags.items():
        if not isinstance(value, bool):
            yield Problem(f"{name}={value!r}", "True or False")


def transfer_problems(value: object, instead: str = "") -> Iterator[Problem]:
    """Yield a transfer encoding that is given and is not valid.

    Args:
        value: the parameter.
        instead: of a field that is stored as a list of numbers, what stores bytes.
    """
    if value is None:
        return
    yield from choice_problems("transfer_encoding", value, ("base64",))
    if instead:
        yield Problem(
            f"transfer_encoding={value!r} of a list of numbers",
            instead,
            "only bytes can be stored as base64 text",
        )


def group_problems(value: object) -> Iterator[Problem]:
    """Yield a group's name that is given and is not valid."""
    if value is not None and (
        not isinstance(value, str) or not value or not is_utf8(value)
    ):
        yield Problem(f"group={value!r}", "a non-empty str that UTF-8 can hold")
