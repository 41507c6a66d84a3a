"""Findings in data: kinds of what is wrong, counted, with a few examples."""

from __future__ import annotations

from dataclasses import dataclass

from ...findings import Finding, InData, Location


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
