"""Iterators whose items a thread makes before they are asked for."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

Item = TypeVar("Item")

_END: Any = object()


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
        self._error: Exception | None = None

    def __next__(self) -> Item:
        """Return the next item."""
        if self._error is not None:
            raise self._error
        while len(self._waiting) <= self._most:
            self._waiting.append(self._maker.submit(next, self._items, _END))
        try:
            item = self._waiting[0].result()
            if item is _END:
                raise StopIteration
        except Exception as error:
            self._error = error
            self._stop()
            raise
        self._waiting.popleft()
        return item

    def _stop(self) -> None:
        self._maker.shutdown(wait=False, cancel_futures=True)

    def __del__(self) -> None:
        self._stop()
