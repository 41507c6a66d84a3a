"""`make_dataset` of generated pipelines: from its options to a dataset of elements."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ..faults.calls import with_plain_errors
from ..faults.error_report import Parser
from ..kinds.numbers import NumbersKind
from ..records.codec import RecordCodec
from ..records.roles import Roles, missing_targets
from ..records.selecting import Select
from ..shared.errors import NO_LIMIT, DatasetError
from ..shared.options import RaiseOrSkip, check_flags, options_by_name_or
from ..shared.requirements import tf
from ..sources.finding import Paths, Splits
from ..sources.opening import open_components
from ..sources.shares import ShareIndex
from ..storage.schema import Spec
from .batching import Padding, batching_of
from .elements import Batch, Elements, augmented, features_for, of_any_size
from .pipeline import Options, Pipeline
from .selecting import SelectedItems

REPLACED = {
    "image_dtype": (
        "dataset.map(lambda features, target: ({**features, 'IMAGE': "
        "tf.cast(features['IMAGE'], tf.float32) / 255}, target))"
    ),
    "one_hot": (
        "dataset.map(lambda features, target: (features, tf.one_hot(target, CLASSES)))"
    ),
    "cache_decoded": (
        "dataset.cache().unbatch().shuffle(10_000).batch(32), of make_dataset with "
        "pad_to_max_length=True and without training=True"
    ),
    "service": (
        "tf.data.Dataset.list_files('data/train-*', shuffle=False).interleave("
        "tf.data.TFRecordDataset).batch(32).map(parse_batch).apply("
        "tf.data.experimental.service.distribute('distributed_epoch', "
        "ADDRESS)), as docs/reading.md shows"
    ),
    "service_timeout": (
        "model.fit(dataset, callbacks=[keras.callbacks.LambdaCallback("
        "on_train_batch_begin=lambda batch, logs: signal.alarm(600))])"
    ),
}
"""The line to write in place of each option that `make_dataset` had before version 0.4.

