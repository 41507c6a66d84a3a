"""A diff of two datasets, as blocks and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...display.blocks import Block, Heading, Items, Paragraph, Table
from .diff import Diff, SplitDiff
from .tables import DIFFERENCES, difference_row, place_text, table_blocks

VERSION = 1


def diff_blocks(found: Diff) -> Iterator[Block]:
    """Yield what differs, the schema first."""
    notes, (headings, rows) = diff_tables(found)
    yield Heading(found.profile.where)
    yield Table(headings, rows, (1, 2, 3, 4, 5))
    if notes:
        yield Items(notes)
    drifts = [difference_row(each) for each in found.profile.drifts]
    yield from table_blocks("differences", DIFFERENCES, drifts)
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
        f"{split.name or 'all'}: only in {name}: {', '.join(map(place_text, some))}"
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


def diff_data(found: Diff) -> dict[str, Any]:
    """Return a diff as values of JSON."""
    return {
        "version": VERSION,
        "data": [*found.names],
        "same": found.same,
        "schema": None
        if found.schema is None
        else [
            {"rule": each.rule, "field": each.field, "change": each.plain}
            for each in found.schema
        ],
        "splits": [
            {
                "split": split.name,
                "records": [*split.records],
                "only": [*split.only],
                "changed": split.changed,
                "places": [
                    [{"file": each.file, "record": each.record} for each in some]
                    for some in split.places
                ],
            }
            for split in found.splits
        ],
        "differences": [
            {
                "field": each.column.name,
                "key": each.column.key,
                "splits": [split.name for split in each.splits],
                "measure": each.measure,
                "first": each.texts[0],
                "second": each.texts[1],
                "effect": each.effect_text,
            }
            for each in found.profile.drifts
        ],
    }
