"""Parsing vectors of records, some of which cannot be read or parsed.

A graph cannot catch an error, but a dataset can leave out an element that fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..codecs.graph import refuse_unless
from ..faults.calls import after
from ..faults.faults import Faults
from ..shared.requirements import tf
from .batching import PARALLEL

Parse = Callable[..., Any]

_MOST = 2**62


@dataclass(frozen=True)
class Expected:
    """The vectors of the records, if all is well.

    Attributes:
        records: in an epoch.
        size: records in a vector, but for the last one of an epoch.
        epochs: how many of them; None for no end.
        drop_remainder: whether a last vector that is smaller is left out.
    """

    records: int
    size: int
    epochs: int | None = 1
    drop_remainder: bool = False

    @property
    def count(self) -> int:
        """How many vectors there are in all."""
        return (
            tf.data.INFINITE_CARDINALITY
            if self.epochs is None
            else self.in_epoch * self.epochs
        )

    @property
    def in_epoch(self) -> int:
        """How many there are in each epoch."""
        full, rest = divmod(self.records, self.size)
        return full + (rest > 0 and not self.drop_remainder)

    def check(self, number: tf.Tensor, vector: tf.Tensor) -> list[tf.Operation]:
        """Refuse a vector, by its number, that has not as many records as it should."""
        before = number % max(1, self.in_epoch) * self.size
        size = tf.minimum(self.records - before, self.size)
        found = tf.size(vector, tf.int64)
        return refuse_unless(found == size, "not as many records as are listed")


def parsed(
    vectors: tf.data.Dataset,
    parse: Parse,
    faults: Faults,
    expected: Expected | None = None,
    *,
    parallel: int = PARALLEL,
) -> tf.data.Dataset:
    """Parse vectors of records, or raise an error that says what is wrong with the data.

    Vectors are numbered, and one that cannot be read or parsed is left out. So a number
    is missing, or the end is. Only then Python reads the files again, and says in an
    error what is wrong in them.

    Args:
        vectors: string [N], or tuples that begin with such.
        parse: from such an element to another one.
        faults: says what is wrong.
        expected: how many vectors there are, and of which size; None if no one knows.
        parallel: how many are parsed at a time.

    Returns:
        What `parse` returns, in order.
    """
    last: Any = tf.data.Dataset.from_tensors(False).repeat()
    marked = tf.data.Dataset.zip((vectors, last))
    if expected is None:
        # Any record will do, if it can be parsed; not all kinds can be without one.
        record = faults.any_record()
        if record is None:
            return vectors.map(parse)
        end = tf.data.Dataset.from_tensors((tf.constant([record]), True))
        marked = marked.concatenate(end)

    def attempt(number: tf.Tensor, marked: Any) -> Any:
        vector, last = marked
        columns = tf.nest.flatten(vector)
        checks = expected.check(number, columns[0]) if expected else []
        with tf.control_dependencies(checks):
            return number, last, parse(*columns)

    # The order says which one is missing, even if the dataset's need not be kept.
    attempts = marked.enumerate().map(attempt, parallel, deterministic=True)
    numbers = tf.data.Dataset.range(_MOST)
    pairs = tf.data.Dataset.zip((numbers, attempts.ignore_errors()))
    unbroken = pairs.take_while(lambda number, attempt: number == attempt[0])
    reported = tf.data.Dataset.range(1).flat_map(
        lambda _: after(faults.reported(), unbroken)
    )
    found = unbroken.concatenate(reported)
    if expected is None:
        found = found.take_while(lambda _, attempt: ~attempt[1])
    elif expected.epochs is not None:
        found = found.take(expected.count)
    return found.map(lambda _, attempt: attempt[2])


def checked(pieces: tf.data.Dataset, parse: Parse, faults: Faults) -> tf.data.Dataset:
    """See that records can be parsed: vectors of records, or an error like `parsed`'s."""
    return parsed(pieces, _checking(parse), faults)


def sifted(pieces: tf.data.Dataset, parse: Parse, faults: Faults) -> tf.data.Dataset:
    """Leave out records that cannot be parsed: vectors of records, to be parsed again.

    Each piece is a dataset of its own: where parsing it fails, it is left out, and its
    records are looked at one by one. That costs more than `parsed` does.
    """
    check = _checking(parse)

    def attempt(piece: tf.Tensor) -> tf.data.Dataset:
        one = tf.data.Dataset.from_tensors(piece)
        return (
            one.map(check).ignore_errors().concatenate(one.map(faults.sifted)).take(1)
        )

    return pieces.interleave(
        attempt, cycle_length=PARALLEL, num_parallel_calls=PARALLEL
    )


def _checking(parse: Parse) -> Parse:
    """Return a function that parses a vector of records, and returns the vector."""

    def check(serialized: tf.Tensor) -> tf.Tensor:
        batch = tf.nest.flatten(parse(serialized), expand_composites=True)
        with tf.control_dependencies(batch):
            return tf.identity(serialized)

    return check
