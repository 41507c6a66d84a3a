"""The batches of an epoch, made ahead of the one that is asked for."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from ..codecs.decoder import Batch
from ..shared.errors import DatasetError
from ..sources.sharing import numbers_of
from .order import Order
from .source import RecordSource

State = dict[str, Any]

# How many batches are made ahead.
_AHEAD = 2

# Batches are sliced from so many records, which are read and checked together, or fewer
# if they have more bytes.
_RUN, _RUN_BYTES = 1024, 1 << 23


class Batches(Iterator[Batch]):
    """The batches of an epoch, each a dict of columns.

    Args:
        source: what to read.
        order: of its records.
        starts: where in that order each batch begins.
        stop: where the last one ends.
        facts: what makes these batches others than those of other options.
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
        self._order = order
        self._starts = starts
        self._stop = stop
        self._facts = facts
        self._done = self._asked = done
        self._fetcher = source.fetcher()
        self._runs = self._all_runs(done)
        # One thread, so that batches are made in their order.
        self._maker = ThreadPoolExecutor(1, "schemagen-batches")
        self._ahead: deque[Future[Batch | None]] = deque()

    def __len__(self) -> int:
        """Return how many batches there are in all."""
        return len(self._starts)

    def __next__(self) -> Batch:
        """Return the next batch."""
        while self._done < len(self):
            while self._asked < len(self) and len(self._ahead) <= _AHEAD:
                self._ahead.append(self._maker.submit(next, self._runs))
                self._asked += 1
            batch = self._ahead.popleft().result()
            self._done += 1
            if batch is not None:
                return batch
        self._maker.shutdown(wait=False)
        raise StopIteration

    def state(self) -> State:
        """Return what `batches(resume=...)` takes to go on after the last batch."""
        return {**self._facts, "batches": self._done}

    def _all_runs(self, number: int) -> Iterator[Batch | None]:
        """Yield all batches from one on; None for one of corrupt records only."""
        size, most = self._starts.step, self._source.most(_RUN, _RUN_BYTES)
        while number < len(self):
            start = self._starts[number]
            batches = max(1, self._room(start, most) // size)
            stop = min(self._stop, start + batches * size)
            numbers = self._order.at(np.arange(start, stop))
            run = self._source.read(numbers, self._source.decoder.run, self._fetcher)
            kept = np.cumsum([0, *np.isin(numbers, run.numbers)])
            for first in range(0, stop - start, size):
                last = min(first + size, stop - start)
                yield self._source.batch(run, int(kept[first]), int(kept[last]))
            number += batches

    def _room(self, start: int, most: int) -> int:
        """Return how many records from a position on may be read together."""
        window = self._order.window
        return most if window == 1 else window - start % window


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
    index, count = numbers_of(shard)
    for name, value in (("batch_size", batch_size), ("block", block)):
        if value is not None and value < 1:
            raise DatasetError(f"{name}={value!r}: expected a number from 1")
    total = len(source)
    start, stop = (total * number // count for number in (index, index + 1))
    if drop_remainder:
        stop = start + total // count // batch_size * batch_size
    facts: State = {
        "records": total,
        "batch_size": batch_size,
        "shuffle_seed": shuffle_seed,
        "epoch": epoch,
        "shard": [index, count],
        "block": block,
        "drop_remainder": drop_remainder,
    }
    done = 0
    if resume is not None:
        done = resume.get("batches", 0)
        if resume != {**facts, "batches": done}:
            raise DatasetError(
                f"resume={resume!r}: the state of other batches; pass the options with "
                "which they were made"
            )
    order = Order(total, shuffle_seed, epoch, block)
    return Batches(source, order, range(start, stop, batch_size), stop, facts, done)
