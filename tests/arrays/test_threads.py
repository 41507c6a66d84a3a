"""What threads make ahead comes in order, and errors come in their place."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from digit_rows import rows, scans

from generated import DatasetError
from generated.digit.reader import open_split
from generated.digit.serializer import write_dataset

RUN = 1024
"""How many records are read together, so that a function of batches gets them in one call."""

RUNS = 12


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("runs")
    write_dataset(rows(RUN * RUNS), root, "train")
    return root


Mapped = Callable[..., Any]


@pytest.fixture
def mapped(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Mapped:
    """Return batches that a function of the number of a run makes in so many threads."""

    def batches(function: Callable[[int], int], threads: int, **options: Any) -> Any:
        def change(batch: dict[str, Any]) -> dict[str, Any]:
            found = function(int(batch["scan"][0]) // RUN)
            return {"found": [found] * len(batch["scan"])}

        monkeypatch.setattr(os, "sched_getaffinity", lambda _: {*range(threads)})
        split = open_split(directory, "train", fields=["scan"])
        return split.map(change, batched=True).batches(RUN, **options)

    return batches


def found_in(batch: dict[str, Any]) -> int:
    [found] = {*batch["found"]}
    return int(found)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_the_order_of_records(mapped: Mapped, threads: int) -> None:
    """Also where the first ones take longest."""

    def slow(run: int) -> int:
        time.sleep((RUNS - run) / 1000)
        return run * 2

    assert [*map(found_in, mapped(slow, threads))] == [*range(0, 2 * RUNS, 2)]


def test_several_batches_are_made_at_once(mapped: Mapped) -> None:
    """Each second one waits for the next; the first two come alone."""
    met = threading.Barrier(2, timeout=60)

    def meeting(run: int) -> int:
        if run > 1:
            met.wait()
        return run

    assert [*map(found_in, mapped(meeting, 2))] == [*range(RUNS)]


Counted = Callable[..., tuple[Any, list[int]]]


@pytest.fixture
def counted(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Counted:
    """Return a split of 1,024 records, and which of them were made; in two threads."""

    def split(**options: Any) -> tuple[Any, list[int]]:
        made: list[int] = []

        def count(record: dict[str, Any]) -> dict[str, Any]:
            made.append(record["scan"])
            return record

        monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
        some = open_split(directory, "train", **options).select(range(1024))
        return some.map(count), made

    return split


ORDERS = [{}, {"shuffle_seed": 1}, {"shuffle_seed": 1, "block": 16}]


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_the_first_batch_is_made_of_its_own_records(
    counted: Counted, order: dict[str, Any]
) -> None:
    split, made = counted()
    first = next(split.batches(8, **order))
    # What is made ahead of the next one comes behind it.
    assert made[:8] == first["scan"].tolist()


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("prefetch", [1, 2, 5, 64])
def test_no_more_batches_are_made_ahead_than_are_asked_for(
    counted: Counted, prefetch: int, order: dict[str, Any]
) -> None:
    split, made = counted()
    found = list[int]()
    for batch in split.batches(8, prefetch=prefetch, **order):
        found += batch["scan"].tolist()
        assert len(made) <= len(found) + 8 * prefetch
    assert found == scans(split.batches(8, prefetch=0, **order))


def test_a_batch_is_made_while_the_loop_has_the_one_before(mapped: Mapped) -> None:
    made = threading.Event()

    def watched(run: int) -> int:
        if run == 2:
            made.set()
        return run

    batches = mapped(watched, 2, prefetch=1)
    next(batches)
    next(batches)
    assert made.wait(60)


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("size", [8, 150])
def test_without_prefetch_the_loop_makes_each_batch_itself(
    counted: Counted, size: int, order: dict[str, Any]
) -> None:
    split, made = counted()
    threads = {*threading.enumerate()}
    batches = split.batches(size, prefetch=0, **order)
    for batch in batches:
        assert made == batch["scan"].tolist()
        made.clear()
        assert {*threading.enumerate()} <= threads
        if len(batch["scan"]) == size:
            rest = split.batches(size, prefetch=0, resume=batches.state(), **order)
            assert len(rest) == len(batches) - batches.taken


def test_prefetch_is_a_number_of_batches(counted: Counted) -> None:
    split, _ = counted()
    for wrong in (-1, 0.5):
        with pytest.raises(DatasetError, match="prefetch"):
            split.batches(8, prefetch=wrong)


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize(("size", "most"), [(4, 160), (64, 320)])
def test_what_is_made_ahead_is_bounded_by_its_bytes(
    directory: Path,
    monkeypatch: pytest.MonkeyPatch,
    size: int,
    most: int,
    order: dict[str, Any],
    batched: bool,
) -> None:
    """Records that are small in files may be large in batches: here, half a megabyte."""
    made: list[int] = []

    def enlarged(record: dict[str, Any]) -> dict[str, Any]:
        made.append(np.size(record["scan"]))
        return {"large": np.zeros((*np.shape(record["scan"]), 1 << 16))}

    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    split = open_split(directory, "train", fields=["scan"]).select(range(RUN))
    taken = 0
    for batch in split.map(enlarged, batched=batched).batches(size, **order):
        # 64 MB, or a batch for each thread, and those that wait after them.
        assert sum(made) - taken <= most
        taken += len(batch["large"])
    assert taken == sum(made) == RUN


def test_balancing_holds_few_records(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It needs all fields of records that a function has changed, but not at once."""
    lock, held, most = threading.RLock(), 0, 0

    def count(change: int) -> None:
        nonlocal held, most
        with lock:
            held += change
            most = max(most, held)

    def enlarged(record: dict[str, Any]) -> dict[str, Any]:
        large = np.zeros(1 << 16)
        weakref.finalize(large, count, -1)
        count(1)
        return {"large": large, "digit": record["digit"]}

    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    split = open_split(directory, "train", fields=["digit"]).select(range(RUN))
    assert len(split.map(enlarged).balanced("digit")) >= RUN
    assert 0 < most <= 160


@pytest.mark.parametrize("prefetch", [0, 1, None])
@pytest.mark.parametrize("size", [1, 8])
def test_all_batches_before_an_error_are_delivered(
    directory: Path, size: int, prefetch: int | None
) -> None:
    """However many are made together."""

    def divide(record: dict[str, Any]) -> dict[str, Any]:
        return {"found": 6 // (700 - int(record["scan"]))}

    split = open_split(directory, "train", fields=["scan"]).map(divide)
    batches = split.batches(size, prefetch=prefetch)
    with pytest.raises(DatasetError, match="record 700: map") as first:
        list(batches)
    assert batches.taken == 700 // size
    with pytest.raises(DatasetError) as again:
        next(batches)
    assert again.value is first.value


def test_an_error_comes_in_its_place(mapped: Mapped) -> None:
    """What came before it is there, and threads end."""

    def divide(run: int) -> int:
        return 6 // (2 - run)

    before = {*threading.enumerate()}
    batches = mapped(divide, 2)
    assert [found_in(next(batches)), found_in(next(batches))] == [3, 6]
    with pytest.raises(DatasetError, match="ZeroDivisionError"):
        next(batches)
    del batches
    until = time.monotonic() + 60
    while not {*threading.enumerate()} <= before:
        assert time.monotonic() < until
        time.sleep(0.01)
