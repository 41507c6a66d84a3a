"""Blocks of remote files that are kept on a disk of this machine, within a bound.

A file of the cache holds one segment of a remote file: a header with a byte for each block,
and the blocks at their places, so that those that are absent take no room. A block is
written before its byte. Records have checksums of their own, so what a power failure has
left half written is noticed when it is read.

Several processes share a directory without locks. A removed segment stays whole for who has
it open, until it is cut: then it ends too early, which is as if its blocks were absent.
"""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from ..cells.columns import Rows
from ..native import read_ranges
from ..shared.errors import DatasetError, warn
from ..shared.options import integer
from ..sources.shards import File
from ..storage.directory import is_remote
from .ranges import FileRanges, together

DEFAULT_BYTES = 64 << 30

_BLOCK, _SEGMENT = 1 << 16, 1 << 26
_BLOCKS = _SEGMENT // _BLOCK

# The first bytes of a segment, then a byte for each block: 1 if it is there.
_MAGIC = b"schemagen cache1"
_HEADER = 1 << 12

_NAME = re.compile(r"[0-9a-f]{32}-\d{6,}\.segment")

# As many bytes are fetched before they are compared and stored.
_MOST_FETCHED = 1 << 26

# How many segments a reader keeps open.
_MOST_OPEN = 128

# After how many seconds it is noted again that a segment is used.
_USE_SECONDS = 5.0

Request = tuple[int, int, int]
"""The number of a file, and where a range of it begins and ends."""

Fetch = Callable[[Sequence[Request]], list[bytes]]
"""Requests ranges, and returns bytes of the generation of files that was opened."""


@dataclass(frozen=True)
class Cache:
    """A directory for blocks of remote files.

    Attributes:
        directory: its path, absolute.
        most: how many bytes it may take on the disk. A process that has stored a 64th of
            them looks at all segments, and removes those that were not used for longest.
            So what is stored at once, 64 MiB, may be above that, and for each further
            process that stores at the same time a 64th.
    """

    directory: str
    most: int = DEFAULT_BYTES


def cache_of(
    directory: str | os.PathLike[str] | None, most: int | None
) -> Cache | None:
    """Return the cache that options name, and make its directory.

    Args:
        directory: `cache_dir`.
        most: `cache_bytes`.

    Raises:
        DatasetError: an option is wrong, or the directory cannot be made.
    """
    if most is not None:
        most = integer("cache_bytes", most, 1)
    if directory is None:
        if most is not None:
            raise DatasetError(f"cache_bytes={most}: pass cache_dir, too")
        return None
    path = os.fspath(directory)
    if not isinstance(path, str) or not path or is_remote(path):
        raise DatasetError(
            f"cache_dir={directory!r}: expected a directory of this machine"
        )
    path = os.path.abspath(path)
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise DatasetError(
            f"cache_dir={path!r}: the directory cannot be made: {error.strerror}"
        ) from None
    return Cache(path, most or DEFAULT_BYTES)


