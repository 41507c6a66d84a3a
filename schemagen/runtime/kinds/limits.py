"""Sequences, and limits of their length: what is above is refused or cut off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..cells.checks import Checks, at_most
from ..cells.columns import Rows
from ..cells.decoded import RaggedRows, Shape
from ..cells.delivered import Delivered
from ..shared.errors import Problem
from .kind import Kind


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
        """Refuse a length above what has room, unless what is above is cut off.

        Raises:
            Problem: naming both.
        """
        limit = self.max_length
        if limit is not None and length > limit and self.too_long == "error":
            raise Problem(f"{length} {self.noun}", f"at most {limit}")

    def checks(self, each: int = 1, part: int = 0) -> Checks:
        """Return the check of the lengths of stored sequences.

        Args:
            each: how many values an item has.
            part: the part that has as many values as there are items.
        """
        if self.max_length is None or self.too_long != "error":
            return ()
        return (at_most(self.max_length, self.noun, each, part),)

    @property
    def _end(self) -> int | None:
        """The number of items beyond which sequences are cut; None to leave them."""
        return None if self.too_long == "error" else self.max_length

    def kept(self, lists: Any) -> Any:
        """Return lists of rows, or a ragged tensor, without what is beyond the limit."""
        limit = self._end
        if limit is None:
            return lists
        if isinstance(lists, RaggedRows):
            return RaggedRows(*self.cut_rows(lists.flat, lists.lengths))
        if isinstance(lists, list):
            return [*map(self.cut, lists)]
        return lists[:, :limit] if self.too_long == "keep_head" else lists[:, -limit:]

    def keeps(self, length: int) -> bool:
        """Return whether rows of this length are stored as they are."""
        return self._end is None or length <= self._end

    def cut(self, items: Any) -> Any:
        """Return the items of one row that are kept, of a list or an array."""
        limit = self._end
        if limit is None or len(items) <= limit:
            return items
        return items[-limit:] if self.too_long == "keep_tail" else items[:limit]

    def cut_rows(self, items: NDArray[Any], lengths: Rows) -> tuple[NDArray[Any], Rows]:
        """Return the items that are kept of all rows, and the number of each row's.

        Args:
            items: [N, ...], the rows' items one after the other.
            lengths: int64 [rows], how many of them each row has.
        """
        limit = self._end
        if limit is None or not (lengths > limit).any():
            return items, lengths
        first = np.cumsum(lengths) - lengths
        within = np.arange(len(items)) - np.repeat(first, lengths)
        if self.too_long == "keep_tail":
            within -= np.repeat(np.maximum(lengths - limit, 0), lengths)
        kept = (within >= 0) & (within < limit)
        return items[kept], np.minimum(lengths, limit)
