"""Everything that inspecting has found, as blocks, and as text for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from ...display.blocks import (
    Block,
    Code,
    Heading,
    Items,
    Listing,
    Paragraph,
    Table,
    printable,
)
from ...display.terminal import terminal_text
from ...runtime.codecs.checking import WRITE_EXAMPLES
from ...runtime.shared.times import Time
from ..formatting import key_name, plural, shell_word, size, sizes
from ..keyed import NO_KEY
from ..layouts import import_command, listed_names
from ..profile.profile import Profile
from ..profile.tables import (
    DIFFERENCES,
    LISTED,
    REPETITIONS,
    difference_row,
    repetition_row,
    table_blocks,
)
from ..records import Damage
from ..statistics.model import (
    MOST_KEYS,
    DataStatistics,
    FileStatistics,
    KeyStatistics,
    KindStatistics,
    RecordStatistics,
    StepsStatistics,
    merged_records,
)
from .values import extent, sample_text, share, values_text

RECORDS = 3
"""So many records are shown of each split."""

# More splits than these, such as files of any names, are described together.
_SPLITS_APART = 4

SPLIT = ("split", "files", "records", "on disk", "compression", "record size")


def inspection_text(
    found: DataStatistics,
    *,
    columns: int = 80,
    records: int = RECORDS,
    profile: Profile | None = None,
) -> str:
    """Return what has been found, in lines of no more than so many columns if it can be.

    Args:
        found: the statistics.
        columns: how wide the terminal is.
        records: how many records to show of each split.
        profile: also say how the splits differ, and what is repeated.
    """
    order = {file.path: at for at, file in enumerate(found.files)}

    def samples(split: RecordStatistics) -> Iterator[Block]:
        for sample in sorted(
            split.samples[:records],
            key=lambda each: (order.get(each.file, 0), each.number),
        ):
            lines = sample_text(sample, key_name(Path(sample.file).name), columns)
            yield Listing("\n".join(lines))

    blocks = inspection_blocks(found, samples, characters=columns)
    blocks += _of_profile(profile) if profile else ()
    troubles = troubles_of(found)
    if troubles:
        blocks.append(Items(troubles))
    text = terminal_text(blocks, columns, bullet="")
    return f"{text}{advice_of(found)}\n" if troubles else text


def _of_profile(profile: Profile) -> Iterator[Block]:
    """Yield tables of the largest differences and of what is repeated."""
    differences = [difference_row(each) for each in profile.drifts]
    yield from table_blocks("differences", DIFFERENCES, differences)
    # A terminal has no room for places.
    repeated = [repetition_row(each)[:3] for each in profile.repetitions.found]
    yield from table_blocks("repetitions", REPETITIONS[:3], repeated)


def inspection_blocks(
    found: DataStatistics,
    samples: Callable[[RecordStatistics], Iterable[Block]],
    *,
    characters: int,
    keys: int = MOST_KEYS,
) -> list[Block]:
    """Return tables of the splits and of their keys, and what is unusual about them.

    Args:
        found: the statistics.
        samples: shows some records of a split.
        characters: the most of a key.
        keys: the most of a split.
    """
    first, *facts = facts_of(found)
    blocks: list[Block] = [Heading(first)]
    blocks += [Items(facts)] if facts else []
    if found.tfds:
        blocks.append(
            Paragraph("note: features.json has more details than the records:")
        )
        blocks.append(Listing(import_command(found.tfds)))
    splits = list(found.splits.items())
    rows = [split_row(found, name, split) for name, split in splits[:LISTED]]
    blocks.append(Table(SPLIT, rows, (1, 2, 3, 5)))
    if len(splits) > LISTED:
        blocks.append(Paragraph(f"... {plural(len(splits) - LISTED, 'split')} more"))
    for title, split in described_splits(found).items():
        if split.read:
            blocks.append(Heading(title + contents_of(split), 3))
            blocks += _keys(split, found, characters, keys)
        blocks += samples(split)
    return blocks


def _keys(
    found: RecordStatistics,
    data: DataStatistics,
    characters: int,
    most: int,
) -> Iterator[Block]:
    """Yield the tables of the keys, and what is unusual about them."""
    classes, times = data.classes, data.times
    rows: list[tuple[str, ...]] = [
        (
            Code(key_name(key.key, characters)),
            kind or "-",
            share(held.present, found.read),
            extent(held.lengths) if kind else "-",
            text,
        )
        for key in islice(found.keys.values(), most)
        for kind, held, text in _kinds(key, classes.get(key.key), times.get(key.key))
    ]
    if rows:
        yield Table(("key", "kind", "in", "length", "values"), rows)
    rows = [
        (Code(key_name(lists.key, characters)), *row)
        for lists in islice(found.steps.values(), most)
        for row in _step_rows(lists, found.read)
    ]
    if rows:
        yield Paragraph("feature lists, whose lengths and values are those of a step:")
        yield Table(("key", "kind", "in", "steps", "length", "values"), rows)
    notes = list(notes_of(found))
    if more := max(0, len(found.keys) - most) + max(0, len(found.steps) - most):
        notes.append(f"{plural(more, 'key')} more.")
    if notes:
        yield Items(notes)


def described_splits(found: DataStatistics) -> dict[str, RecordStatistics]:
    """Return what is described apart, by its title: splits, or all of many together."""
    own = {
        name: split
        for name, split in found.splits.items()
        if not found.is_foreign(name)
    }
    if len(own) > _SPLITS_APART:
        return {"all splits: ": merged_records(list(own.values()))}
    return {
        f"split {key_name(name)}: " if name else "": split
        for name, split in own.items()
    }


def facts_of(found: DataStatistics) -> Iterator[str]:
    """Yield what is known of all files together, first their number and size."""
    records = sum(split.records for split in found.splits.values())
    facts = [
        plural(sum(file.readable for file in found.files), "file"),
        plural(records, "record"),
        size(sum(file.bytes for file in found.files)),
    ]
    yield f"{printable(found.where)}: {', '.join(facts)}"
    if found.limit is not None:
        yield f"read: the first {plural(found.limit, 'record')} of each split"
    for record, fingerprint in dict.fromkeys(
        (written.record, written.fingerprint) for written in found.written_by.values()
    ):
        yield (
            f"written by the record {printable(record)}, "
            f"fingerprint {printable(fingerprint)}, says manifest.json"
        )
    if found.unlisted:
        names = ", ".join(key_name(name) for name in found.unlisted[:LISTED])
        more = ", ..." if len(found.unlisted) > LISTED else ""
        yield f"not in manifest.json, and not read: {names}{more}"
    if found.other_files:
        yield f"not looked at: {listed_names(found.other_files)}"
    for gap in found.gaps[:LISTED]:
        yield f"note: {key_name(gap.split)}: {gap.text}"


def split_row(
    found: DataStatistics, name: str, split: RecordStatistics
) -> tuple[str, ...]:
    """Return the cells of a split under `SPLIT`."""
    files = [file for file in found.files if file.split == name]
    compressions = sorted({file.compression or "none" for file in files})
    sized = split.sizes
    return (
        key_name(name) if name else "-",
        f"{sum(file.readable for file in files):,}",
        f"{split.records:,}",
        size(sum(file.bytes for file in files)),
        ", ".join(compressions),
        sizes(int(sized.minimum), int(sized.maximum))
        if sized.minimum is not None and sized.maximum is not None
        else "-",
    )


def contents_of(found: RecordStatistics) -> str:
    """Return the number of records, what they are, and the number of keys."""
    what = {
        "Example": "tf.train.Example",
        "SequenceExample": "tf.train.SequenceExample",
        "mixed": f"tf.train.Example, {found.sequences:,} of them SequenceExample",
    }[found.message]
    keys = len(found.keys) + len(found.steps)
    return f"{plural(found.read, 'record')} of {what}, {plural(keys, 'key')}"


def _step_rows(found: StepsStatistics, whole: int) -> list[tuple[str, ...]]:
    """Return a row for each kind, and for a key that never has a step one without."""
    head = share(found.present, whole), extent(found.steps)
    steps = sum(held.present for held in found.values.by_kind.values())
    rows: list[tuple[str, ...]] = []
    for kind, held, text in _kinds(found.values):
        if held.present != steps:
            text = f"in {share(held.present, steps)} of the steps; {text}"
        rows.append((kind or "-", *head, extent(held.lengths) if kind else "-", text))
    return rows or [("-", *head, "-", "no steps")]


def _kinds(
    found: KeyStatistics,
    classes: Mapping[int, str] | None = None,
    time: Time | None = None,
) -> list[tuple[str, KindStatistics, str]]:
    """Return the kinds with their values; the empty kind if it is the only one."""
    none = found.by_kind.get("")
    if none is not None and not found.kinds:
        return [("", none, "never a list")]
    rows: list[tuple[str, KindStatistics, str]] = []
    for kind in found.kinds:
        held = found.by_kind[kind]
        without = none.present if none is not None and not rows else 0
        rows.append((kind, held, values_text(held, without, classes, time)))
    return rows


def notes_of(found: RecordStatistics) -> Iterator[str]:
    """Yield what is unusual about the keys."""
    if found.more_keys:
        yield f"There are more than {MOST_KEYS:,} keys; the others are left out."
    both = sorted(set(found.keys) & set(found.steps))
    for key in both[:LISTED]:
        yield f"{key_name(key)} is a key of the context and of the feature lists."
    values = [*found.keys.values(), *(lists.values for lists in found.steps.values())]
    for each in [each for each in values if len(each.kinds) > 1][:LISTED]:
        kinds = " and ".join(
            f"{kind} in {each.by_kind[kind].present:,}" for kind in each.kinds
        )
        yield f"{key_name(each.key)} is {kinds}: a reader can ask for one kind only."
    if any("" in each.by_kind for each in values):
        yield "A feature without a list is read as missing."
    for name, count in list(found.repeated.items())[:LISTED]:
        many = plural(count, "record")
        yield f"{key_name(name)} occurs twice in {many}; the last one counts."
    for name, count in list(found.unknown.items())[:LISTED]:
        many = plural(count, "record")
        yield f"{printable(name)} in {many}: tf.train.Example does not have it, and readers skip it."


def advice_of(found: DataStatistics) -> str:
    """Return the command that says more of what is wrong."""
    return f"`schemagen verify {shell_word(found.where)}` says more."


def troubles_of(found: DataStatistics) -> list[str]:
    """Say what is wrong with the files, with no more than the first things."""
    lines: list[str] = []
    if found.manifest_problem:
        lines.append(printable(found.manifest_problem))
    for file in found.files:
        lines += _of_file(file, found.where)
    for name, split in found.splits.items():
        if split.malformed and not found.is_foreign(name):
            lines += _malformed(split)
    if len(lines) > LISTED:
        lines[LISTED:] = [f"... {len(lines) - LISTED:,} more"]
    return lines


def _of_file(file: FileStatistics, where: str) -> list[str]:
    below = file.path.removeprefix(f"{where.rstrip('/')}/")
    name = key_name(below if below != file.path else Path(file.path).name)
    lines = [f"{name}: {_damage(damage)}" for damage in file.damages]
    if file.foreign:
        lines.append(
            f"{name}: {NO_KEY}: found {printable(file.foreign)}; {WRITE_EXAMPLES}"
        )
    elif file.keyed.other:
        lines.append(
            f"{name}: {plural(file.records - file.keyed.records, 'record')} without a "
            f"key: found {printable(file.keyed.other)}"
        )
    if file.damaged > len(file.damages):
        lines.append(f"{name}: {file.damaged - len(file.damages):,} more such places")
    if file.resized:
        lines.append(
            f"{name}: {file.bytes:,} bytes, and manifest.json lists {file.listed_bytes:,}"
        )
    if file.miscounted and not file.damaged:
        lines.append(
            f"{name}: {plural(file.records, 'record')}, "
            f"and manifest.json lists {file.listed:,}"
        )
    if not (file.records or file.damages) and file.complete and not file.listed:
        empty = "an empty file" if not file.bytes else "no records"
        lines.append(f"{name}: {empty}")
    return lines


def _damage(damage: Damage) -> str:
    if damage.kind == "unreadable":
        return printable(damage.found)
    place = f"record {damage.record:,} at byte {damage.offset:,}"
    where = "" if damage.kind == "foreign" else f"{place}: "
    text = (
        f"{where}found {printable(damage.found)}, expected {printable(damage.expected)}"
    )
    if damage.kind == "limit":
        text += f"; {printable(damage.cause)}"
    elif damage.skipped:
        text += f"; {size(damage.skipped)} skipped"
    elif damage.skipped is None:
        text += "; nothing after it can be read"
    return text


def _malformed(found: RecordStatistics) -> list[str]:
    lines = [
        f"{key_name(Path(file).name)}: record {number:,} is not a tf.train.Example: "
        f"{printable(reason)}"
        for (file, number), reason in list(found.malformed_reasons.items())[:3]
    ]
    if found.malformed > len(lines):
        lines.append(f"{found.malformed:,} records are not a tf.train.Example.")
    return lines
