"""Local copies of remote files, for file systems that TensorFlow does not know."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace

from ..shared.errors import DatasetError
from ..shared.requirements import tf
from ..shared.tfrecord import extend_crc32c
from ..sources.file_access import access_to, is_copied
from ..storage.remote_files import PIECE_BYTES
from .callbacks import after, call_python, ended, in_thread, is_ready
from .rescan import other_size, surveyed, unreadable

# How many files of a source are copied before they are asked for.
_AHEAD = 2

# For how long a file counts as asked for, in seconds, and for how long a copy counts as
# about to be opened. Its iterator may have ended instead.
_RECENT, _OPENING = 10.0, 600.0

# A copy whose checksum is wrong is made once more.
_ATTEMPTS = 2

_FULL = {errno.ENOSPC, errno.EDQUOT}


@dataclass(frozen=True)
class Copy:
    """A file that was copied.

    Attributes:
        path: the local file; "" if there is none.
        problem: why there is none; "" if there is one.
        full: whether the local disk is full, rather than the remote file unreadable.
    """

    path: str = ""
    problem: str = ""
    full: bool = False


@dataclass
class _Ahead:
    """A copy that no one has taken.

    Attributes:
        copy: the copy, made or being made.
        asked: when it was last asked for.
    """

    copy: Future[Copy]
    asked: float = float("-inf")


class Copies:
    """Copies remote files to a temporary directory, ahead of what reads them.

    A copy is removed as soon as it is open, so that a reader which stops early, and even
    a process that is killed, leaves at most what was copied ahead. That is removed with
    the dataset, or at the end of the program.

    Args:
        checksums: the CRC-32C of files by path, as manifests list them. A copy of other
            bytes is a problem, unless it has damaged records, which its reader finds.
        explain: returns why a copy may have a problem, or "".
        sources: how many datasets of files are read together.
    """

    def __init__(
        self,
        checksums: Mapping[str, str],
        explain: Callable[[], str],
        sources: int = 1,
    ) -> None:
        self._checksums = checksums
        self._explain = explain
        # One more is in hand between being copied ahead and being opened.
        self._most_ahead = (_AHEAD + 1) * sources
        self._ahead: dict[str, _Ahead] = {}
        self._taken: dict[str, float] = {}
        self._lock = threading.Lock()
        self._directory: str | None = None
        self._is_cleared = False

    def ahead(self, files: tf.data.Dataset) -> tf.data.Dataset:
        """Return files with their "path" and "size", the next ones copied already."""

        def begin(path: tf.Tensor, size: tf.Tensor) -> tuple[str, list[str]]:
            name = path.numpy().decode()
            if is_copied(name):
                self.begin(name, int(size))
            return "", []

        def begun(file: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
            called = call_python(begin, [file["path"], file["size"]])
            with tf.control_dependencies([called]):
                return {name: tf.identity(fact) for name, fact in file.items()}

        found = files.map(begun).prefetch(_AHEAD)
        # All that is made of a dataset keeps it. The graph's Python is never collected.
        weakref.finalize(found, self.clear)
        return found

    def removed_when_open(
        self, pieces: tf.data.Dataset, path: tf.Tensor
    ) -> tf.data.Dataset:
        """Return the pieces of a file, whose local copy is removed after the first one.

        Then it is open, and its bytes stay on the disk as long as they are read.

        Args:
            pieces: of the file.
            path: string [1], its local path; or [0].
        """

        def remove(path: tf.Tensor) -> tuple[str, list[str]]:
            for name in path.numpy().tolist():
                self.remove(name.decode())
            return "", []

        def after_first(number: tf.Tensor, records: tf.Tensor) -> tf.Tensor:
            done = tf.cond(
                number == 0,
                lambda: call_python(remove, [path]),
                lambda: tf.zeros((0,), tf.string),
            )
            with tf.control_dependencies([done]):
                return tf.identity(records)

        read = pieces.enumerate().map(after_first)
        # A file may have no pieces.
        return read.concatenate(
            tf.data.Dataset.range(1).flat_map(
                lambda _: after(call_python(remove, [path]), read)
            )
        )

    def begin(self, path: str, size: int) -> _Ahead:
        """Begin to copy a file that will be asked for, and do not wait for it."""
        checksum = self._checksums.get(path, "")
        with self._lock:
            found = self._ahead.get(path)
            if found is None:
                directory, explain = self._temporary(), self._explain

                def copied() -> Copy:
                    copy = _copied(path, size, checksum, directory)
                    problem = copy.problem and (explain() or copy.problem)
                    return replace(copy, problem=problem)

                found = _Ahead(in_thread(copied))
                self._ahead[path] = found
                if self._is_cleared:  # an iterator is ending on another thread
                    self.clear()
            return found

    def take(self, path: str, size: int) -> Copy | None:
        """Return a copy of a file, which is the caller's to remove.

        Args:
            path: the remote file.
            size: how many bytes it had when the dataset was made.

        Returns:
            None if it is not complete after a moment: ask again.
        """
        ahead = self.begin(path, size)
        ahead.asked = time.monotonic()
        if not is_ready(ahead.copy):
            return None
        with self._lock:
            # clear() takes no lock, and may remove what was there a moment ago.
            if self._ahead.get(path) is not ahead:
                return None  # another reader of the same file has taken it
            self._ahead.pop(path, None)
            copy = ahead.copy.result()
            self._taken[copy.path] = time.monotonic()
            self._evict()
        if self._is_cleared:
            self.clear()
        return copy

    def _evict(self) -> None:
        """Remove copies that no one asks for, of readers that stopped."""
        now = time.monotonic()
        for path, taken in list(self._taken.items()):
            if taken < now - _OPENING:
                self.remove(path)
        recent = now - _RECENT
        left = [path for path, file in list(self._ahead.items()) if file.asked < recent]
        for path in left[: max(0, len(left) - self._most_ahead)]:
            if file := self._ahead.pop(path, None):
                _discard(file.copy)

    def clear(self) -> None:
        """Remove what was copied and is not open, once no one reads any more.

        It takes no lock, since garbage collection calls it on any thread, even on one
        that holds the lock. What threads of an ending iterator add later is removed by
        them, as they see the mark.
        """
        self._is_cleared = True
        with suppress(KeyError):
            while True:
                _discard(self._ahead.popitem()[1].copy)
        for path in list(self._taken):
            self.remove(path)

    def remove(self, path: str) -> None:
        """Remove a copy that was taken; any other file stays."""
        if self._taken.pop(path, None) is not None:
            _remove(path)

    def _temporary(self) -> str:
        if self._directory is None:
            self._directory = tempfile.mkdtemp(prefix="schemagen-")
            weakref.finalize(self, _remove_directory, self._directory, os.getpid())
        return self._directory


def _remove(path: str) -> None:
    if path:
        with suppress(OSError):
            os.unlink(path)


def _discard(copy: Future[Copy]) -> None:
    """Remove a copy as soon as it is complete."""

    def remove(done: Future[Copy]) -> None:
        if done.exception() is None:
            _remove(done.result().path)

    copy.add_done_callback(remove)


def _remove_directory(directory: str, process: int) -> None:
    if os.getpid() == process:  # not in a fork
        shutil.rmtree(directory, ignore_errors=True)


def _copied(path: str, size: int, checksum: str, directory: str) -> Copy:
    """Copy a file, and compare it with what is known of it."""
    try:
        target = _temporary_file(directory)
    except OSError as error:
        return _full(path, size, directory, error)
    problem = ""
    for _ in range(_ATTEMPTS):
        try:
            found, crc32c = _transfer(path, target)
        except OSError as error:
            _remove(target)
            if error.errno in _FULL or error.filename != path:
                return _full(path, size, directory, error)
            return Copy(problem=unreadable(path, error))
        if found != size:
            problem = other_size(path, found, size)
        elif checksum in ("", crc32c):
            return Copy(target)
        else:
            problem = (
                f"{path}: found the CRC-32C {crc32c}, expected the {checksum} that the "
                "manifest lists: the file is another one, or was changed; restore it, "
                "or write the split again"
            )
    if found == size and any(isinstance(e, DatasetError) for e in surveyed(target)):
        return Copy(target)
    _remove(target)
    return Copy(problem=problem)


def _temporary_file(directory: str) -> str:
    descriptor, path = tempfile.mkstemp(dir=directory, suffix=".tfrecord")
    os.close(descriptor)
    return path


def _transfer(path: str, target: str) -> tuple[int, str]:
    """Copy bytes, and return how many there were and their CRC-32C.

    Raises:
        OSError: with the name of the file that cannot be read or written.
    """
    size, crc32c = 0, 0
    with access_to(path).open(path) as source, open(target, "wb", buffering=0) as file:
        while piece := source.read(PIECE_BYTES):
            if ended():
                raise OSError(errno.EINTR, "the program is ending", path)
            view = memoryview(piece)
            try:
                while view:
                    view = view[file.write(view) :]
            except OSError as error:
                raise OSError(error.errno, error.strerror, target) from error
            size += len(piece)
            crc32c = extend_crc32c(crc32c, piece)
    return size, f"{crc32c:08x}"


def _full(path: str, size: int, directory: str, error: OSError) -> Copy:
    return Copy(
        problem=(
            f"{path}: its {size} bytes cannot be copied to {directory}: "
            f"{error.strerror}; name a directory with more space by the environment "
            "variable TMPDIR, or write smaller shards"
        ),
        full=True,
    )
