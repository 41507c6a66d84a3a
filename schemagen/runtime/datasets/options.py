"""The options of `make_dataset` that decide how records are read and batched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..codecs.records import RecordCodec
from ..faults.faults import OnCorrupt
from ..shared.errors import DatasetError
from ..shared.requirements import tf
from ..sources.shares import ShareIndex
from .batching import Lengths, check_buckets
from .caching import Cache, check_cache

SERVICE_TIMEOUT = 600
"""The default number of seconds that a reader waits for a batch of a service."""


_UNBATCHED = (
    "; for single records call `.unbatch()` on the dataset, or map `parse_example` of "
    "parser.py over a tf.data.TFRecordDataset"
)


@dataclass(frozen=True)
class Options:
    """Options of `make_dataset`, which says what each of them means."""

    batch_size: int
    training: bool = False
    shuffle_buffer: int | None = None
    seed: int | None = None
    repeat: bool | int = False
    cache: Cache = False
    cache_decoded: bool = False
    drop_remainder: bool = False
    bucket_by: str | None = None
    bucket_boundaries: tuple[int, ...] = ()
    shard: ShareIndex | None = None
    service: str | None = None
    service_timeout: int = SERVICE_TIMEOUT
    deterministic: bool = True
    on_corrupt: OnCorrupt = "raise"

    @property
    def epochs(self) -> int | None:
        """How many epochs there are; None for no end."""
        return None if self.repeat is True else int(self.repeat or 1)

    @property
    def order_seed(self) -> int | None:
        """The seed of the order.

        Workers of a service begin again in each epoch, which would then all be alike.
        """
        return None if self.service is not None else self.seed

    @property
    def reading_seed(self) -> int | None:
        """The seed of what comes before a cache, which serves readers of any seed."""
        return 0 if self.cache or self.cache_decoded else self.order_seed

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
        if self.service is not None:
            # The end of a dataset waits for the thread that tunes, which wakes up ever
            # more seldom, and an epoch of a service has several such ends.
            options.autotune.enabled = False
        return options

    def check(self, sources: Any, lengths: Lengths, record: RecordCodec) -> None:
        """Refuse options that are invalid or contradict each other.

        Args:
            sources: as `make_dataset` takes them.
            lengths: the fields that buckets can be made by.
            record: the codecs of all fields.

        Raises:
            DatasetError: some are.
        """
        for name, value in {
            "batch_size": self.batch_size,
            "shuffle_buffer": 1 if self.shuffle_buffer is None else self.shuffle_buffer,
            "service_timeout": self.service_timeout,
        }.items():
            if type(value) is not int or value < 1:
                unbatched = name == "batch_size" and value is None
                advice = _UNBATCHED if unbatched else ""
                raise DatasetError(f"{name}={value!r}: expected a positive int{advice}")
        if self.seed is not None and type(self.seed) is not int:
            raise DatasetError(f"seed={self.seed!r}: expected an int, or None")
        check_cache(self.cache)
        check_buckets(self.bucket_by, self.bucket_boundaries, lengths, record)
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
