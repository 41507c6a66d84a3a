"""The sections of a description, and those that a dataset card adds."""

from __future__ import annotations

from collections.abc import Iterator

from ...display.blocks import (
    Block,
    Cell,
    Code,
    Heading,
    Items,
    Listing,
    Paragraph,
    Table,
    prose,
    without_empty,
)
from ..formatting import percent, plural, size, sizes
from ..inspect.text import troubles_of
from ..inspect.values import extent
from ..profile.classes import ClassCounts
from ..statistics.histograms import summed
from .description import DataDescription, FieldFacts
from .reading_code import plain_code, schemagen_code

# So many fields are listed, and so many classes of each of so many fields.
_FIELDS = 200
_CLASSES = 30
_CLASS_TABLES = 12

_AUTHORS = (
    "The licence of the data.",
    "The citation, and whom to contact.",
    "The origin of the data: who collected it, when, where and how.",
    "How the splits were made, and whether a group is in one split only.",
    "What the data is meant for, and what it should not be used for.",
    "Known errors and biases, and personal or sensitive data.",
)


def description_blocks(
    found: DataDescription, *, docs_apart: bool = False
) -> list[Block]:
    """Return the description.

    Args:
        found: the description.
        docs_apart: list the descriptions of fields below their table, which a terminal
            has no room for.
    """
    return [
        *_head(found),
        *_splits(found),
        *_fields(found, docs_apart),
        *_values(found),
        *_classes(found),
        *_origin(found),
        *_troubles(found),
    ]


def card_blocks(found: DataDescription) -> list[Block]:
    """Return the dataset card, with how to read the data and what the author adds."""
    return [
        *description_blocks(found),
        Heading("How to read the data"),
        Paragraph("`DIRECTORY` is the directory with the files."),
        *_code(found),
        Heading("To be filled in"),
        Paragraph("The files do not contain the following. The author must add it:"),
        Items(_AUTHORS),
    ]


def _head(found: DataDescription) -> Iterator[Block]:
    yield Heading(found.title, 1)
    if found.spec is not None:
        yield from prose(found.spec.doc)
    records = plural(sum(split.records for split in found.splits), "record")
    fields = len(found.spec.fields) if found.spec else len(found.fields)
    what = plural(fields, "field") if found.spec else plural(fields, "key")
    total = size(sum(split.bytes for split in found.splits))
    splits = plural(len(found.splits), "split")
    yield Paragraph(
        f"{records} with {what}, in {splits} of {total}, as TFRecord files."
    )
    if found.statistics.limit is not None:
        limit = plural(found.statistics.limit, "record")
        yield Paragraph(f"Counted in the first {limit} of each split only.")


def _splits(found: DataDescription) -> Iterator[Block]:
    marks = {split.fingerprint for split in found.splits}
    rows: list[tuple[Cell, ...]] = [
        (
            Code(split.name) if split.name else "no name",
            f"{split.records:,}",
            f"{split.shards:,}",
            size(split.bytes),
            split.compression or "none",
            Code(split.fingerprint or "") if len(marks) > 1 else "",
        )
        for split in found.splits
    ]
    headings = ("split", "records", "shards", "size", "compression", "fingerprint")
    table = without_empty(headings, rows, ("fingerprint",))
    yield Heading("Splits")
    yield Table(table.headings, table.rows, (1, 2, 3))


def _fields(found: DataDescription, docs_apart: bool) -> Iterator[Block]:
    yield Heading("Fields" if found.spec else "Keys")
    headings = ("field", "kind", "in a batch", "role", "key", "description")
    rows: list[tuple[Cell, ...]] = [
        (
            Code(field.name),
            f"{field.kind}, optional" if field.optional else field.kind,
            Code(field.batch),
            field.role,
            Code(field.key) if field.key != field.name else "",
            "" if docs_apart else field.doc,
        )
        for field in found.fields[:_FIELDS]
    ]
    yield without_empty(headings, rows, headings[2:])
    docs = [f"{field.name}: {field.doc}" for field in found.fields if field.doc]
    if docs and docs_apart:
        yield Items(docs[:_FIELDS])
    if len(found.fields) > _FIELDS:
        yield Paragraph(f"{len(found.fields) - _FIELDS:,} more are not listed.")


