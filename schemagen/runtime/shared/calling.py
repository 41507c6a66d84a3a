"""Messages for calls with options that a function does not take."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from .errors import did_you_mean

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


def options_by_name(
    function: Callable[Parameters, Result],
) -> Callable[Parameters, Result]:
    """Let a method say which options it takes, and that they are passed by name."""
    signature = inspect.signature(function).parameters.values()
    names = [each.name for each in signature][1:]  # without self
    options = [each.name for each in signature if each.kind == each.KEYWORD_ONLY]
    positional = [name for name in names if name not in options]

    @wraps(function)
    def called(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        given = args[1:]
        if len(given) > len(positional):
            raise TypeError(
                f"found {len(given)} arguments without names, expected at most "
                f"{len(positional)}: {', '.join(positional)}; pass the others by name, "
                f"such as {options[0]}={given[len(positional)]!r}"
                if positional
                else f"found {len(given)} arguments without names, expected none: pass "
                f"all by name, such as {options[0]}={given[0]!r}"
            )
        for name in kwargs.keys() - {*names}:
            own, advice = _ELSEWHERE.get(name, ("", ""))
            if own not in names:
                advice = did_you_mean(name, names) or f"it has {', '.join(names)}"
            raise TypeError(f"{function.__name__} has no option {name!r}: {advice}")
        return function(*args, **kwargs)

    return called
