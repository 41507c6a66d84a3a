"""Slices in the names of splits: "train[:80%]", as TensorFlow Datasets writes them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..shared.errors import DatasetError
from .finding import Splits

_NAME = re.compile(r"(?P<name>[^\[\]]+)(?:\[(?P<slice>.*)\])?", re.DOTALL)
_SLICE = re.compile(r"(?:(-?\d+)(%?))?:(?:(-?\d+)(%?))?", re.ASCII)


@dataclass(frozen=True)
class Slice:
    """A range of the records of a split.

    Attributes:
        first: where it begins: a number and "" or "%"; None for the first record.
        last: where it ends; None for behind the last record.
    """

    first: tuple[int, str] | None = None
    last: tuple[int, str] | None = None

    def of(self, records: int) -> range:
        """Return the numbers of its records, of so many."""

        def place(bound: tuple[int, str] | None, usual: int) -> int:
            if bound is None:
                return usual
            number, unit = bound
            at = round(number * records / 100) if unit else number
            return min(records, max(0, at + records if number < 0 else at))

        first, last = place(self.first, 0), place(self.last, records)
        return range(first, max(first, last))


def split_and_slice(split: Splits) -> tuple[Splits, Slice | None]:
    """Return the name of a split, and the slice behind it; several have none.

    Raises:
        DatasetError: it is not written as one.
    """
    if not isinstance(split, str):
        return split, None
    match = _NAME.fullmatch(split)
    if match is None or match["slice"] is None:
        return split, None
    bounds = _SLICE.fullmatch(match["slice"])
    if bounds is None:
        raise DatasetError(
            f"split={split!r}: expected a slice such as {match['name']}[:80%], "
            f"{match['name']}[80%:] or {match['name']}[100:200]"
        )
    first, first_unit, last, last_unit = bounds.groups()
    return match["name"], Slice(
        None if first is None else (int(first), first_unit),
        None if last is None else (int(last), last_unit),
    )
