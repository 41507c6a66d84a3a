"""Batches that the workers of a tf.data service read and parse."""

from __future__ import annotations

from typing import Any

from ..codecs.graph import refuse_unless
from ..faults.faults import Faults
from ..shared.requirements import tf

# In place of the number of records: the end of an epoch, and a second without a batch.
_END, _TICK = -1, -2


def served(
    batches: tf.data.Dataset,
    service: str,
    faults: Faults,
    *,
    records: int | None,
    timeout: int,
) -> tf.data.Dataset:
    """Let the workers of a service compute batches, of which each comes once.

    TensorFlow waits without end for a worker that is gone, and does not read again what
    a worker had begun to read when it ended: both are errors here.

    Args:
        batches: (size, element): how many records, int64, and what becomes of them.
        service: the dispatcher's address.
        faults: says at the end of an epoch whether data was replaced.
        records: how many an epoch has; None if no one knows.
        timeout: for how many seconds to wait for a batch.

    Returns:
        The same of one epoch; an error if no batch comes in time, or if records are
        missing at the end.
    """
    distributed = batches.apply(
        tf.data.experimental.service.distribute(
            tf.data.experimental.service.ShardingPolicy.DYNAMIC, service
        )
    )
    _, spec = batches.element_spec
    optional = tf.experimental.Optional
    some = distributed.map(lambda size, value: (size, optional.from_value(value)))

    def marks(number: int, dataset: tf.data.Dataset) -> tf.data.Dataset:
        mark = tf.constant(number, tf.int64)
        return dataset.map(lambda _: (mark, optional.empty(spec)))

    whole = faults.ended(some).concatenate(marks(_END, tf.data.Dataset.range(1)))
    ticks = marks(_TICK, _seconds())

    def one_of_them(number: tf.Tensor) -> tf.data.Dataset:
        first = tf.where(number == 0, tf.constant(-1, tf.int64), 0)  # -1 means all
        return whole.take(first).concatenate(ticks.take(-1 - first))

    both = tf.data.Dataset.range(2).interleave(
        one_of_them, cycle_length=2, num_parallel_calls=2, deterministic=False
    )

    def check(state: Any, size: tf.Tensor, value: Any) -> Any:
        waited, count = state
        waited = tf.where(size == _TICK, waited + 1, 0)
        count += tf.maximum(size, 0)
        checks = refuse_unless(
            waited < timeout,
            f"service `{service}`: no batch came for {timeout} seconds, which is "
            "service_timeout. A worker may be gone: TensorFlow waits for it until one "
            "is started again at its address; or the dispatcher cannot be reached",
        )
        if records is not None:
            checks += refuse_unless(
                (size != _END) | (count == records),
                f"service `{service}`: records are missing: a worker ended before it had "
                "delivered what it read, and the service does not read that again. "
                f"Expected {records} records in this epoch, found",
                count,
            )
        with tf.control_dependencies(checks):
            return (waited, count), (tf.identity(size), value)

    start = (tf.constant(0, tf.int64), tf.constant(0, tf.int64))
    found = both.scan(start, lambda state, marked: check(state, *marked))
    found = found.take_while(lambda size, _: size != _END)
    return found.filter(lambda size, _: size >= 0).map(
        lambda size, value: (size, value.get_value())
    )


def _seconds() -> tf.data.Dataset:
    """Count seconds, without end."""
    numbers = tf.data.Dataset.range(tf.int64.max)
    slow = tf.raw_ops.SleepDataset(
        input_dataset=tf.data.experimental.to_variant(numbers),
        sleep_microseconds=tf.constant(1_000_000, tf.int64),
        output_types=[tf.int64],
        output_shapes=[[]],
    )
    return tf.data.experimental.from_variant(slow, numbers.element_spec)
