"""Feature lists: one value of a kind in each step."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

import numpy as np

from ...kinds.field import FieldSpec
from ...kinds.steps import Steps
from ..columns import Columns, Rows, StepColumn
from .faults import Fault, FieldCheck, Units, firsts, listed, near

_STEP_KEY = ""


def steps(
    spec: FieldSpec[Steps], step: FieldCheck, columns: Columns, units: Units
) -> Generator[Fault, None, None]:
    """Check a feature list.

    Args:
        spec: of the field.
        step: checks the values of all steps, which have the key "".
        columns: where the feature lists stand.
        units: the records.
    """
    found = columns.steps.get(spec.key)
    if not units.optional:
        have = () if found is None else (found.rows,)
        missing = np.flatnonzero(units.live & ~units.among(*have))
        yield _missing(spec, columns, units, missing)
    if found is None or not len(found.rows):
        return
    owners = np.repeat(found.rows, found.steps)
    live = units.live[owners]
    of_steps = Units(
        live, {_STEP_KEY: tuple(replace(c, key=_STEP_KEY) for c in found.columns)}
    )
    yield from _of_records(step(of_steps), found, spec.key)
    if spec.kind.max_length is not None and spec.kind.too_long == "error":
        most = spec.kind.max_length
        long = np.flatnonzero((found.steps > most) & units.live[found.rows])
        yield Fault(
            "SG524",
            "list is too long",
            f"at most {most} steps",
            found.rows[long],
            lambda at: f"{found.steps[long[at]]} steps",
            key=spec.key,
        )


def _missing(
    spec: FieldSpec[Steps], columns: Columns, units: Units, rows: Rows
) -> Fault:
    def cause(at: int) -> str:
        return near(spec.key, _lists_of(columns, int(rows[at])), units.known)

    def found(at: int) -> str:
        row = int(rows[at])
        if spec.key in units.keys_of(row):
            return f"{spec.key!r} as a feature of the context"
        lists = listed(_lists_of(columns, row))
        return f"no feature list {spec.key!r}; there are: {lists}"

    what = "required feature list is missing"
    return Fault("SG522", what, "a feature list", rows, found, cause, spec.key)


def _lists_of(columns: Columns, row: int) -> list[str]:
    return [key for key, found in columns.steps.items() if row in found.rows]


def _of_records(
    faults: Generator[Fault, None, object], found: StepColumn, key: str
) -> Generator[Fault, None, None]:
    """Turn faults of steps into faults of their records, the first step of each."""
    ends = np.cumsum(found.steps)
    for fault in faults:
        places, steps = firsts(ends, fault.rows)
        numbers = steps - (ends - found.steps)[places]
        yield _of_record(fault, found.rows[places], steps, numbers, key)


def _of_record(fault: Fault, rows: Rows, steps: Rows, numbers: Rows, key: str) -> Fault:
    first = np.searchsorted(fault.rows, steps).tolist()

    def text(at: int) -> str:
        words = fault.found(first[at])
        if words.startswith(("no feature", "a feature without")):
            words = "a step without a value"
        return f"step {numbers[at]}: {words}"

    return Fault(
        fault.rule,
        f"in a step: {fault.what}",
        fault.expected,
        rows,
        text,
        lambda at: fault.cause(first[at]),
        key,
    )
