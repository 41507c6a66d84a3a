"""Sequences, and limits of their length: what is above is refused or cut off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..reading.columns import Rows
from ..shared.errors import Problem
from .decoded import RaggedRows, Shape
from .delivered import Delivered
from .kind import Kind
from .stored import Rule


class Listed(Kind):
    """A sequence of any length, with a limit if its parameters state one."""

    ragged: bool
    max_length: int | None
    too_long: str = "error"
    group: str | None
    padding_value: Any

    noun: ClassVar[str] = "items"
    """What an item is called."""

    def bind(self) -> None:
        super().bind()
        self._limit = Limit(self.max_length, self.too_long, self.noun)

    def _delivers_items(
        self,
        shape: Shape,
        dtype: str | None = None,
        decoded: tuple[str, Shape] | None = None,
    ) -> Delivered:
        """Return what readers deliver of sequences, given the shape of one."""
        return self._delivers(
            shape,
            dtype,
            decoded=decoded,
            layout="ragged" if self.ragged else "dense",
            filler=self.padding_value,
            limit=self.max_length,
        )


@dataclass(frozen=True)
class Limit:
    """The lengths of a field's sequences.

    Attributes:
        max_length: the most items a row may have; None for any number.
        too_long: what becomes of more: "error", "keep_head" or "keep_tail".
        noun: what an item is called.
    """

    max_length: int | None = None
    too_long: str = "error"
    noun: str = "items"

    def check(self, length: int) -> None:
        """Refuse a length above the limit, unless what is above is cut off.

        Raises:
            Problem: naming both.
        """
        limit = self.max_length
        if limit is not None and length > limit and self.too_long == "error":
            raise Problem(f"{length} {self.noun}", f"at most {limit}")

    def checked(self, found: Any, lengths: Callable[[], Any]) -> Any:
        """Refuse rows of stored values that are too long, given their lengths."""
        limit = self.max_length
        if limit is None or self.too_long != "error":
            return found
        rule = Rule("SG524", "list is too long", f"at most {limit} {self.noun}")

        def test() -> tuple[Any, Any]:
            items = lengths()
            return items <= limit, items

        return found.check_rows(test, rule, f"{{}} {self.noun}")

    def kept(self, lists: Any) -> Any:
        """Return lists of rows, or a ragged tensor, without what is beyond the limit."""
        limit = self.max_length
        if limit is None or self.too_long == "error":
            return lists
        if isinstance(lists, RaggedRows):
            return RaggedRows(*self.cut_rows(lists.flat, lists.lengths))
        if isinstance(lists, list):
            return [*map(self.cut, lists)]
        return lists[:, :limit] if self.too_long == "keep_head" else lists[:, -limit:]

    def keeps(self, length: int) -> bool:
        """Return whether rows of this length are stored as they are."""
        return self.max_length is None or length <= self.max_length

    def cut(self, items: Any) -> Any:
        """Return the items of one row that are kept, of a list or an array."""
        if self.max_length is None or len(items) <= self.max_length:
            return items
        if self.too_long == "keep_tail":
            return items[-self.max_length :]
        return items[: self.max_length]

    def cut_rows(self, items: NDArray[Any], lengths: Rows) -> tuple[NDArray[Any], Rows]:
        """Return the items that are kept of all rows, and the number of each row's.

        Args:
            items: [N, ...], the rows' items one after the other.
            lengths: int64 [rows], how many of them each row has.
        """
        limit = self.max_length
        if limit is None or not (lengths > limit).any():
            return items, lengths
        first = np.cumsum(lengths) - lengths
        within = np.arange(len(items)) - np.repeat(first, lengths)
        if self.too_long == "keep_tail":
            within -= np.repeat(np.maximum(lengths - limit, 0), lengths)
        kept = (within >= 0) & (within < limit)
        return items[kept], np.minimum(lengths, limit)
