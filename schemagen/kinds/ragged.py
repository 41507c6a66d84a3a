"""Lists of lists of any lengths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self, get_args, get_origin

import numpy as np

from ..runtime.shared.errors import Problem
from ..runtime.shared.values import FLOATS, shortened
from .kind import Kind, Role
from .parameters import (
    choice_problems,
    flag_problems,
    group_problems,
    is_positive,
    key_problems,
)
from .python_types import number_types
from .varlen import DTYPES, padding_of


@dataclass(frozen=True)
class Ragged(Kind):
    """A list of lists of numbers or strings, each of any length from 0.

    Stored as two features: all values one after the other, under the field's key, and
    how many of them each inner list has.

    Attributes:
        dtype: of the values; "string" is text, "bytes" opaque.
        row_lengths_key: the key of the inner lists' lengths; the field's key and
            "/row_lengths" if None.
        ragged: deliver a RaggedTensor; False pads a batch to its longest lists.
        padding_value: what fills up where `ragged=False`; 0 means "" for strings and
            False for bools.
        max_length: the most inner lists that a row may have; None for any number.
        group: a name that fields with equally many items share: here, inner lists.
        exact: refuse floats that dtype cannot hold exactly, instead of rounding them.
        finite: refuse NaN and infinities.
    """

    dtype: str
    row_lengths_key: str | None = None
    ragged: bool = True
    padding_value: bool | int | float | str | bytes = 0
    max_length: int | None = None
    group: str | None = None
    exact: bool = False
    finite: bool = True

    name: ClassVar[str] = "Ragged"
    holds: ClassVar[str] = "a list of lists of its dtype"

    def in_file(self, name: str, directory: Path | None) -> Self:
        return replace(self, row_lengths_key=self._lengths_key(self.key or name))

    def settled(self, name: str) -> Self:
        return replace(
            super().settled(name),
            row_lengths_key=self._lengths_key(self.key or name),
            padding_value=padding_of(self.dtype, self.padding_value),
        )

    def _lengths_key(self, key: str) -> str:
        return (
            f"{key}/row_lengths"
            if self.row_lengths_key is None
            else self.row_lengths_key
        )

    def accepts(self, python_type: Any) -> bool:
        inner = _items_of(python_type)
        return len(inner) == 1 and _items_of(inner[0]) in self._item_types()

    def _item_types(self) -> tuple[tuple[Any, ...], ...]:
        strings = {"string": str, "bytes": bytes}
        if self.dtype in strings:
            return ((strings[self.dtype],),)
        return tuple((number,) for number in number_types(self.dtype))

    def problems(self) -> Iterator[Problem]:
        yield from flag_problems(
            ragged=self.ragged, exact=self.exact, finite=self.finite
        )
        yield from key_problems("row_lengths_key", self.row_lengths_key)
        if self.max_length is not None and not is_positive(self.max_length):
            yield Problem(f"max_length={self.max_length!r}", "a positive int or None")
        yield from group_problems(self.group)
        wrong_dtype = list(choice_problems("dtype", self.dtype, DTYPES))
        yield from wrong_dtype
        if wrong_dtype:  # what else is right depends on it
            return
        try:
            padding_of(self.dtype, self.padding_value)
        except Problem as problem:
            yield Problem(f"padding_value={self.padding_value!r}", problem.expected)

    @property
    def uses_vocabulary(self) -> bool:
        return self.dtype not in ("bool", *FLOATS)

    @property
    def default_role(self) -> Role:
        return "info" if self.dtype == "bytes" else "input"

    @property
    def opaque(self) -> str:
        return "opaque bytes" if self.dtype == "bytes" else ""

    def layers(self, role: str) -> tuple[str, ...]:
        if role != "input":
            return ()
        return "dense", "flat", "normalization", "vocabulary"

    def check_default(self, name: str, default: Any) -> None:
        empty = isinstance(default, (list, tuple, np.ndarray)) and len(default) == 0
        if not empty:
            raise Problem(shortened(default), "[] or None")


def _items_of(python_type: Any) -> tuple[Any, ...]:
    """Return what a list, tuple or Sequence holds; nothing if the type is no such."""
    if get_origin(python_type) not in (list, tuple, Sequence):
        return ()
    return tuple(item for item in get_args(python_type) if item is not Ellipsis)
