"""A feature, the sequences it stands in, and where its field will stand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..outcome import MappingRow, Outcome
from ..places import Place


@dataclass(frozen=True)
class Here:
    """A feature and the sequences it stands in.

    Attributes:
        part: its place as TFDS calls it, "steps/observation/image".
        place: where its field stands.
        lengths: of the sequences, from the outermost; None for any.
        directory: in which the files of class names are.
        inputs: (height, width) of the pictures outside of sequences.
        stem: how TFDS calls the files of the feature.
    """

    part: str
    place: Place
    lengths: tuple[int | None, ...]
    directory: Path
    inputs: frozenset[tuple[int | None, ...]]
    stem: str

    @property
    def rank(self) -> int:
        """How many sequences it stands in."""
        return len(self.lengths)


def stem_of(name: str) -> str:
    """Return what TFDS makes of a feature's name in the name of a file."""
    return name.replace("/", ".")


def refused(row: MappingRow, here: Here, remark: str = "") -> Outcome:
    """Return that nothing becomes of a feature."""
    return Outcome(here.part, row, (), remark)
