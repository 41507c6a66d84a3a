"""What `verify` has found: a value, its text for people, and its JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from ...display.blocks import Block, Items, Paragraph
from ...findings import findings_table, printable, render_text, row_of
from ..checks import DataFinding, Note
from ..formatting import plural, size
from ..layouts import listed_names

if TYPE_CHECKING:
    from ...runtime.storage.manifest import CheckedFile

_SHOWN_NOTES = 10


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
        other_files: names of what else is in the directory and was not looked at.
        files: those that were read.
        doubts: why files that no manifest lists may be the wrong ones although no record
            is wrong: they are empty, lack keys that other files have, or hold others.
    """

    where: str
    splits: tuple[SplitCounts, ...]
    findings: tuple[DataFinding, ...]
    other_files: tuple[str, ...] = ()
    files: tuple[CheckedFile, ...] = field(default=(), repr=False)
    doubts: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return verification_text(self)

    def _repr_html_(self) -> str:
        from ...display.html import html

        return html(verification_blocks(self))

    @property
    def clean(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    @property
    def records(self) -> int:
        """How many records were read."""
        return sum(split.records for split in self.splits)


def data_of(found: Verification) -> dict[str, Any]:
    """Return the findings and what was looked at, in the shape of docs/json-output.md."""
    rows = [row_of(each.finding()) for each in found.findings]
    splits = [asdict(split) for split in found.splits]
    return {"version": 1, "findings": rows, "splits": splits}


def to_json(found: Verification, sealing: Mapping[str, object] | None = None) -> str:
    """Return the same as text, and what came of sealing the files.

    Args:
        found: the findings.
        sealing: what came of sealing the files; None if they were not to be sealed.
    """
    data = data_of(found)
    if sealing is not None:
        data["sealing"] = sealing
    return json.dumps(data, indent=2, sort_keys=True)


def summary(found: Verification) -> str:
    """Return a paragraph for each split: how much was read, and how much is wrong."""
    lines = [line for some in _paragraphs(found) for line in some]
    return "\n".join(map(printable, lines))


def _paragraphs(found: Verification) -> Iterator[list[str]]:
    for split in found.splits:
        yield list(_of_split(found, split))
    if found.other_files:
        yield [f"not looked at: {listed_names(found.other_files)}"]


def verification_text(found: Verification) -> str:
    """Return the findings and the summary, as the command line prints them."""
    texts = [render_text(each.finding() for each in found.findings), summary(found)]
    return "\n".join(filter(None, texts))


def verification_blocks(found: Verification) -> list[Block]:
    """Return the summary and a table of the findings."""
    lines = ["; ".join(map(str.strip, some)) for some in _paragraphs(found)]
    blocks: list[Block] = [Items(lines)]
    if found.findings:
        blocks.append(findings_table(each.finding() for each in found.findings))
    else:
        blocks.append(Paragraph("No findings."))
    return blocks


def _of_split(found: Verification, split: SplitCounts) -> Iterator[str]:
    kinds = sum(
        each.split == split.split for each in found.findings
    )  # of both, if two schemas wrote files of one split
    result = "no findings" if not kinds else plural(kinds, "kind") + " of findings"
    if split.wrong:
        result += f", in {plural(split.wrong, 'record')}"
    amount = f"{plural(split.records, 'record')} in {plural(split.files, 'file')}"
    read = f"{size(split.bytes)} read"
    yield f"{split.split or found.where}: {amount}, {read}: {result}"
    if split.record is None:
        yield (
            "    checked for framing, checksums and messages only: no manifest says "
            "what wrote them; name the record with --record"
        )
    else:
        place = {"manifest": "the manifest", "project": "this project"}
        where = place[split.spec_from]
        yield f"    compared with the schema of {split.record} in {where}"
    if not split.whole:
        yield "    not all records were read, so whole files were not compared"
    for note in split.notes[:_SHOWN_NOTES]:
        key = f": {note.key!r}" if note.key else ""
        yield f"    note: {note.what}{key}, in {plural(note.records, 'record')}"
    if len(split.notes) > _SHOWN_NOTES:
        yield f"    note: and {len(split.notes) - _SHOWN_NOTES} more notes of this kind"
