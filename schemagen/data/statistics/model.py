"""What data is like, as values: of each key, of the records of a split, of all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeVar

from ...documents import LEFT_OUT, ByName, Counts, WithProperties
from ..foreign import WITHOUT_FEATURE, Keyed
from ..framing import Damage
from ..layouts import Gap
from .bytes_values import BytesValues, merged_bytes
from .digests import Digests, merged_digests
from .numbers import NumericStatistics, merged_numbers, summed
from .samples import RowSample, Sample, merged_samples

Value = TypeVar("Value")

MOST_KEYS = 5_000
"""The most keys that have statistics of their own, the first ones by their order."""

MOST_KEY_CHARACTERS = 1 << 22
"""As long as they have no more characters than these together."""


@dataclass(frozen=True)
class KindStatistics:
    """The features of one key that are of one kind.

    Attributes:
        kind: "bytes", "float", "int64", or "" for features that hold no list, which
            readers take for absent ones.
        present: how many records, or steps, have one.
        lengths: how many values each has; `lengths.zeros` have none.
        numbers: of kind "float" or "int64", the values; of kind "bytes", the numbers in
            raw bytes, if a schema says that there are any.
        bytes: of kind "bytes", the values.
    """

    kind: str = ""
    present: int = 0
    lengths: NumericStatistics = field(default_factory=NumericStatistics)
    numbers: NumericStatistics | None = None
    bytes: BytesValues | None = None

    @property
    def contents(self) -> BytesValues | None:
        """The bytes values, unless they are numbers."""
        return self.bytes if self.numbers is None else None


@dataclass(frozen=True)
class KeyStatistics:
    """The features of one key.

    Attributes:
        key: the wire key.
        by_kind: the features of each kind, by its name.
    """

    key: str
    by_kind: ByName[KindStatistics]
    __get_pydantic_core_schema__ = WithProperties("present")

    @property
    def present(self) -> int:
        """How many records, or steps, have it with a list, be that empty or not."""
        return sum(found.present for kind, found in self.by_kind.items() if kind)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Of which kinds it is, the most frequent one first, without ""."""
        kinds = [kind for kind in sorted(self.by_kind) if kind]
        return tuple(sorted(kinds, key=lambda kind: -self.by_kind[kind].present))


@dataclass(frozen=True)
class StepsStatistics:
    """The feature lists of one key, of SequenceExamples.

    Attributes:
        key: the wire key.
        present: how many records have it.
        steps: how many steps each has.
        values: the features of the steps; what it says about records is of steps here.
    """

    key: str
    present: int
    steps: NumericStatistics
    values: KeyStatistics


@dataclass(frozen=True)
class RecordStatistics:
    """Some records, such as those of a split.

    Attributes:
        records: how many can be read from the file, malformed ones too.
        sizes: in bytes, without framing.
        sequences: how many have a field of feature lists.
        malformed: how many are not a tf.train.Example; nothing below counts them.
        malformed_reasons: why, of a few of them, by (file, record number).
        keys: what is known of each key, by key, sorted.
        steps: the feature lists of SequenceExamples, by key, sorted.
        more_keys: whether there are more than MOST_KEYS keys.
        unknown: what no Example has, and how many records have it.
        repeated: keys that occur twice in a record, and in how many.
        samples: a few records, spread over all, in the order of their priorities.
        digests: of records and values; empty if they were not asked for.
        rows: a sample of rows; None if it was not asked for.
        numbered: the keys of fields under numbered keys, by the first one: what is known
            of this one is of all of them.
    """

    records: int = 0
    sizes: NumericStatistics = field(default_factory=NumericStatistics)
    sequences: int = 0
    malformed: int = 0
    malformed_reasons: Mapping[tuple[str, int], str] = field(
        default_factory=dict, metadata=LEFT_OUT
    )
    keys: ByName[KeyStatistics] = field(default_factory=dict)
    steps: ByName[StepsStatistics] = field(default_factory=dict)
    more_keys: bool = False
    unknown: Counts[str] = field(default_factory=dict)
    repeated: Counts[str] = field(default_factory=dict)
    samples: tuple[Sample, ...] = field(default=(), metadata=LEFT_OUT)
    digests: Digests = field(
        default_factory=Digests, compare=False, repr=False, metadata=LEFT_OUT
    )
    rows: RowSample | None = field(default=None, compare=False, metadata=LEFT_OUT)
    numbered: Mapping[str, Sequence[str]] = field(
        default_factory=dict, metadata=LEFT_OUT
    )
    __get_pydantic_core_schema__ = WithProperties("message")

    @property
    def read(self) -> int:
        """How many records the statistics of the keys are of."""
        return self.records - self.malformed

    @property
    def message(self) -> str:
        """What the records are: "Example", "SequenceExample", or "mixed"."""
        if not self.sequences:
            return "Example"
        return "SequenceExample" if self.sequences == self.read else "mixed"


