"""Findings about records and files, counted by kind, with the first places of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..findings import Finding, InData, Location
from ..runtime.cells.columns import Columns, column_of
from ..runtime.images.headers import jpeg_header
from ..runtime.native import BYTES
from ..runtime.shared.compression import ANY
from ..runtime.shared.tfrecord import HEADER_SIZE
from .foreign import Keyed, describe_record, keyed_of
from .framing import Damage

if TYPE_CHECKING:
    from ..runtime.records.checking import RecordCheck
    from ..spec.model import RecordSpec


@dataclass(frozen=True, order=True)
class Occurrence:
    """One place at which something is wrong.

    Attributes:
        file: the file's path.
        record: which record of the file, counted from 0; None for the file as a whole.
        offset: where its frame begins in the file, in bytes; in a compressed file, in
            what it inflates to. Its own bytes begin 12 bytes on.
        found: what stands there.
        cause: the likely cause; empty if nothing speaks for one.
    """

    file: str
    record: int | None
    offset: int | None
    found: str
    cause: str = ""


@dataclass(frozen=True)
class DataFinding:
    """One kind of thing that is wrong in a split, however often it is.

    Attributes:
        rule: the rule's id, such as SG527.
        split: the split; None if no manifest or name states it.
        field: the field's name, with dots where it is nested; "" for a whole record or
            a whole file.
        key: the wire key at which it is wrong; "" likewise.
        what: what is wrong, in words that are the same for all of the kind.
        expected: what should be there.
        records: how many records it is wrong in; 0 where it is about whole files.
        files: how many files.
        of: how many records of the split were looked at.
        examples: the first ones.
    """

    rule: str
    split: str | None
    field: str
    key: str
    what: str
    expected: str
    records: int
    files: int
    of: int
    examples: tuple[Occurrence, ...]

    @property
    def share(self) -> float:
        """The share of the records in which it is wrong."""
        return self.records / self.of if self.of else 0.0

    def _repr_html_(self) -> str:
        return self.finding()._repr_html_()

    def finding(self) -> Finding:
        """Return it as a finding like any other, at the place of its first example."""
        first = self.examples[0]
        return Finding(
            Location(first.file),
            self.rule,
            f"field {self.field!r}: {self.what}" if self.field else self.what,
            found=first.found,
            expected=self.expected,
            advice=first.cause,
            data=InData(
                split=self.split,
                field=self.field,
                key=self.key,
                record=first.record,
                offset=first.offset,
                records=self.records,
                files=self.files,
                of=self.of,
                examples=tuple(
                    (each.file, each.record, each.offset, each.found)
                    for each in self.examples
                ),
            ),
        )


@dataclass(frozen=True, order=True)
class Note:
    """Something to know about a split that is not wrong.

    Attributes:
        what: what it is, such as "a key that the schema does not have".
        key: the key, or what else it is about.
        records: how many records it is true of.
    """

    what: str
    key: str
    records: int


def check_of(spec: RecordSpec | None) -> RecordCheck:
    """Return the check of a spec's records; None sees only whether they are Examples."""
    from ..runtime.records.checking import RecordCheck

    record = None
    if spec is not None:
        from ..runtime.records.codec import RecordCodec

        kinds = {field.label: field.codec for field in spec.fields}
        record = RecordCodec(kinds, message=spec.message)
    return RecordCheck(record, describe=describe_record)


UNKNOWN_KEY = "a key that the schema does not have"
UNKNOWN_LIST = "a feature list that the schema does not have"


