"""Differences and repetitions as rows of a table, for a terminal and for the page."""

from __future__ import annotations

import os

from ..formatting import one_line
from .comparison import Difference
from .repetitions import Place, Repetition

DIFFERENCES = ("Splits", "Name", "Measure", "First", "Second", "Effect")
REPETITIONS = ("What", "Where", "How many", "Such as")


LISTED = 20
"""So many rows, files and damages are listed on a terminal."""


def difference_note(found: Difference) -> str:
    """Return what a measure is in the other split, and the size of the effect."""
    return f"{found.texts[0]} in {found.splits[0].label}; {found.effect_text}"


def difference_row(found: Difference) -> tuple[str, ...]:
    """Return the cells of a difference, as `DIFFERENCES` names them."""
    first, second = found.splits
    return (
        f"{first.label} and {second.label}",
        found.column.name,
        found.measure,
        *found.texts,
        found.effect_text,
    )


def repetition_row(found: Repetition) -> tuple[str, str, str, str]:
    """Return the cells of a repetition, as `REPETITIONS` names them."""
    what = f"values of {found.column.name}" if found.column else "records"
    labels = [split.label for split in found.splits]
    where = f"more than once in {labels[0]}"
    if labels[1:]:
        where = f"in {labels[0]} and in {labels[1]}"
    return what, where, f"{found.count:,}", example_text(found)


def example_text(found: Repetition) -> str:
    """Return the place of the first repetition, and of what it repeats; "" if unknown."""
    return "; ".join(
        f"{place_text(again)} is {place_text(first)}"
        for again, first in found.places[:1]
    )


def place_text(place: Place) -> str:
    """Return a place in words."""
    name = one_line(os.path.basename(place.file), 60)
    return f"record {place.record:,} of {name}" if place.record >= 0 else name
