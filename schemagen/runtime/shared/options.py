"""Checks of options: that a function has them, and that their values are allowed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Literal, ParamSpec, TypeGuard, TypeVar, get_args

import numpy as np

from .errors import DatasetError, with_suggestion

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

RaiseOrSkip = Literal["raise", "skip"]
"""What becomes of wrong rows, or of corrupt data: an error, or they are left out."""


def check_flags(**flags: object) -> None:
    """Refuse options that are neither True nor False: any text would count as True.

    Raises:
        DatasetError: one is neither.
    """
    for name, value in flags.items():
        if not isinstance(value, (bool, np.bool_)):
            raise DatasetError(f"{name}={value!r}: expected True or False")


def check_choice(name: str, value: object, choices: Any) -> None:
    """Refuse an option that is not one of some texts.

    Args:
        name: of the option.
        value: what was given.
        choices: the `Literal` of the texts.

    Raises:
        DatasetError: it is another one.
    """
    known = get_args(choices)
    if value not in known:
        expected = " or ".join(map(repr, known))
        raise DatasetError(f"{name}={value!r}: expected {expected}")


def integer(name: str, value: object, least: int | None = None) -> int:
    """Return an option as Python's integer, given that or one of numpy.

    Args:
        name: of the option.
        value: what was given.
        least: the smallest value that is allowed; None for any.

    Raises:
        DatasetError: it is not an integer, too small, or has more than 64 bits.
    """
    if not is_integer(value) or (least is not None and value < least):
        from_least = "" if least is None else f" from {least}"
        raise DatasetError(f"{name}={value!r}: expected a 64-bit integer{from_least}")
    return int(value)


def is_integer(value: object) -> TypeGuard[int]:
    """Return whether a value is an integer of Python or numpy, of 64 bits; True is not."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
        return False
    return bool(-(1 << 63) <= value < 1 << 63)


def options_by_name(
    function: Callable[Parameters, Result],
) -> Callable[Parameters, Result]:
    """Let a function name the option that is meant where it does not have one."""
    return options_by_name_or({})(function)


def options_by_name_or(
    replaced: Mapping[str, str],
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Do the same for a function that is also called with options it does not have.

    Args:
        replaced: what to write in place of each of them.
    """

    def decorated(
        function: Callable[Parameters, Result],
    ) -> Callable[Parameters, Result]:
        names = [*inspect.signature(function).parameters]

        @wraps(function)
        def called(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            for name in [name for name in kwargs if name not in names]:
                if name in replaced:
                    line = replaced[name] if kwargs[name] else ""
                    advice = f"write {line}" if line else "leave it out"
                    raise TypeError(f"no option {name!r}; {advice}")
                raise TypeError(with_suggestion(f"no option {name!r}", name, names))
            return function(*args, **kwargs)

        return called

    return decorated
