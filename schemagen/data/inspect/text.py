"""Facts and records as tables, for a terminal and for a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from ...display.blocks import (
    Block,
    Cell,
    Code,
    Heading,
    Items,
    Listing,
    Paragraph,
    Picture,
    Pictures,
    Table,
    printable,
    without_empty,
)
from ...display.terminal import terminal_text
from ...runtime.native import BYTES
from ..formatting import key_name, listed, one_line, plural, shell_word, size
from ..layouts import import_command
from ..profile.columns import Column, Split
from ..profile.facts import (
    Fact,
    class_facts,
    column_facts,
    data_facts,
    declared_facts,
    difference_facts,
    duplicate_facts,
    split_facts,
)
from ..profile.notes import LISTED, notes_of, notes_of_keys, troubles_of
from ..profile.profile import Profile
from ..profile.record_values import Features, read, value_text
from ..statistics.bytes_values import content_of
from ..statistics.model import MOST_KEYS, DataStatistics
from ..statistics.samples import Sample

if TYPE_CHECKING:
    from ..profile.diff import Diff


# Of a record so many keys are shown.
_SAMPLE_KEYS = 100


def sample_text(
    sample: Sample, name: str, width: int, columns: Sequence[Column]
) -> list[str]:
    """Return the lines that show a record: a column a line, long values cut.

    Args:
        sample: the record.
        name: what to call its file.
        width: how wide the terminal is.
        columns: of the data, of which the record may have some.
    """
    title = f"record {sample.number:,} of {name}, {size(len(sample.data))}"
    features = read(sample.data)
    if features.trouble:
        return [title, f"  not a tf.train.Example: {features.trouble}"]
    width -= 2
    held = [each for each in columns if _kind_in(each, features)]
    heads = [
        (one_line(each.name, width // 3), _kind_in(each, features))
        for each in held[:_SAMPLE_KEYS]
    ]
    lines = ["no keys"]
    if heads:
        room = max(width - max(len(key) + len(kind) + 4 for key, kind in heads), 8)
        rows = [
            (*head, value_text(each, features, room))
            for head, each in zip(heads, held, strict=False)
        ]
        text = terminal_text([Table(("", "", ""), rows)], width)
        lines = text.rstrip().split("\n")
    message = features.message
    more = len(message.features) + len(message.lists) - len(heads)
    if more > 0:
        lines.append(f"... {plural(more, 'key')} more")
    return [title, *(f"  {line}".rstrip() for line in lines)]


def _kind_in(column: Column, features: Features) -> str:
    """Return the kinds that a record has in a column; "" if it does not have its key."""
    message, key = features.message, column.key
    if column.steps:
        steps = message.lists.get(key)
        kinds = sorted({each.kind for each in steps or () if each.kind})
        return "" if steps is None else "/".join(kinds) or "-"
    return message.features[key].kind or "-" if key in message.features else ""


RECORDS = 3
"""So many records are shown of each split."""

OF_SPLIT = ("files", "records", "on disk", "compression", "record size")
"""What a table says of a split."""

NUMERIC = (*OF_SPLIT[:3], "record size", "present", "steps", "length")
"""What of it, and of a column, is aligned to the right."""

CODE = ("key", "in a batch", "fingerprint")
"""Facts whose values are code."""

# What the table says of a column.
_OF_COLUMN = ("key", "kind", "present", "steps", "length", "values")

# A notebook lists so many columns.
_MOST_COLUMNS = 100

# And it shows so many pictures, of so many bytes together.
_PICTURES = 6
_PICTURE_BYTES = 40_000


def inspection_text(
    profile: Profile, *, columns: int = 80, records: int = RECORDS
) -> str:
    """Return what has been found, in lines of no more than so many columns if it can be.

    Args:
        profile: of the data.
        columns: how wide the terminal is.
        records: how many records to show of each split.
    """
    blocks = [*_summary(profile, MOST_KEYS)]
    for split in profile.splits:
        blocks += _samples(profile, split, columns, records)
    blocks += [*marked_blocks(profile)]
    troubles = troubles_of(profile.statistics)
    if troubles:
        blocks.append(Items(troubles))
    text = terminal_text(blocks, columns, bullet="")
    return f"{text}{_advice(profile.statistics)}\n" if troubles else text


def overview_blocks(profile: Profile) -> list[Block]:
    """Return the same with a few pictures in place of records, for a notebook."""
    blocks = [*_summary(profile, _MOST_COLUMNS)]
    for split in profile.splits:
        if pictures := list(islice(_pictures(profile, split), _PICTURES)):
            if profile.splits[1:]:
                blocks.append(Heading(split.label, 3))
            blocks.append(Pictures(pictures))
    blocks += marked_blocks(profile)
    if troubles := troubles_of(profile.statistics):
        blocks += [Heading("What is wrong", 3), Items(troubles)]
        blocks.append(Paragraph(_advice(profile.statistics)))
    return blocks


def _summary(profile: Profile, most: int) -> Iterator[Block]:
    """Yield tables of the splits and of the columns, and what is unusual."""
    known = {fact.measure: fact for fact in data_facts(profile)}
    counts = (
        plural(known["files"].count, "file"),
        plural(known["records"].count, "record"),
        known["on disk"].text,
    )
    yield Heading(f"{printable(profile.where)}: {', '.join(counts)}")
    if about := [*notes_of(profile)]:
        yield Items(about)
    if tfds := profile.statistics.tfds:
        yield Paragraph("note: features.json has more details than the records:")
        yield Listing(import_command(tfds))
    yield from splits_blocks(profile)
    if profile.whole.read:
        yield Heading(contents_of(profile), 3)
        yield columns_table(profile, _OF_COLUMN, most)
    notes = [*notes_of_keys(profile.whole)]
    if (more := len(profile.columns) - most) > 0:
        notes.append(f"{plural(more, 'key')} more.")
    if notes:
        yield Items(notes)


def contents_of(profile: Profile) -> str:
    """Return the number of records, what they are, and the number of keys."""
    found = profile.whole
    what = {
        "Example": "tf.train.Example",
        "SequenceExample": "tf.train.SequenceExample",
        "mixed": f"tf.train.Example, {found.sequences:,} of them SequenceExample",
    }[found.message]
    keys = len(found.keys) + len(found.steps)
    return f"{plural(found.read, 'record')} of {what}, {plural(keys, 'key')}"


def splits_blocks(profile: Profile, names: Sequence[str] = OF_SPLIT) -> Iterator[Block]:
    """Yield the table of the splits, the first ones of many."""
    rows = [
        (Code(key_name(split.name)) if split.name else "-", split_facts(profile, split))
        for split in profile.splits[:LISTED]
    ]
    yield facts_table("split", rows, names)
    if (more := len(profile.splits) - LISTED) > 0:
        yield Paragraph(f"... {plural(more, 'split')} more")


def columns_table(profile: Profile, names: Sequence[str], most: int) -> Table:
    """Return what is known of the first columns, without names that none has."""
    rows = []
    for column in profile.columns[:most]:
        facts = [*column_facts(profile, column)]
        if "declared as" in names:
            facts += declared_facts(column)
        rows.append((Code(column.name), facts))
    return facts_table("field" if profile.spec else "key", rows, names)


def facts_table(
    head: str, rows: Iterable[tuple[Cell, Iterable[Fact]]], names: Sequence[str]
) -> Table:
    """Return a table with a row for each subject and a column for each name of a fact."""
    table = []
    for subject, facts in rows:
        texts = {fact.measure: fact.text for fact in facts}
        found = [texts.get(name, "") for name in names]
        table.append(
            (
                subject,
                *(
                    Code(text) if text and name in CODE else text
                    for name, text in zip(names, found, strict=True)
                ),
            )
        )
    return without_empty((head, *names), table, names, NUMERIC)


def marked_blocks(profile: Profile, level: int = 3) -> Iterator[Block]:
    """Yield tables of missing classes, the largest differences, and what is repeated."""
    missing = (each for each in class_facts(profile) if each.mark)
    yield from _marked("Missing classes", missing, level)
    yield from difference_blocks(profile, level)
    repeated = duplicate_facts(profile.duplicates.found)
    yield from _marked("Duplicates", repeated, level)


def difference_blocks(profile: Profile, level: int = 3) -> Iterator[Block]:
    """Yield a table of the largest differences between splits."""
    yield from _marked("Differences", difference_facts(profile.drifts), level)


def _marked(title: str, facts: Iterable[Fact], level: int) -> Iterator[Block]:
    """Yield a table of facts with a title; nothing without any."""
    facts = [*facts]
    if not facts:
        return
    rows = [
        (each.split or "", each.subject, each.title, each.text, each.note)
        for each in facts[:LISTED]
    ]
    headings = ("split", "name", "what", "value", "note")
    yield Heading(title, level)
    yield without_empty(headings, rows, headings, ("value",))
    if len(facts) > LISTED:
        yield Paragraph(f"... {len(facts) - LISTED:,} more")


def _samples(
    profile: Profile, split: Split, columns: int, records: int
) -> Iterator[Block]:
    """Yield some records of a split in the order of files, as lines."""
    order = {file.path: at for at, file in enumerate(profile.statistics.files)}
    for sample in sorted(
        split.found.samples[:records],
        key=lambda each: (order.get(each.file, 0), each.number),
    ):
        name = key_name(Path(sample.file).name)
        lines = sample_text(sample, name, columns, profile.columns)
        yield Listing("\n".join(lines))


def _pictures(profile: Profile, split: Split) -> Iterator[Picture]:
    """Yield copies of the first image of samples."""
    from ..thumbnails import Budget, copy_of

    budget = Budget(left=_PICTURE_BYTES, ample=_PICTURE_BYTES)
    for sample in split.found.samples:
        image = _first_image(profile.columns, read(sample.data))
        copy = image and copy_of(image[1], budget)
        if image and copy and copy.url:
            yield Picture(
                copy.url, f"{image[0]}, record {sample.number:,}: {copy.about}"
            )


def _advice(found: DataStatistics) -> str:
    """Return the command that says more of what is wrong."""
    return f"`schemagen verify {shell_word(found.where)}` says more."


def _first_image(
    columns: Sequence[Column], features: Features
) -> tuple[str, bytes] | None:
    """Return the name and the bytes of the first encoded image in a record."""
    for column in columns:
        feature = features.feature(column.key)
        if feature is not None and feature.kind == BYTES and len(feature.values) == 1:
            (value,) = features.contents_of(column.field, feature)
            if content_of(value).picture is not None:
                return column.name, value
    return None


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


def _classes(names: Sequence[str]) -> str:
    """Return the names of classes in words: "class cat", "classes cat, dog"."""
    return f"{'class' if len(names) == 1 else 'classes'} {listed(names)}"


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
        f"{key_name(field)}: {_classes(only)} only in the schema of {name}."
        for field, both in found.classes.items()
        for name, only in zip(found.names, both, strict=True)
        if only
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
