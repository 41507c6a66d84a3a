"""A diff of two datasets, as blocks and as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from ...display.blocks import Block, Heading, Items, Paragraph, Table
from ..profile.diff import Diff, SplitDiff
from .text import difference_blocks


def diff_blocks(found: Diff) -> Iterator[Block]:
    """Yield what differs, the schema first."""
    notes, (headings, rows) = diff_tables(found)
    yield Heading(found.profile.where)
    yield Table(headings, rows, (1, 2, 3, 4, 5))
    if notes:
        yield Items(notes)
    yield from difference_blocks(found.profile)
    if found.same:
        yield Paragraph("No differences.")


def diff_tables(
    found: Diff,
) -> tuple[list[str], tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    """Return sentences about schemas and records, and the table of the splits."""
    first, second = found.names
    notes = []
    if found.schema is None:
        notes.append("Schemas are not compared: one of the two has none.")
    notes += [
        f"Code of {second} does not read {first}: {each.rule}: {each.plain}."
        for each in found.schema or ()
    ]
    notes += [
        f"{split.name or 'all'}: only in {name}: {', '.join(each.text for each in some)}"
        for split in found.splits
        for name, some in zip(found.names, split.places, strict=True)
        if some
    ]
    headings = (
        "split",
        *(f"records in {name}" for name in found.names),
        *(f"only in {name}" for name in found.names),
        "changed",
    )
    return notes, (headings, [_row(split) for split in found.splits])


def _row(split: SplitDiff) -> tuple[str, ...]:
    counts = ("none" if n is None else f"{n:,}" for n in split.records)
    return (
        split.name or "all",
        *counts,
        *(f"{n:,}" for n in split.only),
        f"{split.changed:,}",
    )