class _Segment:
    """The file of a segment, which is made if it does not exist.

    It is closed when nothing refers to it any more, so never while a thread reads it.

    Args:
        path: of the file.

    Raises:
        OSError: it cannot be opened or made.
    """

    def __init__(self, path: str) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
        self._handle = os.open(path, flags, 0o666)
        self._used = float("-inf")
        start = os.pread(self._handle, len(_MAGIC), 0)
        if start != _MAGIC:
            if start:  # of another version, or damaged
                os.ftruncate(self._handle, 0)
            os.pwrite(self._handle, _MAGIC, 0)

    def __del__(self) -> None:
        if hasattr(self, "_handle"):
            os.close(self._handle)

    @property
    def is_removed(self) -> bool:
        """Whether its path leads to it no more."""
        return not os.fstat(self._handle).st_nlink

    def present(self) -> bytes:
        """Return a byte for each block: 1 if it is there; and note that it is used."""
        now = monotonic()
        if now - self._used > _USE_SECONDS:
            self._used = now
            os.utime(self._handle)
        return os.pread(self._handle, _BLOCKS, len(_MAGIC)).ljust(_BLOCKS, b"\0")

    def read_into(
        self, memory: NDArray[np.uint8], starts: Rows, sizes: Rows, places: Rows
    ) -> bool:
        """Read ranges into memory, and return whether all of them could be read."""
        whole, _ = read_ranges(self._handle, starts + _HEADER, sizes, places, memory)
        return whole == len(starts)

    def store(self, block: int, data: bytes) -> None:
        """Write blocks which follow each other, and then that they are there."""
        self._write(data, _HEADER + block * _BLOCK)
        self._write(b"\1" * -(-len(data) // _BLOCK), len(_MAGIC) + block)

    def forget(self, first: int, stop: int) -> None:
        """Let blocks be absent."""
        self._write(b"\0" * (stop - first), len(_MAGIC) + first)

    def _write(self, data: bytes, start: int) -> None:
        view = memoryview(data)
        while view:
            written = os.pwrite(self._handle, view, start)
            view, start = view[written:], start + written


class CachedFiles:
    """Remote files, of which blocks come from a cache, or are fetched and kept there.

    A file that neither a manifest lists nor an entity tag names is not kept.

    Threads may share it, and processes that are forked: it has no lock.

    Args:
        cache: the directory.
        files: all files of the reader.
        fetch: requests ranges of them.
    """

    def __init__(self, cache: Cache, files: Sequence[File], fetch: Fetch) -> None:
        self._cache = cache
        self._fetch = fetch
        self._names = [_name_of(file) for file in files]
        self._sizes = [file.size for file in files]
        self._open: OrderedDict[tuple[int, int], _Segment] = OrderedDict()
        self._stored = cache.most  # so that the first that is stored makes it look
        self._has_failed = False

    def read_into(self, memory: NDArray[np.uint8], ranges: FileRanges) -> FileRanges:
        """Read ranges into memory.

        Returns:
            Those which the cache cannot hold, and which are not read.

        Raises:
            DatasetError: what was fetched is not of the generation that was opened.
            OSError: a file cannot be fetched.
        """
        left: list[FileRanges] = []
        parts: list[FileRanges] = []
        requests: list[Request] = []
        size = 0
        for part in ranges.by_piece(_SEGMENT):
            absent = self._read(memory, part)
            if absent is None:
                left.append(part)
            elif absent:
                parts.append(part)
                requests += absent
                size += sum(stop - start for _, start, stop in absent)
            if size >= _MOST_FETCHED:
                left += self._fill(memory, parts, requests)
                parts, requests, size = [], [], 0
        left += self._fill(memory, parts, requests)
        return together(sorted(left, key=_place_of))

    def forget(self, ranges: FileRanges) -> FileRanges:
        """Let what may be kept of some ranges be absent, and return these."""
        kept = [part for part in ranges.by_piece(_SEGMENT) if self._name(part)]
        with self._without_errors():
            for part in kept:
                segment = self._segment(*_place_of(part))
                for first, stop in np.transpose(_blocks_of(part)).tolist():
                    segment.forget(first, stop)
        return together(kept)

    def _name(self, part: FileRanges) -> str:
        return self._names[int(part.files[0])]

    def _segment(self, file: int, number: int) -> _Segment:
        """Return a segment of a file, which is opened if it is not open, or was removed.

        Raises:
            OSError: it cannot be opened or made.
        """
        segment = self._open.pop((file, number), None)
        if segment is None or segment.is_removed:
            name = f"{self._names[file]}-{number:06}.segment"
            segment = _Segment(os.path.join(self._cache.directory, name))
        self._open[file, number] = segment
        if len(self._open) > _MOST_OPEN:
            self._open.popitem(last=False)
        return segment

    def _read(
        self, memory: NDArray[np.uint8], part: FileRanges
    ) -> list[Request] | None:
        """Read ranges of one segment, if all of their blocks are there.

        Returns:
            What to fetch before; nothing if they were read. None without a segment.
        """
        absent = None
        if self._name(part):
            with self._without_errors():
                absent = self._read_segment(memory, part)
        return absent

    def _read_segment(
        self, memory: NDArray[np.uint8], part: FileRanges
    ) -> list[Request]:
        file, number = _place_of(part)
        segment = self._segment(file, number)
        present, base = segment.present(), number * _SEGMENT
        low = (int(part.starts[0]) - base) // _BLOCK
        high = (int(part.stops[-1]) - base - 1) // _BLOCK + 1
        if present.count(1, low, high) < high - low:
            absent = self._absent(part, present)
            if absent:
                return absent
        starts = part.starts - base
        if segment.read_into(memory, starts, part.sizes, part.places):
            return []
        # It was cut, or the disk cannot be read: what is written next may be.
        return self._absent(part, bytes(_BLOCKS))

    def _absent(self, part: FileRanges, present: bytes) -> list[Request]:
        """Return what to request of one segment, so that ranges of it can be read."""
        file, number = _place_of(part)
        first_blocks, stops = _blocks_of(part)
        steps = np.bincount(first_blocks, minlength=_BLOCKS + 1)
        steps -= np.bincount(stops, minlength=_BLOCKS + 1)
        absent = (np.cumsum(steps)[:-1] > 0) & (np.frombuffer(present, np.uint8) != 1)
        edges = np.flatnonzero(np.diff(absent, prepend=False, append=False))
        bounds = (edges * _BLOCK + number * _SEGMENT).reshape(-1, 2).tolist()
        return [(file, start, min(stop, self._sizes[file])) for start, stop in bounds]

    def _fill(
        self,
        memory: NDArray[np.uint8],
        parts: list[FileRanges],
        requests: list[Request],
    ) -> list[FileRanges]:
        """Fetch blocks, store them, and read the ranges that need them.

        Returns:
            Ranges of segments that cannot be stored, or were removed at once.
        """
        if self._has_failed or not requests:
            return parts
        answers = self._fetch(requests)
        with self._without_errors():
            for (file, start, _), data in zip(requests, answers, strict=True):
                number, place = divmod(start, _SEGMENT)
                self._segment(file, number).store(place // _BLOCK, data)
                self._stored += len(data)
        left = [part for part in parts if self._read(memory, part) != []]
        if self._stored >= self._cache.most // 64:
            self._stored = 0
            with self._without_errors():
                _make_room(self._cache)
        return left

    @contextmanager
    def _without_errors(self) -> Iterator[None]:
        """Go on without storing more after an error of the disk, with one warning."""
        try:
            yield
        except OSError as error:
            if not self._has_failed:
                self._has_failed = True
                warn(
                    f"cache_dir={self._cache.directory!r}: cannot be written: "
                    f"{error.strerror}; what is fetched from now on is not kept"
                )


def _place_of(part: FileRanges) -> tuple[int, int]:
    """Return the file of ranges of one segment, and the number of the segment."""
    return int(part.files[0]), int(part.starts[0]) // _SEGMENT


def _blocks_of(part: FileRanges) -> tuple[Rows, Rows]:
    """Return the first block of each range in its segment, and the one behind its last."""
    first_blocks = part.starts % _SEGMENT // _BLOCK
    return first_blocks, (part.stops - 1) % _SEGMENT // _BLOCK + 1


def _name_of(file: File) -> str:
    """Return what names a remote file and its generation; "" if nothing does.

    An entity tag, or else a time of change, is what names one without a manifest.
    """
    if not file.is_remote:
        return ""
    facts: object
    if file.listed:
        facts = file.listed.crc32c, file.listed.bytes, file.listed.tail
    elif file.state and file.state.version:
        facts = file.state
    else:
        return ""
    return blake2b(repr((file.path, facts)).encode(), digest_size=16).hexdigest()


def _make_room(cache: Cache) -> None:
    """Remove the segments that were not used for longest, if there is no more room.

    Of processes that do so at once, each removes the same ones.

    Raises:
        OSError: the directory cannot be read, or a segment cannot be removed.
    """
    segments = []
    with os.scandir(cache.directory) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name):
                with suppress(FileNotFoundError):
                    found = entry.stat(follow_symlinks=False)
                    size = found.st_blocks * 512
                    segments.append((found.st_mtime_ns, size, entry.path))
    taken = sum(size for _, size, _ in segments)
    if taken <= cache.most - cache.most // 64:
        return
    for _, size, path in sorted(segments):
        if taken <= cache.most * 7 // 8:
            break
        with suppress(FileNotFoundError):
            _remove(path)
        taken -= size


def _remove(path: str) -> None:
    """Remove a segment, and free its room also while it is open."""
    handle = os.open(path, os.O_WRONLY | os.O_NOFOLLOW)
    try:
        os.unlink(path)
        os.ftruncate(handle, 0)
    finally:
        os.close(handle)
