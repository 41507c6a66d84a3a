"""Many files are read by several processes, which leave nothing behind."""

from __future__ import annotations

import multiprocessing
import os
import time
from pathlib import Path
from typing import Any

import pytest
from schemagen.data.framing import scan
from schemagen.data.parallel import in_parallel
from schemagen.data.records import Damage, Part, Records
from schemagen.runtime.shared.errors import DatasetError
from schemagen.runtime.shared.tfrecord import frame

from .parallel_tasks import (
    dies_on_three,
    fails_on_three,
    leaves_on_three,
    reads_for_minutes,
    squared,
)


@pytest.mark.parametrize("workers", [1, 2])
def test_every_task_is_done_once(workers: int) -> None:
    """Whoever does it, and all bytes are told."""
    told: list[int] = []
    done = dict(in_parallel(squared, range(9), workers=workers, moved=told.append))
    assert {index: value for index, (value, _) in done.items()} == {
        number: number * number for number in range(9)
    }
    assert sum(told) == sum(range(9))
    here = {pid == os.getpid() for _, pid in done.values()}
    assert here == {workers == 1}
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_task_raises_is_raised(workers: int) -> None:
    """And no process remains."""
    with pytest.raises(DatasetError, match=r"^three$"):
        list(in_parallel(fails_on_three, range(6), workers=workers))
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("ends", [dies_on_three, leaves_on_three])
def test_a_worker_that_ends_is_told(ends: Any) -> None:
    """It was killed, or it is a script that would have started itself again."""
    with pytest.raises(DatasetError) as raised:
        list(in_parallel(ends, range(6), workers=2))
    assert str(raised.value) == (
        "a worker process ended before its work was done: it was killed, perhaps for "
        "want of memory, where fewer workers need less (--workers 1); or the program "
        "that starts workers has no `if __name__ == '__main__'` around what it does"
    )
    assert not multiprocessing.active_children()


def test_a_worker_stops_in_the_midst_of_a_task() -> None:
    """When it reads on: no one waits for what takes long."""
    running = in_parallel(reads_for_minutes, [0, 60, 60, 60], workers=2)
    assert next(running)[0] == 0
    begin = time.monotonic()
    running.close()  # type: ignore[attr-defined]
    assert time.monotonic() - begin < 20
    assert not multiprocessing.active_children()


def test_who_stops_listening_ends_the_workers() -> None:
    """As Ctrl-C does."""
    running = in_parallel(squared, range(100), workers=2)
    next(running)
    assert multiprocessing.active_children()
    running.close()  # type: ignore[attr-defined]
    assert not multiprocessing.active_children()


def facts(found: list[Records | Damage]) -> list[object]:
    return [
        each if isinstance(each, Damage) else [each[row] for row in range(len(each))]
        for each in found
    ]


def test_scanning_tells_of_each_byte(tmp_path: Path) -> None:
    """And finds what `scan` finds, damage too."""
    path = tmp_path / "records"
    path.write_bytes(b"".join(map(frame, [b"one", b"two", b"three"])) + b"rest")
    told: list[int] = []
    assert facts(list(scan(Part(path), moved=told.append))) == facts(list(scan(path)))
    assert sum(told) == path.stat().st_size
    missing = tmp_path / "missing"
    assert facts(list(scan(Part(missing), moved=told.append))) == facts(
        list(scan(missing))
    )
