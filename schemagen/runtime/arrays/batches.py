"""The batches of an epoch, made ahead of the one that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import index
from typing import Any, NoReturn, Protocol

import numpy as np

from ..cells.columns import Rows
from ..records.decoder import Batch
from ..shared.errors import DatasetError
from ..shared.values import shortened
from .ahead import Ahead, Steps, Work
from .order import Epoch, Turns
from .views import Columns

State = dict[str, Any]


class Batches(Iterator[Batch]):
    """The batches of an epoch, each a dict of columns.

    After an error each further call raises it again.

    Args:
        read_by: returns the batches that one of several workers reads, from one on; None
            for one that has only records that were left out. Its arguments are those of
            `of_worker`.
        count: how many there are.
        state_after: returns the state after so many batches.
        about: returns what `repr` says of each.

    Attributes:
        about: returns the size of a batch, and the dtype and shape of its columns.
        taken: how many were read, and those that were left out.
    """

    def __init__(
        self,
        read_by: Callable[[int, int, int], Iterator[Batch | None]],
        count: int,
        state_after: Callable[[int], State],
        about: Callable[[], str],
        *,
        worker: tuple[int, int, int] = (0, 1, 0),
    ) -> None:
        self._read_by = read_by
        self._count = count
        self._state_after = state_after
        self.about = about
        self._batches = read_by(*worker)
        self.taken = 0

    def __repr__(self) -> str:
        return f"{self._count:,} batches {self.about()}"

    def of_worker(self, index: int, count: int, skip: int = 0) -> Batches:
        """Return the batches of one of several workers, who take turns.

        Args:
            index: the number of the worker.
            count: how many there are.
            skip: how many of its batches to leave out.
        """
        worker = (index, count, skip)
        return Batches(
            self._read_by, self._count, self._state_after, self.about, worker=worker
        )

    def __len__(self) -> int:
        """Return how many batches there are, from where it began."""
        return self._count

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
        return self._state_after(self.taken)

    def state_after(self, batches: int) -> State:
        """Return the state after so many of the batches, which need not be read.

        Args:
            batches: how many each reader has had, from where it began.
        """
        return self._state_after(batches)


class Readable(Protocol):
    """What batches are made of: a `View`, or others whose records have an order."""

    def __len__(self) -> int:
        """Return how many records there are."""
        ...

    @property
    def unit(self) -> str:
        """What its records are: "records" or "rows"."""
        ...

    @property
    def identity(self) -> str:
        """What is equal for equal data, wherever it is."""
        ...

    @property
    def where(self) -> str:
        """What to call the data."""
        ...

    @property
    def changed(self) -> bool:
        """Whether a function may have changed the fields of its records."""
        ...

    def described(self, rows: int | None = None) -> dict[str, str]:
        """Return the dtype and the shape of the columns of so many records."""
        ...

    def numbers(self, positions: Rows, epoch: Epoch) -> Rows:
        """Return the numbers of the records at some positions: int64 [N]."""
        ...

    def window(self, epoch: Epoch) -> int:
        """Return how many positions have records that are near each other in files."""
        ...

    def steps(self, epoch: Epoch) -> Steps[Columns]:
        """Return how records are read, in any order, or of compressed files in theirs."""
        ...


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
class Reading:
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

    def about(self) -> str:
        """Return what a batch is, for people: its size, and its columns line by line."""
        size = self.batch_size
        return f"of {size:,} {fields_text(self.view, size)}"

    @property
    def turns(self) -> Turns:
        """How readers divide the epoch from its beginning on."""
        total, window = len(self.view), self.view.window(self.epoch)
        return Turns(0, total, window, self.readers)

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

    def batches(self, resume: State | None) -> Batches:
        """Return the batches, or those after a state.

        Raises:
            DatasetError: it is the state of another epoch.
        """
        read, turns, done = self._resumed(resume)
        share, size = turns.share(self.reader), self.batch_size
        if self.drop_remainder:
            share = done + max(0, turns.fewest - done) // size * size

        longest = turns.share(0)

        def state_after(batches: int) -> State:
            # Readers with a record less have had it by then, too.
            place = min(done + batches * size, longest)
            return {**self.facts(), "read": [*read, [self.readers, place]]}

        starts = range(done, share, size)

        def read_by(worker: int, workers: int, skip: int) -> Iterator[Batch | None]:
            return self._batches(turns, starts[worker::workers][skip:], share)

        return Batches(read_by, len(starts), state_after, self.about)

    def _resumed(self, resume: State | None) -> tuple[list[Any], Turns, int]:
        """Return what other readers have read, the turns, and how many places are done.

        Raises:
            DatasetError: it is the state of another epoch.
        """
        turns, done = self.turns, 0
        if resume is None:
            return [], turns, done
        read = self._check(resume).get("read")
        try:
            first, *others = read  # type: ignore[misc]
            readers, done = map(index, first)
            turns = replace(turns, readers=readers)
            wrong = not 0 <= done <= turns.share(0)
            for count, each in others:
                turns, done = turns.rest(done, index(count)), index(each)
                wrong |= not 0 <= done <= turns.share(0)
        except (TypeError, ValueError, ZeroDivisionError):
            wrong = True
        if wrong:
            raise DatasetError(
                f"{self.view.where}: resume: read={read!r}: expected what state() has "
                "returned: pairs of readers, and how many records each has read"
            )
        if turns.readers == self.readers:
            return read[:-1], turns, done  # type: ignore[index]
        return read, turns.rest(done, self.readers), 0  # type: ignore[return-value]

    def _batches(
        self, turns: Turns, starts: range, stop: int
    ) -> Iterator[Batch | None]:
        """Return batches, None for one of corrupt records only.

        Args:
            turns: how readers divide what is left.
            starts: the place in the share where each batch begins.
            stop: where the last one ends.
        """
        size, view = self.batch_size, self.view

        def numbers(batches: range) -> Rows:
            some = starts[batches.start : batches.stop]
            places = np.add.outer(some, np.arange(min(size, stop))).ravel()
            positions = turns.at(self.reader, places[places < stop])
            return view.numbers(positions, self.epoch)

        def cut(asked: Rows, chunk: Columns) -> list[Batch | None]:
            kept = np.arange(len(asked) + 1)
            if len(chunk.numbers) < len(asked):
                kept = np.cumsum([0, *np.isin(asked, chunk.numbers)])
            bounds = kept[[*range(0, len(asked), size), len(asked)]].tolist()
            return [self._changed(chunk, *each) for each in pairwise(bounds)]

        def near(batch: int) -> int:
            return turns.room(starts[batch]) // size

        steps = view.steps(self.epoch)
        work = Work(
            len(starts),
            numbers,
            steps,
            cut,
            size=size,
            near=near if turns.window > 1 else None,
            is_by_unit=True,
        )
        return Ahead(work, self.prefetch)

    def _changed(self, chunk: Columns, start: int, stop: int) -> Batch | None:
        batch = chunk.batch(start, stop) if start < stop else None
        return batch if self.change is None or not batch else self.change(batch)
