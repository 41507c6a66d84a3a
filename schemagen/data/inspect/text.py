"""Facts and records as tables, for a terminal and for a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from ...display.blocks import (
    Block,
    Cell,
    Code,
    Gallery,
    Heading,
    InlineImage,
    Items,
    Listing,
    Paragraph,
    Table,
    printable,
    without_empty,
)
from ...display.terminal import terminal_text
from ...runtime.native import BYTES
from ..formatting import key_name, listed, one_line, plural, shell_word, size
from ..layouts import import_command
from ..profile.associations import INFORMATION, NAMES, Associations
from ..profile.columns import ColumnProfile, SplitProfile
from ..profile.comparison import QUANTILES
from ..profile.facts import (
    Fact,
    association_facts,
    class_facts,
    column_facts,
    data_facts,
    declared_facts,
    difference_facts,
    duplicate_facts,
    split_facts,
    texts_of,
)
from ..profile.notes import LISTED, notes_of, notes_of_keys, troubles_of
from ..profile.profile import Profile
from ..profile.record_values import DecodedFeatures, read, value_text
from ..statistics.bytes_values import content_of
from ..statistics.model import MOST_KEYS, DataStatistics
from ..statistics.samples import Sample

if TYPE_CHECKING:
    from ..profile.changes import Changes, RecordChange, Unmatched
    from ..profile.diff import Diff


# Of a record so many keys are shown, with values that are cut to lines of so many columns.
_SAMPLE_KEYS, _SAMPLE_COLUMNS = 100, 160


def sample_text(
    sample: Sample, name: str, width: int, columns: Sequence[ColumnProfile]
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
    further = {key for each in held[:_SAMPLE_KEYS] for key in each.keys[1:]}
    more = len(message.features) + len(message.lists) - len(heads)
    more -= len(further & message.features.keys())
    if more > 0:
        lines.append(f"... {plural(more, 'key')} more")
    return [title, *(f"  {line}".rstrip() for line in lines)]


def _kind_in(column: ColumnProfile, features: DecodedFeatures) -> str:
    """Return the kinds that a record has in a column; "" if it does not have its key."""
    message, key = features.message, column.key
    if column.steps:
        steps = message.lists.get(key)
        kinds = sorted({each.kind for each in steps or () if each.kind})
        return "" if steps is None else "/".join(kinds) or "-"
    feature = features.held(column) or message.features.get(key)
    return "" if feature is None else feature.kind or "-"


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

# What is shown for a field that a record does not have.
_MISSING = "missing"

# So many places of records are named in a sentence.
_PLACES = 3
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
        blocks += _samples(profile, split, min(columns, _SAMPLE_COLUMNS), records)
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
            blocks.append(Gallery(pictures))
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
        texts = texts_of(facts)
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
    """Yield tables of missing classes, the largest differences, duplicates and targets."""
    missing = (each for each in class_facts(profile) if each.mark)
    yield from _marked("Missing classes", missing, level)
    yield from difference_blocks(profile, level)
    repeated = (
        each
        for each in duplicate_facts(profile.duplicates.found)
        if each.category is None
    )
    yield from _marked("Duplicates", repeated, level)
    for target in profile.associations:
        yield from _target_blocks(profile, target, level)


def _target_blocks(
    profile: Profile, target: Associations, level: int
) -> Iterator[Block]:
    """Yield a table of the features that tell the most about a target."""
    rows = [
        (NAMES[each.of].format(each.subject), each.text, each.note)
        for each in association_facts(profile, target, target.shown)
    ]
    if rows:
        yield Heading(f"Target: {target.target.name}, {INFORMATION}", level)
        yield Table(("feature", "value", "note"), rows, (1,))


def difference_blocks(profile: Profile, level: int = 3) -> Iterator[Block]:
    """Yield a table of the largest differences between splits."""
    found = profile.drifts
    facts = difference_facts(found)
    yield from _marked("Differences", facts, level, value="distance")
    if any(each.quantiles for each in found[:LISTED]):
        yield Paragraph(f"Quantiles: {listed(QUANTILES)}.")


def _marked(
    title: str, facts: Iterable[Fact], level: int, value: str = "value"
) -> Iterator[Block]:
    """Yield a table of facts with a title and a heading of values; nothing without any."""
    facts = [*facts]
    if not facts:
        return
    rows = [
        (each.split or "", each.subject, each.title, each.text, each.note)
        for each in facts[:LISTED]
    ]
    headings = ("split", "name", "what", value, "note")
    yield Heading(title, level)
    yield without_empty(headings, rows, headings, (value,))
    if len(facts) > LISTED:
        yield Paragraph(f"... {len(facts) - LISTED:,} more")


def _samples(
    profile: Profile, split: SplitProfile, columns: int, records: int
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


def _pictures(profile: Profile, split: SplitProfile) -> Iterator[InlineImage]:
    """Yield copies of the first image of samples."""
    from ..thumbnails import Budget, copy_of

    budget = Budget(left=_PICTURE_BYTES, ample=_PICTURE_BYTES)
    for sample in split.found.samples:
        image = _first_image(profile.columns, read(sample.data))
        copy = image and copy_of(image[1], budget)
        if image and copy and copy.url:
            yield InlineImage(
                copy.url, f"{image[0]}, record {sample.number:,}: {copy.about}"
            )


def _advice(found: DataStatistics) -> str:
    """Return the command that says more of what is wrong."""
    return f"`schemagen verify {shell_word(found.where)}` says more."


def _first_image(
    columns: Sequence[ColumnProfile], features: DecodedFeatures
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
    """Yield what differs, the schema first, and what was not read."""
    notes = diff_notes(found)
    yield Heading(found.profile.where)
    yield records_table(found)
    if notes:
        yield Items(notes)
    for caption, table in changes_tables(found):
        yield Heading(caption, 3)
        yield table
    yield from difference_blocks(found.profile)
    if not found.differs:
        yield Paragraph(
            "No differences." if found.same else "No differences in what was read."
        )


def _classes(names: Sequence[str]) -> str:
    """Return the names of classes in words: "class cat", "classes cat, dog"."""
    return f"{'class' if len(names) == 1 else 'classes'} {listed(names)}"


def diff_notes(found: Diff) -> list[str]:
    """Return sentences about schemas, keys and records, then about what was not read."""
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
        label = split.split or "all"
        notes += [
            f"{label}: only in {name}: {_places(some)}"
            for name, some in zip(found.names, split.unmatched, strict=True)
            if some
        ]
        more = any(profile.whole.more_keys for profile in found.profiles)
        some = _changed(split.changes, "of the keys that were read" if more else "")
        notes += [f"{label}: {text}" for text in some]
    if found.identifying:
        field = shell_word(found.identifying[0])
        notes.append(
            f"`--key {field}` matches records by this field and shows what changed in them."
        )
    notes += [
        f"{name}: {text}"
        for name, texts in zip(found.names, found.unread, strict=True)
        for text in texts
    ]
    return notes


def _places(records: Sequence[Unmatched]) -> str:
    """Return the first places of records, with the values that identify these."""
    return ", ".join(
        each.place.text
        if each.key_value is None
        else f"{each.key_value} ({each.place.text})"
        for each in records[:_PLACES]
    )


def _changed(changes: Changes, of: str) -> Iterator[str]:
    """Yield how many records changed in which fields; `of` says of what values are equal."""
    first = "the first " if changes.compared < changes.records else ""
    compared = f"{first}{plural(changes.compared, 'changed record')}"
    for each in changes.fields[:LISTED]:
        yield f"{each.field}: {each.records:,} of {compared}"
    if (more := len(changes.fields) - LISTED) > 0:
        yield f"{plural(more, 'field')} more changed"
    if changes.equal:
        such_as = [each.key_value for each in changes.examples if not each.fields]
        yield (
            f"{changes.equal:,} of {compared}: other bytes, equal values {of}".rstrip()
            + (f", such as {listed(such_as, _PLACES)}" if such_as else "")
        )


def records_table(found: Diff) -> Table:
    """Return how many records of each split are in both datasets, or changed."""
    headings = ("split", "dataset", "records", "only here", "changed")
    rows = [
        (
            split.split or "all",
            name,
            "none" if count is None else f"{count:,}",
            f"{only:,}",
            f"{split.changes.records:,}" if at else "",
        )
        for split in found.splits
        for at, (name, count, only) in enumerate(
            zip(found.names, split.records, split.only, strict=True)
        )
    ]
    return Table(headings, rows, (2, 3, 4))


def changes_tables(
    found: Diff, title: Callable[[RecordChange], Cell] = lambda change: change.key_value
) -> Iterator[tuple[str, Table]]:
    """Yield a table of the first values that changed for each split, with a caption.

    Args:
        found: the datasets.
        title: returns the cell that names a record.
    """
    for split in found.splits:
        changes = split.changes
        rows = [
            (record, each) for record in changes.examples for each in record.fields
        ][:LISTED]
        if not rows:
            continue
        where = f" of {split.split}" if split.split else ""
        shown = len({record.before for record, _ in rows})
        some = f", the first {shown:,} of {plural(changes.records, 'changed record')}"
        table = [
            (title(record), each.field, each.before or _MISSING, each.after or _MISSING)
            for record, each in rows
        ]
        yield (
            f"Changed values{where}{some if shown < changes.records else ''}",
            Table((found.key, "field", *found.names), table),
        )
