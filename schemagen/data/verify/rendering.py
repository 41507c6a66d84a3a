"""What `verify` has found, as text for people and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

from ...display.blocks import Block, Items, Paragraph
from ...findings import findings_table, printable, render_json, render_text
from ..checks.model import SplitCounts, Verification
from ..formatting import plural, size
from ..layouts import listed_names

_SHOWN_NOTES = 10


def to_json(found: Verification) -> str:
    """Return the findings and what was looked at, in the shape of docs/json-output.md."""
    data = json.loads(render_json(each.finding() for each in found.findings))
    data["splits"] = [asdict(split) for split in found.splits]
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
