"""From files to a stream of serialized records, each checked to be whole."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..shared.requirements import tf
from .faults import Faults
from .files import Files
from .replacement import as_opened
from .sharing import Shard, Share, share_of

_PARALLEL_FILES = 16
_PIECE_RECORDS = 1024
_PIECE_BYTES = 2 << 20
_NOTHING = np.zeros(0, object)


def read_records(
    files: Files,
    faults: Faults | None = None,
    *,
    shuffle: bool = False,
    seed: int | None = None,
    shard: Shard | None = None,
    counted: bool = True,
) -> tf.data.Dataset:
    """Read serialized records.

    They come out of a file in pieces of up to two megabytes, so that what is done for each
    piece costs little: interleaving files, and counting what has been read of one.

    Args:
        files: from `find_files`.
        faults: what becomes of files that are damaged; None for tensorflow's own
            errors, which do not name a file, and no check that files are what they
            were when they were found.
        shuffle: read several files at once, in another order each epoch; otherwise
            one file after the other, as listed.
        seed: makes the order of files the same in every run.
        shard: which of several readers this is.
        counted: whether the dataset is to have as many records as the manifest lists,
            and to say so.

    Returns:
        string scalars, one a record.
    """
    share = share_of(shard, len(files.paths), files.records)
    records = files.records or (-1,) * len(files.paths)
    dataset = tf.data.Dataset.from_tensor_slices(
        {
            "path": [files.paths[file] for file in share.files],
            "compression": [files.compressions[file] for file in share.files],
            "size": np.array([files.sizes[file] for file in share.files], np.int64),
            "records": np.array([records[file] for file in share.files], np.int64),
            "first": np.array(share.firsts, np.int64),
        }
    )
    if shuffle:
        dataset = dataset.shuffle(len(share.files), seed=seed)
    piece = max(1, min(_PIECE_RECORDS, _PIECE_BYTES // files.record_bytes))
    parallel = min(len(share.files), _PARALLEL_FILES) if shuffle else 1
    pieces = dataset.interleave(
        lambda file: _pieces(file, piece, share, faults, files.records is not None),
        cycle_length=parallel,
        num_parallel_calls=parallel if shuffle else None,
    )
    if faults is not None:
        check = as_opened([files]).map(lambda _: _NOTHING)
        pieces = check.concatenate(pieces).concatenate(check)
    dataset = pieces.unbatch()
    if counted and files.records is not None and not (faults and faults.skips):
        total = share.records(files.records)
        dataset = dataset.apply(tf.data.experimental.assert_cardinality(total))
    return dataset


def _pieces(
    file: dict[str, tf.Tensor],
    piece: int,
    share: Share,
    faults: Faults | None,
    listed: bool,
) -> tf.data.Dataset:
    """Return the records of a file in vectors: string [N]."""
    if faults is None:
        records = tf.data.TFRecordDataset(file["path"], file["compression"])
        pieces = records.batch(piece)
    else:
        # A file that tensorflow cannot open, it tries to open for ever.
        paths = faults.opened(file["path"], file["size"])
        records = tf.data.TFRecordDataset(paths, file["compression"]).ignore_errors()
        # An empty piece stands for the end of a file that was opened.
        end = tf.data.Dataset.from_tensor_slices(paths).map(lambda _: _NOTHING)
        pieces = records.batch(piece).concatenate(end)
    if faults is None and share.step == 1:
        return pieces

    def counted(read: Any, records: tf.Tensor) -> Any:
        before, size = read
        if faults is not None:
            records = tf.cond(
                tf.size(records) == 0,
                lambda: _rest(file, before, size, faults),
                lambda: records,
            )
        if not listed:
            size += _size_on_disk(records)
        after = before + tf.size(records, out_type=tf.int64)
        if share.step > 1:
            records = records[(file["first"] - before) % share.step :: share.step]
        return (after, size), records

    start = (tf.constant(0, tf.int64), tf.constant(0, tf.int64))
    return pieces.scan(start, counted)


def _rest(
    file: dict[str, tf.Tensor], read: tf.Tensor, size: tf.Tensor, faults: Faults
) -> tf.Tensor:
    """Return what has not been read of a file at whose end tensorflow is: string [N].

    Where no one has said how many records there are, sizes tell; but not those of
    compressed files, which are read again to make sure.
    """
    complete = tf.where(
        file["records"] >= 0,
        read == file["records"],
        (size == file["size"]) & (file["compression"] == ""),
    )
    return tf.cond(
        complete,
        lambda: tf.zeros((0,), tf.string),
        lambda: faults.rest(file["path"], read, size, file["records"]),
    )


def _size_on_disk(records: tf.Tensor) -> tf.Tensor:
    sizes = tf.cast(tf.strings.length(records), tf.int64) + 16
    return tf.reduce_sum(sizes)
