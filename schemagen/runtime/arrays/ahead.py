"""What threads make ahead of the loop that asks for it.

Work is counted in units: batches, or records. Consecutive units are fetched together, which
waits for files or the network, and are finished in tasks, which decodes records, calls
functions and cuts batches. A few tasks are made at a time, and come in their order. How many
units one has follows from the bytes of those that were made before it.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from sys import getsizeof
from time import monotonic
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from ..cells.columns import Rows
from ..cells.serialized import Records
from ..shared.errors import DatasetError
from ..shared.platforms import usable_cores

Result = TypeVar("Result")
Loaded = TypeVar("Loaded", covariant=True)

BYTES = 1 << 26
"""How many bytes threads make ahead, and fetch at once, if one unit has fewer."""

FIRST = 32
"""How many records come first where all are wanted."""

# How many records are finished together; more are not faster.
_RECORDS = 2048

# More threads wait for the interpreter's lock.
_MOST_THREADS = 8

# How much longer a task may be than all that was delivered before it.
_GROWTH = 4

# How many results tell the bytes of a task.
_SEVERAL = 8

# About how long a task is made, if one unit takes no longer. A loop that is left waits for no
# more, and slow functions make batches evenly.
_SECONDS = 0.1


def threads() -> int:
    """Return how many threads read and decode: one for each core of this process."""
    return min(_MOST_THREADS, usable_cores())


class FetchedRecords(Protocol):
    """Records as they are in files, with what is wrong with some."""

    @property
    def nbytes(self) -> int:
        """How many bytes they have."""
        ...

    def only(self, rows: Rows) -> FetchedRecords:
        """Return some of them, by their rows: ascending int64 [N]."""
        ...


@dataclass(frozen=True)
class ReadSteps(Generic[Loaded]):
    """How records are read: fetched by one thread, and decoded by another.

    Attributes:
        fetch: returns records, given their numbers: int64 [N].
        decode: returns what becomes of those that were fetched, in any thread.
        records: returns them as they are in files, and what is wrong with some, by row.
        is_apart: whether `fetch` waits for the network, or reads in sequence: one thread
            calls it.
        begins_alone: whether the first records are decoded before any others, as dtypes
            of theirs hold for all.
    """

    fetch: Callable[[Rows], FetchedRecords]
    decode: Callable[[Any], Loaded]
    records: Callable[[Any], tuple[Records, dict[int, str]]]
    is_apart: bool = False
    begins_alone: bool = False

    def read(self, numbers: Rows) -> Loaded:
        """Do both, one after the other."""
        return self.decode(self.fetch(numbers))

    def by(
        self, fetch: Callable[[Rows], FetchedRecords], decode: Callable[[Any], Result]
    ) -> ReadSteps[Result]:
        """Return other steps that do these."""
        return ReadSteps(fetch, decode, self.records, self.is_apart, self.begins_alone)


@dataclass(frozen=True)
class Work(Generic[Result]):
    """What is made of consecutive units.

    Attributes:
        count: how many there are.
        numbers: returns the numbers of the records of some units.
        steps: how records are read.
        finish: makes results of records that were read, given their numbers, too.
        size: how many records a unit has; the last one may have fewer.
        most: how many records are finished together, if they are not of one unit.
        first: how many units the first task has.
        near: returns how many units, from one on, have records that are near each other
            in files, and are fetched together; None if there are none.
        is_by_unit: whether each unit has a result of its own. If a task fails, its units
            are then made one by one, so that those before the error are delivered.
    """

    count: int
    numbers: Callable[[range], Rows]
    steps: ReadSteps[Any]
    finish: Callable[[Rows, Any], Sequence[Result]]
    size: int = 1
    most: int = _RECORDS
    first: int = 1
    near: Callable[[int], int] | None = None
    is_by_unit: bool = False

    def fetch(self, units: range) -> tuple[Rows, FetchedRecords]:
        """Return the numbers of the records of some units, and these."""
        numbers = self.numbers(units)
        return numbers, self.steps.fetch(numbers)


@dataclass(frozen=True)
class _Fetch:
    """Units that are fetched together.

    Attributes:
        units: which.
        fetched: waits for them, and returns what `Work.fetch` does.
    """

    units: range
    fetched: Callable[[], tuple[Rows, FetchedRecords]]


@dataclass
class _Task:
    """Units that are finished together.

    Attributes:
        units: which.
        fetch: what they were fetched with.
        made: the bytes of each unit, estimated until they are made.
        fetched: those of each in files.
        seconds: how long each is made.
        results: what is made of them.
    """

    units: range
    fetch: _Fetch
    made: float
    fetched: float = 0
    seconds: float = 0
    results: Future[Sequence[Any]] = field(init=False)


def _made(work: Work[Result], task: _Task) -> Sequence[Result]:
    """Return what is made of a task, and measure it."""
    units, fetch = task.units, task.fetch.units
    numbers, fetched = task.fetch.fetched()
    task.fetched = fetched.nbytes / len(fetch)
    began = monotonic()
    if len(units) < len(fetch):
        start = (units.start - fetch.start) * work.size
        stop = start + len(units) * work.size
        rows = np.arange(start, min(stop, len(numbers)))
        numbers, fetched = numbers[rows], fetched.only(rows)
    results = work.finish(numbers, work.steps.decode(fetched))
    some = results[:: -(-len(results) // _SEVERAL) or 1]
    task.made = byte_count(some) / max(1, len(some)) * len(results) / len(units)
    task.seconds = (monotonic() - began) / len(units)
    del task.fetch  # which holds what was fetched
    return results


class _Once(Generic[Result]):
    """Calls a function when its result is first asked for, by any thread."""

    def __init__(self, function: Callable[[], Result]) -> None:
        self._function = function
        self._lock = threading.Lock()
        self._results: list[Result] = []

    def __call__(self) -> Result:
        with self._lock:
            if not self._results:
                self._results.append(self._function())
        return self._results[0]


class _Here(Executor):
    """Does the work in the thread that asks for it."""

    def submit(
        self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class Ahead(Iterator[Result]):
    """The results of some work, in their order.

    Threads end with the last result, with an error, or when nothing refers to this any
    more. After an error each call raises it again.

    Args:
        work: what is made.
        prefetch: how many units are made ahead of the one that is asked for, at most; 0
            makes each when it is asked for, without threads. None for as many as have
            `BYTES`, or a few that have more.
    """

    def __init__(self, work: Work[Result], prefetch: int | None = None) -> None:
        self._work = work
        self._limit = work.count if prefetch is None else prefetch + 1
        count = threads() if prefetch is None else min(threads(), prefetch)
        # Each thread makes a task, one is ready, and one is delivered.
        self._threads, self._slots = count, count + 2 if count else 1
        self._finisher: Executor = _Here()
        self._fetcher: Executor | None = None
        if count:
            self._finisher = ThreadPoolExecutor(count, "schemagen-read")
            if work.steps.is_apart:
                self._fetcher = ThreadPoolExecutor(1, "schemagen-fetch")
        self._fetches: deque[_Fetch] = deque()
        self._tasks: deque[_Task] = deque()
        self._results: deque[Result] = deque()
        self._fetched = self._begun = self._delivered = 0
        # The bytes and the seconds of a unit, as those of the last task tell them.
        self._made = self._size = 1.0
        self._seconds = 0.0
        self._error: Exception | None = None
        self._process = os.getpid()
        self._turn = threading.Lock()

    def __next__(self) -> Result:
        """Return the next result.

        Raises:
            DatasetError: another thread is waiting for it; another process has begun;
                or a call before was interrupted, as by Ctrl-C, and its result may be lost.
        """
        if self._process != os.getpid():
            raise DatasetError(
                "another process has begun to read this; begin in the process that reads"
            )
        if not self._turn.acquire(blocking=False):
            raise DatasetError(
                "another thread is reading this, or a call was interrupted; begin again "
                "where it stopped: batches(..., resume=batches.state())"
            )
        # After an interruption the lock stays taken.
        try:
            result = self._next()
        except Exception:
            self._turn.release()
            raise
        self._turn.release()
        return result

    def _next(self) -> Result:
        if self._error is not None:
            raise self._error
        self._fill(self._limit)
        while not self._results:
            if not self._tasks:
                self._stop()
                raise StopIteration
            try:
                self._results.extend(self._tasks[0].results.result())
            except Exception as error:
                if self._divided():
                    continue
                self._error = error
                self._stop()
                raise
            task = self._tasks.popleft()
            self._delivered += len(task.units)
            self._made, self._size = task.made, max(task.fetched, 1)
            self._seconds = task.seconds
            if not self._results:
                self._fill(self._limit)
        result = self._results.popleft()
        self._fill(self._limit - 1)
        return result

    def _divided(self) -> bool:
        """Begin the units of a task that has failed one by one, if that helps."""
        task = self._tasks[0]
        if len(task.units) < 2 or not self._work.is_by_unit:
            return False
        each = [self._begin(range(at, at + 1), task.fetch) for at in task.units]
        self._tasks.popleft()
        self._tasks.extendleft(reversed(each))
        return True

    def _fill(self, most: int) -> None:
        """Begin tasks, as far as so many units may be there in all."""
        while units := self._room(most):
            fetch = self._current_fetch(units)
            stop = min(self._begun + units, fetch.units.stop)
            self._tasks.append(self._begin(range(self._begun, stop), fetch))
            self._begun = stop
            if stop == fetch.units.stop:
                self._fetches.popleft()

    def _begin(self, units: range, fetch: _Fetch) -> _Task:
        """Begin a task."""
        task = _Task(units, fetch, self._made)
        task.results = self._finisher.submit(_made, self._work, task)
        return task

    def _room(self, most: int) -> int:
        """Return how many units the next task may have, if so many may be there in all."""
        work, ready = self._work, len(self._results)
        free = self._slots - len(self._tasks) - bool(ready)
        left = work.count - self._begun
        if free < 1 or not left:
            return 0
        units = work.first
        if self._delivered:
            held = sum(task.made * len(task.units) for task in self._tasks)
            room = (BYTES - held - ready * self._made) / free
            units = min(
                int(room / max(self._made, self._size)),
                int(_SECONDS / max(self._seconds, 1e-9)),
                work.most // work.size,
                max(units, _GROWTH * self._delivered),
            )
        elif len(self._tasks) >= (1 if work.steps.begins_alone else self._threads or 1):
            return 0
        # A task waits until there is room for all of it.
        units = max(1, min(units, self._limit // self._slots))
        waiting = ready + sum(len(task.units) for task in self._tasks)
        return min(units, left) if waiting + units <= most else 0

    def _current_fetch(self, units: int) -> _Fetch:
        """Return the fetch that the next units are of.

        Where it has several tasks, the one behind it is fetched, too.
        """
        fetches, work = self._fetches, self._work
        if not fetches:
            fetches.append(self._fetch(units))
        has_more, is_left = len(fetches[0].units) > units, self._fetched < work.count
        if self._fetcher and has_more and is_left and len(fetches) < 2:
            fetches.append(self._fetch(units))
        return fetches[0]

    def _fetch(self, units: int) -> _Fetch:
        """Begin a fetch of at least so many units."""
        work, start = self._work, self._fetched
        if work.near and self._delivered and self._limit > 1:
            units = max(units, min(work.near(start), int(BYTES / self._size)))
        self._fetched = min(work.count, start + units)
        some = range(start, self._fetched)
        if self._fetcher:
            return _Fetch(some, self._fetcher.submit(work.fetch, some).result)
        return _Fetch(some, _Once(partial(work.fetch, some)))

    def _stop(self) -> None:
        self._finisher.shutdown(wait=False, cancel_futures=True)
        if self._fetcher:
            self._fetcher.shutdown(wait=False, cancel_futures=True)

    def __del__(self) -> None:
        self._stop()


def byte_count(values: Any) -> int:
    """Return about how many bytes a batch has in memory, or a column."""
    if isinstance(values, Mapping):
        return sum(map(byte_count, values.values()))
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        return values.nbytes
    if isinstance(values, (list, tuple, np.ndarray)):
        each = values.flat if isinstance(values, np.ndarray) else values
        return sum(map(byte_count, each))
    found = getattr(values, "nbytes", None)
    return found if isinstance(found, int) else getsizeof(values)
