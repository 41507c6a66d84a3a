"""The batches of an epoch, made ahead of the one that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import index
from typing import Any, NoReturn

import numpy as np

from ..cells.columns import Rows
from ..records.decoder import Batch
from ..shared.errors import DatasetError
from ..shared.values import shortened
from .ahead import Ahead, Work
from .order import Epoch, RoundRobin
from .views import LoadedColumns, Readable

State = dict[str, Any]


class Batches(Iterator[Batch]):
    """The batches of an epoch, each a dict of columns.

    After an error each further call raises it again.

    Args:
        reader: reads them.
        progress: what was read before.
        worker: which of the batches to read: the number of one of several workers, who
            take turns; how many workers there are; and how many of its own batches to
            leave out.

    Attributes:
        reader: reads them.
        taken: how many were read, and those that were left out.
    """

    def __init__(
        self,
        reader: BatchReader,
        progress: EpochProgress,
        worker: tuple[int, int, int] = (0, 1, 0),
    ) -> None:
        shares, done, size = progress.shares, progress.done, reader.batch_size
        stop = shares.share(reader.reader)
        if reader.drop_remainder:
            stop = done + max(0, shares.fewest - done) // size * size
        self.reader = reader
        self._progress = progress
        self._starts = range(done, stop, size)
        index, count, skip = worker
        starts = self._starts[index::count][skip:]
        self._batches = reader.read(shares, starts, stop)
        self.taken = 0

    def __repr__(self) -> str:
        return f"{len(self):,} batches {self.reader.description}"

    def of_worker(self, index: int, count: int, skip: int = 0) -> Batches:
        """Return the batches of one of several workers, who take turns.

        Args:
            index: the number of the worker.
            count: how many there are.
            skip: how many of its batches to leave out.
        """
        return Batches(self.reader, self._progress, (index, count, skip))

    def __len__(self) -> int:
        """Return how many batches there are, from where it began."""
        return len(self._starts)

    def __next__(self) -> Batch:
        """Return the next batch."""
        while True:
            batch = next(self._batches)
            self.taken += 1
            if batch is not None:
                return batch

    def __getitem__(self, index: Any) -> NoReturn:
        """Refuse to return a batch by number, which loaders of PyTorch ask for."""
        raise TypeError(
            "batches are read in order, not by index; give a DataLoader of PyTorch "
            "split.to_torch(batch_size, ...), and batch_size=None"
        )

    def state(self) -> State:
        """Return what `batches(resume=...)` takes to go on after the last batch."""
        return self.state_after(self.taken)

    def state_after(self, batches: int) -> State:
        """Return the state after so many of the batches, which need not be read.

        Args:
            batches: how many each reader has had, from where it began.
        """
        reader, before = self.reader, self._progress
        # Readers with a record less have had it by then, too.
        place = min(before.done + batches * reader.batch_size, before.shares.share(0))
        return {**reader.facts(), "read": [*before.read, [reader.readers, place]]}


# So many columns are listed.
_COLUMNS = 24


def fields_text(view: Readable, rows: int | None = None) -> str:
    """Return the dtype and the shape of the fields of records, a line for each.

    Args:
        view: the records, none of which is read.
        rows: of a batch of so many; None for one record.
    """
    found = view.described(rows)
    width = max(map(len, found), default=0)
    lines = [f"{name:{width}}  {text}" for name, text in found.items()]
    if len(lines) > _COLUMNS:
        lines[_COLUMNS:] = [f"... {len(lines) - _COLUMNS:,} more"]
    return "\n  ".join([f"{view.unit}{', before map' * view.changed}:", *lines])


@dataclass(frozen=True)
class EpochProgress:
    """What of an epoch was read before.

    Attributes:
        shares: how readers divide what is left.
        done: how many positions of its share each reader has read.
        read: what other readers have read before, in states: pairs of how many there were,
            and how many records each has read.
    """

    shares: RoundRobin
    done: int = 0
    read: Sequence[Any] = ()


@dataclass(frozen=True)
class BatchReader:
    """How a reader reads its share of an epoch.

    Attributes:
        view: what it reads.
        epoch: its order.
        reader: the number of the reader.
        readers: how many readers there are.
        batch_size: records in a batch.
        drop_remainder: leave out a last batch that is smaller.
        change: what becomes of each batch.
        prefetch: how many batches are made ahead; None for as many as have 64 MB.
        options: what the records follow from besides, in states.
    """

    view: Readable
    epoch: Epoch
    reader: int
    readers: int
    batch_size: int
    drop_remainder: bool
    change: Callable[[Batch], Batch] | None
    prefetch: int | None = None
    options: State = field(default_factory=dict)

    def facts(self) -> State:
        """Return what all states of an epoch have in common."""
        epoch = self.epoch
        return {
            "data": self.view.identity,
            "records": len(self.view),
            "shuffle_seed": epoch.seed,
            "epoch": epoch.number,
            "block": epoch.block,
            **self.options,
        }

    @property
    def description(self) -> str:
        """What a batch is, for people: its size, and its columns line by line."""
        size = self.batch_size
        return f"of {size:,} {fields_text(self.view, size)}"

    def _check(self, state: Any) -> Mapping[str, Any]:
        """Return a state, if it is one of this epoch.

        Args:
            state: what `Batches.state` has returned.

        Raises:
            DatasetError: it is of other data, or of another order.
        """
        if not isinstance(state, Mapping) or "records" not in state:
            raise DatasetError(
                f"{self.view.where}: resume: expected what state() has returned, found "
                f"{shortened(state)}"
            )
        given, facts = state, self.facts()
        names = [name for name in {**given, **facts} if name not in ("data", "read")]
        different = [
            f"{name}={given.get(name)!r} (now {facts.get(name)!r})"
            for name in names
            if given.get(name) != facts.get(name)
        ]
        if given.get("data") != facts["data"]:
            different.append("other data, or another mixture of it")
        if different:
            raise DatasetError(
                f"{self.view.where}: resume: the state was made with "
                f"{', '.join(different)}; pass the same options, and open the data that "
                "it was made with"
            )
        return given

    def progress(self, resume: State | None) -> EpochProgress:
        """Return what a state says was read before; nothing without one.

        Raises:
            DatasetError: it is the state of another epoch.
        """
        total, window = len(self.view), self.view.window(self.epoch)
        shares, done = RoundRobin(0, total, window, self.readers), 0
        if resume is None:
            return EpochProgress(shares)
        read = self._check(resume).get("read")
        try:
            first, *others = read  # type: ignore[misc]
            readers, done = map(index, first)
            shares = replace(shares, readers=readers)
            wrong = not 0 <= done <= shares.share(0)
            for count, each in others:
                shares, done = shares.rest(done, index(count)), index(each)
                wrong |= not 0 <= done <= shares.share(0)
        except (TypeError, ValueError, ZeroDivisionError):
            wrong = True
        if wrong:
            raise DatasetError(
                f"{self.view.where}: resume: read={read!r}: expected what state() has "
                "returned: pairs of readers, and how many records each has read"
            )
        if shares.readers == self.readers:
            return EpochProgress(shares, done, read[:-1])  # type: ignore[index]
        return EpochProgress(shares.rest(done, self.readers), 0, read)  # type: ignore[arg-type]

    def read(
        self, shares: RoundRobin, starts: range, stop: int
    ) -> Iterator[Batch | None]:
        """Return batches, None for one of corrupt records only.

        Args:
            shares: how readers divide what is left.
            starts: the place in the share where each batch begins.
            stop: where the last one ends.
        """
        size, view = self.batch_size, self.view

        def numbers(batches: range) -> Rows:
            some = starts[batches.start : batches.stop]
            places = np.add.outer(some, np.arange(min(size, stop))).ravel()
            positions = shares.at(self.reader, places[places < stop])
            return view.numbers(positions, self.epoch)

        def cut(asked: Rows, loaded: LoadedColumns) -> list[Batch | None]:
            kept = np.arange(len(asked) + 1)
            if len(loaded.numbers) < len(asked):
                kept = np.cumsum([0, *np.isin(asked, loaded.numbers)])
            bounds = kept[[*range(0, len(asked), size), len(asked)]].tolist()
            return [self._changed(loaded, *each) for each in pairwise(bounds)]

        def near(batch: int) -> int:
            return shares.room(starts[batch]) // size

        steps = view.steps(self.epoch)
        work = Work(
            len(starts),
            numbers,
            steps,
            cut,
            size=size,
            near=near if shares.window > 1 else None,
            is_by_unit=True,
        )
        return Ahead(work, self.prefetch)

    def _changed(self, loaded: LoadedColumns, start: int, stop: int) -> Batch | None:
        batch = loaded.batch(start, stop) if start < stop else None
        return batch if self.change is None or not batch else self.change(batch)
