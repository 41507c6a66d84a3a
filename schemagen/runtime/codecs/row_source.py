"""The features of many records, of which the fields are read one after the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..native import BYTES, FLOAT, INT64, NOTHING
from ..reading.columns import Column, StepColumn, column_of
from .faults import Fault, Features, firsts, listed, missing, near
from .part import Part, amount
from .stored import Rule, Source
from .stored_rows import Notes, StoredRows

_NOTHING = np.empty(0, np.int64)


@dataclass(frozen=True)
class RowSource(Source):
    """The features of some records, of which one field is read.

    Attributes:
        features: of the records.
        notes: of the field.
    """

    features: Features
    notes: Notes

    def read(
        self,
        part: Part,
        expected: str,
        *,
        needed_by: StoredRows | None = None,
        fill: bool = False,
    ) -> StoredRows:
        found = StoredRows(
            self.notes, column_of(self.features.by_key, part.key, part.kind)
        )
        if self.notes.trusted:
            return found
        self._note_other_types(part, expected)
        found = found.only(self.features.live[found.column.rows])
        lacking = _NOTHING
        if len(found.column) < len(self.features.live):
            lacking = self._lacking(part, expected, needed_by, fill=fill)
        if part.count is not None:
            right = found.lengths == part.count
            wrong = found.column.only(~right)
            rule = Rule("SG524", "wrong number of values", expected)
            self.notes.note(rule, wrong.rows, partial(_amount, wrong), key=part.key)
            found = found.only(right)
        if part.transfer_encoding:
            found = found.base64(expected)
        return found.with_rows(lacking) if fill and len(lacking) else found

    def _lacking(
        self, part: Part, expected: str, needed_by: StoredRows | None, *, fill: bool
    ) -> NDArray[np.int64]:
        """Return the rows that have no list under a part's key, and may be without."""
        features = self.features
        lacking = features.live & ~features.present(part.key)
        needed = np.zeros_like(lacking)
        if needed_by is not None and not (fill and features.optional):
            column = needed_by.column
            needed = features.among(
                column.rows[column.lengths > 0] if fill else column.rows
            )
        elif needed_by is None and not features.optional:
            needed = features.live
        missed = np.flatnonzero(lacking & needed)
        if len(missed):
            self.notes.faults.append(missing(features, part.key, expected, missed))
        return np.flatnonzero(lacking & ~needed)

    def _note_other_types(self, part: Part, expected: str) -> None:
        """Note lists of another type under a part's key."""
        rule = Rule("SG523", "wrong feature type", expected)
        for other in self.features.by_key.get(part.key, ()):
            if other.kind not in (part.kind, NOTHING):
                other = other.only(self.features.live[other.rows])
                words = partial(_amount, other), partial(_cause_of_type, part, other)
                self.notes.note(rule, other.rows, *words, part.key)

    def steps(self, key: str, limit: Any) -> tuple[StoredRows, RowSource]:
        features, found = self.features, self.features.steps.get(key)
        if found is None:
            found = StepColumn(key, _NOTHING, _NOTHING, ())
        if not features.optional:
            lacking = features.live & ~features.among(found.rows)
            self._note_missing_lists(key, np.flatnonzero(lacking))
        # A step is a row of its own, and its values are those under no key.
        count = int(found.steps.sum())
        memory = np.empty(0, np.uint8)
        column = Column(key, INT64, found.rows, found.steps, np.arange(count), memory)
        live = features.live[np.repeat(found.rows, found.steps)]
        columns = tuple(replace(each, key="") for each in found.columns)
        steps = StoredRows(self.notes, column).only(features.live[found.rows])
        return steps, RowSource(Features(live, {"": columns}), Notes(self.notes.label))

    def complete(self, steps: StoredRows, inside: Source) -> StoredRows:
        assert isinstance(inside, RowSource)
        column, ends = steps.column, np.cumsum(steps.column.lengths)
        right = np.ones(len(column), np.bool_)
        for fault in inside.notes.faults:
            # The first such step of each record.
            at = np.flatnonzero(np.isin(column.values, fault.rows))
            places, first = firsts(ends, at)
            numbers = first - (ends - column.lengths)[places]
            which = np.searchsorted(fault.rows, column.values[first]).tolist()
            self.notes.faults.append(
                Fault(
                    fault.rule,
                    f"in a step: {fault.what}",
                    fault.expected,
                    column.rows[places],
                    partial(_found_in_step, fault, numbers, which),
                    lambda at, fault=fault, which=which: fault.cause(which[at]),  # type: ignore[misc]
                    column.key,
                )
            )
            right[places] = False
        return steps.only(right)

    def _note_missing_lists(self, key: str, rows: NDArray[np.int64]) -> None:
        """Note rows that have no feature list under a key."""
        features = self.features

        def lists(at: int) -> list[str]:
            row = int(rows[at])
            return [key for key, each in features.steps.items() if row in each.rows]

        def found(at: int) -> str:
            if key in features.keys_of(int(rows[at])):
                return f"{key!r} as a feature of the context"
            return f"no feature list {key!r}; there are: {listed(lists(at))}"

        self.notes.note(
            Rule("SG522", "required feature list is missing", "a feature list"),
            rows,
            found,
            lambda at: near(key, lists(at), features.known),
            key,
        )

    def aligned(self, *some: StoredRows) -> list[StoredRows]:
        first = some[0].column.rows
        if all(np.array_equal(first, each.column.rows) for each in some[1:]):
            return [*some]
        rows = reduce(np.intersect1d, [each.column.rows for each in some])
        return [each.only(self.features.among(rows)[each.column.rows]) for each in some]

    def present(self, some: StoredRows, *parts: Part) -> StoredRows:
        there = [self.features.present(part.key) for part in parts]
        return some.only(np.logical_and.reduce(there)[some.column.rows])

    def absent(self, part: Part) -> Any:
        return np.False_  # rows without it are not read


def _amount(column: Column, at: int) -> str:
    return amount(int(column.lengths[at]), column.kind)


def _found_in_step(
    fault: Fault, numbers: NDArray[np.int64], which: list[int], at: int
) -> str:
    is_missing = fault.rule == "SG522"
    words = "a step without a value" if is_missing else fault.found(which[at])
    return f"step {numbers[at]}: {words}"


def _cause_of_type(part: Part, column: Column, at: int) -> str:
    if {column.kind, part.kind} == {FLOAT, INT64}:
        return "written as another type of number: declare the dtype it has"
    if part.kind == BYTES:
        return "written as a list of numbers, declared as bytes"
    return "written as bytes, declared as a list of numbers"
