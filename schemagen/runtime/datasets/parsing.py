"""Parsing batches of records, some of which cannot be read or parsed.

A graph cannot catch an error, but a dataset can leave out an element that fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..faults.faults import Faults
from ..shared.requirements import tf
from .batching import PARALLEL
from .transformations import flat_mapped, mapped

Parse = Callable[..., Any]


@dataclass(frozen=True)
class ExpectedBatches:
    """The batches of the records, if all is well.

    Attributes:
        records: in an epoch.
        size: records in a batch, but for the last one of an epoch.
        epochs: how many of them; None for no end.
        drop_remainder: whether a last batch that is smaller is left out.
    """

    records: int
    size: int
    epochs: int | None = 1
    drop_remainder: bool = False

    @property
    def count(self) -> int:
        """How many batches there are in all: none if an epoch has none."""
        if self.epochs is None and self.in_epoch:
            return int(tf.data.INFINITE_CARDINALITY)
        return self.in_epoch * (self.epochs or 0)

    @property
    def in_epoch(self) -> int:
        """How many there are in each epoch."""
        full, rest = divmod(self.records, self.size)
        return full + (rest > 0 and not self.drop_remainder)

    def in_its_epoch(self, number: tf.Tensor) -> tf.Tensor:
        """Return the number of a batch in its epoch."""
        return number if self.epochs == 1 else number % max(1, self.in_epoch)

    def if_whole(self, number: tf.Tensor, batch: tf.Tensor) -> tf.Tensor:
        """Return the number of a batch; -1 if it has not as many records as it should."""
        if batch.shape[0] == self.size:
            return number
        before = self.in_its_epoch(number) * self.size
        size = tf.minimum(self.records - before, self.size)
        return tf.where(tf.size(batch, tf.int64) == size, number, -1)


def parsed(
    batches: tf.data.Dataset,
    parse: Parse,
    faults: Faults,
    expected: ExpectedBatches | None = None,
    *more: tf.data.Dataset,
) -> tf.data.Dataset:
    """Parse batches of records, or raise an error that says what is wrong with the data.

    Batches are numbered, and one that cannot be read or parsed is left out. So a number
    is missing, or the end is. Only then Python reads the files again, and says in an
    error what is wrong in them. It also compares the files with what they were, before
    the first batch of each epoch and the last batch of all are delivered.

    Args:
        batches: string [N].
        parse: from such a batch to an element.
        faults: says what is wrong.
        expected: how many batches there are, and of which size; None if no one knows.
        *more: datasets without end, of further arguments of `parse` for each batch.

    Returns:
        What `parse` returns, in order.
    """
    if expected is None:
        # Any record will do, if it can be parsed; not all kinds can be without one.
        record = faults.any_record()
        if record is None:
            return batches.map(parse)
        on = tf.data.Dataset.from_tensors(False).repeat()
        end = tf.data.Dataset.from_tensors((tf.constant([record]), True))
        batches = tf.data.Dataset.zip((batches, on)).concatenate(end)

    def attempt(number: tf.Tensor, batch: Any, *more: Any) -> Any:
        # One value, however many tensors an element has: what follows passes it on.
        if expected is None:
            serialized, last = batch
            return number, tf.data.Dataset.from_tensors(parse(serialized, *more)), last
        number = expected.if_whole(number, batch)
        return number, tf.data.Dataset.from_tensors(parse(batch, *more))

    is_endless = expected is None or expected.count == tf.data.INFINITE_CARDINALITY
    count = tf.int64.max if expected is None or is_endless else expected.count
    numbers = tf.data.Dataset.range(count)
    # Errors take a number, too, and so come to an end. The order says which one is
    # missing, even if the dataset's need not be kept.
    attempts = tf.data.Dataset.zip((numbers, batches, *more))
    attempts = mapped(attempts, attempt, PARALLEL)
    # Epochs without end do end if the first one has no batch that can be read.
    end = _no_number(attempts.element_spec)
    found = attempts.ignore_errors().concatenate(end)
    if expected is None:  # what comes after the end is no fault
        found = found.scan(False, lambda over, each: (each[2], (*each, over)))

    def follow(next_number: tf.Tensor, attempt: Any) -> tf.data.Dataset:
        number, element, *end = attempt
        missing = number != next_number
        if expected is None:
            last, over = end
            judging = (missing | (number == 0) | last) & ~over
            element = element.take(tf.cast(~last, tf.int64))
        else:
            first = expected.in_its_epoch(number) == 0
            judging = missing | first | (number == expected.count - 1)
        judged = tf.cond(
            judging,
            lambda: faults.judged(missing),
            lambda: tf.zeros((0,), tf.string),
        )
        # An error of the number is one of the whole element.
        with tf.control_dependencies([judged]):
            return element.take(1)

    return flat_mapped(tf.data.Dataset.zip((numbers, found)), follow)


def _no_number(spec: tuple[Any, ...]) -> tf.data.Dataset:
    """Return an attempt with a wrong number, which comes only if the end is missing."""
    _, element, *last = spec
    nothing = tf.data.experimental.to_variant(tf.data.Dataset.range(0))
    no_element = tf.data.experimental.from_variant(nothing, element.element_spec)
    number = tf.constant(-1, tf.int64)
    return tf.data.Dataset.from_tensors((number, no_element, *[True for _ in last]))


def checked(pieces: tf.data.Dataset, parse: Parse, faults: Faults) -> tf.data.Dataset:
    """See that records can be parsed: batches of records, or an error like `parsed`'s."""
    return parsed(pieces, _checking(parse), faults)


def sifted(pieces: tf.data.Dataset, parse: Parse, faults: Faults) -> tf.data.Dataset:
    """Leave out records that cannot be parsed: batches of records, to be parsed again.

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
    """Return a function that parses a batch of records, and returns the batch."""

    def check(serialized: tf.Tensor) -> tf.Tensor:
        batch = tf.nest.flatten(parse(serialized), expand_composites=True)
        # TensorFlow drops an order of operations that cannot be seen from outside, and
        # then the parsing; it keeps what an assertion would show.
        seen = tf.raw_ops.Assert(condition=tf.shape(serialized)[0] >= 0, data=batch)
        with tf.control_dependencies([seen]):
            return tf.identity(serialized)

    return check