IMAGE, CLASSES and ADDRESS stand for what a program has.
"""

_PREFETCHED = 2


@dataclass(frozen=True)
class RecordReader:
    """Reads datasets of one record; generated pipelines offer its `make_dataset`.

    Attributes:
        spec: the contents of the package's `spec.json`.
        parse_batch: the generated parser.
        record: the codecs of its fields.
        features: the field of each feature that datasets deliver.
        targets: the target fields.
        weights: the field of sample weights, if there is one.
        info: the fields with role info.
        augmented: the augmentation that the schema declares.
    """

    spec: Spec
    parse_batch: Callable[[tf.Tensor, Collection[str]], Any]
    record: RecordCodec
    features: Mapping[str, str]
    targets: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()
    info: tuple[str, ...] = ()
    augmented: Callable[[Batch, tf.Tensor], Batch] | None = None

    @cached_property
    def padding(self) -> Padding:
        """What rows shorter than the longest of their batch are padded with, by name."""
        each = {name: codec.delivered for name, codec in self.record.fields.items()}
        return {name: found.filler for name, found in each.items() if found.padded}

    def __repr__(self) -> str:
        return f"RecordReader({self.spec['record']!r})"

    @options_by_name_or(REPLACED)
    def make_dataset(
        self,
        source: Paths | Mapping[str, float],
        split: Splits = None,
        *,
        batch_size: int | Sequence[int],
        training: bool = False,
        fields: Collection[str] | None = None,
        select: Select | None = None,
        shuffle_buffer: int | None = None,
        seed: int | None = None,
        repeat: bool | int = False,
        cache: bool | str | os.PathLike[str] = False,
        drop_remainder: bool = False,
        pad_to_max_length: bool = False,
        bucket_by: str | None = None,
        bucket_boundaries: Sequence[int] = (),
        shard: ShareIndex | None = None,
        deterministic: bool = True,
        on_corrupt: RaiseOrSkip = "raise",
        augment: Callable[..., dict[str, Any]] | None = None,
        targets: bool = True,
        info: bool = False,
    ) -> tf.data.Dataset:
        """Read records in batches.

        Args:
            source: a data directory, a glob, a file or a list of files, by path or URL;
                or a dict of such, each with its weight: records are drawn from all of them,
                in these proportions, until the first is used up. There, the name of
                a split may follow its directory: {"data:train": 3, "data:extra": 1}.
            split: which split of a directory; may be left out if it holds one. A slice
                may follow it: "train[:80%]", "train[80%:]", "train[100:200]". A list reads
                several splits as one.
            batch_size: records in a batch; the last one may be smaller. With `bucket_by`
                it may be a list: the size of each bucket, of which there is one more
                than boundaries.
            training: shuffle files and records, in another order each epoch, and
                augment; otherwise all records come once, in the order of the files.
            fields: the input fields to deliver; None for all. Others are not parsed.
                A model is built for the same: `build_model(fields=...)`.
            select: which items of lists to read, such as frames of clips, by the name of
                the field: {"frames": {"first": 8}} reads the first eight, {"every": 4}
                every fourth, {"random": 16} as many chosen by chance, in their order in
                time: in training others in each epoch. Or a function of the length, an
                int, that returns positions. Frames that are not selected are not decoded.
                Fields of a group are selected alike.
            shuffle_buffer: how many records are shuffled at a time. A buffer smaller
                than the data only mixes records that are close to each other. None:
                10,000, or 1,024 of a split that was shuffled as a whole when it was
                written.
            seed: makes the order, the augmentation and items that are chosen by chance the
                same in every run.
            repeat: True for epochs without end, or how many epochs.
            cache: keep the serialized records after the first epoch, in memory, or in
                files whose names begin with this path. They end with a digest of the
                data.
            drop_remainder: leave out a last batch that is smaller; with `shard`, also
                batches that another reader does not have.
            pad_to_max_length: pad rows to the length that the schema allows, for
                batches of one shape.
            bucket_by: a field of varying length; records of similar length are batched
                together, which saves padding.
            bucket_boundaries: the lengths at which the next bucket begins.
            shard: (index, count), or a tf.distribute.InputContext: read one part of
                several, which have equally many records: whole files, and parts of
                files where whole ones would not make the parts equal.
            deterministic: False reads records in the order in which files deliver them.
            on_corrupt: "raise" an error that names file, record and field; or "skip"
                corrupt data, and report it at the end of each epoch.
            augment: a function that is applied to the features of each batch when
                training, after the augmentation of the schema. Its second parameter,
                if it has one, is a seed for `tf.image.stateless_...`, int64 [2].
            targets: False leaves out targets and weights, which then need not be in the
                data: elements are the features alone, as `model.predict` takes them.
            info: end each element with a dict of the fields with role info. Not for
                `model.fit`.

        Returns:
            Elements are (features, targets, weights), without what the record does not
            have. Features are a dict by name. A single target is a tensor; several are
            a dict by name.

        Raises:
            DatasetError: nothing is there, files are missing or are not those that were
                written, or options contradict each other.
            SchemaMismatchError: the data was written with an incompatible schema.
            ValueError: a name in `fields` that is not an input field, or one in `select`
                that is not a field.
            TypeError: an option that is not passed by name.
        """
        check_flags(
            training=training,
            drop_remainder=drop_remainder,
            pad_to_max_length=pad_to_max_length,
            deterministic=deterministic,
            targets=targets,
            info=info,
        )
        record = self.record.selecting(select)
        items = SelectedItems(record.select, seed, training)
        batching = batching_of(
            record, batch_size, drop_remainder, bucket_by, bucket_boundaries
        )
        if bucket_by is not None and bucket_by in record.select:
            batching = replace(batching, count=items.counted(bucket_by))
        options = Options(
            batching=batching,
            training=training,
            shuffle_buffer=shuffle_buffer,
            seed=seed,
            repeat=repeat,
            cache=cache,
            shard=shard,
            deterministic=deterministic,
            on_corrupt=on_corrupt,
        )
        learned = (*self.targets, *self.weights)
        delivered = features_for(
            fields, self.features, self.record, targets=learned, info=self.info
        )
        self._check(info, pad_to_max_length, augment)
        wanted = {self.features[name] for name in delivered}
        if targets:
            wanted.update(learned)
        added = self._info_of(wanted) if info else ()
        wanted.update(self.record.sizes.get(name, name) for name in added)
        largest = options.batching.largest
        if largest > 1 and (alone := of_any_size(self.record, wanted)):
            raise DatasetError(
                f"batch_size={largest}: field {alone[0]!r}: images of any size cannot "
                "be batched; declare resize=(height, width) in the schema, or use "
                "batch_size=1"
            )

        random = training and not (self.augmented is None and augment is None)
        roles = Roles(
            delivered,
            self.targets if targets else (),
            self.weights if targets else (),
            added,
            missing_targets(self.record, self.targets),
        )
        elements = Elements(
            roles,
            max_lengths=record.max_lengths if pad_to_max_length else {},
            padding=self.padding,
        )
        components = open_components(source, split, self.spec)
        pipeline = Pipeline(
            options,
            [each.shards for each in components],
            [each.weight for each in components],
            [each.share_of(shard) for each in components],
            Parser(
                items.checked(self.parse_batch, whole=bool(cache)),
                self.record.keys,
                self.record.description(),
                fields=tuple(name for name in self.record.keys if name in wanted),
            ),
            dict if random else elements.of,
            items,
        )
        pipeline.warn_of_no_batch()
        pipeline.warn_of_python()
        # Nothing of ours has to be rewritten for graphs, which takes half a second.
        as_it_is = tf.autograph.experimental.do_not_convert(pipeline.batches)
        batches = as_it_is()
        if random:
            change = self.augmented
            batches = augmented(batches, elements.of, change, augment, seed)
        batches = batches.prefetch(_PREFETCHED).with_options(options.of_dataset())
        return with_plain_errors(batches)

    def _info_of(self, fields: Iterable[str]) -> tuple[str, ...]:
        """Return the info that comes with some fields.

        The size of an image comes with it, and with boxes that are scaled with it.

        Raises:
            DatasetError: there is none.
        """
        sizes = self.record.sizes
        read = {*fields, *self.info}
        codecs = [self.record[name] for name in fields]
        boxes = [each for each in codecs if isinstance(each, NumbersKind)]
        read |= {each.image.name for each in boxes if each.image is not None}
        found = tuple(name for name in self.info if sizes.get(name, name) in read)
        if not found:
            raise DatasetError(
                "info=True: the only info is the size of images that `fields` leaves "
                "out; name one of them, or leave info out"
            )
        return found

    def _check(
        self,
        info: bool,
        pad_to_max_length: bool,
        augment: object,
    ) -> None:
        """Refuse options that are invalid, or that the record has no fields for.

        Raises:
            DatasetError: one is.
        """
        if augment is not None and not callable(augment):
            raise DatasetError(
                f"augment={augment!r}: expected a function of the features; flips and "
                "crops are declared in the schema, as augment=Augment(...) of the image"
            )
        if info and not self.info:
            raise DatasetError(
                "info=True: the record has no field with role info; leave it out"
            )
        if pad_to_max_length and not self.record.max_lengths:
            raise DatasetError(NO_LIMIT)
