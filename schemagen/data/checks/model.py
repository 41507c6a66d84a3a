"""What `verify` has found, as values: kinds of findings, counted, with a few examples."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...findings import Finding, InData, Location

if TYPE_CHECKING:
    from ...runtime.writing.sealing import CheckedFile


@dataclass(frozen=True, order=True)
class Example:
    """One place at which something is wrong.

    Attributes:
        file: the file's path.
        record: which record of the file, counted from 0; None for the file as a whole.
        offset: where its frame begins in the file, in bytes; in a compressed file, in
            what it inflates to. Its own bytes begin 12 bytes on.
        found: what stands there.
        cause: the likely cause; empty if nothing speaks for one.
    """

    file: str
    record: int | None
    offset: int | None
    found: str
    cause: str = ""


@dataclass(frozen=True)
class DataFinding:
    """One kind of thing that is wrong in a split, however often it is.

    Attributes:
        rule: the rule's id, such as SG527.
        split: the split; None if no manifest or name states it.
        field: the field's name, with dots where it is nested; "" for a whole record or
            a whole file.
        key: the wire key at which it is wrong; "" likewise.
        what: what is wrong, in words that are the same for all of the kind.
        expected: what should be there.
        records: how many records it is wrong in; 0 where it is about whole files.
        files: how many files.
        of: how many records of the split were looked at.
        examples: the first ones.
    """

    rule: str
    split: str | None
    field: str
    key: str
    what: str
    expected: str
    records: int
    files: int
    of: int
    examples: tuple[Example, ...]

    @property
    def share(self) -> float:
        """The share of the records in which it is wrong."""
        return self.records / self.of if self.of else 0.0

    def _repr_html_(self) -> str:
        return self.finding()._repr_html_()

    def finding(self) -> Finding:
        """Return it as a finding like any other, at the place of its first example."""
        first = self.examples[0]
        return Finding(
            Location(first.file),
            self.rule,
            f"field {self.field!r}: {self.what}" if self.field else self.what,
            found=first.found,
            expected=self.expected,
            advice=first.cause,
            data=InData(
                split=self.split,
                field=self.field,
                key=self.key,
                record=first.record,
                offset=first.offset,
                records=self.records,
                files=self.files,
                of=self.of,
                examples=tuple(
                    (each.file, each.record, each.offset, each.found)
                    for each in self.examples
                ),
            ),
        )


@dataclass(frozen=True, order=True)
class Note:
    """Something to know about a split that is not wrong.

    Attributes:
        what: what it is, such as "a key that the schema does not have".
        key: the key, or what else it is about.
        records: how many records it is true of.
    """

    what: str
    key: str
    records: int


@dataclass(frozen=True)
class SplitCounts:
    """What was looked at in a split.

    Attributes:
        split: its name; None if it is unknown.
        files: how many files.
        bytes: their size on disk.
        records: how many records were read.
        wrong: how many of these have a finding.
        record: the name of the record that they were compared with; None if no schema
            was at hand, so that only framing and protobuf messages were checked.
        spec_from: "manifest" or "project"; "" likewise.
        whole: whether every record was read; not with a limit.
        notes: what else is to be known.
    """

    split: str | None
    files: int
    bytes: int
    records: int
    wrong: int
    record: str | None
    spec_from: str
    whole: bool = True
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class Verification:
    """All that was found.

    Attributes:
        where: the data, as it was asked for.
        splits: what was looked at, in order.
        findings: in the order of splits, files first, then by field.
        other_files: names of what else is in a directory without a manifest.
        files: those that were read.
    """

    where: str
    splits: tuple[SplitCounts, ...]
    findings: tuple[DataFinding, ...]
    other_files: tuple[str, ...] = ()
    files: tuple[CheckedFile, ...] = field(default=(), repr=False)

    def __repr__(self) -> str:
        from ..verify.rendering import verification_text  # which imports this module

        return verification_text(self)

    def _repr_html_(self) -> str:
        from ...display.html import html
        from ..verify.rendering import verification_blocks

        return html(verification_blocks(self))

    @property
    def clean(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    @property
    def records(self) -> int:
        """How many records were read."""
        return sum(split.records for split in self.splits)
