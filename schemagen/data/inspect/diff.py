"""A diff of two datasets, as blocks and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...display.blocks import Block, Heading, Items, Paragraph, Table
from ..formatting import listed
from .text import difference_blocks

if TYPE_CHECKING:
    from ..profile.diff import Diff


def diff_blocks(found: Diff) -> Iterator[Block]:
    """Yield what differs, the schema first."""
    notes, table = diff_tables(found)
    yield Heading(found.profile.where)
    yield table
    if notes:
        yield Items(notes)
    yield from difference_blocks(found.profile)
    if found.same:
        yield Paragraph("No differences.")


def diff_tables(found: Diff) -> tuple[list[str], Table]:
    """Return sentences about schemas, keys and records, and the table of the splits."""
    first, second = found.names
    notes = []
    if found.schema is None:
        notes.append("Schemas are not compared: not both datasets have one.")
    notes += [
        f"Code of {second} does not read {first}: {each.rule}: {each.plain}."
        for each in found.schema or ()
    ]
    notes += [
        f"{listed(keys)}: only in {name}."
        for name, keys in zip(found.names, found.keys, strict=True)
        if keys
    ]
    for split in found.splits:
        label = split.name or "all"
        for name, some in zip(found.names, split.places, strict=True):
            if some:
                places = ", ".join(each.text for each in some)
                notes.append(f"{label}: only in {name}: {places}")
        if split.changes:
            places = ", ".join(
                f"{new.text} was {old.text}" for old, new in split.changes
            )
            notes.append(f"{label}: changed: {places}")
    headings = ("split", "dataset", "records", "only here", "changed")
    rows = [
        (
            split.name or "all",
            name,
            "none" if count is None else f"{count:,}",
            f"{only:,}",
            f"{split.changed:,}" if at else "",
        )
        for split in found.splits
        for at, (name, count, only) in enumerate(
            zip(found.names, split.records, split.only, strict=True)
        )
    ]
    return notes, Table(headings, rows, (2, 3, 4))