@dataclass(frozen=True)
class FileStatistics:
    """One file.

    Attributes:
        path: where it is.
        split: the split that it belongs to; empty if it belongs to none.
        bytes: its size on disk.
        compression: its name; "" for none.
        records: how many records were read.
        listed: how many the manifest lists; None if it does not list the file.
        listed_bytes: the size that the manifest lists; likewise.
        damages: the first places at which none can be read.
        damaged: how many such places there are.
        complete: whether it was read to its end.
        keyed: how many of its records have a key, and what the others are.
    """

    path: str
    split: str
    bytes: int
    compression: str
    records: int
    listed: int | None = None
    listed_bytes: int | None = None
    damages: tuple[Damage, ...] = ()
    damaged: int = 0
    complete: bool = True
    keyed: Keyed = field(default_factory=Keyed)
    __get_pydantic_core_schema__ = WithProperties(
        "foreign", "readable", "miscounted", "resized"
    )

    @property
    def foreign(self) -> str:
        """What its records are if none of them has a key; empty if one has."""
        if self.keyed.records or not self.records:
            return ""
        return self.keyed.other or WITHOUT_FEATURE

    @property
    def readable(self) -> bool:
        """False if it is missing, or cannot be opened."""
        return all(damage.kind != "unreadable" for damage in self.damages)

    @property
    def miscounted(self) -> bool:
        """Whether it holds more or fewer records than the manifest says."""
        return self.complete and self.listed not in (None, self.records)

    @property
    def resized(self) -> bool:
        """Whether its size is not the one that the manifest lists."""
        return self.readable and self.listed_bytes not in (None, self.bytes)


@dataclass(frozen=True)
class WrittenBy:
    """What the manifest says about a split.

    Attributes:
        record: the record's name.
        fingerprint: of the spec that wrote it.
        records: how many records it should hold.
    """

    record: str
    fingerprint: str
    records: int


@dataclass(frozen=True)
class DataStatistics:
    """Everything that was asked about.

    Attributes:
        where: what was looked at, as it was given.
        files: every file, in order.
        splits: the records of each split; of files without a split under "".
        written_by: what the manifest says about each split; empty without one.
        unlisted: names of files in the directory that its manifest does not list.
        manifest_problem: why the manifest cannot be read; empty if it can, or there is
            none.
        limit: only so many records of each split were read; None for all.
        gaps: what names of files say about further ones that are missing.
        other_files: names of what else is in a directory without a manifest.
        publishing: splits that are being published: some files are read by hidden names.
        tfds: the directory of the TFDS dataset; "" for other data.
    """

    where: str
    files: tuple[FileStatistics, ...]
    splits: Mapping[str, RecordStatistics]
    written_by: Mapping[str, WrittenBy] = field(default_factory=dict)
    unlisted: tuple[str, ...] = ()
    manifest_problem: str = ""
    limit: int | None = None
    gaps: tuple[Gap, ...] = ()
    other_files: tuple[str, ...] = ()
    publishing: tuple[str, ...] = ()
    tfds: str = ""

    @property
    def whole(self) -> RecordStatistics:
        """The records of all splits together."""
        return merged_records(list(self.splits.values()))

    @property
    def damaged(self) -> int:
        """How many places there are at which no record can be read."""
        return sum(file.damaged for file in self.files)

    def files_of(self, split: str) -> list[FileStatistics]:
        """Return the files of a split."""
        return [file for file in self.files if file.split == split]

    def is_foreign(self, split: str) -> bool:
        """Return whether the records of a split are something else than Examples."""
        files = [file for file in self.files_of(split) if file.records]
        foreign = all(file.foreign for file in files)
        return foreign and any(file.keyed.other for file in files)

    @property
    def sound(self) -> bool:
        """Whether all could be read, as Examples, and is as many as it should be."""
        return not (
            self.damaged
            or self.manifest_problem
            or any(found.malformed for found in self.splits.values())
            or any(
                file.miscounted or file.resized or file.foreign or file.keyed.other
                for file in self.files
            )
        )