def facts_of(check: RecordCheck, columns: Columns) -> Iterator[tuple[str, str, int]]:
    """Yield what readers skip silently: what, of which key, and in how many records."""
    if check.known:
        for key, some in columns.by_key.items():
            if key not in check.known or key in check.lists:
                rows = sum(len(column) for column in some)
                yield UNKNOWN_KEY, key, rows
        for key, lists in columns.steps.items():
            if key not in check.lists:
                rows = len(lists.rows)
                yield UNKNOWN_LIST, key, rows
    for key in check.kept:
        column = column_of(columns.by_key, key, BYTES)
        turned = [*map(_is_turned, column.bytes_values())]
        if any(turned):
            owners = np.repeat(column.rows, column.lengths)[turned]
            yield "an EXIF orientation that is kept", key, len(np.unique(owners))
    for key, repeated in columns.repeated.items():
        yield "a key that occurs twice; the last one counts", key, len(repeated)
    for what, unknown in columns.unknown.items():
        yield "a field that tf.train.Example does not have", what, len(unknown)


def _known_keys(check: RecordCheck, columns: Columns) -> Iterator[tuple[str, int]]:
    """Yield the keys of the schema that have values, and in how many records."""
    for key in check.known - check.lists:
        some = [column for column in columns.by_key.get(key, ()) if column.kind]
        if some:
            yield key, sum(map(len, some))
    for key in check.lists & columns.steps.keys():
        yield key, len(columns.steps[key].rows)


def _is_turned(data: bytes) -> bool:
    header = jpeg_header(data)
    return header is not None and header.orientation != 1


# A hostile file may have any number of keys.
_MOST_NOTES, _LONGEST_KEY = 1000, 200
_FURTHER = "others, which are not listed"

_COPY = "the bytes that were written"
_DAMAGES = {
    "checksum": ("SG507", "wrong checksum of a record", _COPY),
    "length": ("SG507", "damaged length of a record", "a length and its checksum"),
    "torn": ("SG507", "torn record", "the whole record, and the next one"),
    "truncated": ("SG506", "file is truncated", "the rest of the file"),
    "compression": (
        "SG509",
        "compressed file cannot be decompressed",
        f"a file that is compressed once, with {ANY}, or not at all",
    ),
    "limit": ("SG512", "record is over the limit", ""),  # the damage says which one
    "foreign": ("SG508", "not a TFRecord file", "records"),
    "unreadable": ("SG510", "a file that cannot be read", "a file that can be read"),
}


class FindingKey(NamedTuple):
    """What is the same of all findings that are counted together."""

    rule: str
    field: str
    key: str
    what: str
    expected: str


@dataclass
class _Occurrences:
    records: int = 0
    files: int = 0
    examples: list[Occurrence] = field(default_factory=list)
    last: str = ""  # the file that was counted last

    def count_file(self, file: str) -> None:
        if file != self.last:
            self.files += 1
            self.last = file


