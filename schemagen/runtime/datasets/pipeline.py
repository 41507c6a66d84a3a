"""The whole way from files to batches, in the order in which things are done."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..parsing.groups import row_lengths
from ..parsing.nesting import first_record
from ..shared.errors import DatasetError
from ..shared.requirements import tf
from ..storage.schema import Spec
from .batching import Lengths, Padding, bucketed, check_buckets, joined
from .caching import Cache, cached, check_cache
from .catch_parse_errors import PARALLEL, parsed, reported, sifted
from .error_report import Parser
from .faults import Faults, OnCorrupt
from .files import Files, Source, find_files
from .mixing import check_weights, mixed
from .records import read_records
from .replacement import as_opened
from .sharing import Shard, numbers_of

_PREFETCHED = 2

Batch = dict[str, Any]
Augment = Callable[..., Any]
Sources = Source | Mapping[str, float]


@dataclass(frozen=True)
class Pipeline:
    """The options of `make_dataset`, which says what each of them means.

    Attributes:
        batch_size: records in a batch.
        training: whether to shuffle and augment.
        shuffle_buffer: how many serialized records are shuffled at a time.
        seed: of all that is random.
        repeat: whether, or how often, to start again at the end.
        cache: memory or a file.
        cache_decoded: whether what is kept has been parsed.
        drop_remainder: whether a last batch that is smaller is left out.
        bucket_by: the field whose length decides about batches.
        bucket_boundaries: the lengths at which the next bucket begins.
        shard: which of several readers this is.
        service: the address of a tf.data service.
        deterministic: whether the order is the same in every run.
        on_corrupt: what becomes of what cannot be read.
    """

    batch_size: int
    training: bool = False
    shuffle_buffer: int = 10_000
    seed: int | None = None
    repeat: bool | int = False
    cache: Cache = False
    cache_decoded: bool = False
    drop_remainder: bool = False
    bucket_by: str | None = None
    bucket_boundaries: tuple[int, ...] = ()
    shard: Shard | None = None
    service: str | None = None
    deterministic: bool = True
    on_corrupt: OnCorrupt = "raise"

    def dataset(
        self,
        sources: Sources,
        split: str | None,
        spec: Spec,
        parser: Parser,
        arrange: Callable[[Batch], Any],
        *,
        change: Callable[[Batch, tf.Tensor], Batch] | None = None,
        augment: Augment | None = None,
        lengths: Lengths | None = None,
        padding: Padding | None = None,
    ) -> tf.data.Dataset:
        """Make the dataset.

        Args:
            sources: where records are read from, or several with their weights.
            split: which split of a directory.
            spec: the reader's own spec.
            parser: how records are parsed.
            arrange: from a parsed batch to an element.
            change: the augmentation that the schema declares.
            augment: what the user wants to be done to features in addition.
            lengths: the fields that buckets can be made by.
            padding: what fills up shorter rows.

        Raises:
            DatasetError: nothing there, files that are not whole, or options that
                contradict each other.
            SchemaMismatchError: data of an incompatible schema.
        """
        self._check(sources, lengths or {})
        random = self.training and not (change is None and augment is None)
        # Nothing of ours has to be rewritten for graphs, which takes half a second.
        as_it_is = tf.autograph.experimental.do_not_convert(self._parsed)
        batches = as_it_is(
            sources,
            split,
            spec,
            parser,
            None if random else arrange,
            lengths or {},
            padding or {},
        )
        if random:
            batches = self._augmented(batches, arrange, change, augment)
        return batches.prefetch(_PREFETCHED).with_options(self._options())

    def _parsed(
        self,
        sources: Sources,
        split: str | None,
        spec: Spec,
        parser: Parser,
        arrange: Callable[[Batch], Any] | None,
        lengths: Lengths,
        padding: Padding,
    ) -> tf.data.Dataset:
        """Return parsed batches, which have yet to be arranged if `arrange` is None."""
        weights = _weights(sources)
        found = [find_files(source, split, spec) for source in weights]
        faults = None
        if self.service is None:
            paths = [path for files in found for path in files.paths]
            faults = Faults(paths, parser, self.on_corrupt)
        shares = list(weights.values())
        record_bytes = max(files.record_bytes for files in found)
        records = self._records(found, shares, faults)

        def parse(serialized: tf.Tensor) -> Batch:
            return dict(parser.parse(serialized, parser.fields))

        def parse_all(serialized: tf.Tensor) -> Any:
            batch = parse(serialized)
            return batch if arrange is None else arrange(batch)

        if self.cache and not self.cache_decoded:
            records = cached(records, self.cache, self._contents(found, shares))
        if self.cache_decoded:
            one = parsed(records.batch(1), parse, faults, size=record_bytes)
            contents = (*self._contents(found, shares), spec, parser.fields)
            decoded = cached(one.map(first_record), self.cache or True, contents)
            batches = joined(
                self._shuffled(decoded),
                self.batch_size,
                self.drop_remainder,
                padding,
                one.element_spec,
            )
            batches = self._repeated(batches, faults)
            batches = batches if arrange is None else batches.map(arrange, PARALLEL)
        else:
            records = self._shuffled(records)
            batches = self._batches(records, parse, lengths, faults, record_bytes)
            batches = self._repeated(batches, faults)
            batches = parsed(
                batches,
                parse_all,
                faults,
                size=self.batch_size * record_bytes,
                complete=self.drop_remainder,
            )
        if faults is None:
            return self._distributed(batches, found)
        return reported(batches, faults)

    def _records(
        self, found: list[Files], weights: list[float], faults: Faults | None
    ) -> tf.data.Dataset:
        seed = self._reading_seed
        streams = [
            read_records(
                files,
                faults,
                shuffle=self.training,
                seed=None if seed is None else seed + number,
                shard=self.shard,
                counted=self.service is None,
            )
            for number, files in enumerate(found)
        ]
        if len(streams) == 1:
            return streams[0]
        return mixed(streams, weights, seed)

    @property
    def _reading_seed(self) -> int | None:
        """The seed of what comes before a cache.

        A cache serves any later reader, with whatever seed.
        """
        return 0 if self.cache or self.cache_decoded else self._order_seed

    @property
    def _order_seed(self) -> int | None:
        """The seed of the order.

        Workers of a service begin again in each epoch, which would then all be alike.
        """
        return None if self.service is not None else self.seed

    def _contents(self, found: list[Files], weights: list[float]) -> tuple[object, ...]:
        """Return all that says which records are read, and in which order."""
        digests = tuple(files.digest for files in found)
        order = (weights, self.training, self.deterministic)
        return (*digests, *order, numbers_of(self.shard), self.on_corrupt)

    def _shuffled(self, dataset: tf.data.Dataset) -> tf.data.Dataset:
        if not self.training:
            return dataset
        return dataset.shuffle(self.shuffle_buffer, seed=self._order_seed)

    def _batches(
        self,
        records: tf.data.Dataset,
        parse: Callable[[tf.Tensor], Batch],
        lengths: Lengths,
        faults: Faults | None,
        record_bytes: int,
    ) -> tf.data.Dataset:
        if faults is not None and faults.skips and self.drop_remainder:
            # A batch that lost a record would not be full.
            records = sifted(records, parse, faults, record_bytes)
        if self.bucket_by is None:
            return records.batch(self.batch_size, drop_remainder=self.drop_remainder)
        member, description = lengths[self.bucket_by]
        return bucketed(
            records,
            lambda serialized: row_lengths(serialized, member, description),
            self.bucket_boundaries,
            self.batch_size,
            self.drop_remainder,
            faults,
            record_bytes,
        )

    def _repeated(
        self, batches: tf.data.Dataset, faults: Faults | None
    ) -> tf.data.Dataset:
        """Repeat whole epochs, before parsing, which then goes on without a pause."""
        if not self.repeat or self.service is not None:
            return batches
        if faults is not None:
            batches = reported(batches, faults)
        return batches.repeat(self._epochs)

    @property
    def _epochs(self) -> int | None:
        """How many epochs there are; None for no end."""
        return None if self.repeat is True else int(self.repeat)

    def _distributed(
        self, batches: tf.data.Dataset, found: list[Files]
    ) -> tf.data.Dataset:
        """Let the workers of a service do all that comes before.

        They run no Python, so that the reader sees whether files were replaced.
        """
        batches = batches.apply(
            tf.data.experimental.service.distribute(
                tf.data.experimental.service.ShardingPolicy.DYNAMIC, self.service
            )
        )
        check = as_opened(found).flat_map(lambda _: batches.take(0))
        batches = check.concatenate(batches).concatenate(check)
        if not self.repeat:
            return batches
        return batches.repeat(self._epochs)

    def _augmented(
        self,
        batches: tf.data.Dataset,
        arrange: Callable[[Batch], Any],
        change: Callable[[Batch, tf.Tensor], Batch] | None,
        augment: Augment | None,
    ) -> tf.data.Dataset:
        seeds = tf.data.Dataset.random(self.seed, rerandomize_each_iteration=True)
        takes_seed = augment is not None and len(_parameters(augment)) > 1

        def changed(batch: Batch, seed: tf.Tensor) -> Any:
            element = arrange(batch if change is None else change(batch, seed))
            if augment is None:
                return element
            # Draws of the user's own, not those that the schema's were made with.
            own = (seed + 1,) if takes_seed else ()
            if isinstance(element, tuple):
                return (_features(augment(element[0], *own)), *element[1:])
            return _features(augment(element, *own))

        pairs = tf.data.Dataset.zip((batches, seeds.batch(2)))
        return pairs.map(changed, PARALLEL)

    def _options(self) -> tf.data.Options:
        """Return how strategies divide the dataset, and whether order matters.

        Strategies are not to divide it by files, as they would by themselves: the
        number of records that the manifest lists would not be right for a part.
        """
        policy = tf.data.experimental.AutoShardPolicy
        options = tf.data.Options()
        options.deterministic = self.deterministic
        # It would take a sixth of the time of small records, to find what is known.
        options.autotune.enabled = False
        # What is called in Python has none that an iterator's checkpoint would miss.
        options.experimental_external_state_policy = (
            tf.data.experimental.ExternalStatePolicy.IGNORE
        )
        options.experimental_distribute.auto_shard_policy = (
            policy.DATA if self.shard is None else policy.OFF
        )
        return options

    def _check(self, sources: Sources, lengths: Lengths) -> None:
        """Refuse options that are invalid or contradict each other."""
        for name in ("batch_size", "shuffle_buffer"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise DatasetError(f"{name}={value!r}: expected a positive int")
        if self.seed is not None and type(self.seed) is not int:
            raise DatasetError(f"seed={self.seed!r}: expected an int, or None")
        check_cache(self.cache)
        check_buckets(self.bucket_by, self.bucket_boundaries, lengths)
        if type(self.repeat) is not bool and not (
            isinstance(self.repeat, int) and self.repeat > 0
        ):
            raise DatasetError(
                f"repeat={self.repeat!r}: expected True, False or how many epochs"
            )
        if self.cache_decoded and self.bucket_by is not None:
            raise DatasetError("cache_decoded=True with bucket_by: choose one of them")
        if self.service is None:
            return
        if not str(self.service).startswith("grpc://"):
            raise DatasetError(
                f"service={self.service!r}: expected the dispatcher's address, such as "
                "'grpc://localhost:5000'"
            )
        others = {
            "shard": self.shard is not None,
            "cache": bool(self.cache) or self.cache_decoded,
            "on_corrupt='skip'": self.on_corrupt == "skip",
            "a mixture of sources": isinstance(sources, Mapping),
        }
        for what, given in others.items():
            if given:
                raise DatasetError(
                    f"service={self.service!r} with {what}: the service divides the "
                    "records among its workers by itself, again in each epoch"
                )


def _weights(sources: Sources) -> dict[Any, float]:
    if not isinstance(sources, Mapping):
        one = isinstance(sources, (str, os.PathLike))
        return {sources if one else tuple(sources): 1.0}  # type: ignore[arg-type]
    check_weights(sources)
    return dict(sources)


def _features(found: Any) -> Any:
    """Return what `augment` has returned, which has to be a dict of features."""
    if not isinstance(found, Mapping):
        raise TypeError(
            f"augment has returned {type(found).__name__}, expected a dict of features; "
            "its second parameter, if it has one, is a seed"
        )
    return found


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters that have to be given by position."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of a builtin: it takes features
        return []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [
        parameter
        for parameter in parameters
        if parameter.kind in kinds and parameter.default is parameter.empty
    ]
