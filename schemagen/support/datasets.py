"""From a data directory, a glob or a list of files to a dataset of records."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from . import manifest
from .compatibility import check_compatible
from .errors import DatasetError
from .manifest import Spec, Split
from .sharing import Shard, share_of
from .tfrecord import detect_compression

Source = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

_PARALLEL_FILES = 16
_SHARD_NAME = re.compile(r"(.+)-(\d{5,})-of-(\d{5,})\.tfrecord(\.gz|\.zlib)?")


@dataclass(frozen=True)
class Files:
    """The files to read.

    Attributes:
        paths: in order.
        compressions: of each file, as tf.data.TFRecordDataset takes it.
        records: how many records each holds, or None if nobody has said.
    """

    paths: tuple[str, ...]
    compressions: tuple[str, ...]
    records: tuple[int, ...] | None


def read_records(
    source: Source,
    split: str | None,
    spec: Spec,
    *,
    shuffle: bool = False,
    seed: int | None = None,
    shard: Shard | None = None,
) -> tf.data.Dataset:
    """Read serialized records.

    Args:
        source: a data directory, a glob, a file, or a list of files.
        split: which split of a directory; may be left out if it holds one.
        spec: the reader's own spec, compared with the directory's.
        shuffle: read several files at once, in another order each epoch; otherwise
            one file after the other, as listed.
        seed: makes the order of files the same in every run.
        shard: which of several readers this is.

    Returns:
        string scalars, one a record.

    Raises:
        DatasetError: nothing there, files missing or of another size than written.
        SchemaMismatchError: the data was written with an incompatible schema.
    """
    files = find_files(source, split, spec)
    share = share_of(shard, len(files.paths), files.records)
    dataset = tf.data.Dataset.from_tensor_slices(
        (
            [files.paths[file] for file in share.files],
            [files.compressions[file] for file in share.files],
            np.array(share.firsts, np.int64),
        )
    )
    if shuffle:
        dataset = dataset.shuffle(len(share.files), seed=seed)

    def records_of(path: tf.Tensor, compression: tf.Tensor, first: tf.Tensor) -> Any:
        records = tf.data.TFRecordDataset(path, compression)
        return records if share.step == 1 else records.shard(share.step, first)

    dataset = dataset.interleave(
        records_of,
        cycle_length=min(len(share.files), _PARALLEL_FILES) if shuffle else 1,
        num_parallel_calls=tf.data.AUTOTUNE if shuffle else None,
        deterministic=True if shuffle else None,
    )
    if files.records is not None:
        total = share.records(files.records)
        dataset = dataset.apply(tf.data.experimental.assert_cardinality(total))
    return dataset.with_options(_distribution(shard))


def _distribution(shard: Shard | None) -> tf.data.Options:
    """Return how strategies divide the dataset among their workers.

    Not by files, as they would by themselves: the number of records that the manifest
    lists would not be right for a part of them.
    """
    policy = tf.data.experimental.AutoShardPolicy
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = (
        policy.DATA if shard is None else policy.OFF
    )
    return options


def find_files(source: Source, split: str | None, spec: Spec) -> Files:
    """Find the files that a source names and see that they are whole.

    Arguments and errors are those of `read_records`.
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
            raise DatasetError(f"{path}: no such directory or file")
    else:
        paths = [os.fspath(path) for path in source]
        if not paths:
            raise DatasetError("an empty list of files")
    if split is not None:
        raise DatasetError(
            f"split={split!r} is for a data directory; the source names files itself"
        )
    return Files(tuple(paths), tuple(map(_compression, paths)), None)


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
    records = tuple(shard.records for shard in split.shards)
    return Files(tuple(paths), (split.compression,) * len(paths), records)


def _check_shards(paths: Sequence[str]) -> None:
    """Refuse a glob that finds some shards of a split and not the others."""
    found: dict[tuple[str, str], set[int]] = {}
    for path in paths:
        match = _SHARD_NAME.fullmatch(path)
        if match:
            found.setdefault((match[1], match[3]), set()).add(int(match[2]))
    for (stem, total), indices in found.items():
        missing = sorted(set(range(int(total))) - indices)
        if missing:
            raise DatasetError(
                f"{stem}-*-of-{total}: {len(missing)} of {int(total)} shards are not "
                f"there, the first is {missing[0]:05d}; pass a list of files to read "
                "only a part"
            )


def _compression(path: str) -> str:
    try:
        with tf.io.gfile.GFile(path, "rb") as file:
            return detect_compression(file.read(12))
    except DatasetError as error:
        raise DatasetError(f"{path}: {error}") from None
    except tf.errors.NotFoundError:
        raise DatasetError(f"{path}: no such file") from None
    except tf.errors.OpError as error:
        raise DatasetError(f"{path}: {error.message}") from None
