"""Sequences of any length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np

from ..runtime.shared.errors import Problem
from ..runtime.shared.values import (
    FLOATS,
    INTEGERS,
    Numbers,
    shortened,
)
from .kind import Kind, Role
from .parameters import (
    Unfit,
    choice_problems,
    flag_problems,
    group_problems,
    is_positive,
    is_shape,
    is_utf8,
    seldom,
    shape_problem,
)
from .python_types import is_array, is_list_of, number_types

STRINGS = ("string", "bytes")
DTYPES = ("bool", *INTEGERS, *FLOATS, *STRINGS)
TooLong = Literal["error", "keep_head", "keep_tail"]
TOO_LONG: tuple[str, ...] = get_args(TooLong)


@dataclass(frozen=True)
class VarLen(Kind):
    """A sequence of any length from 0: numbers, items of a fixed shape, strings.

    Attributes:
        dtype: of the items; "string" is text, "bytes" opaque.
        max_length: the most items a row may have; None for any number.
        item_shape: the shape of one item; items are stored flat.
        padding_value: what fills a batch up to its longest row; 0 means "" for
            strings and False for bools.
        ragged: deliver a RaggedTensor in place of a padded batch.
        exact: refuse floats that dtype cannot hold exactly, instead of rounding them.
        finite: refuse NaN and infinities.
        too_long: what becomes of more than `max_length` items, when writing and when
            reading: "error" refuses them, "keep_head" keeps the first and "keep_tail"
            the last of them.
        pad_on_disk: fill shorter rows up to `max_length` with `padding_value` when
            writing; readers then get a fixed shape.
        group: a name that fields with equally many items share; checked when writing
            and when reading.
    """

    dtype: str
    max_length: int | None = None
    item_shape: tuple[int, ...] = ()
    padding_value: bool | int | float | str | bytes = 0
    ragged: bool = False
    exact: bool = False
    finite: bool = True
    too_long: TooLong = seldom("error")
    pad_on_disk: bool = seldom(False)
    group: str | None = seldom(None)

    name: ClassVar[str] = "VarLen"
    holds: ClassVar[str] = "a list or np.ndarray of its dtype"

    def accepts(self, python_type: Any) -> bool:
        if self.dtype in STRINGS:
            return is_list_of(python_type, str if self.dtype == "string" else bytes)
        return is_array(python_type) or is_list_of(
            python_type, *number_types(self.dtype)
        )

    def problems(self) -> Iterator[Problem]:
        yield from flag_problems(
            ragged=self.ragged,
            exact=self.exact,
            finite=self.finite,
            pad_on_disk=self.pad_on_disk,
        )
        wrong_dtype = list(choice_problems("dtype", self.dtype, DTYPES))
        yield from wrong_dtype
        if self.max_length is not None and not is_positive(self.max_length):
            yield Problem(f"max_length={self.max_length!r}", "a positive int or None")
        if not is_shape(self.item_shape, allow_empty=True):
            yield shape_problem("item_shape", self.item_shape)
        yield from choice_problems("too_long", self.too_long, TOO_LONG)
        yield from self._limit_problems()
        yield from group_problems(self.group)
        if wrong_dtype:  # what else is right depends on it
            return
        if self.item_shape and self.dtype in STRINGS:
            yield Problem(f"item_shape with dtype {self.dtype!r}", "single strings")
        try:
            padding_of(self.dtype, self.padding_value)
        except Problem as problem:
            yield Problem(f"padding_value={self.padding_value!r}", problem.expected)

    def _limit_problems(self) -> Iterator[Problem]:
        """Yield what needs a `max_length`, or a batch that is padded."""
        if self.max_length is None and self.too_long in TOO_LONG[1:]:
            yield Problem(f"too_long={self.too_long!r} without a limit", "max_length=n")
        if self.pad_on_disk is not True:
            return
        if self.max_length is None:
            yield Problem("pad_on_disk=True without a limit", "max_length=n")
        if self.ragged is True:
            yield Problem(
                "ragged=True with pad_on_disk=True",
                "one or the other",
                "what is padded on disk has one length",
            )

    @property
    def uses_vocabulary(self) -> bool:
        return not self.item_shape and self.dtype not in ("bool", *FLOATS)

    @property
    def default_role(self) -> Role:
        return "info" if self.dtype == "bytes" else "input"

    @property
    def opaque(self) -> str:
        return "opaque bytes" if self.dtype == "bytes" else ""

    def settled(self, name: str) -> Self:
        return replace(
            super().settled(name),
            padding_value=padding_of(self.dtype, self.padding_value),
        )

    def layers(self, role: str) -> tuple[str, ...]:
        if role != "input":
            return ()
        return "dense", "normalization", "vocabulary"

    def check_default(self, name: str, default: Any) -> None:
        empty = isinstance(default, (list, tuple, np.ndarray)) and len(default) == 0
        if not empty:
            raise Problem(shortened(default), "[] or None")


def padding_of(dtype: str, value: object) -> bool | int | float | str:
    """Return what fills a batch of a dtype; 0 is "" for strings and False for bools.

    Raises:
        Problem: the dtype cannot hold it.
    """
    if type(value) is int and value == 0 and dtype in ("bool", *STRINGS):
        return False if dtype == "bool" else ""
    return item_of(dtype, value)


def item_of(dtype: str, value: object) -> bool | int | float | str:
    """Return a single item of a dtype.

    Raises:
        Problem: the dtype cannot hold it.
    """
    if dtype in STRINGS:
        if not isinstance(value, str):
            raise Problem(repr(value), "a str")
        if not is_utf8(value):
            raise Problem(repr(value), "text that UTF-8 can hold")
        return value
    if isinstance(value, Unfit):
        raise Problem(repr(value), "one number")
    number = Numbers(dtype, finite=False).convert(value)
    if number.shape:
        raise Problem(repr(value), "one number")
    return number.item()  # type: ignore[no-any-return]


_LIMITS = {
    "error": ", at most {} items",
    "keep_head": ", of which the first {} items are kept",
    "keep_tail": ", of which the last {} items are kept",
}
