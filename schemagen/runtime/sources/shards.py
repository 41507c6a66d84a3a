"""What a reader reads: files, and what is known of each."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from io import FileIO, RawIOBase
from time import monotonic
from typing import Any, Literal

from ..shared.compression import in_tensorflow
from ..shared.tfrecord import HEADER_SIZE
from ..storage.directory import reader_of
from ..storage.files import FileState, Result, in_threads
from ..storage.gfile import is_copied
from ..storage.manifest import TAIL_BYTES, Shard, difference
from ..storage.remote import RangeReader
from ..storage.schema import Spec
from .manifests import OpenedManifest, absolute

_USUAL_RECORD_BYTES = 1 << 16

# Files of this machine mostly come from memory: threads would only be in each other's way. They
# help where files are waited for, all in all for so long, and for more than so long each.
_PATIENCE = 0.05
_SECONDS_EACH = 2e-4


@dataclass(frozen=True, slots=True)
class File:
    """A shard of a split, or another file of records.

    Attributes:
        path: where it is, once its split is settled.
        split: which split it is a part of; "" if that is not known.
        listed: its entry in the manifest of its directory; None if it has none.
        spec: the spec that wrote it, by that manifest; None likewise.
        compression: its name, "" for none; None if it is not known.
        state: its state when it was found; None if there is an error.
        error: why it could not be looked at.
        difference: in what its size or last bytes differ from its entry; empty without.
        start: its first bytes, if it has no entry.
    """

    path: str
    split: str = ""
    listed: Shard | None = None
    spec: Spec | None = None
    compression: str | None = None
    state: FileState | None = None
    error: OSError | None = None
    difference: str = ""
    start: bytes = b""

    def __reduce__(self) -> tuple[Any, ...]:
        """Name the file from anywhere: another process may be in another directory."""
        _, *rest = (getattr(self, name) for name in self.__slots__)
        return File, (absolute(self.path), *rest)

    @property
    def is_remote(self) -> bool:
        """Whether it is behind a URL."""
        return "://" in self.path

    @property
    def is_missing(self) -> bool:
        """Whether a manifest lists it, and it did not exist."""
        return self.listed is not None and isinstance(self.error, FileNotFoundError)

    @property
    def is_settled(self) -> bool:
        """Whether it had its own name when its manifest was read."""
        return self.listed is None or not self.listed.hidden

    @property
    def size(self) -> int:
        """How many bytes it had when it was found; 0 if there is an error."""
        return self.state.size if self.state else 0

    @property
    def records(self) -> int | None:
        """How many records it holds; None if no manifest says so."""
        return self.listed.records if self.listed else None

    @property
    def first_bytes(self) -> int:
        """The length of its first record; 0 if it is not known."""
        return 0 if self.compression else int.from_bytes(self.start[:8], "little")

    @property
    def checksum(self) -> str:
        """The checksum of its bytes, or else its size and time of change, as text."""
        return self.listed.crc32c if self.listed else str(self.state)

    def at_current_path(self, function: Callable[[str], Result]) -> Result:
        """Apply a function to the path that the file has now.

        A shard has a hidden name until its split is settled.

        Args:
            function: takes a path, and raises a FileNotFoundError if nothing is there.
        """
        if self.listed and self.listed.hidden:
            with suppress(FileNotFoundError):
                directory = os.path.dirname(self.path)
                return function(os.path.join(directory, self.listed.hidden))
        return function(self.path)

    def found(self, sizes: Mapping[str, int]) -> File:
        """Return the file as it is now: its state, and its last or its first bytes.

        Args:
            sizes: those of some files that a manifest lists, by path: of these no more is
                asked for.
        """

        def look(path: str) -> File:
            reader = reader_of(path)
            is_sized = path in sizes
            state = FileState(sizes[path], "") if is_sized else reader.state(path)
            differs, start = "", b""
            if self.listed:
                read = None if is_sized else partial(reader.read, path)
                differs = difference(self.path, self.listed, state.size, read)
            else:
                start = reader.read(path, 0, min(HEADER_SIZE, state.size))
            return File(*known, state, None, differs, start)

        known = (self.path, self.split, self.listed, self.spec, self.compression)
        try:
            return self.at_current_path(look)
        except OSError as error:
            return File(*known, None, error)

    def open(self) -> RawIOBase:
        """Open the file for reading.

        Raises:
            OSError: it cannot be opened.
        """
        if self.is_remote:
            return RangeReader(self.read, self.size)
        return self.at_current_path(FileIO)

    def read(self, start: int, stop: int) -> bytes:
        """Return the bytes from a position to another one.

        Raises:
            OSError: the file cannot be read, or ends before.
        """
        data = self.at_current_path(
            lambda path: reader_of(path).read(path, start, stop)
        )
        if len(data) != stop - start:
            reason = f"it ends at byte {start + len(data)}, before {stop}"
            raise OSError(errno.EIO, reason, self.path)
        return data


@dataclass(frozen=True)
class Shards:
    """What a reader reads: the files of one split or of several, or files by name.

    Attributes:
        files: in order.
        manifests: those of their directories, as they were: the generation of the files.
        by: how the files were named.
    """

    files: tuple[File, ...]
    manifests: tuple[OpenedManifest, ...] = ()
    by: Literal["directory", "glob", "path"] = "path"

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is made of the attributes."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The path of each file."""
        return tuple(file.path for file in self.files)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The size of each file, in bytes."""
        return tuple(file.size for file in self.files)

    @cached_property
    def records(self) -> tuple[int, ...] | None:
        """How many records each file holds; None if it is not known of all of them."""
        known = [file.records for file in self.files if file.records is not None]
        return tuple(known) if len(known) == len(self.files) else None

    @cached_property
    def has_remote(self) -> bool:
        """Whether a file is behind a URL."""
        return any(file.is_remote for file in self.files)

    @property
    def is_compressed(self) -> bool:
        """Whether a file is compressed."""
        return any(file.compression for file in self.files)

    @property
    def not_in_tensorflow(self) -> str:
        """The compression of a file that TensorFlow does not read; "" if it reads all."""
        some = {file.compression or "" for file in self.files}
        return next((each for each in some if not in_tensorflow(each)), "")

    @property
    def is_settled(self) -> bool:
        """Whether all files had their own names when they were found."""
        return all(file.is_settled for file in self.files)

    @property
    def is_copied(self) -> bool:
        """Whether a file is behind a URL that TensorFlow cannot open."""
        return any(map(is_copied, self.paths))

    @property
    def shuffled(self) -> bool:
        """Whether each split was shuffled as a whole when it was written."""
        splits = [s for each in self.manifests for s in each.splits.values()]
        listed = all(file.listed for file in self.files)
        return bool(splits) and listed and all(split.shuffled for split in splits)

    @property
    def where(self) -> str:
        """What to call all of them: their manifest, or the first file."""
        return next((each.path for each in self.manifests), "") or self.paths[0]

    @property
    def record_bytes(self) -> int:
        """About how many bytes a record has."""
        if self.records is None:
            first = max(file.first_bytes for file in self.files)
            return first or _USUAL_RECORD_BYTES
        return max(1, sum(self.sizes) // max(1, sum(self.records)))

    def only(self, files: tuple[File, ...]) -> Shards:
        """Return some of the files, and of the manifests only the splits of these."""
        read = {file.listed for file in files if file.listed}
        manifests = (
            replace(
                opened,
                names=tuple(
                    name
                    for name in opened.names
                    if not read.isdisjoint(opened.manifest.splits[name].shards)
                ),
            )
            for opened in self.manifests
        )
        return replace(self, files=files, manifests=tuple(manifests))

    @property
    def digest(self) -> str:
        """A text that changes whenever the content of a file or the order does."""
        return _digest(
            [(os.path.basename(file.path), file.checksum) for file in self.files]
        )

    @cached_property
    def identity(self) -> str:
        """A text that is equal for equal data, wherever it is.

        It is made of the checksums in the manifest, and of the size and the last bytes of
        a file that no manifest lists.

        Raises:
            OSError: such a file cannot be read.
        """

        def contents(file: File) -> str:
            if file.listed:
                return file.listed.crc32c
            tail = file.read(max(0, file.size - TAIL_BYTES), file.size)
            return f"{file.size} {tail.hex()}"

        return _digest(of_each(contents, self.files))


def found(files: Sequence[File], directory: str | None = None) -> tuple[File, ...]:
    """Return files as they are now.

    Args:
        files: some files.
        directory: a remote one, where the names of all files are those of their runs, and are
            never used again. Such a file is what it was if it is there with its size, which
            a listing tells of all.
    """
    sizes: dict[str, int] = {}
    if directory is not None:
        with suppress(OSError):  # who may read files may not always list them
            listing = reader_of(directory).sizes(directory)
            sizes = {os.path.join(directory, name): listing[name] for name in listing}
    return tuple(of_each(partial(File.found, sizes=sizes), files))


def of_each(function: Callable[[File], Result], files: Sequence[File]) -> list[Result]:
    """Apply a function that waits for files, in threads where those save time."""
    if any(file.is_remote for file in files):
        return in_threads(function, files)
    results: list[Result] = []
    start = monotonic()
    for file in files:
        if monotonic() - start > _PATIENCE + _SECONDS_EACH * len(results):
            return results + in_threads(function, files[len(results) :])
        results.append(function(file))
    return results


def _digest(facts: object) -> str:
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]
