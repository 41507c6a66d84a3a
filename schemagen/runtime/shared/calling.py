"""Messages for calls with options that a function does not take, or with wrong values."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from .errors import DatasetError, did_you_mean

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


# Options of tf.data and Keras, by one that is there in their place.
_ELSEWHERE = {
    "shuffle": (
        "shuffle_buffer",
        "training=True shuffles, and shuffle_buffer= sets the size of the buffer",
    ),
    "buffer_size": ("shuffle_buffer", "shuffle_buffer= sets the size of the buffer"),
    "epochs": ("repeat", "repeat= sets how many epochs there are"),
}


def check_flags(**flags: object) -> None:
    """Refuse options that are neither True nor False: any text would count as True.

    Raises:
        DatasetError: one is neither.
    """
    for name, value in flags.items():
        if not isinstance(value, (bool, np.bool_)):
            raise DatasetError(f"{name}={value!r}: expected True or False")


def options_by_name(
    function: Callable[Parameters, Result],
) -> Callable[Parameters, Result]:
    """Let a method say which options it takes, and that they are passed by name."""
    signature = [*inspect.signature(function).parameters.values()][1:]  # without self
    names = [each.name for each in signature]
    options = [each.name for each in signature if each.kind == each.KEYWORD_ONLY]
    positional = [name for name in names if name not in options]
    required = [each.name for each in signature if each.default is each.empty]

    @wraps(function)
    def called(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        given = args[1:]
        if len(given) > len(positional):
            most = f"at most {len(positional)}: {', '.join(positional)}"
            how = "pass the others by name"
            if not positional:
                most, how = "none", "pass all by name"
            if options:
                how += f", such as {options[0]}={given[len(positional)]!r}"
            raise TypeError(
                f"found {len(given)} arguments without names, expected {most}; {how}"
            )
        for name in kwargs.keys() - {*names}:
            own, advice = _ELSEWHERE.get(name, ("", ""))
            if own not in names:
                advice = did_you_mean(name, names) or f"it has {', '.join(names)}"
            title = _title(function, args[0])
            raise TypeError(f"{title} has no option {name!r}: {advice}")
        present = {*positional[: len(given)], *kwargs}
        missing = [name for name in required if name not in present]
        if missing:
            example = ", ".join(n if n in positional else f"{n}=..." for n in required)
            title = _title(function, args[0])
            raise TypeError(
                f"{title} has no {' and no '.join(map(repr, missing))}; call "
                f"{title}({example})"
            )
        return function(*args, **kwargs)

    return called


def _title(function: Callable[..., Any], owner: object) -> str:
    """Name a method as in its call: one that makes an object by the object's class."""
    own = function.__name__
    return type(owner).__name__ if own == "__init__" else own


def fields_by_name(error: TypeError, function: Callable[..., Any]) -> str:
    """Say how to call a function of fields, if the error is that of a wrong call of it.

    This is for functions that are called once for each record, which have no time to
    look at their arguments themselves.

    Returns:
        The advice; "" if the error is another.
    """
    words = str(error)
    if f"{function.__qualname__}() " not in words:
        return ""
    names = [*inspect.signature(function).parameters][1:]  # without self
    unknown = re.search(r"unexpected keyword argument '(.*?)'", words)
    advice = did_you_mean(unknown[1], names) if unknown else ""
    own = function.__name__
    return advice or f"pass the fields by name, {own}(**fields): {', '.join(names)}"
