"""What threads make ahead comes in order, and errors come in their place."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from schemagen.runtime.arrays.ahead import in_order


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_the_order_of_items(threads: int) -> None:
    """Also where the first ones take longest."""

    def slow(item: int) -> int:
        time.sleep((7 - item) / 1000)
        return item * 2

    assert list(in_order(slow, range(8), threads)) == [*range(0, 16, 2)]


def test_several_items_are_made_at_once() -> None:
    """The first one waits for the second."""
    met = threading.Barrier(2, timeout=60)

    def meeting(item: int) -> int:
        met.wait()
        return item

    assert list(in_order(meeting, range(2), 2)) == [0, 1]


def test_no_more_items_are_asked_for_than_threads_can_make() -> None:
    asked: list[int] = []

    def items() -> Iterator[int]:
        for item in range(100):
            asked.append(item)
            yield item

    results = in_order(abs, items(), 3)
    assert next(results) == 0
    assert len(asked) <= 5
    results.close()  # type: ignore[attr-defined]


def test_an_error_comes_in_its_place() -> None:
    """What came before it is there, and threads end."""

    def divide(item: int) -> float:
        return 6 / item

    results = in_order(divide, (3, 2, 0, 1), 2)
    assert [next(results), next(results)] == [2, 3]
    with pytest.raises(ZeroDivisionError):
        next(results)
    names = {"schemagen-read_0", "schemagen-read_1"}
    until = time.monotonic() + 60
    while names & {thread.name for thread in threading.enumerate()}:
        assert time.monotonic() < until
        time.sleep(0.01)
