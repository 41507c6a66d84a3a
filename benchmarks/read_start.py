"""The start of an epoch: the time to the first batch, and the time to build a dataset."""

from __future__ import annotations

from functools import partial
from typing import Any

import tensorflow as tf

from .measure import available, empty, exhausting, side_by_side
from .program import Part, Setting
from .read_ways import OURS, OURS_IN_ORDER, PLAIN, PLAIN_IN_ORDER, SHAPES, makers
from .reading import ReadShape
from .report import Target, missing_lines, targets_table, times_table

TARGETS = (
    Target(OURS_IN_ORDER, PLAIN_IN_ORDER, dict.fromkeys(SHAPES, 1.25), at_most=True),
    Target(OURS, PLAIN, {}, at_most=True),
)

_MILLISECONDS = 1e3


def measure(setting: Setting) -> dict[str, Any]:
    """Start epochs of each shape with all ways that are datasets."""
    found = {}
    for name in setting.shapes:
        setting.say(f"{name}: start of an epoch, {setting.rounds} rounds")
        empty(setting.scratch)
        found[name] = measure_shape(setting, SHAPES[name])
    empty(setting.scratch)
    return found


def measure_shape(setting: Setting, shape: ReadShape) -> dict[str, Any]:
    """Start epochs of one shape, after a whole epoch that is not timed.

    Returns:
        Seconds to the first batch and seconds to build the dataset, by way, in each
        round; and the ways that could not be measured.
    """
    rows = shape.rows(setting.count(shape.count))
    known = makers(setting, shape, rows)
    ways, missing = available(known)
    ways = {name: way for name, way in ways.items() if way.dataset is not None}
    for way in ways.values():
        exhausting(way.batches)()
    started: list[Any] = []

    def start(dataset: tf.data.Dataset) -> None:
        iterator = iter(dataset)
        next(iterator)
        started.append(iterator)  # closing it is not timed

    starts = {name: partial(start, way.dataset) for name, way in ways.items()}
    first = side_by_side(starts, setting.rounds, started.clear)
    started.clear()
    return {
        "facts": {"records in an epoch": f"{len(rows):,}"},
        "missing": missing,
        "first": first,
        "build": side_by_side({name: known[name] for name in ways}, setting.rounds),
    }


def markdown(found: dict[str, Any]) -> str:
    """Return tables of the times to the first batch, and of their ratios."""
    first = "to the first batch of an epoch: milliseconds"
    ratios = "to the first batch: how many times"
    return "\n".join(
        [
            times_table(first, found, "first", _MILLISECONDS),
            targets_table(ratios, found, "first", TARGETS),
            missing_lines(found),
        ]
    )


START = Part(measure, markdown)
