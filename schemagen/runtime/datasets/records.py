"""From files to a stream of serialized records."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ..faults.faults import Faults
from ..faults.python_reader import PythonReader
from ..shared.compression import in_tensorflow
from ..shared.errors import DatasetError
from ..shared.requirements import tf
from ..sources.shards import Shards
from ..sources.shares import Part, Share

_PARALLEL_FILES = 16
_PIECE_RECORDS = 1024
_PIECE_BYTES = 2 << 20

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
    faults: Faults | None = None,
    *,
    check: Check | None = None,
    shuffle: bool = False,
    seed: int | None = None,
) -> tf.data.Dataset:
    """Read serialized records.

    Args:
        shards: the files.
        share: what this one of several readers reads.
        faults: what becomes of files that cannot be read; None for TensorFlow's own
            errors.
        check: what is done with pieces of records, string [N], before they are taken
            apart.
        shuffle: read several files at once, in another order each epoch; otherwise
            one file after the other, as listed.
        seed: makes the order of files the same in every run.

    Returns:
        String scalars.

    Raises:
        DatasetError: a file is compressed in a way that TensorFlow does not read.
    """
    numbered = _read_pieces(shards, share, faults, shuffle, seed)
    if check is None:
        return numbered.flat_map(
            lambda _, piece: tf.data.Dataset.from_tensor_slices(piece)
        )
    return check(numbered.map(lambda _, piece: piece)).unbatch()


def _read_pieces(
    shards: Shards, share: Share, faults: Faults | None, shuffle: bool, seed: int | None
) -> tf.data.Dataset:
    """Read numbered pieces of up to two megabytes: int64, and records, string [N].

    So what is done for each piece costs little, such as interleaving files.
    """
    for file in shards.files:
        if not in_tensorflow(file.compression or ""):
            raise DatasetError(
                f"{file.path}: compressed with {file.compression}, which TensorFlow does "
                "not read; read it with open_split, or write the split with another "
                "compression"
            )
    parts = share.parts
    size = max(1, min(_PIECE_RECORDS, _PIECE_BYTES // shards.record_bytes))
    all_of_files = all(part == Part(part.file) for part in parts)
    dataset = tf.data.Dataset.from_tensor_slices(_table(shards, parts, size))
    if shuffle:
        dataset = dataset.shuffle(max(1, len(parts)), seed=seed)
    parallel = max(1, min(len(parts), _PARALLEL_FILES)) if shuffle else 1

    def interleaved(pieces: Callable[..., tf.data.Dataset]) -> tf.data.Dataset:
        return dataset.interleave(
            pieces,
            cycle_length=parallel,
            num_parallel_calls=parallel if shuffle else None,
        )

    if faults is not None and faults.by_python(shards):

        def records(number: int) -> Iterator[bytes]:
            return faults.records(shards, parts[number], begins=number == 0)

        reader = PythonReader(records, size)
        read = interleaved(lambda part: reader.pieces(part["number"]).enumerate())
        reader.close_with(read)
        return read

    compressions = {file.compression for file in shards.files}
    same = compressions.pop() if len(compressions) == 1 else None

    def pieces(part: dict[str, tf.Tensor]) -> tf.data.Dataset:
        compression = part["compression"] if same is None else same
        found = tf.data.TFRecordDataset(part["path"], compression)
        if not all_of_files:
            # TensorFlow reads only the lengths of records that are skipped.
            found = found.skip(part["first"]).take(part["stop"] - part["first"])
            found = found.shard(part["step"], 0)
        # Errors are ignored later, and tensorflow tries for ever to open a file that is
        # gone. So each attempt to read gets a number, and numbers end.
        numbers = tf.data.Dataset.range(part["attempts"])
        return tf.data.Dataset.zip((numbers, found.batch(size)))

    return interleaved(pieces)


def _table(
    shards: Shards, parts: tuple[Part, ...], size: int
) -> dict[str, NDArray[np.int64] | tf.Tensor]:
    """Return what graphs know of parts of files, of each by its number."""
    own = [part.file for part in parts]
    numbers = {
        "number": range(len(parts)),
        "first": [part.first for part in parts],
        "stop": [_END if part.stop is None else part.stop for part in parts],
        "step": [part.step for part in parts],
        "attempts": [_most(shards, file) // size + 2 for file in own],
    }
    texts = {
        "path": [shards.paths[file] for file in own],
        "compression": [shards.files[file].compression or "" for file in own],
    }
    return {
        **{name: np.array(values, np.int64) for name, values in numbers.items()},
        **{name: tf.constant(values, tf.string) for name, values in texts.items()},
    }


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
