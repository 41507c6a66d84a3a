"""The description of a dataset, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...spec.model import RecordSpec
from ..profile.classes import ClassCounts
from ..statistics.model import DataStatistics
from ..statistics.numbers import Numbers


@dataclass(frozen=True)
class SplitFacts:
    """A split.

    Attributes:
        name: the name; "" for files of no split.
        records: the number of records; with a limit, and without a manifest, of those
            that were read.
        shards: the number of files.
        bytes: the size of the files on disk.
        compression: "", "GZIP" or "ZLIB"; files that differ have "none, GZIP".
        fingerprint: of the record that wrote it, by the manifest; None without one.
        files: a pattern of the names of the files.
    """

    name: str
    records: int
    shards: int
    bytes: int
    compression: str
    fingerprint: str | None
    files: str


@dataclass(frozen=True)
class FieldFacts:
    """A field of the record, or a key that no field of the record has.

    Attributes:
        name: the name of the field, with dots where it is nested; else the key.
        key: the key in the files.
        kind: the kind of the field, or else the types of the lists.
        batch: dtype and shape in a batch; "" without a schema.
        role: input, target, weight or info; "" without a schema.
        optional: whether the schema allows that it is missing.
        doc: the description in the schema.
        in_steps: whether it has a value in each step of a SequenceExample.
        missing: in how many records it is missing, by split.
        lengths: how many values a record, or a step, has.
        values: range, mean and frequent values, in words.
        numbers: the statistics of numbers; None of other values.
    """

    name: str
    key: str
    kind: str
    batch: str
    role: str
    optional: bool
    doc: str
    in_steps: bool
    missing: Mapping[str, int]
    lengths: Numbers
    values: str
    numbers: Numbers | None


@dataclass(frozen=True)
class ManifestFacts:
    """The manifest of a data directory.

    Attributes:
        record: the name of the record that wrote the data.
        fingerprint: of that record.
        format: the version of the manifest's format.
        sha256: the checksum of the file `manifest.json`.
    """

    record: str
    fingerprint: str
    format: int
    sha256: str


@dataclass(frozen=True)
class DataDescription:
    """What people publish with a dataset.

    Attributes:
        title: the name of the record's class, or else of the data.
        spec: the record that wrote the data, by the manifest; None without one.
        manifest: the manifest; None without one.
        splits: the splits, train first.
        fields: the fields in the order of the schema, then further keys.
        classes: the classes of fields.
        statistics: all that was counted.
        version: of the schemagen that made the description.
    """

    title: str
    spec: RecordSpec | None
    manifest: ManifestFacts | None
    splits: tuple[SplitFacts, ...]
    fields: tuple[FieldFacts, ...]
    classes: tuple[ClassCounts, ...]
    statistics: DataStatistics
    version: str

    @property
    def sound(self) -> bool:
        """Whether all of the data could be read."""
        return self.statistics.sound

    def markdown(self) -> str:
        """Return the dataset card: Markdown for GitHub and Hugging Face."""
        from ...display.markdown import markdown
        from .card import card_blocks

        return markdown(card_blocks(self))

    def text(self, columns: int = 80) -> str:
        """Return the description for a terminal of so many columns."""
        from ...display.terminal import terminal_text
        from .card import description_blocks

        return terminal_text(description_blocks(self, docs_apart=True), columns)

    def __repr__(self) -> str:
        return self.text().rstrip("\n")

    def _repr_html_(self) -> str:
        from ...display.html import html
        from .card import description_blocks

        return html(description_blocks(self))