def _values(found: DataDescription) -> Iterator[Block]:
    yield Heading("Values")
    headings = ("field", "missing", "values per record", "values")
    rows: list[tuple[Cell, ...]] = [
        (Code(field.name), _missing(found, field), _lengths(field), field.values)
        for field in found.fields[:_FIELDS]
    ]
    yield Table(headings, rows)


def _lengths(field: FieldFacts) -> str:
    if not field.lengths.count:
        return ""
    return extent(field.lengths) + (" in each step" if field.in_steps else "")


def _missing(found: DataDescription, field: FieldFacts) -> str:
    """Return in how many records of which splits a field is missing."""
    read = {name: split.read for name, split in found.statistics.splits.items()}
    return ", ".join(
        f"{name} {count:,} ({percent(count, read[name])})".lstrip()
        for name, count in field.missing.items()
        if count
    )


def _classes(found: DataDescription) -> Iterator[Block]:
    if found.classes:
        yield Heading("Classes")
    for counted in found.classes[:_CLASS_TABLES]:
        guessed = "" if counted.declared else ", values that look like classes"
        yield Heading(f"`{counted.name.replace('`', '?')}`{guessed}", 3)
        yield _class_table(found, counted)
        if len(counted.classes) > _CLASSES:
            yield Paragraph(
                f"{len(counted.classes) - _CLASSES:,} other classes are not listed; "
                "these are the most frequent ones."
            )
    if len(found.classes) > _CLASS_TABLES:
        more = plural(len(found.classes) - _CLASS_TABLES, "field")
        yield Paragraph(f"The classes of {more} more are not listed.")


def _class_table(found: DataDescription, counted: ClassCounts) -> Table:
    splits = [split for split in found.splits if counted.counts.get(split.name)]
    shown = list(counted.classes)
    if len(shown) > _CLASSES:
        total = summed(counted.counts.values())
        shown = sorted(shown, key=lambda name: -total.get(name, 0))[:_CLASSES]
    rows: list[tuple[Cell, ...]] = []
    for name in shown:
        counts = [counted.counts[split.name].get(name, 0) for split in splits]
        rows.append((Code(name), *(f"{count:,}" for count in counts)))
    headings = ("class", *(split.name or "records" for split in splits))
    return Table(headings, rows, range(1, len(headings)))


def _origin(found: DataDescription) -> Iterator[Block]:
    rows: list[tuple[Cell, Cell]] = []
    if found.manifest is not None:
        rows += [
            ("record", Code(found.manifest.record)),
            ("fingerprint of the record", Code(found.manifest.fingerprint)),
            ("format of `manifest.json`", str(found.manifest.format)),
            ("SHA-256 of `manifest.json`", Code(found.manifest.sha256)),
        ]
    read = [split for split in found.statistics.splits.values() if split.read]
    if read:
        messages = dict.fromkeys(split.message for split in read)
        low = min(int(split.sizes.minimum or 0) for split in read)
        high = max(int(split.sizes.maximum or 0) for split in read)
        rows += [
            ("a record is", " or ".join(f"tf.train.{name}" for name in messages)),
            ("size of a record", sizes(low, high)),
        ]
    rows.append(("described by", f"schemagen {found.version}"))
    yield Heading("Files and versions")
    yield Table(("", ""), rows)


def _troubles(found: DataDescription) -> Iterator[Block]:
    troubles = troubles_of(found.statistics)
    if troubles:
        yield Heading("What is wrong")
        yield Items(troubles)


def _code(found: DataDescription) -> Iterator[Block]:
    if found.spec is not None:
        yield Paragraph("With the code that schemagen generates from the record:")
        yield Listing(schemagen_code(found), "python")
    else:
        yield Paragraph(
            "`schemagen infer DIRECTORY` writes a schema, from which schemagen generates "
            "code that reads the files."
        )
    code = plain_code(found)
    if code:
        yield Paragraph(
            "With TensorFlow alone, as stored: images are not decoded, and texts are bytes."
        )
        yield Listing(code, "python")
