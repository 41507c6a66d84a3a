"""From single records to batches: as they come, or by their length."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ..kinds.kind import Kind
from ..records.codec import RecordCodec
from ..records.groups import has_length, lengths_in
from ..shared.errors import DatasetError, did_you_mean
from ..shared.platforms import usable_cores
from ..shared.requirements import tf

PARALLEL = min(16, usable_cores())
"""How many elements of a dataset are computed at a time."""

Padding = Mapping[str, Any]
"""What fills up rows that are shorter than others, by the name of the tensor."""

_PIECE = 256
_UNBATCHED = (
    "; for single records call `.unbatch()` on the dataset, or map `parse_example` of "
    "parser.py over a tf.data.TFRecordDataset"
)


@dataclass(frozen=True)
class Batching:
    """How records become batches.

    Attributes:
        sizes: records in a batch; of each bucket, if there are buckets.
        drop_remainder: whether batches that are smaller are left out.
        by: the codec of the field whose length decides on the bucket; None for no
            buckets.
        boundaries: the lengths at which the next bucket begins.
        count: from lengths of the field to how many items are read; None for all.
    """

    sizes: tuple[int, ...]
    drop_remainder: bool = False
    by: Kind | None = None
    boundaries: tuple[int, ...] = ()
    count: Callable[[tf.Tensor], tf.Tensor] | None = None

    @property
    def largest(self) -> int:
        """The size of the largest batch."""
        return max(self.sizes)

    @property
    def only_size(self) -> int | None:
        """The size of each batch, if all are full and of one size."""
        equal = len({*self.sizes}) == 1
        return self.sizes[0] if self.drop_remainder and equal else None

    def batches(self, records: tf.data.Dataset) -> tf.data.Dataset:
        """Return batches, string [B], of string scalars."""
        codec = self.by
        if codec is None:
            return records.batch(self.sizes[0], drop_remainder=self.drop_remainder)

        def measure(serialized: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            lengths = lengths_in(serialized, codec)
            return serialized, lengths if self.count is None else self.count(lengths)

        measured = records.batch(_PIECE).map(measure, PARALLEL)
        return (
            measured.unbatch()
            .bucket_by_sequence_length(
                lambda _, length: tf.cast(length, tf.int32),
                list(self.boundaries),
                list(self.sizes),
                drop_remainder=self.drop_remainder,
                no_padding=True,
            )
            .map(lambda serialized, _: serialized)
        )


def batching_of(
    record: RecordCodec,
    batch_size: int | Sequence[int],
    drop_remainder: bool,
    bucket_by: str | None,
    bucket_boundaries: Sequence[int],
) -> Batching:
    """Return how the records are batched, from options of `make_dataset`.

    Raises:
        DatasetError: no such field, boundaries that do not ascend, or sizes that are not
            positive, or not as many as there are buckets.
    """
    by, boundaries = None, tuple(bucket_boundaries)
    if bucket_by is not None:
        by = _measured(record, bucket_by)
        ascending = all(a < b for a, b in pairwise(boundaries))
        if not boundaries or not ascending or boundaries[0] < 1:
            raise DatasetError(
                f"bucket_boundaries={boundaries!r}: expected lengths that ascend, such "
                "as (16, 32, 64): the first bucket then has those below 16, the last "
                "those from 64 on"
            )
    elif boundaries:
        raise DatasetError("bucket_boundaries without bucket_by: name the field")
    buckets = len(boundaries) + 1
    if isinstance(batch_size, (list, tuple)):
        if by is None or len(batch_size) != buckets:
            expected = (
                f"one for each of the {buckets} buckets of {boundaries!r}"
                if by
                else "a positive int; sizes of buckets need bucket_by"
            )
            raise DatasetError(f"batch_size={batch_size!r}: expected {expected}")
        sizes = tuple(batch_size)
    else:
        sizes = (batch_size,) * buckets
    if not all(type(size) is int and size > 0 for size in sizes):
        advice = _UNBATCHED if batch_size is None else ""
        expected = "positive ints" if len({*sizes}) > 1 else "a positive int"
        raise DatasetError(f"batch_size={batch_size!r}: expected {expected}{advice}")
    return Batching(sizes, drop_remainder, by, boundaries)


def _measured(record: RecordCodec, name: str) -> Kind:
    """Return the codec of a field that records can be bucketed by."""
    known = {name: codec for name, codec in record.fields.items() if has_length(codec)}
    if name in known:
        return known[name]
    near = did_you_mean(name, known)
    codec = record.fields.get(name)
    if codec and codec.delivered.padded and not codec.of_pixels:
        near = (
            "a Tensor cannot be bucketed; declare a list of rows of one size as "
            "VarLen(item_shape=...)"
        )
    raise DatasetError(
        f"bucket_by={name!r}: expected a field of varying length, "
        + (f"one of {', '.join(known)}" if known else "which the record does not have")
        + (f"; {near}" if near else "")
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


def seeds(seed: int | None) -> tf.data.Dataset:
    """Return seeds without end, int64 [2]; others in each epoch."""
    numbers = tf.data.Dataset.random(seed, rerandomize_each_iteration=True)
    return numbers.batch(2, drop_remainder=True)


def of_size(batches: tf.data.Dataset, size: int) -> tf.data.Dataset:
    """Return batches whose size is known to be the same, in their shapes too."""

    def all_sized(*element: Any) -> Any:
        found = element if len(element) > 1 else element[0]
        return tf.nest.map_structure(lambda value: _sized(value, size), found)

    return batches.map(all_sized)


def _sized(value: Any, size: int) -> Any:
    """Return a tensor or ragged tensor of `size` rows, with that in its shape."""
    if isinstance(value, tf.RaggedTensor):
        splits = tf.ensure_shape(value.row_splits, (size + 1,))
        return tf.RaggedTensor.from_row_splits(value.values, splits, validate=False)
    if isinstance(value, tf.Tensor):
        return tf.ensure_shape(value, (size, *value.shape[1:]))
    return value


def lengthened(
    batch: Mapping[str, Any], lengths: Mapping[str, int], padding: Padding
) -> dict[str, Any]:
    """Fill rows [B, T, ...] up to a fixed length, by name, where they are there.

    Rows that have a fixed length, as the windows of sound in training, keep it.
    """
    found = dict(batch)
    for name, length in lengths.items():
        if name in batch and batch[name].shape[1] is None:
            rows = batch[name]
            missing = length - tf.shape(rows)[1]
            ends = [[0, 0], [0, missing], *[[0, 0]] * (rows.shape.rank - 2)]
            filler = tf.constant(padding[name], rows.dtype)
            full = tf.pad(rows, ends, constant_values=filler)
            found[name] = tf.ensure_shape(
                full, (rows.shape[0], length, *rows.shape[2:])
            )
    return found
