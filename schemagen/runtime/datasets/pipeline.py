"""The whole way from files to batches, in the order in which things are done.

Caches, in memory or in files, are never those of other data.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ..faults.error_report import Parser
from ..faults.faults import Faults
from ..records.nesting import flattened
from ..shared.errors import DatasetError, warn
from ..shared.options import RaiseOrSkip, check_choice
from ..shared.requirements import tf
from ..sources.shards import Shards
from ..sources.shares import Share, ShareIndex
from .batching import PARALLEL, Batching, first_of_each, of_size
from .parsing import ExpectedBatches, checked, parsed, sifted
from .records import mixed, read_records
from .selecting import SelectedItems
from .transformations import mapped_to_any

Cache = bool | str | os.PathLike[str]

# The usual shuffle buffers, in records. The second one is for splits that were shuffled
# as a whole when they were written.
_SHUFFLED, _SHUFFLED_AGAIN = 10_000, 1_024

Batch = dict[str, Any]


def check_cache(cache: object) -> None:
    """Refuse what is neither True or False nor a path.

    Raises:
        DatasetError: it is neither.
    """
    path = isinstance(cache, (str, os.PathLike)) and os.fspath(cache)
    if not isinstance(cache, bool) and not path:
        raise DatasetError(
            f"cache={cache!r}: expected True, for memory, or the path of a file"
        )


def cached(
    dataset: tf.data.Dataset, cache: Cache, contents: Sequence[object]
) -> tf.data.Dataset:
    """Keep what a dataset delivers in its first epoch.

    TensorFlow reads a cache's file regardless of who wrote it and of the data.
    So the file's name ends with a digest of all that its content depends on.

    Args:
        dataset: of anything.
        cache: True for memory, or the path that names of files begin with.
        contents: all that the content depends on; `repr` has to tell it.

    Raises:
        DatasetError: there can be no file at such a path.
    """
    if isinstance(cache, bool):
        return dataset.cache()
    digest = hashlib.sha256(repr(tuple(contents)).encode()).hexdigest()[:16]
    path = f"{os.fspath(cache)}-{digest}"
    directory = os.path.dirname(path)
    try:
        if directory:
            tf.io.gfile.makedirs(directory)
    except tf.errors.OpError as error:
        raise DatasetError(f"cache={cache!r}: {error.message}") from None
    return dataset.cache(path)


@dataclass(frozen=True)
class Options:
    """Options of `make_dataset`, which says what each of them means."""

    batching: Batching
    training: bool
    shuffle_buffer: int | None
    seed: int | None
    repeat: bool | int
    cache: Cache
    shard: ShareIndex | None
    deterministic: bool
    on_corrupt: RaiseOrSkip

    def __post_init__(self) -> None:
        """Refuse options that are invalid.

        Raises:
            DatasetError: one is.
        """
        buffer, seed, repeat = self.shuffle_buffer, self.seed, self.repeat
        if buffer is not None and (type(buffer) is not int or buffer < 1):
            raise DatasetError(f"shuffle_buffer={buffer!r}: expected a positive int")
        if seed is not None and type(seed) is not int:
            raise DatasetError(f"seed={seed!r}: expected an int, or None")
        if type(repeat) is not bool and not (isinstance(repeat, int) and repeat > 0):
            raise DatasetError(
                f"repeat={repeat!r}: expected True, False or how many epochs"
            )
        check_choice("on_corrupt", self.on_corrupt, RaiseOrSkip)
        check_cache(self.cache)

    @property
    def epochs(self) -> int | None:
        """How many epochs there are; None for no end."""
        return None if self.repeat is True else int(self.repeat or 1)

    @property
    def reading_seed(self) -> int | None:
        """The seed of what comes before a cache, which serves readers of any seed."""
        return 0 if self.cache else self.seed

    def of_dataset(self) -> tf.data.Options:
        """Return how strategies divide the dataset, and whether order matters.

        Strategies are not to divide it by files, as they would by themselves: the
        number of records that the manifest lists would not be right for a part.
        """
        policy = tf.data.experimental.AutoShardPolicy
        options = tf.data.Options()
        options.deterministic = bool(self.deterministic)
        # What is called in Python has none that an iterator's checkpoint would miss.
        options.experimental_external_state_policy = (
            tf.data.experimental.ExternalStatePolicy.IGNORE
        )
        options.experimental_distribute.auto_shard_policy = (
            policy.DATA if self.shard is None else policy.OFF
        )
        return options


@dataclass(frozen=True)
class Pipeline:
    """A dataset to be.

    Attributes:
        options: of `make_dataset`.
        files: of each source.
        weights: of each source.
        shares: what this reader reads of each source.
        parser: how records are parsed.
        arrange: from a parsed batch to an element.
        items: which items of lists are read.
    """

    options: Options
    files: list[Shards]
    weights: list[float]
    shares: list[Share]
    parser: Parser
    arrange: Callable[[Batch], Any]
    items: SelectedItems

    @cached_property
    def records(self) -> int | None:
        """How many records an epoch has; None if no one knows."""
        return self.shares[0].records if len(self.files) == 1 else None

    @cached_property
    def expected(self) -> ExpectedBatches | None:
        """How many batches there are in all epochs; None if no one knows."""
        options, batching = self.options, self.options.batching
        if self.records is None or batching.by is not None:
            return None
        return ExpectedBatches(
            self.records, batching.largest, options.epochs, batching.drop_remainder
        )

    @cached_property
    def faults(self) -> Faults:
        """What becomes of what cannot be read."""
        return Faults(
            self.files,
            self.parser,
            self.options.on_corrupt,
            self.options.batching.largest,
            counted=self.expected is not None,
        )

    def warn_of_no_batch(self) -> None:
        """Warn where drop_remainder leaves out all records."""
        batching, fewest = self.options.batching, self.shares[0].fewest
        if not (batching.drop_remainder and self.records) or fewest is None:
            return
        smallest = min(batching.sizes)
        if fewest < smallest:
            part = "" if self.options.shard is None else " of the smallest part"
            warn(
                f"drop_remainder=True leaves no batch: the {fewest} records{part} are "
                f"fewer than batch_size={smallest}; make the batches smaller"
            )

    def warn_of_python(self) -> None:
        """Warn where Python reads files because TensorFlow does not know the compression."""
        for files in self.files:
            if name := files.not_in_tensorflow:
                warn(
                    f"TensorFlow does not read {name}: Python reads the files, which is "
                    "slower; if reading limits the training, use open_split, or write "
                    "the split without compression or with GZIP"
                )

    def batches(self) -> tf.data.Dataset:
        """Return elements: as many for each of several readers, with drop_remainder."""
        options, expected = self.options, self.expected
        batches = (
            self._checked_first()
            if options.cache or self.faults.skips
            else self._parsed()
        )
        fewest = self.shares[0].fewest
        if expected is None or not expected.drop_remainder or fewest is None:
            return batches
        least = replace(expected, records=fewest)
        if least.in_epoch == expected.in_epoch or self.faults.skips:
            return batches
        kept = first_of_each(batches, least.in_epoch, expected.in_epoch)
        return kept.apply(tf.data.experimental.assert_cardinality(least.count))

    def _parse(self, serialized: tf.Tensor) -> Batch:
        """Parse string [B]."""
        return flattened(self.parser.parse(serialized, self.parser.fields))

    def _element(self, serialized: tf.Tensor, *seed: tf.Tensor) -> Any:
        """Parse string [B] to an element, given a seed if items are chosen by chance."""
        fields = self.items.of(self.parser.fields, *seed)
        return self.arrange(flattened(self.parser.parse(serialized, fields)))

    def _parsed(self) -> tf.data.Dataset:
        """Return batches of all epochs."""
        batching, expected = self.options.batching, self.expected
        batches = batching.batches(self._shuffled(self._records()))
        parse, more = (self._element, self.faults), self.items.seeds
        if expected is not None:
            # Repeated before they are parsed, epochs follow each other without a pause.
            repeated = self._repeated(batches)
            found = parsed(repeated, *parse, expected, *more)
            return found.apply(tf.data.experimental.assert_cardinality(expected.count))
        found = self._repeated(parsed(batches, *parse, None, *more))
        size = batching.only_size
        return found if size is None else of_size(found, size)

    def _checked_first(self) -> tf.data.Dataset:
        """Return batches of records that are parsed before they are kept, and again.

        A cache that is complete although something could not be read would be wrong
        for ever.
        """
        options, faults = self.options, self.faults
        check = sifted if faults.skips else checked
        records = self._records(lambda pieces: check(pieces, self._parse, faults))
        if options.cache:
            whole = faults.ended(records) if faults.skips else self._counted(records)
            records = cached(whole, options.cache, self._contents())
        batches = options.batching.batches(self._shuffled(records))
        if self.items.seeds:
            batches = tf.data.Dataset.zip((batches, *self.items.seeds))
        elements = mapped_to_any(batches, self._element, PARALLEL)
        if faults.skips and not options.cache:
            elements = faults.ended(elements)
        return self._repeated(elements)

    def _records(
        self, check: Callable[[tf.data.Dataset], tf.data.Dataset] | None = None
    ) -> tf.data.Dataset:
        """Return the serialized records of an epoch, string scalars.

        Args:
            check: leaves out records that cannot be parsed, or raises an error.
        """
        options = self.options
        seed = options.reading_seed
        ends = (
            check is None and self.expected is not None and options.repeat is not True
        )
        streams = [
            read_records(
                files,
                share,
                self.faults,
                check=check,
                shuffle=options.training,
                seed=None if seed is None else seed + number,
                attempts_end=ends and not options.training,
            )
            for number, (files, share) in enumerate(
                zip(self.files, self.shares, strict=True)
            )
        ]
        return streams[0] if len(streams) == 1 else mixed(streams, self.weights, seed)

    def _counted(self, records: tf.data.Dataset) -> tf.data.Dataset:
        """Return records that say how many they are, if someone knows."""
        if self.records is None:
            return records
        return records.apply(tf.data.experimental.assert_cardinality(self.records))

    def _contents(self) -> tuple[object, ...]:
        """Return all that says which records are read, and in which order."""
        options = self.options
        digests = tuple(files.digest for files in self.files)
        order = (self.weights, options.training, options.deterministic)
        return (*digests, *order, *self.shares, options.on_corrupt)

    def _shuffled(self, records: tf.data.Dataset) -> tf.data.Dataset:
        options = self.options
        if not options.training:
            return records
        shuffled = all(files.shuffled for files in self.files)
        buffer = _SHUFFLED_AGAIN if shuffled else _SHUFFLED
        return records.shuffle(options.shuffle_buffer or buffer, seed=options.seed)

    def _repeated(self, batches: tf.data.Dataset) -> tf.data.Dataset:
        """Repeat whole epochs."""
        if not self.options.repeat:
            return batches
        return batches.repeat(self.options.epochs)
