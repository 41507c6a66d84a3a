"""The files of each split: how many records and bytes each has."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from ..formatting import number, one_line, plural, size
from ..statistics.model import FileStatistics
from ..statistics.numbers import numbers
from .columns import Part
from .drawing import Bar, Line, columns, histogram
from .view import Column, Figure, Plot, Table

_MOST_COLUMNS = 300
_MOST_ROWS = 1_000


def files_figure(files: Sequence[FileStatistics], parts: Sequence[Part]) -> Figure:
    """Draw the sizes of all files."""
    by_split = {part.split: part for part in parts}
    order = {part.split: index for index, part in enumerate(parts)}
    files = sorted(files, key=lambda file: (order[file.split], file.path))
    shown = [file for file in files if by_split[file.split].drawn]
    plots: list[tuple[str, Plot]] = []
    if len(files) > 1:
        plots.append(("Records", _plot(shown, by_split, "records")))
        plots.append(("Bytes", _plot(shown, by_split, "bytes")))
    rows = [
        (
            one_line(os.path.basename(file.path), 80),
            by_split[file.split].name,
            f"{file.records:,}",
            size(file.bytes),
            file.compression or "none",
            _state(file),
        )
        for file in files[:_MOST_ROWS]
    ]
    titles = (("File", 0), ("Split", 0), ("Records", 1), ("Size", 1))
    return Figure(
        title="",
        kind="",
        plots=tuple(plots),
        facts=(),
        notes=tuple(_notes(files, parts)),
        table=Table(
            "Every file: its records, its size and what is wrong with it",
            (
                *(Column(title, bool(right)) for title, right in titles),
                Column("Compression"),
                Column("State"),
            ),
            tuple(rows),
            max(0, len(files) - _MOST_ROWS),
        ),
        folded=len(files) > 12,
        wide=True,
    )


def _plot(
    files: Sequence[FileStatistics], by_split: dict[str, Part], what: str
) -> Plot:
    if len(files) > _MOST_COLUMNS:
        return _histogram(files, by_split, what)
    bars = []
    for file in files:
        value = getattr(file, what)
        words = size(value) if what == "bytes" else plural(value, "record")
        name = one_line(os.path.basename(file.path), 60)
        bars.append(Bar("", by_split[file.split].series, value, f"{name}: {words}"))
    return columns(bars, f"{what.capitalize()} of each file, in their order")


def _histogram(
    files: Sequence[FileStatistics], by_split: dict[str, Part], what: str
) -> Plot:
    lines = []
    every = numbers(np.array([getattr(file, what) for file in files], np.int64))
    edges = [(bin_.low, bin_.high) for bin_ in every.histogram.bins()]
    for part in by_split.values():
        values = [getattr(file, what) for file in files if file.split == part.split]
        if values and part.drawn:
            bins = tuple(
                (low, high, sum(low <= value < high for value in values) / len(values))
                for low, high in edges
            )
            lines.append(Line(part.name, part.series, bins))
    return histogram(lines, f"Histogram of the {what} of files", whole=True)


def _state(file: FileStatistics) -> str:
    if file.damaged:
        return f"damaged in {plural(file.damaged, 'place')}"
    return "" if file.complete else "read in part"


def _notes(files: Sequence[FileStatistics], parts: Sequence[Part]) -> list[str]:
    notes = []
    for part in parts:
        some = [file for file in files if file.split == part.split]
        empty = [file for file in some if not file.records and file.complete]
        if empty:
            notes.append(
                f"{plural(len(empty), 'file')} of {part.name} without records."
            )
        counts = sorted(file.records for file in some if file.records)
        if len(counts) > 1 and counts[-1] >= 2 * counts[0]:
            ratio = number(round(counts[-1] / counts[0], 1))
            notes.append(
                f"The files of {part.name} are uneven: the fullest has {ratio} times "
                "the records of the emptiest, and readers that share files by number "
                "wait for it."
            )
    return notes
