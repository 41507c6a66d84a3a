"""Checks: what has to be right of the values of a field, stated once, as data.

A check is a function of cells, in numpy or TensorFlow. Writers, `open_split`, `verify` and
the parser run the checks of a kind, so that none takes what another one refuses. A check
with a plan says the same as data: the core compares records with it as they are read, and
writers compare what they have packed. A check without a plan is always run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..shared.values import NO_RANGE, inside, range_text

Cells = Any
"""The values under a key of some rows, in numpy or TensorFlow: `cells.Cells`."""

Test = Callable[..., Any]
"""From cells, one for each part of a field, to what is right: bool."""


class Plan(NamedTuple):
    """What a check asks for, as data.

    Attributes:
        bounds: the least and the greatest number; None for no limit. NaN passes.
        finite: whether NaN and infinities are refused.
        text: whether bytes are UTF-8.
        most: the most values of a row; None for no limit.
        tests: functions that raise a Problem for a wrong bytes value; the core has none.
    """

    bounds: tuple[Any, Any] = NO_RANGE
    finite: bool = False
    text: bool = False
    most: int | None = None
    tests: tuple[Callable[[bytes], object], ...] = ()

    def merged(self, other: Plan) -> Plan:
        """Return the plan of two checks."""
        pairs = zip(self.bounds, other.bounds, strict=True)
        low, high = ([n for n in pair if n is not None] for pair in pairs)
        limits = [n for n in (self.most, other.most) if n is not None]
        return Plan(
            (max(low, default=None), min(high, default=None)),
            self.finite or other.finite,
            self.text or other.text,
            min(limits, default=None),
            self.tests + other.tests,
        )


@dataclass(frozen=True)
class Check:
    """What has to be right of the values of a field.

    Functions take the cells of all parts of the field, its values first.

    Attributes:
        rule: the rule's id.
        what: what is wrong otherwise.
        expected: what should be there.
        right: which values are right, bool [values]; or which rows, bool [rows].
        by_row: whether it says so of rows.
        part: which of the parts it is about.
        dtype: of the numbers that `right` takes, where these may be raw bytes.
        numbers: of a check by row, the numbers of each row that `found` shows.
        found: what is wrong, in words: a text with a place for each number of a row, or
            a function of a wrong value. The values themselves if None.
        cause: the likely cause, given a wrong value; or the wrong rows and the position
            of one.
        parsed: whether the parser in TensorFlow runs it, too.
        structural: whether it compares parts, all of which a kind packs from one value:
            it is not run for a row that is encoded alone.
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
    plan: Plan | None = None


@dataclass(frozen=True)
class EachCheck:
    """What has to be right of each bytes value; the parser has its own way.

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
    part = 0
    structural = False

    @property
    def plan(self) -> Plan:
        """What it asks for, as data."""
        return Plan(tests=(self.test,))


Checks = tuple[Check | EachCheck, ...]


def plan_of(checks: Iterable[Check | EachCheck]) -> Plan | None:
    """Return what all checks ask for; None if one of them has no plan."""
    found = Plan()
    for check in checks:
        if check.plan is None:
            return None
        found = found.merged(check.plan)
    return found


def integers(
    low: int | None, high: int | None, rule: str, what: str, expected: str, **more: Any
) -> Check:
    """Return the check of integers in a range, both ends included; None for no limit."""

    def right(*cells: Cells) -> Any:
        found = cells[more.get("part", 0)].values
        if low is None or high is None:
            return found >= low if high is None else found <= high
        return (found >= low) & (found <= high)

    return Check(rule, what, expected, right, plan=Plan((low, high)), **more)


def of_dtype(dtype: str, low: int, high: int) -> Check:
    """Return the check that the integers of a list are of a narrower dtype."""
    text = "0 or 1 for a bool" if dtype == "bool" else f"{dtype}, {low} to {high}"
    return integers(low, high, "SG526", "number out of the dtype's range", text)


def in_range(dtype: str, low: Any, high: Any) -> Check:
    """Return the check of numbers in a range, of which NaN is; None for no limit."""
    return Check(
        "SG535",
        "number out of range",
        range_text(low, high),
        lambda cells, *_: inside(cells.values, (low, high), cells.are_nan),
        dtype=dtype,
        plan=Plan((low, high)),
    )


def finite(dtype: str) -> Check:
    """Return the check of NaN and infinities, which the parser lets pass."""
    return Check(
        "SG532",
        "number is not finite",
        "finite numbers",
        lambda cells, *_: np.isfinite(cells.values),
        dtype=dtype,
        parsed=False,
        plan=Plan(finite=True),
    )


def no_longer(limit: int, noun: str, each: int = 1, part: int = 0) -> Check:
    """Return the check of the number of items.

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
        plan=Plan(most=limit * each),
    )