@dataclass
class Tally:
    """What was found in a part of a split, to be merged in the order of the parts.

    Attributes:
        most: how many examples of each kind are kept.
        records: how many records were read.
        wrong: how many of these have a finding.
        bytes: of files, as they are on disk.
        keyed: how many records have a key.
        keys: in how many records each key of the schema has values.
    """

    most: int
    records: int = 0
    wrong: int = 0
    bytes: int = 0
    _groups: dict[FindingKey, _Occurrences] = field(default_factory=dict)
    _notes: dict[tuple[str, str], int] = field(default_factory=dict)
    keyed: Keyed = field(default_factory=Keyed)
    keys: Counter[str] = field(default_factory=Counter)

    def count(self, columns: Columns) -> None:
        """Count a run of records."""
        self.records += len(columns.records)
        self.keyed = self.keyed.merged(keyed_of(columns))

    def add_records(self, check: RecordCheck, columns: Columns) -> None:
        """Check a run of records and count what is wrong."""
        records = columns.records
        wrong = np.zeros(len(records), np.bool_)
        first: dict[FindingKey, list[Occurrence]] = {}
        for name, fault in check.faults(columns):
            if not len(fault.rows):
                continue
            wrong[fault.rows] = True
            kind = FindingKey(fault.rule, name, fault.key, fault.what, fault.expected)
            group = self._groups.setdefault(kind, _Occurrences())
            group.records += len(fault.rows)
            group.count_file(records.file)
            lacking = self.most - len(group.examples)
            for at, row in enumerate(fault.rows[: max(0, lacking)].tolist()):
                example = Occurrence(
                    records.file,
                    int(records.numbers[row]),
                    int(records.offsets[row]) - HEADER_SIZE,
                    fault.found(at),
                    fault.cause(at),
                )
                first.setdefault(kind, []).append(example)
        for kind, examples in first.items():
            group = self._groups[kind]
            group.examples += sorted(examples, key=lambda each: each.record or 0)
            del group.examples[self.most :]
        for fact in facts_of(check, columns):
            self.note(*fact)
        for key, count in _known_keys(check, columns):
            self.keys[key] += count
        self.wrong += int(wrong.sum())

    def add_damage(self, damage: Damage) -> None:
        """Count a place where no record can be read."""
        rule, what, expected = _DAMAGES[damage.kind]
        expected = expected or damage.expected
        whole = damage.kind in ("foreign", "unreadable")
        cause = damage.cause
        if damage.kind in ("length", "torn", "compression"):
            behind = "no record was found after it"
            if damage.skipped:
                behind = f"the next record is {damage.skipped} bytes later"
            cause = f"{cause}; {behind}"
        place = (None, None) if whole else (damage.record, damage.offset)
        file, found = damage.file, damage.found
        group = self.add_file(rule, what, expected, file, found, cause, place)
        group.records += not whole

    def add_file(
        self,
        rule: str,
        what: str,
        expected: str,
        file: str,
        found: str,
        cause: str = "",
        place: tuple[int | None, int | None] = (None, None),
        field: str = "",
    ) -> _Occurrences:
        """Count something that is wrong with a file, or at one place of it.

        Args:
            rule: the rule's id.
            what: what is wrong.
            expected: what should be there.
            file: the file.
            found: what is there.
            cause: the likely cause.
            place: the number of a record, and its offset.
            field: the field.
        """
        kind = FindingKey(rule, field, "", what, expected)
        group = self._groups.setdefault(kind, _Occurrences())
        group.count_file(file)
        if len(group.examples) < self.most:
            group.examples.append(Occurrence(file, *place, found, cause))
        return group

    def note(self, what: str, key: str, records: int) -> None:
        """Count something that is to be known."""
        if len(key) > _LONGEST_KEY:
            key = f"{key[:_LONGEST_KEY]}..."
        if (what, key) not in self._notes and len(self._notes) >= _MOST_NOTES:
            what, key = _FURTHER, ""
        self._notes[what, key] = self._notes.get((what, key), 0) + records

    def merge(self, other: Tally) -> None:
        """Add what was found in the part that follows."""
        self.records += other.records
        self.wrong += other.wrong
        self.bytes += other.bytes
        self.keyed = self.keyed.merged(other.keyed)
        self.keys.update(other.keys)
        for kind, group in other._groups.items():
            own = self._groups.setdefault(kind, _Occurrences())
            own.records += group.records
            own.files += group.files - (own.last == group.last and group.files == 1)
            own.last = group.last
            own.examples += group.examples
            del own.examples[self.most :]
        for (what, key), records in other._notes.items():
            self.note(what, key, records)

    def findings(self, split: str | None, order: list[str]) -> list[DataFinding]:
        """Return what was found, whole files first, then by field.

        Args:
            split: the split it belongs to.
            order: the names of the fields.
        """
        places = {name: at for at, name in enumerate(["", *order])}
        return [
            DataFinding(
                **kind._asdict(),
                split=split,
                records=group.records,
                files=group.files,
                of=self.records,
                examples=tuple(group.examples),
            )
            for kind, group in sorted(
                self._groups.items(),
                key=lambda item: (places.get(item[0].field, 0), item[0]),
            )
        ]

    def notes(self) -> tuple[Note, ...]:
        """Return what is to be known, sorted."""
        return tuple(
            sorted(Note(what, key, n) for (what, key), n in self._notes.items())
        )
