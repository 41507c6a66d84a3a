"""What exports share: what one can do, what it is asked for, and what it says about a field."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...findings import printable
from ...runtime.storage.manifest import SplitEntry
from ...spec.model import FieldSpec, RecordSpec, defaults_of

Shape = tuple[int | None, ...]

Files = dict[Path, str | Path]
"""The text of each file, or the shard that gets another name."""


@dataclass(frozen=True)
class Request:
    """What to describe.

    Attributes:
        spec: of the record.
        out: the file to write, or the directory.
        data: the directory of the splits.
        splits: what the manifest says about each, by name; empty without data.
        given: properties that only a person knows, by name.
    """

    spec: RecordSpec
    out: Path
    data: Path
    splits: Mapping[str, SplitEntry]
    given: Mapping[str, str]


@dataclass(frozen=True)
class Exporter:
    """How a record is described for a tool.

    Attributes:
        files: returns the files, and notes what is approximated.
        sequences: whether the tool knows records of tf.train.SequenceExample.
        needs_data: whether it describes splits, so that a data directory has to be given.
        plain_splits: whether the tool reads only uncompressed splits, whose names are
            letters, digits and _.
        properties: the names of what a person may add.
    """

    files: Callable[[Request, Notes], Files]
    sequences: bool = False
    needs_data: bool = False
    plain_splits: bool = False
    properties: Sequence[str] = ()


# Types that are not dtypes: an encoded image, and a class of the field.
PICTURE, CLASS = "picture", "class"


def value_of(field: FieldSpec) -> tuple[str, Shape]:
    """Return the type of a field's single values, and the shape of all of them.

    The type is a dtype, "string", "bytes", PICTURE or CLASS; sizes that vary are None.
    """
    codec, value = field.codec, field.parts[0]
    delivered = codec.delivered
    _, shape = delivered.decoded
    if value.is_media:
        of_pixels = codec.of_step.of_pixels
        return PICTURE if of_pixels else "bytes", () if field.numbered_keys else shape
    if codec.of_step.of_classes:
        return CLASS, shape
    if delivered.layout == "sparse":
        shape = delivered.shape
    if delivered.limit is not None:  # lists that are filled up on disk vary in rows
        shape = (None, *shape[1:])
    return value.dtype, shape


def keys_of(field: FieldSpec, holds: str) -> list[str]:
    """Return the keys of a field that hold row lengths, or an index."""
    return [part.key for part in field.parts if part.holds == holds]


class Notes:
    """What the other tool does not get exactly as the schema states it, by field."""

    def __init__(self) -> None:
        self._words: dict[str, dict[str, None]] = {}

    def add(self, field: FieldSpec, words: str) -> None:
        """Add a note about a field, once."""
        self._words.setdefault(field.label, {})[words] = None

    def leave_out(self, field: FieldSpec, *parameters: str) -> None:
        """Note which of these parameters have other values than their defaults."""
        facts, defaults = field.facts(), defaults_of(type(field.kind))
        given = [p for p in parameters if p in facts and facts[p] != defaults.get(p)]
        if given:
            self.add(field, f"without {', '.join(given)}")

    def lines(self) -> tuple[str, ...]:
        """Return one line for each field with notes."""
        return tuple(
            printable(f"{label}: {'; '.join(words)}")
            for label, words in self._words.items()
        )
