"""From a data directory, a glob or a list of files to the files to read."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from .. import manifest
from ..compatibility import check_compatible
from ..errors import DatasetError
from ..manifest import Spec, Split
from ..requirements import tf
from ..tfrecord import detect_compression

Source = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

_USUAL_RECORD_BYTES = 1 << 16

# Suffixes stand behind the numbers, before them, or nowhere.
_SHARD_NAME = re.compile(r"(.+)-(\d{5,})-of-(\d{5,})(\.[^/]*)?", re.ASCII)


@dataclass(frozen=True)
class Files:
    """The files to read.

    Attributes:
        paths: in order.
        compressions: of each file, as tf.data.TFRecordDataset takes it.
        sizes: of each file, in bytes.
        records: how many records each holds, or None if nobody has said.
        checksums: of each file's bytes, or else of its size and time of change.
        first_bytes: the length of a first record, where nobody has said how many there
            are; 0 if it is not known.
    """

    paths: tuple[str, ...]
    compressions: tuple[str, ...]
    sizes: tuple[int, ...]
    records: tuple[int, ...] | None
    checksums: tuple[str, ...]
    first_bytes: int = 0

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
        facts = repr(list(zip(names, self.checksums, strict=True)))
        return hashlib.sha256(facts.encode()).hexdigest()[:16]


def find_files(source: Source, split: str | None, spec: Spec) -> Files:
    """Find the files that a source names and see that they are whole.

    Args:
        source: a data directory, a glob, a file, or a list of files.
        split: which split of a directory; may be left out if it holds one.
        spec: the reader's own spec, compared with the directory's, or with that of a
            manifest beside the files which lists them.

    Raises:
        DatasetError: nothing there, files missing or of another size than written.
        SchemaMismatchError: the data was written with an incompatible schema.
    """
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if tf.io.gfile.isdir(path):
            return _files_of_directory(path, split, spec)
        if tf.io.gfile.exists(path):
            paths = [path]
        else:
            paths = sorted(tf.io.gfile.glob(path))
            _check_shards(paths)
        if not paths:
            what = (
                "file matches" if set(path) & set("*?[") else "such directory or file"
            )
            raise DatasetError(f"{path}: no {what}")
    else:
        paths = [os.fspath(path) for path in source]
        if not paths:
            raise DatasetError("an empty list of files")
        for each in paths:
            if tf.io.gfile.isdir(each):
                raise DatasetError(
                    f"{each}: a directory in a list of files; several directories are "
                    f"read as a dict with weights, such as {{{each!r}: 1.0, ...}}, or "
                    "joined by `concatenate` of their datasets"
                )
    if split is not None:
        raise DatasetError(
            f"split={split!r} is for a data directory; the source names files itself"
        )
    _compare_listed(paths, spec)
    starts = [_start(path) for path in paths]
    facts = [tf.io.gfile.stat(path) for path in paths]
    return Files(
        paths=tuple(paths),
        compressions=tuple(compression for compression, _ in starts),
        sizes=tuple(fact.length for fact in facts),
        records=None,
        checksums=tuple(f"{fact.length} {fact.mtime_nsec}" for fact in facts),
        first_bytes=max(size for _, size in starts),
    )


def _compare_listed(paths: Sequence[str], spec: Spec) -> None:
    """Compare schemas where a manifest beside files lists them.

    One that cannot be read is left alone: whoever names files may want to save them.
    """
    by_directory: dict[str, set[str]] = {}
    for path in paths:
        directory, name = os.path.split(path)
        by_directory.setdefault(directory, set()).add(name)
    for directory, names in by_directory.items():
        path = os.path.join(directory, manifest.FILE_NAME)
        if not tf.io.gfile.exists(path):
            continue
        try:
            with tf.io.gfile.GFile(path, "rb") as file:
                found = manifest.loads(file.read(), path)
        except DatasetError:
            continue
        for split, written in found.splits.items():
            if names & {shard.file for shard in written.shards}:
                check_compatible(found.spec_of(split), spec, f"{path}: split {split!r}")


def _files_of_directory(directory: str, split: str | None, spec: Spec) -> Files:
    path = os.path.join(directory, manifest.FILE_NAME)
    if not tf.io.gfile.exists(path):
        raise DatasetError(
            f"{directory}: no {manifest.FILE_NAME}, so that nothing says which files "
            f"are whole and what wrote them; to read files without one, pass a glob "
            f"such as {os.path.join(directory, 'train-*')!r}"
        )
    with tf.io.gfile.GFile(path, "rb") as file:
        found = manifest.loads(file.read(), path)
    names = ", ".join(sorted(found.splits)) or "none"
    if split is None and len(found.splits) == 1:
        (split,) = found.splits
    if split is None or split not in found.splits:
        asked = "no split was named" if split is None else f"no split {split!r}"
        raise DatasetError(f"{path}: {asked}; it holds: {names}")
    check_compatible(found.spec_of(split), spec, path)
    return _files_of_split(directory, found.splits[split])


def _files_of_split(directory: str, split: Split) -> Files:
    paths = []
    for shard in split.shards:
        path = os.path.join(directory, shard.file)
        if not tf.io.gfile.exists(path):
            raise DatasetError(f"{path}: missing; the manifest lists it")
        size = tf.io.gfile.stat(path).length
        if size != shard.bytes:
            raise DatasetError(
                f"{path}: found {size} bytes, expected the {shard.bytes} that the "
                "manifest lists; copy it again"
            )
        paths.append(path)
    return Files(
        paths=tuple(paths),
        compressions=(split.compression,) * len(paths),
        sizes=tuple(shard.bytes for shard in split.shards),
        records=tuple(shard.records for shard in split.shards),
        checksums=tuple(shard.crc32c for shard in split.shards),
    )


def _check_shards(paths: Sequence[str]) -> None:
    """Refuse a glob that finds some shards of a split and not the others.

    However many a name says that there are, only those that are there are counted.
    """
    found: dict[tuple[str, str], set[int]] = {}
    for path in paths:
        match = _SHARD_NAME.fullmatch(path)
        if match:
            found.setdefault((match[1], match[3]), set()).add(int(match[2]))
    for (stem, total), indices in found.items():
        start = 1 if int(total) in indices and 0 not in indices else 0
        stop = start + int(total)
        missing = int(total) - sum(start <= index < stop for index in indices)
        if missing > 0:
            first = next(index for index in count(start) if index not in indices)
            raise DatasetError(
                f"{stem}-*-of-{total}: {missing} of {int(total)} shards are not "
                f"there, the first is {first:05d}; pass a list of files to read "
                "only a part"
            )


def _start(path: str) -> tuple[str, int]:
    """Return a file's compression, and its first record's length if that is to be seen."""
    try:
        with tf.io.gfile.GFile(path, "rb") as file:
            start = file.read(12)
        compression = detect_compression(start)
        return compression, 0 if compression else int.from_bytes(start[:8], "little")
    except DatasetError as error:
        raise DatasetError(f"{path}: {error}") from None
    except tf.errors.NotFoundError:
        raise DatasetError(f"{path}: no such file") from None
    except tf.errors.OpError as error:
        raise DatasetError(f"{path}: {error.message}") from None
