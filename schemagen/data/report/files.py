"""The files of each split: the records and bytes of each."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..formatting import one_line, plural, size
from ..profile.columns import Split
from ..statistics.model import FileStatistics
from .charts import Figure, Table


def files_figure(files: Sequence[FileStatistics], splits: Sequence[Split]) -> Figure:
    """List all files."""
    rank = {split.name: index for index, split in enumerate(splits)}
    files = sorted(files, key=lambda file: (rank[file.split], file.path))
    rows = [
        (
            one_line(os.path.basename(file.path), 80),
            splits[rank[file.split]].label,
            f"{file.records:,}",
            size(file.bytes),
            file.compression or "none",
            _state(file),
        )
        for file in files
    ]
    return Figure(
        table=Table(
            "Every file: its records, its size and what is wrong with it",
            ("File", "Split", "Records", "Size", "Compression", "State"),
            rows,
            numeric=(2, 3),
        ),
        folded=len(files) > 12,
        wide=True,
    )


def _state(file: FileStatistics) -> str:
    if file.damaged:
        return f"damaged in {plural(file.damaged, 'place')}"
    if file.foreign:
        return one_line(f"no key: {file.foreign}", 80)
    return "" if file.complete else "read in part"
