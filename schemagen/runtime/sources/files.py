"""From a data directory, a glob or a list of files to the files to read."""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count

from ..codecs.compatibility import check_compatible
from ..shared.errors import DatasetError, no_split, nothing_at
from ..shared.tfrecord import detect_compression
from ..storage import manifest
from ..storage.directory import reader_of
from ..storage.files import FileState, Result, in_threads
from ..storage.gfile import is_copied
from ..storage.manifest import TAIL_BYTES, Shard
from ..storage.schema import Spec
from .manifests import (
    Opened,
    at_its_name,
    check_shards,
    manifest_path,
    read_manifest,
    stated,
    unsettled_splits,
)
from .named import SHARD_NAME, Listing

Source = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
Splits = str | Sequence[str] | None
"""Which splits of a directory: one, several as one, or the only one."""

_USUAL_RECORD_BYTES = 1 << 16


@dataclass(frozen=True)
class Files:
    """The files to read.

    Attributes:
        paths: in order.
        compressions: of each file, as tf.data.TFRecordDataset takes it.
        sizes: of each file, in bytes.
        records: how many records each holds, or None if no one has said.
        checksums: of each file's bytes, or else of its size and time of change.
        first_bytes: the length of a first record, where no one has said how many there
            are; 0 if it is not known.
        shards: the manifest's entry of each file; None if no manifest lists it.
        manifests: those that list files of these.
        states: the state of each file that no manifest lists, by path.
    """

    paths: tuple[str, ...]
    compressions: tuple[str, ...]
    sizes: tuple[int, ...]
    records: tuple[int, ...] | None
    checksums: tuple[str, ...]
    shards: tuple[Shard | None, ...]
    first_bytes: int = 0
    manifests: tuple[Opened, ...] = ()
    states: Mapping[str, FileState] = field(default_factory=dict)

    def each(self) -> Iterator[Files]:
        """Yield each file alone."""
        records = self.records or (None,) * len(self.paths)
        for at, (path, known) in enumerate(zip(self.paths, records, strict=True)):
            yield replace(
                self,
                paths=(path,),
                compressions=self.compressions[at : at + 1],
                sizes=self.sizes[at : at + 1],
                records=None if known is None else (known,),
                checksums=self.checksums[at : at + 1],
                shards=self.shards[at : at + 1],
            )

    def is_remote(self, number: int) -> bool:
        """Whether a file is behind a URL."""
        return "://" in self.paths[number]

    @cached_property
    def has_remote(self) -> bool:
        """Whether one of them is."""
        return any("://" in path for path in self.paths)

    def at_its_name(self, number: int, function: Callable[[str], Result]) -> Result:
        """Apply a function to the path that a file has now.

        Args:
            number: of the file.
            function: takes a path, and raises a FileNotFoundError if nothing is there.
        """
        return at_its_name(self.paths[number], self.shards[number], function)

    def read(self, number: int, start: int, stop: int) -> bytes:
        """Return the bytes of a file from a position to another one.

        Raises:
            OSError: it cannot be read, or ends before.
        """
        data = self.at_its_name(
            number, lambda path: reader_of(path).read(path, start, stop)
        )
        if len(data) != stop - start:
            reason = f"it ends at byte {start + len(data)}, before {stop}"
            raise OSError(errno.EIO, reason, self.paths[number])
        return data

    @property
    def shuffled(self) -> bool:
        """Whether each split was shuffled as a whole when it was written."""
        splits = [s for opened in self.manifests for s in opened.splits.values()]
        return bool(splits) and not self.states and all(s.shuffled for s in splits)

    @property
    def where(self) -> str:
        """What to call all of them: their manifest, or the first one."""
        return next((each.path for each in self.manifests), "") or self.paths[0]

    @property
    def is_settled(self) -> bool:
        """Whether all files had their own names when they were found."""
        return not any(shard and shard.hidden for shard in self.shards)

    @property
    def copied(self) -> bool:
        """Whether some are behind URLs that TensorFlow cannot open."""
        return any(map(is_copied, self.paths))

    @property
    def record_bytes(self) -> int:
        """About how many bytes a record has."""
        if self.records is None:
            return self.first_bytes or _USUAL_RECORD_BYTES
        return max(1, sum(self.sizes) // max(1, sum(self.records)))

    @property
    def digest(self) -> str:
        """What becomes another one whenever a file's content or the order does."""
        names = map(os.path.basename, self.paths)
        return _digest(list(zip(names, self.checksums, strict=True)))

    @cached_property
    def identity(self) -> str:
        """What is equal for equal data, wherever it is.

        It is made of the checksums in the manifest, and of the size and the last bytes of
        a file that no manifest lists.

        Raises:
            OSError: such a file cannot be read.
        """

        def contents(number: int) -> str:
            size, shard = self.sizes[number], self.shards[number]
            if shard:
                return shard.crc32c
            return f"{size} {self.read(number, max(0, size - TAIL_BYTES), size).hex()}"

        return _digest(in_threads(contents, range(len(self.paths))))


def find_files(source: Source, split: Splits, spec: Spec) -> Files:
    """Find the files that a source names and see that they are whole.

    Args:
        source: a data directory, a glob, a file, or a list of files.
        split: which split of a directory, or several, which are read as one; may be left
            out if it holds one.
        spec: the reader's own spec, compared with the directory's, or with that of a
            manifest next to the files which lists them.

    Raises:
        DatasetError: nothing there, files missing or not those that were written.
        SchemaMismatchError: the data was written with an incompatible schema.
    """
    try:
        return _find_files(source, split, spec)
    except OSError as error:
        raise DatasetError(
            f"{error.filename}: it cannot be read: {error.strerror}"
        ) from error


def _find_files(source: Source, split: Splits, spec: Spec) -> Files:
    is_glob = False
    names = [split] if isinstance(split, str) else split
    if names is not None and (
        not isinstance(names, (list, tuple))
        or not names
        or not all(isinstance(name, str) for name in names)
        or len({*names}) < len(names)
    ):
        raise DatasetError(
            f"split={split!r}: expected the name of a split, such as 'train', or a list "
            "of different ones"
        )
    if isinstance(source, (str, os.PathLike)):
        path = _path(source)
        if reader_of(path).is_dir(path):
            return _files_of_directory(path, names, spec)
        if reader_of(path).exists(path):
            paths = [path]
        else:
            is_glob = True
            paths = _matching(path)
    else:
        paths = [_path(path) for path in source]
        if not paths:
            raise DatasetError("an empty list of files")
        for each in paths:
            if reader_of(each).is_dir(each):
                raise DatasetError(f"{each}: a directory in a list of files")
    if split is not None:
        raise DatasetError(
            f"{paths[0]}: a file, and split={split!r} needs a data directory; leave "
            "split out"
        )
    return _named_files(paths, spec, is_glob=is_glob)


def _path(source: str | os.PathLike[str]) -> str:
    """Return a path or a URL; of this machine, a path."""
    path = os.fspath(source)
    scheme, separator, rest = path.partition("://")
    return rest if separator and scheme in ("file", "local") else path


def _matching(path: str) -> list[str]:
    """Return the files that match a glob.

    Raises:
        DatasetError: there are none, or some shards of a split are missing.
    """
    paths = reader_of(path).glob(path)
    try:
        _check_shards(paths)
        if not paths:
            raise DatasetError(f"{path}: {nothing_at(path)}")
    except DatasetError:
        # Between the old shards and the new ones there are some, or none.
        where, name = os.path.split(path)
        start = re.split(r"[*?[]", name)[0]
        for split in unsettled_splits(where or "."):
            if f"{split}-".startswith(start) or start.startswith(f"{split}-"):
                raise DatasetError(manifest.unsettled_problem(where, split)) from None
        raise
    return paths


def _files_of_directory(
    directory: str, names: Sequence[str] | None, spec: Spec
) -> Files:
    path = manifest_path(directory)
    opened = read_manifest(directory)
    splits = opened[1].splits if opened else {}
    if opened is None:
        raise DatasetError(
            f"{directory}: no {manifest.FILE_NAME}, which lists the files and their "
            f"schema; to read files without one, pass a glob "
            f"such as {os.path.join(directory, 'train-*')!r}"
        )
    text, found = opened
    if names is None and len(splits) == 1:
        names = list(splits)
    if not splits:
        raise DatasetError(f"{path}: it lists no split; write one")
    if names is None:
        raise DatasetError(
            f"{path}: no split was named; there are: {', '.join(sorted(splits))}"
        )
    for name in names:
        if name not in splits:
            alone = "; a slice cannot be in a list" * ("[" in name)
            raise DatasetError(f"{path}: {no_split(name, splits)}{alone}")
        adopted = splits[name].adopted
        check_compatible(found.spec_of(name), spec, path, adopted=adopted)
    shards = tuple(shard for name in names for shard in splits[name].shards)
    paths = tuple(os.path.join(directory, shard.file) for shard in shards)
    try:
        check_shards(paths, shards)
    except DatasetError:
        if read_manifest(directory) == opened:
            raise
        return _files_of_directory(directory, names, spec)  # it was changed meanwhile
    return Files(
        paths=paths,
        compressions=tuple(
            splits[name].compression for name in names for _ in splits[name].shards
        ),
        sizes=tuple(shard.bytes for shard in shards),
        records=tuple(shard.records for shard in shards),
        checksums=tuple(shard.crc32c for shard in shards),
        shards=shards,
        manifests=(Opened(path, text, {name: stated(found, name) for name in names}),),
    )


def _named_files(paths: Sequence[str], spec: Spec, *, is_glob: bool) -> Files:
    """Return files as manifests list them; others by what they show themselves."""
    listing = Listing(paths)
    manifests, entries = listing.check(spec), listing.entries
    others = [path for path, entry in zip(paths, entries, strict=True) if entry is None]
    starts = dict(zip(others, in_threads(_start, others), strict=True))
    listing.check_others(is_glob=is_glob)
    states = dict(zip(others, in_threads(state_of, others), strict=True))
    shards = [entry.shard if entry else None for entry in entries]
    return Files(
        paths=tuple(paths),
        compressions=tuple(
            entry.compression if entry else starts[path][0]
            for path, entry in zip(paths, entries, strict=True)
        ),
        sizes=tuple(
            shard.bytes if shard else states[path].size
            for path, shard in zip(paths, shards, strict=True)
        ),
        records=None if others else tuple(s.records for s in shards if s),
        checksums=tuple(
            shard.crc32c if shard else str(states[path])
            for path, shard in zip(paths, shards, strict=True)
        ),
        shards=tuple(shards),
        first_bytes=max((size for _, size in starts.values()), default=0),
        manifests=manifests,
        states=states,
    )


def state_of(path: str) -> FileState:
    """Return a file's state.

    Raises:
        OSError: it cannot be read.
    """
    return reader_of(path).state(path)


def _digest(facts: object) -> str:
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]


