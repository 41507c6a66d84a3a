"""Iterators whose items threads make before they are asked for."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from ..shared.errors import DatasetError

Item = TypeVar("Item")
Result = TypeVar("Result")

_END: Any = object()


def in_order(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int
) -> Iterator[Result]:
    """Yield what a function makes of each item, in their order, made ahead by threads.

    Args:
        function: called in threads, several at a time.
        items: asked for one after the other.
        threads: how many; one is the caller's.
    """
    if threads < 2:
        yield from map(function, items)
        return
    pool = ThreadPoolExecutor(threads, "schemagen-read")
    try:
        waiting: deque[Future[Result]] = deque()
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


class Ahead(Iterator[Item]):
    """The items of an iterator, made ahead in one thread, so in their order.

    The thread ends with the last item, with an error, or when nothing refers to this any
    more. After an error each call raises it again.

    Args:
        items: the iterator.
        most: how many items are made ahead.
    """

    def __init__(self, items: Iterator[Item], most: int) -> None:
        self._items = items
        self._most = most
        self._waiting: deque[Future[Item]] = deque()
        self._maker = ThreadPoolExecutor(1, "schemagen-ahead")
        self._has_ended = False
        self._error: Exception | None = None
        self._process = os.getpid()
        self._turn = threading.Lock()

    def __next__(self) -> Item:
        """Return the next item.

        Raises:
            DatasetError: another thread is waiting for it; another process has begun;
                or a call before was interrupted, as by Ctrl-C, and its item may be lost.
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
            item = self._next()
        except Exception:
            self._turn.release()
            raise
        self._turn.release()
        return item

    def _next(self) -> Item:
        if self._error is not None:
            raise self._error
        if self._has_ended:
            raise StopIteration
        while len(self._waiting) <= self._most:
            self._waiting.append(self._maker.submit(next, self._items, _END))
        try:
            item = self._waiting[0].result()
        except Exception as error:
            self._error = error
            self._stop()
            raise
        self._waiting.popleft()
        if item is _END:
            self._has_ended = True
            self._stop()
            raise StopIteration
        return item

    def _stop(self) -> None:
        self._maker.shutdown(wait=False, cancel_futures=True)

    def __del__(self) -> None:
        self._stop()
