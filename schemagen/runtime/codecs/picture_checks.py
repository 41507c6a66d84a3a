"""Checks of stored pictures by the codec that writes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..reading.columns import Column
from ..shared.errors import Problem
from ..shared.images import sniff
from .faults import Fault, Passed


def checked_pictures(column: Column, codec: Any) -> Passed:
    """Refuse the rows with a value that a codec raises a Problem for."""
    problems: dict[int, tuple[int, Problem]] = {}  # the first one of each row
    ends = np.cumsum(column.lengths)
    for at, data in enumerate(column.bytes_values()):
        try:
            codec.convert(data)
        except Problem as problem:
            row = int(np.searchsorted(ends, at, "right"))
            # A traceback would keep the memory of these records.
            problems.setdefault(row, (at, problem.with_traceback(None)))
    by_expected: dict[str, list[int]] = {}
    for row, (_, refusal) in problems.items():
        by_expected.setdefault(refusal.expected, []).append(row)
    for expected, rows in by_expected.items():
        yield _mismatch(column, rows, [problems[row] for row in rows], expected)
    keep = np.ones(len(column), np.bool_)
    keep[list(problems)] = False
    return column.only(keep)


def _mismatch(
    column: Column, rows: list[int], problems: list[tuple[int, Problem]], expected: str
) -> Fault:
    def found(at: int) -> str:
        value, refusal = problems[at]
        place = value - column.starts[rows[at]]
        alone = column.lengths[rows[at]] == 1
        return refusal.found if alone else f"{refusal.found} at [{place}]"

    def cause(at: int) -> str:
        value, refusal = problems[at]
        return refusal.advice or _cause(column.bytes_at(value))

    what = "image does not match the schema"
    return Fault("SG528", what, expected, column.rows[rows], found, cause, column.key)


def _cause(data: bytes) -> str:
    if not data:
        return "nothing was written"
    if sniff(data):
        return ""
    if data.startswith((b"/9j/", b"iVBOR")):
        return 'an image in base64: declare transfer_encoding="base64"'
    return "raw pixels, or a path?"
