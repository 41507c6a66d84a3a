"""The batches of an epoch, made ahead of the one that is asked for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..codecs.decoder import Batch
from ..shared.calling import check_flags, integer
from ..shared.errors import DatasetError
from ..sources.sharing import numbers_of
from .ahead import Ahead
from .order import Order
from .source import RecordSource

State = dict[str, Any]

# How many batches are made ahead.
_AHEAD = 2

# Batches are sliced from so many records, which are read and checked together, or fewer
# if they have more bytes.
_RUN, _RUN_BYTES = 1024, 1 << 23


# More threads wait for the interpreter's lock.
_MOST_THREADS = 8


def _threads() -> int:
    """Return how many threads read and decode: one for each core of this process."""
    allowed = getattr(os, "sched_getaffinity", None)
    return min(_MOST_THREADS, len(allowed(0)) if allowed else os.cpu_count() or 1)


class Batches(Iterator[Batch]):
    """The batches of an epoch, each a dict of columns.

    After an error each further call raises it again.

    Args:
        source: what to read.
        order: of its records.
        starts: where in that order each batch begins.
        stop: where the last one ends.
        facts: the options that the order and the size of the batches follow from.
        done: how many to leave out.
    """

    def __init__(
        self,
        source: RecordSource,
        order: Order,
        starts: range,
        stop: int,
        facts: State,
        done: int,
    ) -> None:
        self._source = source
        self._count = len(starts)
        self._facts = facts
        self._done = done
        self._batches = Ahead(_batches(source, order, starts[done:], stop), _AHEAD)

    def __len__(self) -> int:
        """Return how many batches there are in all."""
        return self._count

    def __next__(self) -> Batch:
        """Return the next batch."""
        while True:
            batch = next(self._batches)
            self._done += 1
            if batch is not None:
                return batch

    def state(self) -> State:
        """Return what `batches(resume=...)` takes to go on after the last batch."""
        return {**self._facts, "data": self._source.identity, "batches": self._done}


def _batches(
    source: RecordSource, order: Order, starts: range, stop: int
) -> Iterator[Batch | None]:
    """Yield batches, None for one of corrupt records only.

    Several are cut from records that are read together.

    Args:
        source: what to read.
        order: of its records.
        starts: where in that order each batch begins.
        stop: where the last one ends.
    """
    size, most = starts.step, source.most(_RUN, _RUN_BYTES)

    def parts() -> Iterator[Any]:
        at, window = 0, order.window
        while at < len(starts):
            start = starts[at]
            room = most if window == 1 else window - start % window
            count = max(1, room // size)
            yield order.at(np.arange(start, min(stop, start + count * size)))
            at += count

    fetcher = source.fetcher()
    each = source.read_each(parts(), source.decoder.run, fetcher, _threads())
    for numbers, run in each:
        kept = np.arange(len(numbers) + 1)
        if len(run.numbers) < len(numbers):
            kept = np.cumsum([0, *np.isin(numbers, run.numbers)])
        for first in range(0, len(numbers), size):
            last = min(first + size, len(numbers))
            yield source.batch(run, int(kept[first]), int(kept[last]))


def batches_of(
    source: RecordSource,
    batch_size: int,
    *,
    shuffle_seed: int | None,
    epoch: int,
    shard: tuple[int, int],
    block: int | None,
    drop_remainder: bool,
    resume: State | None,
) -> Batches:
    """Return the batches of an epoch; arguments and errors are `Split.batches`'s."""
    size = integer("batch_size", batch_size, 1)
    seed = None if shuffle_seed is None else integer("shuffle_seed", shuffle_seed)
    blocks = None if block is None else integer("block", block, 1)
    number = integer("epoch", epoch, 0)
    index, count = numbers_of(shard)
    check_flags(drop_remainder=drop_remainder)
    total = len(source)
    start, stop = (total * each // count for each in (index, index + 1))
    if drop_remainder:
        stop = start + total // count // size * size
    facts: State = {
        "records": total,
        "batch_size": size,
        "shuffle_seed": seed,
        "epoch": number,
        "shard": [index, count],
        "block": blocks,
        "drop_remainder": bool(drop_remainder),
    }
    starts = range(start, stop, size)
    done = 0
    if resume is not None:
        facts_now = {**facts, "data": source.identity}
        done = _batches_done(resume, facts_now, len(starts), source.files.where)
    # A block that is larger than the split is all of it.
    order = Order(total, seed, number, blocks and min(blocks, total + 1))
    return Batches(source, order, starts, stop, facts, done)


def _batches_done(state: Any, facts: State, count: int, where: str) -> int:
    """Return how many batches a state has behind it.

    Args:
        state: what `Batches.state` has returned.
        facts: those of the batches that go on.
        count: how many batches there are.
        where: what to call the data.

    Raises:
        DatasetError: it is the state of other batches.
    """
    given = state if isinstance(state, Mapping) else {}
    different = [
        f"{name}={given.get(name)!r} (now {value!r})"
        for name, value in facts.items()
        if name != "data" and given.get(name) != value
    ]
    if given.get("data") != facts["data"]:
        different.append("other data")
    if different:
        raise DatasetError(
            f"{where}: resume: the state was made with {', '.join(different)}; pass the "
            "same options, and open the data that it was made with"
        )
    done = given.get("batches")
    if type(done) is not int or not 0 <= done <= count:
        raise DatasetError(f"{where}: resume: batches={done!r}: expected 0 to {count}")
    return done
