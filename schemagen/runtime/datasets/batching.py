"""From single records to batches: as they come, by length, or decoded already."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ..codecs.kind import Kind
from ..codecs.records import RecordCodec
from ..shared.errors import DatasetError, did_you_mean
from ..shared.requirements import tf

PARALLEL = min(16, os.cpu_count() or 1)
"""How many elements of a dataset are computed at a time."""

Lengths = Mapping[str, Kind]
"""The codecs of the fields whose length varies, by name."""

Padding = Mapping[str, Any]
"""What fills up rows that are shorter than others, by the name of the tensor."""

_PIECE = 256


def check_buckets(
    by: str | None, boundaries: Sequence[int], known: Lengths, record: RecordCodec
) -> None:
    """Refuse invalid buckets.

    Raises:
        DatasetError: no such field, or boundaries that do not ascend.
    """
    if by is None:
        if boundaries:
            raise DatasetError("bucket_boundaries without bucket_by: name the field")
        return
    if by not in known:
        near = did_you_mean(by, known)
        if by in record.fields and record[by].padded and not record[by].of_pixels:
            near = (
                "a Tensor cannot be bucketed; declare a list of rows of one size as "
                "VarLen(item_shape=...)"
            )
        raise DatasetError(
            f"bucket_by={by!r}: expected a field of varying length, "
            + (
                f"one of {', '.join(known)}"
                if known
                else "which the record does not have"
            )
            + (f"; {near}" if near else "")
        )
    ascending = all(a < b for a, b in pairwise(boundaries))
    if not boundaries or not ascending or boundaries[0] < 1:
        raise DatasetError(
            f"bucket_boundaries={boundaries!r}: expected lengths that ascend, such as "
            "(16, 32, 64): the first bucket then has those below 16, the last those "
            "from 64 on"
        )


def bucketed(
    records: tf.data.Dataset,
    length_of: Callable[[tf.Tensor], tf.Tensor],
    boundaries: Sequence[int],
    batch_size: int,
    drop_remainder: bool,
) -> tf.data.Dataset:
    """Batch records with others of about the same length.

    Args:
        records: string scalars.
        length_of: from string [B] to the lengths, int64 [B].
        boundaries: the lengths at which the next bucket begins.
        batch_size: of each bucket.
        drop_remainder: leave out what does not fill a batch, in each bucket.
    """
    pieces = records.batch(_PIECE)
    measured = pieces.map(lambda strings: (strings, length_of(strings)), PARALLEL)
    return (
        measured.unbatch()
        .bucket_by_sequence_length(
            lambda _, length: tf.cast(length, tf.int32),
            list(boundaries),
            [batch_size] * (len(boundaries) + 1),
            drop_remainder=drop_remainder,
            no_padding=True,
        )
        .map(lambda serialized, _: serialized)
    )


def first_of_each(batches: tf.data.Dataset, kept: int, epoch: int) -> tf.data.Dataset:
    """Return the first batches of each epoch.

    The others are read nevertheless: an epoch that ended early would leave caches
    incomplete and checks undone.

    Args:
        batches: of whole epochs.
        kept: how many of each epoch are returned.
        epoch: how many each has.
    """
    numbered = batches.enumerate()
    first = numbered.filter(lambda number, _: number % epoch < kept)
    return first.map(lambda _, batch: batch)


def with_seeds(dataset: tf.data.Dataset, seed: int | None) -> tf.data.Dataset:
    """Pair each element with a seed of its own, int64 [2]; others in each epoch."""
    seeds = tf.data.Dataset.random(seed, rerandomize_each_iteration=True)
    return tf.data.Dataset.zip((dataset, seeds.batch(2)))


def of_size(batches: tf.data.Dataset, size: int) -> tf.data.Dataset:
    """Return batches whose size is known to be the same, in their shapes too."""

    def all_sized(*element: Any) -> Any:
        found = element if len(element) > 1 else element[0]
        return tf.nest.map_structure(lambda value: sized(value, size), found)

    return batches.map(all_sized)


def sized(value: Any, size: int) -> Any:
    """Return a tensor or ragged tensor of `size` rows, with that in its shape."""
    if isinstance(value, tf.RaggedTensor):
        splits = tf.ensure_shape(value.row_splits, (size + 1,))
        return tf.RaggedTensor.from_row_splits(value.values, splits, validate=False)
    if isinstance(value, tf.Tensor):
        return tf.ensure_shape(value, (size, *value.shape[1:]))
    return value


def joined(
    elements: tf.data.Dataset,
    batch_size: int,
    drop_remainder: bool,
    padding: Padding,
    whole: Any,
) -> tf.data.Dataset:
    """Batch records that have been decoded, as parsing a batch would.

    Args:
        elements: dicts of tensors, one record each.
        batch_size: records in a batch.
        drop_remainder: leave out a last batch that is smaller.
        padding: what fills up shorter rows, by name.
        whole: the specs of the batches as parsing would deliver them, by name.
    """

    def restored(batch: dict[str, Any]) -> dict[str, Any]:
        found = {}
        for name, tensor in batch.items():
            if isinstance(tensor, tf.RaggedTensor) and name in padding:
                filler = tf.constant(padding[name], tensor.dtype)
                tensor = tensor.to_tensor(filler)
            if isinstance(tensor, tf.Tensor):
                shape = tensor.shape[:1].concatenate(whole[name].shape[1:])
                tensor = tf.ensure_shape(tensor, shape)
            found[name] = tensor
        return found

    batches = elements.ragged_batch(batch_size, drop_remainder=drop_remainder)
    return batches.map(restored, PARALLEL)


def lengthened(
    batch: Mapping[str, Any], lengths: Mapping[str, int], padding: Padding
) -> dict[str, Any]:
    """Fill rows [B, T, ...] up to a fixed length, by name, where they are there."""
    found = dict(batch)
    for name, length in lengths.items():
        if name in batch:
            rows = batch[name]
            missing = length - tf.shape(rows)[1]
            ends = [[0, 0], [0, missing], *[[0, 0]] * (rows.shape.rank - 2)]
            filler = tf.constant(padding[name], rows.dtype)
            full = tf.pad(rows, ends, constant_values=filler)
            found[name] = tf.ensure_shape(
                full, (rows.shape[0], length, *rows.shape[2:])
            )
    return found
