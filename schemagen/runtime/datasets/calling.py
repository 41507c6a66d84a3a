"""Saying how `make_dataset` is called."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def options_by_name(
    function: Callable[Parameters, Result],
) -> Callable[Parameters, Result]:
    """Let a method say what to do when options are passed by position."""
    parameters = inspect.signature(function).parameters.values()
    names = [each.name for each in parameters if each.kind != each.KEYWORD_ONLY]
    positional = names[1:]  # without self
    first = next(each.name for each in parameters if each.kind == each.KEYWORD_ONLY)

    @wraps(function)
    def called(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        given = args[1:]
        if len(given) > len(positional):
            raise TypeError(
                f"found {len(given)} arguments without names, expected at most "
                f"{len(positional)}: {', '.join(positional)}; pass the others by name, "
                f"such as {first}={given[len(positional)]!r}"
            )
        return function(*args, **kwargs)

    return called
