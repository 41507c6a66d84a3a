"""The whole way from files to batches, in the order in which things are done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ..codecs.graph import unpadded
from ..codecs.groups import lengths_in
from ..codecs.nesting import first_record, flattened
from ..faults.error_report import Parser
from ..faults.faults import Faults
from ..shared.errors import DatasetError, warn
from ..shared.requirements import tf
from ..sources.finding import Paths
from ..sources.shards import Shards
from ..sources.shares import Share
from ..storage.gfile import is_copied
from ..storage.schema import Spec
from .batching import (
    PARALLEL,
    Lengths,
    Padding,
    bucketed,
    first_of_each,
    joined,
    of_size,
    with_seeds,
)
from .caching import cached
from .catch_parse_errors import Expected, checked, parsed, sifted
from .mixing import mixed
from .options import Options
from .parsed_blocks import LARGEST_ROW, batches_of, fits, shuffled_rows
from .records import read_pieces
from .service import served

# The usual shuffle buffers, in records. The second one is for splits that were shuffled
# as a whole when they were written.
_SHUFFLED, _SHUFFLED_AGAIN = 10_000, 1_024

Batch = dict[str, Any]
Sources = Paths | Mapping[str, float]


@dataclass(frozen=True)
class Pipeline:
    """A dataset to be.

    Attributes:
        options: of `make_dataset`.
        files: of each source.
        weights: of each source.
        shares: what this reader reads of each source.
        parser: how records are parsed.
        lengths: the fields that buckets can be made by.
        padding: what fills up shorter rows.
        arrange: from a parsed batch to an element.
    """

    options: Options
    files: list[Shards]
    weights: list[float]
    shares: list[Share]
    parser: Parser
    lengths: Lengths
    padding: Padding
    arrange: Callable[[Batch], Any]

    @cached_property
    def records(self) -> int | None:
        """How many records an epoch has; None if no one knows."""
        return self.shares[0].records if len(self.files) == 1 else None

    def warn_of_no_batch(self) -> None:
        """Warn where drop_remainder leaves out all records."""
        options, fewest = self.options, self.shares[0].fewest
        if not (options.drop_remainder and self.records) or fewest is None:
            return
        if fewest < options.batch_size:
            part = "" if options.shard is None else " of the smallest part"
            warn(
                f"drop_remainder=True leaves no batch: the {fewest} records{part} are "
                f"fewer than batch_size={options.batch_size}; make the batches smaller"
            )

    def parse(self, serialized: tf.Tensor) -> Batch:
        """Parse string [B]."""
        return flattened(self.parser.parse(serialized, self.parser.fields))

    def element(self, serialized: tf.Tensor) -> Any:
        """Parse string [B] to an element."""
        return self.arrange(self.parse(serialized))

    def batches(self, spec: Spec) -> tf.data.Dataset:
        """Return elements: as many for each of several readers, with drop_remainder."""
        batches = self._all_batches(spec)
        expected, fewest = self._expected(), self.shares[0].fewest
        if not (self.options.drop_remainder and expected and fewest is not None):
            return batches
        least = replace(expected, records=fewest)
        if least.in_epoch == expected.in_epoch or self.options.on_corrupt == "skip":
            return batches
        kept = first_of_each(batches, least.in_epoch, expected.in_epoch)
        return kept.apply(tf.data.experimental.assert_cardinality(least.count))

    def _all_batches(self, spec: Spec) -> tf.data.Dataset:
        options = self.options
        faults = Faults(
            self.files,
            self.parser,
            options.on_corrupt,
            options.batch_size,
            counted=self._expected() is not None,
        )
        if options.service is not None:
            return self._distributed(faults)
        if options.cache_decoded:
            return self._repeated(self._decoded_once(faults, spec))
        if options.cache or faults.skips:
            return self._repeated(self._checked_first(faults))
        batches = self._in_blocks(faults)
        if batches is None:
            records = self._shuffled(self._records(faults))
            vectors = self._repeated(self._vectors(records))
            expected = self._expected()
            batches = parsed(vectors, self.element, faults, expected)
            if expected is None and options.drop_remainder:
                batches = of_size(batches, options.batch_size)
        return self._counted(faults.ended(batches))

    def _records(
        self, faults: Faults | None, *, check: bool = False
    ) -> tf.data.Dataset:
        """Return serialized records, string scalars; only those that can be parsed, or
        an error, if they are to be checked before anything else is done with them.
        """
        seed = self.options.reading_seed
        streams = []
        for number, (files, share) in enumerate(
            zip(self.files, self.shares, strict=True)
        ):
            pieces = read_pieces(
                files,
                share,
                faults,
                shuffle=self.options.training,
                seed=None if seed is None else seed + number,
            )
            if check and faults is not None:
                filter_ = sifted if faults.skips else checked
                pieces = filter_(pieces, self.parse, faults)
            streams.append(pieces.unbatch())
        if len(streams) == 1:
            return streams[0]
        return mixed(streams, self.weights, seed)

    def _vectors(self, records: tf.data.Dataset) -> tf.data.Dataset:
        """Return batches of serialized records: string [B]."""
        options = self.options
        if options.bucket_by is None:
            return records.batch(
                options.batch_size, drop_remainder=options.drop_remainder
            )
        codec = self.lengths[options.bucket_by]
        return bucketed(
            records,
            lambda serialized: lengths_in(serialized, codec),
            options.bucket_boundaries,
            options.batch_size,
            options.drop_remainder,
        )

    def _in_blocks(self, faults: Faults) -> tf.data.Dataset | None:
        """Return batches of small records, shuffled as parsed rows, or None for others."""
        options = self.options
        total, size = self.records, self.files[0].record_bytes
        usual = options.bucket_by is None and options.training
        if not usual or total is None or size > LARGEST_ROW:
            return None
        buffer = max(1, min(self._buffer(), total))
        rows = -(-buffer // options.batch_size) * options.batch_size
        with unpadded():
            parse = tf.function(
                self.parse, [tf.TensorSpec((None,), tf.string)], autograph=False
            ).get_concrete_function()
        specs = parse.structured_outputs
        if not fits(specs, size):
            return None
        vectors = self._repeated(self._records(faults).batch(rows))
        blocks = parsed(
            with_seeds(vectors, options.seed),
            lambda serialized, seed: shuffled_rows(parse(serialized), seed),
            faults,
            Expected(total, rows, options.epochs),
            parallel=1,
        )
        return batches_of(
            blocks,
            specs,
            options.batch_size,
            self.padding,
            self.arrange,
            drop_remainder=options.drop_remainder,
        )

    def _checked_first(self, faults: Faults) -> tf.data.Dataset:
        """Return batches of one epoch whose records were checked before they are kept.

        A cache that is complete although something could not be read would be wrong
        for ever.
        """
        options = self.options
        records = self._records(faults, check=True)
        if options.cache:
            whole = self._of_one_epoch(records, faults)
            records = cached(whole, options.cache, self._contents())
        vectors = self._vectors(self._shuffled(records))
        batches = vectors.map(self.element, PARALLEL)
        return batches if options.cache else faults.ended(batches)

    def _decoded_once(self, faults: Faults, spec: Spec) -> tf.data.Dataset:
        """Return batches of one epoch, of records that are kept after parsing."""
        options = self.options
        one = self._records(faults, check=faults.skips).batch(1)
        if faults.skips:
            one = one.map(self.parse, PARALLEL)
        else:
            total = self.records
            expected = None if total is None else Expected(total, 1)
            one = parsed(one, self.parse, faults, expected)
        contents = (*self._contents(), spec, self.parser.fields)
        whole = self._of_one_epoch(one.map(first_record), faults)
        decoded = cached(whole, options.cache or True, contents)
        batches = joined(
            self._shuffled(decoded),
            options.batch_size,
            options.drop_remainder,
            self.padding,
            one.element_spec,
        )
        return batches.map(self.arrange, PARALLEL)

    def _expected(self) -> Expected | None:
        """Return how many batches there are in all epochs, or None if no one knows."""
        options = self.options
        if self.records is None or options.bucket_by is not None:
            return None
        return Expected(
            self.records, options.batch_size, options.epochs, options.drop_remainder
        )

    def _counted(self, batches: tf.data.Dataset) -> tf.data.Dataset:
        expected = self._expected()
        if expected is None:
            return batches
        return batches.apply(tf.data.experimental.assert_cardinality(expected.count))

    def _contents(self) -> tuple[object, ...]:
        """Return all that says which records are read, and in which order."""
        options = self.options
        digests = tuple(files.digest for files in self.files)
        order = (self.weights, options.training, options.deterministic)
        return (*digests, *order, *self.shares, options.on_corrupt)

    def _buffer(self) -> int:
        """Return how many records are shuffled at a time."""
        if self.options.shuffle_buffer is not None:
            return self.options.shuffle_buffer
        shuffled = all(files.shuffled for files in self.files)
        return _SHUFFLED_AGAIN if shuffled else _SHUFFLED

    def _shuffled(self, dataset: tf.data.Dataset) -> tf.data.Dataset:
        if not self.options.training:
            return dataset
        return dataset.shuffle(self._buffer(), seed=self.options.order_seed)

    def _repeated(self, dataset: tf.data.Dataset) -> tf.data.Dataset:
        """Repeat whole epochs: before parsing, it goes on without a pause."""
        if not self.options.repeat:
            return dataset
        return dataset.repeat(self.options.epochs)

    def _distributed(self, faults: Faults) -> tf.data.Dataset:
        """Let the workers of a service do all that comes before.

        They run no Python, so that the reader sees whether files were replaced.

        Raises:
            DatasetError: files are behind URLs that TensorFlow does not open.
        """
        options = self.options
        for path in (path for files in self.files for path in files.paths):
            if is_copied(path):
                raise DatasetError(
                    f"service={options.service!r}: its workers run TensorFlow alone, "
                    f"which has no file system for {path}; copy the data to a directory "
                    "that all workers see, or read it with shard= instead of service="
                )
        records = self._shuffled(self._records(None))
        # Records that fill no batch are left out by the reader, which counts them.
        whole = replace(self, options=replace(options, drop_remainder=False))
        batches = whole._vectors(records).map(
            lambda serialized: (
                tf.size(serialized, tf.int64),
                self.element(serialized),
            ),
            PARALLEL,
        )
        found = served(
            batches,
            str(options.service),
            faults,
            records=self.records,
            timeout=options.service_timeout,
        )
        if options.drop_remainder:
            found = found.filter(lambda size, _: size == options.batch_size)
        found = found.map(lambda _, element: element)
        if options.drop_remainder:
            found = of_size(found, options.batch_size)
        return self._repeated(faults.unchanged(found).concatenate(found))

    def _of_one_epoch(
        self, records: tf.data.Dataset, faults: Faults
    ) -> tf.data.Dataset:
        """Return records that say how many they are, if someone knows."""
        whole = faults.ended(records)
        if self.records is None or faults.skips:
            return whole
        return whole.apply(tf.data.experimental.assert_cardinality(self.records))
