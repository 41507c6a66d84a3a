"""What is unusual about files and keys, and what is wrong with files, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...display.blocks import printable
from ...runtime.cells.columns import WRITE_EXAMPLES
from ..foreign import NO_KEY
from ..formatting import key_name, plural, size
from ..framing import Damage
from ..layouts import listed_names
from ..statistics.model import (
    MOST_KEYS,
    DataStatistics,
    FileStatistics,
    RecordStatistics,
)
from .profile import Profile

_LIMITED = "read: the first {} of each split"
_MORE_KEYS = f"There are more than {MOST_KEYS:,} keys; the others are left out."

LISTED = 20
"""So many rows, files and damages are listed for people."""


def notes_of(profile: Profile) -> Iterator[str]:
    """Yield what else is known of all files."""
    found = profile.statistics
    if found.limit is not None:
        yield _LIMITED.format(plural(found.limit, "record"))
    for record, fingerprint in dict.fromkeys(
        (written.record, written.fingerprint) for written in found.written_by.values()
    ):
        yield (
            f"written by the record {printable(record)}, "
            f"fingerprint {printable(fingerprint)}, says manifest.json"
        )
    yield from _left_out(found)


def unread_of(profile: Profile) -> Iterator[str]:
    """Yield what was not read, or cannot be read; nothing if all was."""
    found = profile.statistics
    if found.limit is not None and not all(file.complete for file in found.files):
        yield _LIMITED.format(plural(found.limit, "record"))
    yield from _left_out(found)
    if profile.whole.more_keys:
        yield _MORE_KEYS
    if not found.sound:
        yield from troubles_of(found)


def _left_out(found: DataStatistics) -> Iterator[str]:
    """Yield which files were not read, or seem to be missing."""
    if found.unlisted:
        names = ", ".join(key_name(name) for name in found.unlisted[:LISTED])
        more = ", ..." if len(found.unlisted) > LISTED else ""
        yield f"not in manifest.json, and not read: {names}{more}"
    if found.other_files:
        yield f"not looked at: {listed_names(found.other_files)}"
    for gap in found.gaps[:LISTED]:
        yield f"note: {key_name(gap.split)}: {gap.text}"


def notes_of_keys(found: RecordStatistics) -> Iterator[str]:
    """Yield what is unusual about the keys."""
    if found.more_keys:
        yield _MORE_KEYS
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
