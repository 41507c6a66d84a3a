"""Reading the records to infer from: the first ones of each file, and the keys of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from ...progress import Bar
from ...runtime.cells.columns import Columns
from ...runtime.native import NOTHING
from ...runtime.shared.tfrecord import MOST_RECORD_BYTES
from ...runtime.sources.shards import File
from ..checks import Tally
from ..files import FilePath
from ..foreign import are_of_one_kind, keyed_of, lacked_by_chance
from ..formatting import plural, shell_word
from ..framing import Damage, whole_range
from ..layouts import shards_like
from ..one_pass import Scanned, read_files
from .draft import quoted, with_commas
from .key_words import split_before, words_of


class Reading:
    """The records that are read of some files.

    Args:
        files: the files.
        limit: the first records of each split to read; None for all.
        sample: the most records to read instead, spread over all files; None for no limit.
        max_record_bytes: the most bytes of a record; longer ones are damages.
        most_keys: reading stops before records with which there are more keys than this;
            None for no limit.

    Attributes:
        files: the files with the keys that were found in them.
        keys: all keys, and those of the records before which reading stopped.
    """

    def __init__(
        self,
        files: Sequence[File],
        limit: int | None = None,
        sample: int | None = None,
        max_record_bytes: int = MOST_RECORD_BYTES,
        most_keys: int | None = None,
    ) -> None:
        self.keys: set[str] = set()
        self.files = [
            FileKeys(Scanned(whole_range(file), Tally(0)), file.split) for file in files
        ]
        self._bytes = sum(file.size for file in files)
        splits: dict[str, list[int]] = {}
        for number, file in enumerate(files):
            splits.setdefault("" if limit is None else file.split, []).append(number)
        self._groups = [*splits.values()]
        self._most = sample if limit is None else limit
        self._is_sample = limit is None
        self._max_record_bytes = max_record_bytes
        self._most_keys = most_keys

    def batches(self) -> Iterator[Columns]:
        """Read the files once, and yield the columns of some records at a time.

        Records of another message, which may happen to be read as Examples, are left
        out if no other ones are next to them.
        """
        with self._bar() as bar:
            for file, columns in self._read(bar):
                self.keys.update(columns.by_key, columns.steps)
                if self.has_many_keys:
                    return
                file.add(columns)
                keyed = keyed_of(columns)
                if keyed.records or not keyed.other:
                    yield columns
                if self._most is not None:
                    bar(len(columns.records))

    def _read(self, bar: Bar) -> Iterator[tuple[FileKeys, Columns]]:
        """Yield the columns of some records at a time, and their file."""
        for numbers in self._groups:
            files = [self.files[number] for number in numbers]
            for at, columns in read_files(
                [file.scanned for file in files],
                self._most,
                spread=self._is_sample,
                max_record_bytes=self._max_record_bytes,
                advance=bar if self._most is None else lambda *amounts: None,
            ):
                yield files[at], columns

    def _bar(self) -> Bar:
        """Return a bar of records up to a limit, or of the bytes of all files."""
        if self._most is not None:
            return Bar("reading", self._most * len(self._groups), "record")
        return Bar("reading", self._bytes)

    @property
    def records(self) -> int:
        """How many records were read."""
        return sum(file.records for file in self.files)

    @property
    def has_many_keys(self) -> bool:
        """Whether reading stopped as there are too many keys."""
        return self._most_keys is not None and len(self.keys) > self._most_keys

    @property
    def whole(self) -> bool:
        """Whether every file was read to its end."""
        return all(file.scanned.complete for file in self.files)

    @property
    def damages(self) -> list[Damage]:
        """The first places of each file at which no record can be read."""
        return [damage for file in self.files for damage in file.scanned.damages]

    @property
    def damaged(self) -> int:
        """How many such places there are."""
        return sum(file.scanned.damaged for file in self.files)


_MOST_KEYS = 6


@dataclass
class FileKeys:
    """The keys of one file.

    Attributes:
        scanned: what was read of the file.
        split: its split; "" if its name does not say.
        keys: in how many records each key is.
        kinds: the kinds of values that each key has.
    """

    scanned: Scanned
    split: str = ""
    keys: Counter[str] = field(default_factory=Counter)
    kinds: dict[str, set[str]] = field(default_factory=dict)

    @property
    def path(self) -> FilePath:
        """The file."""
        return self.scanned.range.path

    @property
    def records(self) -> int:
        """How many of its records were read."""
        return self.scanned.tally.records

    def add(self, batch: Columns) -> None:
        """Add the keys of some records."""
        for key, columns in batch.by_key.items():
            self.keys[key] += sum(map(len, columns))
            kinds = {column.kind for column in columns if len(column)} - {NOTHING}
            self.kinds.setdefault(key, set()).update(kinds)
        for key, steps in batch.steps.items():
            self.keys[key] += len(steps.rows)


def groups_of(files: Sequence[FileKeys]) -> list[list[FileKeys]]:
    """Return files in groups that share keys; one group if all do.

    Two files are of one group if half of the keys of either are those of the other,
    or of files between them.
    """
    groups: list[list[FileKeys]] = []
    for file in files:
        if not file.keys:
            continue
        near = [group for group in groups if any(_share(file, each) for each in group)]
        others = [group for group in groups if not any(group is each for each in near)]
        groups = [*others, [*chain(*near), file]]
    return groups


def _share(one: FileKeys, other: FileKeys) -> bool:
    shared = len(one.keys.keys() & other.keys.keys())
    return are_of_one_kind(shared, len(one.keys), len(other.keys))


def shown_group(files: Sequence[FileKeys]) -> str:
    """Return the name of a file, the number of files, and their keys."""
    keys = sorted({key for file in files for key in file.keys})
    where = _named(files, shell_word(str(files[0].path)))
    return f"{where} with {with_commas(map(quoted, keys), _MOST_KEYS)}"


def keys_by_split(files: Sequence[FileKeys]) -> dict[str, list[str]]:
    """Return keys that differ by the name of a split before them, by what follows it.

    They are one field under several keys, such as `train/image` and `test/image`, if no
    file has both.
    """
    found: dict[str, set[str]] = {}
    for file in files:
        rests = {key: split_before(key)[1] for key in file.keys}
        if len(set(rests.values())) < len(rests):
            return {}
        for key, rest in rests.items():
            if key != rest:
                found.setdefault(rest, set()).add(key)
    return {rest: sorted(keys) for rest, keys in found.items() if len(keys) > 1}


def lacking_keys(
    files: Sequence[FileKeys], keys: Iterable[str]
) -> Iterator[tuple[str, bool]]:
    """Yield which of the keys whole files lack, together if the same files lack them.

    A shard that lacks an optional field says only how rows were distributed to the shards, for
    instance in turn. If it has keys instead that the others lack, it is of another kind.

    Yields:
        The keys and the files, and whether the training split lacks them, too.
    """
    files = [file for file in files if file.keys]
    groups: dict[tuple[bool, ...], list[str]] = {}
    for key in keys:
        has = tuple(key in file.keys for file in files)
        if not all(has) and any(has) and not _is_rare(key, files):
            groups.setdefault(has, []).append(key)
    for has, members in groups.items():
        instead = tuple(not holds for holds in has)
        if instead not in groups and _are_distributed(has, files):
            continue
        holding = [file for file, holds in zip(files, has, strict=True) if holds]
        without = [file for file, holds in zip(files, has, strict=True) if not holds]
        most = len(holding) > len(without)
        named = without if most else holding
        where = "in no record of " if most else "only in records of "
        where += _named(named, quoted(named[0].path.name))
        untrained = any(map(_trains, without)) and not any(map(_trains, holding))
        yield f"{with_commas(map(quoted, members), _MOST_KEYS)}: {where}", untrained


def drift(files: Sequence[FileKeys], key: str) -> tuple[str, ...]:
    """Say which files hold each kind of values under a key, if they differ."""
    holding: dict[str, list[FileKeys]] = {}
    for file in files:
        for kind in sorted(file.kinds.get(key, ())):
            holding.setdefault(kind, []).append(file)
    every = sum(bool(file.kinds.get(key)) for file in files)
    if all(len(some) == every for some in holding.values()):
        return ()
    each = (
        f"{kind} in {_named(some, quoted(some[0].path.name))}"
        for kind, some in sorted(holding.items())
    )
    return (", ".join(each),)


def _are_distributed(has: Sequence[bool], files: Sequence[FileKeys]) -> bool:
    """Return whether each file that lacks a key is a shard of one write with others."""
    writes = [file.path.parent / shards_like(file.path.name) for file in files]
    holding = {write for write, holds in zip(writes, has, strict=True) if holds}
    return holding.issuperset(writes)


def _is_rare(key: str, files: Sequence[FileKeys]) -> bool:
    """Return whether files may lack a key because few records have it."""
    holding = sum(file.records for file in files if key in file.keys)
    share = sum(file.keys[key] for file in files) / holding
    most = max(file.records for file in files if key not in file.keys)
    return lacked_by_chance(share, most)


def _trains(file: FileKeys) -> bool:
    return not {"train", "training"}.isdisjoint(words_of(file.split))


def _named(files: Sequence[FileKeys], first: str) -> str:
    more = len(files) - 1
    return f"{first} and {plural(more, 'other file')}" if more else first
