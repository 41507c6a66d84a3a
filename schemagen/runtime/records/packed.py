"""Checks of what kinds have packed, before it is written.

They are the checks that readers run. If the plan of a kind holds, none is run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from math import isfinite
from typing import Any

import numpy as np

from ..cells.checks import BytesCheck, Constraints, plan_of
from ..cells.columns import StepColumn
from ..cells.decoded import convert_each
from ..cells.faults import Fault, Features
from ..cells.in_numpy import ColumnSource, Notes
from ..cells.part import BYTES, Part
from ..cells.written import RawRows, Stored, Written, column_of_written
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
    part, values = kind.parts[0], _count_values(kind)
    plan = plan_of(kind.checked) if values > 1 else kind.plan
    if (
        plan is not None
        and _is_comparable(part)
        and all(_column_satisfies(plan, part, each) for each in written[:values])
    ):
        return None
    every, notes = np.ones(count, np.bool_), Notes(kind.label, packed=True)
    if part.in_list:
        steps = {kind.key: _steps(kind, written, count)}
        kind.read(ColumnSource(Features(every, {}, steps), notes))
    else:
        by_key = {
            part.key: (column_of_written(part, each, count),)
            for part, each in zip(kind.parts, written, strict=True)
        }
        source = ColumnSource(Features(every, by_key), notes)
        source.checked(kind.cells(source), *kind.checked)
    return min(notes.faults, key=lambda fault: int(fault.rows[0]), default=None)


def _count_values(kind: Kind) -> int:
    """Return how many parts hold values; several only of numbered keys."""
    return sum(part.holds == "value" for part in kind.parts)


def converted(kind: Kind, value: Any) -> Any:
    """Return a value in the one form in which it is stored.

    Raises:
        Problem: the field cannot hold it.
    """
    found = kind.convert(value)
    of_step = kind.of_step
    if of_step.parts[0].is_media:  # arrays are not encoded for it
        tests = [c.test for c in of_step.checked if isinstance(c, BytesCheck)]

        def test_each(picture: Any) -> None:
            for test in tests if isinstance(picture, bytes) else ():
                test(picture)

        if isinstance(found, list):
            place = "{} in step {}" if kind.parts[0].in_list else "{} at [{}]"
            convert_each(test_each, found, place)
        else:
            test_each(found)
        return found
    row_writer(kind)(value)
    return found


def row_writer(kind: Kind) -> Callable[[Any], Sequence[Stored]]:
    """Return a function that stores a row's value, and raises a Problem for a wrong one."""
    store, quick, is_right = kind.store, kind.quick, _row_test(kind)
    several = _count_values(kind) > 1

    def write(value: Any) -> Sequence[Stored]:
        if quick is not None:
            stored = quick(value)
            if stored is not None:
                return (stored,)
        parts = store(value)
        values = [*chain.from_iterable(parts)] if several else parts[0]
        if is_right is not None and not is_right(values):
            fault = first_fault(kind, kind.join([parts]), 1)
            if fault is not None:
                raise fault.problem
        return parts

    return write


_NO_LIMITS = Constraints()


def _row_test(kind: Kind) -> Callable[[Stored], bool] | None:
    """Return a function that compares the first part of a row with the plans of checks.

    If it returns False, the checks have to be run. None if there is nothing to check.
    """
    part, checks = kind.parts[0], [c for c in kind.checked if not c.structural]
    plan = None if any(check.part for check in checks) else plan_of(checks)
    if plan == _NO_LIMITS and not part.in_list:
        return None
    if plan is None or part.in_list or not _is_comparable(part):
        return lambda stored: False  # no plan can be compared
    if part.stored == BYTES and part.encoding != "raw":
        most = plan.most
        return lambda stored: (
            (most is None or len(stored) <= most) and _bytes_satisfy(plan, stored)
        )
    low, high = plan.bounds

    def is_right(stored: Stored) -> bool:
        if part.encoding == "raw":
            numbers = _raw_numbers(part, stored[0])
            return numbers is not None and _numbers_satisfy(plan, numbers, len(numbers))
        if type(stored) is tuple and len(stored) == 1:
            (number,) = stored
            return (
                (low is None or number >= low)
                and (high is None or number <= high)
                and (not plan.finite or isfinite(number))
            )
        return _numbers_satisfy(plan, np.asarray(stored), len(stored))

    return is_right


def _is_comparable(part: Part) -> bool:
    """Return whether plans can be compared with what is stored as it is."""
    is_plain = part.encoding in ("list", "raw") or part.is_media
    return is_plain and not part.transfer_encoding


def _column_satisfies(plan: Constraints, part: Part, written: Written) -> bool:
    """Return whether a plan holds for what all rows hold."""
    values = written.values
    if plan == _NO_LIMITS:
        return True
    if isinstance(values, RawRows):
        numbers = _raw_numbers(part, values.array)
        longest = int(values.sizes.max(initial=0)) // DTYPES[part.dtype].size
        return numbers is not None and _numbers_satisfy(plan, numbers, longest)
    if part.encoding == "raw":
        return False
    if plan.most is not None and int(np.max(written.counts, initial=0)) > plan.most:
        return False
    if isinstance(values, np.ndarray):
        return _numbers_satisfy(plan, values)
    return _bytes_satisfy(plan, values)


def _raw_numbers(part: Part, data: Any) -> Any:
    """Return the numbers in raw bytes, flat; None of a dtype that numpy lacks."""
    dtype = DTYPES[part.dtype]
    if not dtype.in_numpy:
        return None
    return np.frombuffer(data, dtype.numpy.newbyteorder("<"))


def _numbers_satisfy(plan: Constraints, numbers: Any, longest: int = 0) -> bool:
    if plan.most is not None and longest > plan.most:
        return False
    if plan.finite and not all_finite(numbers):
        return False
    low, high = plan.bounds
    if low is not None and (numbers < low).any():
        return False
    return high is None or not (numbers > high).any()


def _bytes_satisfy(plan: Constraints, values: Any) -> bool:
    try:
        for test in plan.tests:
            for value in values:
                test(value if type(value) is bytes else bytes(value))
        if plan.text and not b"".join(values).isascii():
            for value in values:
                bytes(value).decode()
    except (Problem, UnicodeDecodeError):
        return False
    return True


def _steps(kind: Kind, written: Sequence[Written], count: int) -> StepColumn:
    (part,), (each,) = kind.parts, written
    assert each.steps is not None
    steps = column_of_written(part, each, int(each.steps.sum()))
    return StepColumn(kind.key, np.arange(count), each.steps, (steps,))
