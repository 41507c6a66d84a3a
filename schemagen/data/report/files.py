"""The files of each split: the records and bytes of each."""

from __future__ import annotations

import os

from ...display.blocks import without_empty
from ..formatting import one_line, plural, size
from ..profile.profile import Profile
from ..statistics.model import FileStatistics
from .charts import Figure

_TITLES = ("File", "Split", "Records", "Size", "Compression", "State")


def files_figure(profile: Profile) -> Figure:
    """List all files; a column that says nothing is left out."""
    splits = {split.name: split for split in profile.splits}
    files = sorted(
        profile.statistics.files,
        key=lambda file: (splits[file.split].index, file.path),
    )
    rows = [
        (
            one_line(os.path.basename(file.path), 80),
            splits[file.split].label,
            f"{file.records:,}",
            size(file.bytes),
            file.compression,
            _state(file),
        )
        for file in files
    ]
    table = without_empty(_TITLES, rows, ("Compression", "State"), _TITLES[2:4])
    caption = "Every file: its records and its size"
    return Figure(tables={caption: table}, folded=len(files) > 12, wide=True)


def _state(file: FileStatistics) -> str:
    if file.damaged:
        return f"damaged in {plural(file.damaged, 'place')}"
    if file.foreign:
        return one_line(f"no key: {file.foreign}", 80)
    return "" if file.complete else "read in part"
