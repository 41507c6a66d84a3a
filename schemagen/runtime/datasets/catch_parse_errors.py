"""Applying a parser to batches of records, some of which it may refuse."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ..shared.requirements import tf
from .faults import Faults

Parse = Callable[[tf.Tensor], Any]

_PIECE = 256
PARALLEL = min(16, os.cpu_count() or 1)
_GROUP_BYTES = 4 << 20
_MOST_BATCHES = 8


def parsed(
    batches: tf.data.Dataset,
    parse: Parse,
    faults: Faults | None,
    *,
    size: int,
    complete: bool = False,
) -> tf.data.Dataset:
    """Parse batches, several at a time, and look into those that are refused.

    A graph cannot catch an error, but a dataset can leave out an element that fails:
    so a few batches are a dataset of their own, and where their element is left out,
    their records are looked at one by one. They are as many as are small together,
    since that costs the same for one batch and for several.

    Args:
        batches: string [B].
        size: about how many bytes a batch has.
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
        return batches.map(parse_once, PARALLEL)
    loses = faults.skips and not complete
    count = max(1, min(_MOST_BATCHES, _GROUP_BYTES // size))

    def attempt(group: tf.data.Dataset) -> tf.data.Dataset:
        # A window is there as a whole or not at all.
        whole = group.map(parse_once).window(count).ignore_errors()
        if loses:
            good = group.map(faults.sifted).filter(lambda some: tf.size(some) > 0)
            rest = good.map(parse_once).window(count)
        else:
            # Raises in any case: nothing may be lost silently.
            told = group.flat_map(lambda batch: _after(faults.told(batch), whole))
            rest = told.concatenate(_refused(whole))
        return whole.concatenate(rest).take(1).flat_map(_unpacked)

    # Without prefetching, batches would be read by the thread that hands them out.
    groups = batches.prefetch(count + 1).window(count)
    elements = groups.interleave(
        attempt,
        cycle_length=PARALLEL,
        block_length=count,
        num_parallel_calls=PARALLEL,
    )
    total = batches.cardinality()
    if loses or total == tf.data.UNKNOWN_CARDINALITY:
        return elements
    return elements.apply(tf.data.experimental.assert_cardinality(total))


def _refused(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Return an empty dataset that raises an error when it is read."""

    def refuse(_: tf.Tensor) -> tf.data.Dataset:
        text = (
            "a batch could not be parsed, although each of its records can be: was "
            "there too little memory?"
        )
        return _after(tf.debugging.Assert(False, [text]), dataset)

    return tf.data.Dataset.range(1).flat_map(refuse)


def _after(told: tf.Operation, dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Return an empty dataset, once an operation has run."""
    with tf.control_dependencies([told]):
        return dataset.take(0)


def _unpacked(*windows: Any) -> tf.data.Dataset:
    """Return the elements of a window, which comes as a dataset for each component."""
    return tf.data.Dataset.zip(windows if len(windows) > 1 else windows[0])


def sifted(
    records: tf.data.Dataset, parse: Parse, faults: Faults, record_bytes: int
) -> tf.data.Dataset:
    """Leave out records that cannot be parsed: string scalars, to be parsed again."""

    def checked(serialized: tf.Tensor) -> tf.Tensor:
        batch = tf.nest.flatten(parse(serialized), expand_composites=True)
        with tf.control_dependencies(batch):
            return tf.identity(serialized)

    pieces = records.batch(_PIECE)
    return parsed(pieces, checked, faults, size=_PIECE * record_bytes).unbatch()


def reported(dataset: tf.data.Dataset, faults: Faults) -> tf.data.Dataset:
    """Report what has been skipped at the end of a dataset."""
    if not faults.skips:
        return dataset

    def report(_: tf.Tensor) -> tf.data.Dataset:
        tf.py_function(faults.report, [], [])
        return dataset.take(0)

    return dataset.concatenate(tf.data.Dataset.range(1).flat_map(report))
