"""Checks of what was packed, before it is written: those that readers will run.

Where the plan of a kind holds, nothing else is run. Otherwise the kind reads what was
packed as it would read a file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

import numpy as np

from ..cells.checks import EachCheck, Plan, plan_of
from ..cells.columns import StepColumn
from ..cells.faults import Fault, Features
from ..cells.in_numpy import ColumnSource, Notes
from ..cells.part import BYTES, Part
from ..cells.written import (
    RawRows,
    Stored,
    Written,
    column_of_written,
)
from ..kinds.kind import Kind
from ..shared.dtypes import DTYPES
from ..shared.errors import Problem
from ..shared.values import all_finite


def first_fault(kind: Kind, written: Sequence[Written], count: int) -> Fault | None:
    """Return what is wrong with the first wrong row; None if all are right.

    Args:
        kind: of the field.
        written: what each part holds of the rows.
        count: how many rows there are; each of them has a value.
    """
    if _holds(kind, written):
        return None
    every = np.ones(count, np.bool_)
    if kind.parts[0].in_list:
        features = Features(every, {}, {kind.key: _steps(kind, written, count)})
    else:
        by_key = {
            part.key: (column_of_written(part, each, count),)
            for part, each in zip(kind.parts, written, strict=True)
        }
        features = Features(every, by_key, optional=kind.optional)
    notes = Notes(kind.label)
    kind.read(ColumnSource(features, notes))
    return min(notes.faults, key=lambda fault: int(fault.rows[0]), default=None)


def converted(kind: Kind, value: Any) -> Any:
    """Return a value in the one form in which it is stored.

    Raises:
        Problem: the field cannot hold it.
    """
    found = kind.convert(value)
    of_step = kind.of_step
    if of_step.parts[0].is_image:  # arrays are not encoded for it
        for picture in found if isinstance(found, (list, tuple)) else [found]:
            for check in of_step.checked:
                if isinstance(check, EachCheck) and isinstance(picture, bytes):
                    check.test(picture)
        return found
    fault = fault_of_row(kind, kind.store(value))
    if fault is not None:
        raise Problem(fault.found(0), fault.expected, fault.cause(0))
    return found


def fault_of_row(kind: Kind, stored: Sequence[Stored]) -> Fault | None:
    """Return what is wrong with one row, given what each part holds of it."""
    return first_fault(kind, kind.join([stored]), 1)


def row_test(kind: Kind) -> Callable[[Stored], bool] | None:
    """Return what tells of one row that all is right, given what its one part holds.

    Where it does not, `fault_of_row` has to say. None if there is nothing to check.
    """
    plan = plan_of(kind.checked)
    if plan == Plan():
        return None
    if plan is None or len(kind.parts) > 1 or kind.parts[0].in_list:
        return lambda stored: False
    (part,) = kind.parts
    if part.transfer_encoding or part.encoding not in ("list", "raw"):
        return lambda stored: False
    return _row_test(plan, part)


def _row_test(plan: Plan, part: Part) -> Callable[[Stored], bool]:
    low, high = plan.bounds

    def is_right(stored: Stored) -> bool:
        if part.encoding == "raw":
            numbers = _numbers_in(part, stored[0])
            return numbers is not None and _are_right(plan, numbers, len(numbers))
        if plan.most is not None and len(stored) > plan.most:
            return False
        if part.stored == BYTES:
            return not plan.text or _are_text(stored)
        if type(stored) is tuple and len(stored) == 1:
            (number,) = stored
            return (
                (low is None or number >= low)
                and (high is None or number <= high)
                and (not plan.finite or isfinite(number))
            )
        return _are_right(plan, np.asarray(stored), len(stored))

    return is_right


def _holds(kind: Kind, written: Sequence[Written]) -> bool:
    """Return whether the plan of a kind holds; False if it has none."""
    plan = plan_of(kind.checked)
    if plan is None or len(kind.parts) > 1 or kind.parts[0].in_list:
        return False
    (part,), (each,) = kind.parts, written
    if part.transfer_encoding or part.encoding not in ("list", "raw"):
        return False
    values = each.values
    if isinstance(values, RawRows):
        if plan == Plan():
            return True
        size = DTYPES[part.dtype].size
        numbers = _numbers_in(part, values.array)
        longest = int(values.sizes.max(initial=0)) // size
        return numbers is not None and _are_right(plan, numbers, longest)
    if part.encoding == "raw":
        return False
    if plan.most is not None and int(np.max(each.counts, initial=0)) > plan.most:
        return False
    if isinstance(values, np.ndarray):
        return _are_right(plan, values, 0)
    return not plan.text or _are_text(values)


def _numbers_in(part: Part, data: Any) -> Any:
    """Return the numbers in raw bytes, flat; None of a dtype that numpy lacks."""
    dtype = DTYPES[part.dtype]
    if not dtype.in_numpy:
        return None
    return np.frombuffer(data, dtype.numpy.newbyteorder("<"))


def _are_right(plan: Plan, numbers: Any, longest: int) -> bool:
    if plan.most is not None and longest > plan.most:
        return False
    if plan.finite and not all_finite(numbers):
        return False
    low, high = plan.bounds
    if low is not None and (numbers < low).any():
        return False
    return high is None or not (numbers > high).any()


def _are_text(values: Any) -> bool:
    if b"".join(values).isascii():
        return True
    try:
        for value in values:
            bytes(value).decode()
    except UnicodeDecodeError:
        return False
    return True


def _steps(kind: Kind, written: Sequence[Written], count: int) -> StepColumn:
    (part,), (each,) = kind.parts, written
    assert each.steps is not None
    steps = column_of_written(part, each, int(each.steps.sum()))
    return StepColumn(kind.key, np.arange(count), each.steps, (steps,))
