"""From files to a stream of serialized records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..faults.faults import Faults
from ..faults.python_reader import PythonReader
from ..shared.requirements import tf
from ..sources.shards import Shards
from ..sources.shares import FilePart, Share
from .transformations import flat_mapped, interleaved, mapped, unbatched

_PARALLEL_FILES = 16
_PIECE_RECORDS = 1024
_PIECE_BYTES = 2 << 20
_READ_BYTES = 256 << 10

# Of a record: its length, and the checksums of the length and of the record.
_FRAME_BYTES = 16

# How much larger DEFLATE makes bytes at most when it inflates them.
_MOST_INFLATED = 1032

Check = Callable[[tf.data.Dataset], tf.data.Dataset]

# The number of a record behind the last one of any file.
_END = 2**62


def read_records(
    shards: Shards,
    share: Share,
    faults: Faults,
    *,
    check: Check | None = None,
    shuffle: bool = False,
    seed: int | None = None,
    attempts_end: bool = False,
) -> tf.data.Dataset:
    """Read serialized records.

    Args:
        shards: the files.
        share: what this one of several readers reads.
        faults: what becomes of files that cannot be read.
        check: what is done with pieces of records, string [N], before they are taken
            apart.
        shuffle: read several files at once, in another order each epoch; otherwise
            one file after the other, as listed.
        seed: makes the order of files the same in every run.
        attempts_end: whether what reads the records asks for so many and no more, even
            if some cannot be read. TensorFlow tries for ever to open a file that is gone.

    Returns:
        String scalars.
    """
    parts = share.parts
    by_python = faults.by_python(shards)
    compressions = {shards.files[part.file].compression or "" for part in parts}
    are_whole = all(part == FilePart(part.file) for part in parts)
    if attempts_end and are_whole and len(compressions) == 1 and not by_python:
        return _records_of([shards.paths[part.file] for part in parts], *compressions)
    # Pieces of up to two megabytes, so that what is done for each costs little.
    size = max(1, min(_PIECE_RECORDS, _PIECE_BYTES // shards.record_bytes))

    def of_each(
        table: Mapping[str, Any], pieces: Callable[..., tf.data.Dataset]
    ) -> tf.data.Dataset:
        dataset = tf.data.Dataset.from_tensor_slices(table)
        if not shuffle:
            return flat_mapped(dataset, pieces)
        order = dataset.shuffle(max(1, len(parts)), seed=seed)
        return interleaved(order, pieces, max(1, min(len(parts), _PARALLEL_FILES)))

    if by_python:

        def records(number: int) -> Iterator[bytes]:
            return faults.records(shards, parts[number], begins=number == 0)

        reader = PythonReader(records, size)
        files = {"number": np.arange(len(parts), dtype=np.int64)}
        read = of_each(files, lambda part: reader.pieces(part["number"]))
        reader.close_with(read)
    else:
        only = next(iter(compressions), "")
        numbered = of_each(_table(shards, parts, size), partial(_pieces, size, only))
        read = mapped(numbered, lambda _, piece: piece)
    return unbatched(read if check is None else check(read))


def _table(shards: Shards, parts: Sequence[FilePart], size: int) -> dict[str, Any]:
    """Return a row for each part of a file: what `_pieces` has to know of it."""
    compressions = [shards.files[part.file].compression or "" for part in parts]
    attempts = [_most(shards, part.file) // size + 2 for part in parts]
    table = {
        "path": tf.constant([shards.paths[part.file] for part in parts], tf.string),
        "attempts": np.array(attempts, np.int64),
    }
    # A graph starts the faster the less it has to know.
    if len({*compressions}) > 1:
        table["compression"] = tf.constant(compressions, tf.string)
    if any(part != FilePart(part.file) for part in parts):
        ends = [_END if part.stop is None else part.stop for part in parts]
        table["first"] = np.array([part.first for part in parts], np.int64)
        table["stop"] = np.array(ends, np.int64)
        table["step"] = np.array([part.step for part in parts], np.int64)
    return table


def _pieces(
    size: int, compression: str, part: Mapping[str, tf.Tensor]
) -> tf.data.Dataset:
    """Return the records of a part in pieces, string [N], and a number before each.

    Errors are ignored later, and TensorFlow tries for ever to open a file that is gone.
    So each attempt to read gets a number, and numbers end.
    """
    found = _records_of(part["path"], part.get("compression", compression))
    if "first" in part:
        # TensorFlow reads only the lengths of records that are skipped.
        found = found.skip(part["first"]).take(part["stop"] - part["first"])
        found = found.shard(part["step"], 0)
    numbers = tf.data.Dataset.range(part["attempts"])
    return tf.data.Dataset.zip((numbers, found.batch(size)))


def _records_of(paths: Any, compression: Any) -> tf.data.Dataset:
    """Return the records of files, one after the other.

    `tf.data.TFRecordDataset` calls a function for each file.
    """
    variant = tf.raw_ops.TFRecordDataset(
        filenames=paths, compression_type=compression, buffer_size=_READ_BYTES
    )
    return tf.data.experimental.from_variant(variant, tf.TensorSpec((), tf.string))


def _most(shards: Shards, file: int) -> int:
    """Return how many records a file can have at most."""
    if shards.records is not None:
        return shards.records[file]
    inflated = _MOST_INFLATED if shards.files[file].compression else 1
    return shards.sizes[file] * inflated // _FRAME_BYTES


def mixed(
    datasets: list[tf.data.Dataset], weights: list[float], seed: int | None
) -> tf.data.Dataset:
    """Draw from several datasets until the first of them is used up.

    So each keeps its share up to the end, and no record comes twice.

    Args:
        datasets: of equal elements.
        weights: how often each is drawn from, relative to the others.
        seed: makes the draws the same in every run; they are others in each epoch.
    """
    total = sum(weights)
    return tf.data.Dataset.sample_from_datasets(
        datasets,
        [weight / total for weight in weights],
        seed=seed,
        stop_on_empty_dataset=True,
        rerandomize_each_iteration=True,
    )
