"""Everything that inspecting has found, in short, as blocks for a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from ...display.blocks import (
    Block,
    Code,
    Heading,
    Items,
    Paragraph,
    Picture,
    Pictures,
    Table,
)
from ..formatting import plural, shell_word
from ..message import BYTES, MalformedError, parse_message
from ..statistics.bytes_values import content_of
from ..statistics.model import DataStatistics, RecordStatistics
from .text import (
    KEYS,
    LISTED,
    SPLIT,
    STEPS,
    contents_of,
    described_splits,
    facts_of,
    key_rows,
    notes_of,
    split_row,
    step_rows,
    troubles_of,
)

# So many keys are listed of each split, each of no more than so many characters.
_KEYS = 100
_CHARACTERS = 60

# So many pictures are shown, of so many bytes together.
_PICTURES = 6
_PICTURE_BYTES = 40_000


def overview_blocks(found: DataStatistics) -> list[Block]:
    """Return the tables of the splits and keys, a few pictures, and what is wrong."""
    first, *others = facts_of(found)
    splits = list(found.splits.items())
    rows = [split_row(found, name, split) for name, split in splits[:LISTED]]
    blocks: list[Block] = [Paragraph(first), Table(SPLIT, rows, (1, 2, 3, 5))]
    if len(splits) > LISTED:
        others.append(f"{plural(len(splits) - LISTED, 'split')} more")
    if others:
        blocks.append(Items(others))
    for title, split in described_splits(found).items():
        if split.read:
            blocks += _of_records(title, split)
    troubles = troubles_of(found)
    if troubles:
        advice = f"schemagen verify {shell_word(found.where)}"
        blocks += [Heading("What is wrong", 3), Items(troubles)]
        blocks.append(Paragraph(f"`{advice}` says more."))
    return blocks


def _of_records(title: str, found: RecordStatistics) -> Iterator[Block]:
    yield Heading(title + contents_of(found), 3)
    keys = [
        row
        for key in islice(found.keys.values(), _KEYS)
        for row in key_rows(key, found.read, _CHARACTERS)
    ]
    if keys:
        yield Table(KEYS, [_named(row) for row in keys])
    steps = [
        row
        for lists in islice(found.steps.values(), _KEYS)
        for row in step_rows(lists, found.read, _CHARACTERS)
    ]
    if steps:
        yield Paragraph("Feature lists; lengths and values are those of a step:")
        yield Table(STEPS, [_named(row) for row in steps])
    notes = list(notes_of(found))
    more = max(0, len(found.keys) - _KEYS) + max(0, len(found.steps) - _KEYS)
    if more:
        notes.append(f"{plural(more, 'key')} more.")
    if notes:
        yield Items(notes)
    pictures = list(islice(_pictures(found), _PICTURES))
    if pictures:
        yield Pictures(pictures)


def _named(row: Sequence[str]) -> Sequence[str]:
    return (Code(row[0]), *row[1:])


def _pictures(found: RecordStatistics) -> Iterator[Picture]:
    """Yield copies of the first image of samples, if Pillow is installed."""
    try:
        from ..report.pictures import Budget, copy_of
    except ImportError:
        return
    budget = Budget(left=_PICTURE_BYTES, ample=_PICTURE_BYTES)
    for sample in found.samples:
        image = _first_image(sample.data)
        copy = image and copy_of(image[1], budget)
        if image and copy and copy.url:
            yield Picture(
                copy.url, f"{image[0]}, record {sample.number:,}: {copy.about}"
            )


def _first_image(record: bytes) -> tuple[str, bytes] | None:
    """Return the key and the bytes of the first encoded image in a record."""
    try:
        message = parse_message(record)
    except MalformedError:
        return None
    for key, feature in sorted(message.features.items()):
        if feature.kind == BYTES and len(feature.values) == 1:
            ((start, stop),) = feature.values
            value = record[start:stop]
            if content_of(value).picture is not None:
                return key, value
    return None
