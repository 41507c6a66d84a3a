"""What all measurements of a run are given."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .generated import Generated


@dataclass(frozen=True)
class Setting:
    """How a run measures.

    Attributes:
        root: a directory for all that is written, removed at the end.
        rounds: how many count, for each comparison.
        shapes: the names of the shapes to measure.
        share: of the records of a full run; 1 for a full run.
        bytes: how much to write or read where memory is measured.
    """

    root: Path
    rounds: int
    shapes: tuple[str, ...]
    share: float
    bytes: int

    @cached_property
    def generated(self) -> Generated:
        """The code of the measured records."""
        return Generated(self.root / "project")

    @property
    def scratch(self) -> Path:
        """A directory for files, emptied again and again."""
        return self.root / "scratch"

    def count(self, full: int) -> int:
        """Return how many records to take where a full run takes `full`."""
        return max(2, round(full * self.share))

    def say(self, text: str) -> None:
        """Tell who waits what is being measured."""
        print(f"... {text}", file=sys.stderr, flush=True)


def empty(directory: Path) -> None:
    """Empty a directory.

    With the files goes what was not on the disk yet: a way that waits for the disk does
    not wait for what others have written.
    """
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
