"""Applying a parser to batches of records, some of which it may refuse."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from .faults import Faults

Parse = Callable[[tf.Tensor], Any]

_PIECE = 256
_PARALLEL_BATCHES = min(16, os.cpu_count() or 1)


def parsed(
    batches: tf.data.Dataset,
    parse: Parse,
    faults: Faults | None,
    *,
    complete: bool = False,
) -> tf.data.Dataset:
    """Parse batches, several at a time, and look into those that are refused.

    A graph cannot catch an error, but a dataset can leave out an element that fails:
    so each batch is a dataset of its own, and where its element is left out, its
    records are looked at one by one.

    Args:
        batches: string [B].
        parse: from such a batch to an element.
        faults: what becomes of records that are refused; None for tensorflow's own
            errors, which name no file.
        complete: that no batch can lose a record, since `sifted` has seen them all.

    Returns:
        Elements, in the order of the batches.
    """
    # Traced once, and as it is: it is used twice, and traced as long as all the rest.
    once = tf.function(parse, autograph=False)

    def parse_once(serialized: tf.Tensor) -> Any:
        return once(serialized)

    if faults is None:
        return batches.map(parse_once, tf.data.AUTOTUNE)
    loses = faults.skips and not complete

    def attempt(serialized: tf.Tensor) -> tf.data.Dataset:
        batch = tf.data.Dataset.from_tensors(serialized)
        sifted = batch.map(faults.sifted)
        if loses:
            sifted = sifted.filter(lambda serialized: tf.size(serialized) > 0)
        else:
            sifted = sifted.map(lambda some: tf.ensure_shape(some, serialized.shape))
        parsed_batch = batch.map(parse_once).ignore_errors()
        return parsed_batch.concatenate(sifted.map(parse_once)).take(1)

    # Without prefetching, batches would be read by the thread that hands them out.
    elements = batches.prefetch(tf.data.AUTOTUNE).interleave(
        attempt,
        cycle_length=_PARALLEL_BATCHES,
        num_parallel_calls=_PARALLEL_BATCHES,
    )
    count = batches.cardinality()
    if loses or count == tf.data.UNKNOWN_CARDINALITY:
        return elements
    return elements.apply(tf.data.experimental.assert_cardinality(count))


def sifted(records: tf.data.Dataset, parse: Parse, faults: Faults) -> tf.data.Dataset:
    """Leave out records that cannot be parsed: string scalars, to be parsed again."""

    def checked(serialized: tf.Tensor) -> tf.Tensor:
        batch = tf.nest.flatten(parse(serialized), expand_composites=True)
        with tf.control_dependencies(batch):
            return tf.identity(serialized)

    return parsed(records.batch(_PIECE), checked, faults).unbatch()


def reported(dataset: tf.data.Dataset, faults: Faults) -> tf.data.Dataset:
    """Report what has been skipped at the end of a dataset."""
    if not faults.skips:
        return dataset

    def report(_: tf.Tensor) -> tf.data.Dataset:
        tf.py_function(faults.report, [], [])
        return dataset.take(0)

    return dataset.concatenate(tf.data.Dataset.range(1).flat_map(report))
