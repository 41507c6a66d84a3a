"""Checks: what the values of a field have to satisfy, stated once, as data.

A check is a function of cells, in numpy or TensorFlow. Writers, `open_split`, `verify` and
the parser run the checks of a kind, so that none takes what another one refuses. A check
may have a plan, which says the same as data. If all checks of a field have one, the core
compares records with the plans as it reads them, writers compare what they have packed, and
no check is run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..shared.values import NO_RANGE, inside, range_text

Cells = Any
"""The values under a key of some rows, in numpy or TensorFlow: `cells.Cells`."""

Test = Callable[..., Any]
"""A function of cells, one for each part of a field, that returns what is right: bool."""


class Constraints(NamedTuple):
    """What a check asks for, as data.

    Attributes:
        bounds: the least and the greatest number; None for no limit. NaN passes.
        finite: whether NaN and infinities are refused.
        text: whether bytes are UTF-8.
        most: the most values of a row; None for no limit.
        tests: functions that raise a Problem for a wrong bytes value. The core cannot
            run them.
    """

    bounds: tuple[Any, Any] = NO_RANGE
    finite: bool = False
    text: bool = False
    most: int | None = None
    tests: tuple[Callable[[bytes], object], ...] = ()

    def merged(self, other: Constraints) -> Constraints:
        """Return the plan of two checks."""
        pairs = zip(self.bounds, other.bounds, strict=True)
        low, high = ([n for n in pair if n is not None] for pair in pairs)
        limits = [n for n in (self.most, other.most) if n is not None]
        return Constraints(
            (max(low, default=None), min(high, default=None)),
            self.finite or other.finite,
            self.text or other.text,
            min(limits, default=None),
            self.tests + other.tests,
        )


@dataclass(frozen=True)
class Check:
    """What the values of a field have to satisfy.

    Its functions take the cells of all parts of the field, the values first, unless stated
    otherwise.

    Attributes:
        rule: the rule's id.
        what: what is wrong otherwise.
        expected: what should be there.
        right: returns which values are right, bool [values].
        by_row: whether `right` returns which rows are right, bool [rows].
        part: the number of the part that it is about.
        dtype: of the numbers that `right` takes, if they may be stored as raw bytes.
        numbers: of a check by row: returns the numbers of each row that `found` shows.
        found: what errors show in place of the wrong value: a function of that value. Of
            a check by row a text for `str.format`, with a place for each number.
        cause: a function of a wrong value, and of the share of rows that are wrong,
            that returns the likely cause, or "". Of a check by row it takes the column
            of the wrong rows, and the position of one.
        parsed: whether the parser in TensorFlow runs it, too.
        structural: whether it compares parts that a kind packs from the same value. A row
            that is encoded alone is not compared: that would take longer than packing.
        plan: what it asks for, as data; None if a plan cannot say it.
    """

    rule: str
    what: str
    expected: str
    right: Test
    by_row: bool = False
    part: int = 0
    dtype: str | None = None
    numbers: Callable[..., Sequence[Any]] | None = None
    found: str | Callable[[Any], str] | None = None
    cause: Callable[..., str] | None = None
    parsed: bool = True
    structural: bool = False
    plan: Constraints | None = None


@dataclass(frozen=True)
class BytesCheck:
    """What each bytes value has to satisfy; the parser has its own way.

    Attributes:
        rule: the rule's id.
        what: what is wrong otherwise.
        test: raises a Problem for a wrong value.
        expected: what should be there; what the Problem says if "".
        cause: the likely cause, given a wrong value, where the Problem has no advice.
    """

    rule: str
    what: str
    test: Callable[[bytes], object]
    expected: str = ""
    cause: Callable[[bytes], str] = lambda data: ""
    part: ClassVar[int] = 0
    structural: ClassVar[bool] = False

    @property
    def plan(self) -> Constraints:
        """What it asks for, as data."""
        return Constraints(tests=(self.test,))


Checks = tuple[Check | BytesCheck, ...]


def plan_of(checks: Iterable[Check | BytesCheck]) -> Constraints | None:
    """Return what all checks ask for; None if one of them has no plan."""
    found = Constraints()
    for check in checks:
        if check.plan is None:
            return None
        found = found.merged(check.plan)
    return found


def integers(
    low: int | None, high: int | None, rule: str, what: str, expected: str, **more: Any
) -> Check:
    """Return a check that refuses integers out of a range; None for no limit."""

    def right(*cells: Cells) -> Any:
        found = cells[more.get("part", 0)].values
        if low is None or high is None:
            return found >= low if high is None else found <= high
        return (found >= low) & (found <= high)

    return Check(rule, what, expected, right, plan=Constraints((low, high)), **more)


def of_dtype(dtype: str, low: int, high: int) -> Check:
    """Return a check that refuses integers of a list that a narrower dtype cannot hold."""
    text = "0 or 1 for a bool" if dtype == "bool" else f"{dtype}, {low} to {high}"
    return integers(low, high, "SG526", "number out of the dtype's range", text)


def in_range(dtype: str, low: Any, high: Any) -> Check:
    """Return a check that refuses numbers out of a range. NaN passes; None is no limit."""
    return Check(
        "SG535",
        "number out of range",
        range_text(low, high),
        lambda cells, *_: inside(cells.values, (low, high), cells.are_nan),
        dtype=dtype,
        plan=Constraints((low, high)),
    )


def finite(dtype: str) -> Check:
    """Return a check that refuses NaN and infinities. The parser does not run it."""
    return Check(
        "SG532",
        "number is not finite",
        "finite numbers",
        lambda cells, *_: np.isfinite(cells.values),
        dtype=dtype,
        parsed=False,
        plan=Constraints(finite=True),
    )


def at_most(limit: int, noun: str, each: int = 1, part: int = 0) -> Check:
    """Return a check that refuses too many items.

    Args:
        limit: the most items.
        noun: what they are called.
        each: how many values an item has.
        part: the part that has them.
    """

    def lengths(*cells: Cells) -> Any:
        found = cells[part].lengths
        return found // each if each > 1 else found

    return Check(
        "SG524",
        "list is too long",
        f"at most {limit} {noun}",
        lambda *cells: lengths(*cells) <= limit,
        by_row=True,
        part=part,
        numbers=lambda *cells: (lengths(*cells),),
        found=f"{{}} {noun}",
        plan=Constraints(most=limit * each),
    )
