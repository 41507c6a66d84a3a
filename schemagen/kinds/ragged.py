"""Lists of lists of any lengths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Self, get_args, get_origin

from ..runtime.shared.dtypes import FLOATS
from ..runtime.shared.errors import Problem
from .kind import Default, Kind
from .parameters import Name, OneOf, Padding, Size
from .python_types import item_name, item_types
from .varlen import DTYPES, padding_of, padding_problems


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

    dtype: Annotated[str, OneOf(DTYPES)]
    row_lengths_key: Name | None = None
    ragged: bool = True
    padding_value: Padding = 0
    max_length: Size | None = None
    group: Name | None = None
    exact: bool = False
    finite: bool = True

    name: ClassVar[str] = "Ragged"
    holds: ClassVar[str] = "a list of lists of its dtype"
    takes_default: ClassVar[Default] = "empty"
    input_layers: ClassVar[tuple[str, ...]] = (
        "dense",
        "flat",
        "normalization",
        "vocabulary",
    )

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

    @property
    def python_type(self) -> str:
        return f"list[list[{item_name(self.dtype)}]]"

    @property
    def uses_vocabulary(self) -> bool:  # type: ignore[override]
        return self.dtype not in ("bool", *FLOATS)

    def accepts(self, python_type: Any) -> bool:
        inner = _items_of(python_type)
        allowed = [(item,) for item in item_types(self.dtype)]
        return len(inner) == 1 and _items_of(inner[0]) in allowed

    def rules(self) -> Iterator[Problem]:
        yield from padding_problems(self.dtype, self.padding_value)


def _items_of(python_type: Any) -> tuple[Any, ...]:
    """Return what a list, tuple or Sequence holds; nothing for another type."""
    if get_origin(python_type) not in (list, tuple, Sequence):
        return ()
    return tuple(item for item in get_args(python_type) if item is not Ellipsis)