def _check_shards(paths: Sequence[str]) -> None:
    """Refuse a glob that finds some shards of a split and not the others.

    Only files that exist are counted, whatever number a name states.
    """
    found: dict[tuple[str, str], set[int]] = {}
    for path in paths:
        match = SHARD_NAME.fullmatch(path)
        if match:
            found.setdefault((match[1], match[3]), set()).add(int(match[2]))
    for (stem, total), indices in found.items():
        start = 1 if int(total) in indices and 0 not in indices else 0
        stop = start + int(total)
        missing = int(total) - sum(start <= index < stop for index in indices)
        if missing > 0:
            first = next(index for index in count(start) if index not in indices)
            raise DatasetError(
                f"{stem}-*-of-{total}: {missing} of {int(total)} shards are "
                f"missing, the first is {first:05d}; pass a list of files to read "
                "only a part"
            )


def _start(path: str) -> tuple[str, int]:
    """Return a file's compression, and its first record's length if that is to be seen."""
    try:
        with reader_of(path).open(path) as file:
            start = file.read(12) or b""
        compression = detect_compression(start)
        return compression, 0 if compression else int.from_bytes(start[:8], "little")
    except DatasetError as error:
        where, name = os.path.split(path)
        if name == manifest.FILE_NAME:
            raise DatasetError(
                f"{path}: the manifest of a data directory; pass the directory, "
                f"{where or os.curdir!r}"
            ) from None
        raise DatasetError(f"{path}: {error}") from None
    except FileNotFoundError:
        raise DatasetError(f"{path}: no such file") from None
    except OSError as error:
        raise DatasetError(f"{path}: {error.strerror}") from None
