"""The files of each split: the records and bytes of each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import numpy as np

from ..formatting import number, one_line, plural, size
from ..statistics.model import FileStatistics
from ..statistics.numbers import numbers
from .charts import Bar, Figure, Plot, Table, vertical_bars
from .columns import Split
from .values import numbers_plot

_MOST_BARS = 300


def files_figure(files: Sequence[FileStatistics], splits: Sequence[Split]) -> Figure:
    """Draw the sizes of all files."""
    rank = {split.name: index for index, split in enumerate(splits)}
    files = sorted(files, key=lambda file: (rank[file.split], file.path))
    by_split = {split.name: split for split in splits}
    several = len(files) > 1
    measures = {"Records": "records", "Bytes": "bytes"} if several else {}
    return Figure(
        plots=[
            (title, plot)
            for title, what in measures.items()
            if (plot := _plot(files, splits, what))
        ],
        notes=list(_notes(files, splits)),
        table=Table(
            "Every file: its records, its size and what is wrong with it",
            ("File", "Split", "Records", "Size", "Compression", "State"),
            [
                (
                    one_line(os.path.basename(file.path), 80),
                    by_split[file.split].label,
                    f"{file.records:,}",
                    size(file.bytes),
                    file.compression or "none",
                    _state(file),
                )
                for file in files
            ],
            numeric=(2, 3),
        ),
        folded=len(files) > 12,
        wide=True,
    )


def _plot(
    files: Sequence[FileStatistics], splits: Sequence[Split], what: str
) -> Plot | None:
    drawn = {split.name: split for split in splits if split.drawn}
    files = [file for file in files if file.split in drawn]
    if len(files) > _MOST_BARS:
        values = {
            name: [getattr(file, what) for file in files if file.split == name]
            for name in drawn
        }
        found = {name: numbers(np.array(some)) for name, some in values.items() if some}
        return numbers_plot(f"the {what} of files", splits, found)
    bars = []
    for file in files:
        value = getattr(file, what)
        text = size(value) if what == "bytes" else plural(value, "record")
        name = one_line(os.path.basename(file.path), 60)
        bars.append(Bar("", drawn[file.split].series, value, f"{name}: {text}"))
    return vertical_bars(bars, f"{what.capitalize()} of each file, in their order")


def _state(file: FileStatistics) -> str:
    if file.damaged:
        return f"damaged in {plural(file.damaged, 'place')}"
    if file.foreign:
        return one_line(f"no key: {file.foreign}", 80)
    return "" if file.complete else "read in part"


def _notes(files: Sequence[FileStatistics], splits: Sequence[Split]) -> Iterable[str]:
    for split in splits:
        some = [file for file in files if file.split == split.name]
        empty = sum(file.complete and not file.records for file in some)
        if empty:
            yield f"{plural(empty, 'file')} of {split.label} without records."
        counts = sorted(file.records for file in some if file.records)
        if len(counts) > 1 and counts[-1] >= 2 * counts[0]:
            ratio = number(round(counts[-1] / counts[0], 1))
            yield (
                f"The files of {split.label} are uneven: the fullest has {ratio} times "
                "the records of the emptiest, and readers that share files by number "
                "wait for it."
            )