# So many of the malformed records are remembered.
_MOST_REASONS = 20


def _merged_kind(parts: Sequence[KindStatistics]) -> KindStatistics:
    values = [part.numbers for part in parts if part.numbers is not None]
    contents = [part.bytes for part in parts if part.bytes is not None]
    return KindStatistics(
        kind=parts[0].kind,
        present=sum(part.present for part in parts),
        lengths=merged_numbers([part.lengths for part in parts]),
        numbers=merged_numbers(values) if values else None,
        bytes=merged_bytes(contents) if contents else None,
    )


def merged_key(parts: Sequence[KeyStatistics]) -> KeyStatistics:
    """Return the statistics of one key in all parts."""
    kinds = sorted(by_name(part.by_kind for part in parts).items())
    return KeyStatistics(
        parts[0].key, {kind: _merged_kind(some) for kind, some in kinds}
    )


def _merged_steps(parts: Sequence[StepsStatistics]) -> StepsStatistics:
    return StepsStatistics(
        key=parts[0].key,
        present=sum(part.present for part in parts),
        steps=merged_numbers([part.steps for part in parts]),
        values=merged_key([part.values for part in parts]),
    )


def merged_records(parts: Sequence[RecordStatistics]) -> RecordStatistics:
    """Return the statistics of all parts."""
    if not parts:
        return RecordStatistics()
    if len(parts) == 1:
        return parts[0]
    keys, more_keys = first_keys(by_name(part.keys for part in parts))
    steps, more_steps = first_keys(by_name(part.steps for part in parts))
    return RecordStatistics(
        records=sum(part.records for part in parts),
        sizes=merged_numbers([part.sizes for part in parts]),
        sequences=sum(part.sequences for part in parts),
        malformed=sum(part.malformed for part in parts),
        malformed_reasons=first_reasons(part.malformed_reasons for part in parts),
        keys={key: merged_key(some) for key, some in keys.items()},
        steps={key: _merged_steps(some) for key, some in steps.items()},
        more_keys=more_keys or more_steps or any(part.more_keys for part in parts),
        unknown=first_counts(part.unknown for part in parts),
        repeated=first_counts(part.repeated for part in parts),
        samples=merged_samples(part.samples for part in parts),
        digests=merged_digests([part.digests for part in parts], keys),
        rows=_merged_rows([part.rows for part in parts if part.rows is not None]),
        numbered={k: v for part in parts for k, v in part.numbered.items()},
    )


def _merged_rows(parts: Sequence[RowSample]) -> RowSample | None:
    return parts[0].merged(parts[1:]) if parts else None


def by_name(parts: Iterable[Mapping[str, Value]]) -> dict[str, list[Value]]:
    """Collect what mappings have under each name."""
    found: dict[str, list[Value]] = {}
    for part in parts:
        for name, value in part.items():
            found.setdefault(name, []).append(value)
    return found


def first_names(names: Iterable[str]) -> tuple[list[str], bool]:
    """Return the keys that have statistics of their own, and whether there are more.

    The first keys of all are among the first ones of any part, so that what is kept of
    a key is never cut in half.
    """
    first: list[str] = []
    characters = 0
    for name in sorted(names):
        characters += len(name)
        if len(first) == MOST_KEYS or characters > MOST_KEY_CHARACTERS:
            return first, True
        first.append(name)
    return first, False


def first_keys(found: Mapping[str, Value]) -> tuple[dict[str, Value], bool]:
    """Return what has statistics of its own, by key, and whether there is more."""
    first, more = first_names(found)
    return {key: found[key] for key in first}, more


def first_counts(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Add counts up, of the first names only."""
    return first_keys(summed(parts))[0]


def first_reasons(
    parts: Iterable[Mapping[tuple[str, int], str]],
) -> dict[tuple[str, int], str]:
    """Return the first reasons, by their places."""
    every = chain.from_iterable(part.items() for part in parts)
    return dict(sorted(every)[:_MOST_REASONS])
