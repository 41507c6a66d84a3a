"""Digits and sources of them to which things happen, which workers of engines import."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np
from digit_rows import listed

from generated.digit import serializer

Row = dict[str, Any]
Make = Callable[[int], Row]

PATIENCE = 60.0


def digit(number: int) -> Row:
    """Return a row; equal numbers give equal rows."""
    random = np.random.default_rng(number)
    return {
        "image": random.integers(0, 240, (8, 8, 1), dtype=np.uint8),
        "ink_runs": list(range(number % 7)),
        "moments": random.random(8, dtype=np.float32),
        "digit": number % 10,
        "scan": number,
    }


def brighter(number: int) -> Row:
    """Return other fields than `digit` for the same key."""
    return {**digit(number), "image": np.full((8, 8, 1), 241, np.uint8)}


def wrong(at: int, number: int) -> Row:
    """Return a row, which one in so many is refused."""
    return {**digit(number), "digit": 99} if number % at == at - 1 else digit(number)


def digits(count: int) -> list[Row]:
    return [digit(number) for number in range(count)]


def some(first: int, last: int) -> Iterator[Row]:
    """Yield consecutive digits."""
    yield from map(digit, range(first, last))


def is_first(mark: Path) -> bool:
    """Return whether no process has asked before."""
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def parent_of(process: int) -> int:
    stat = Path(f"/proc/{process}/stat").read_text()
    return int(stat.rpartition(")")[2].split()[1])


def executor_of(worker: int) -> int:
    """Return the process of the JVM that a Python worker of Spark works for."""
    executor = parent_of(parent_of(worker))  # its parent forks workers
    assert Path(f"/proc/{executor}/comm").read_text().strip() == "java"
    return executor


@dataclass(frozen=True)
class Kills:
    """Makes rows, and kills the first process that makes one of them.

    Attributes:
        at: the number of the row.
        mark: a file that says that it has.
        executor: whether it kills the worker's executor instead, as of Spark.
    """

    at: int
    mark: Path
    executor: bool = False

    def __call__(self, number: int) -> Row:
        if number == self.at and is_first(self.mark):
            mine = os.getpid()
            os.kill(executor_of(mine) if self.executor else mine, signal.SIGKILL)
            sleep(PATIENCE)  # the executor takes its workers with it
        return digit(number)


@dataclass(frozen=True)
class Fails:
    """Makes rows, but one of them not until a file is there; notes which.

    Attributes:
        at: the number of the row.
        repaired: the file.
        log: a directory that gets a file for each row that was made.
    """

    at: int
    repaired: Path
    log: Path

    def __call__(self, number: int) -> Row:
        if number == self.at and not self.repaired.exists():
            raise OSError(f"row {number} is out of reach")
        (self.log / str(number)).touch()
        return digit(number)


@dataclass(frozen=True)
class Overtaken:
    """Makes 60 rows, and lets another attempt write the shard of one of them meanwhile.

    Attributes:
        at: the number of the row.
        mark: a file that says that it has.
        plan: what the other attempt writes.
        make: what makes its rows.
    """

    at: int
    mark: Path
    plan: Any
    make: Make

    def __call__(self, number: int) -> Row:
        if number == self.at and is_first(self.mark):
            shard = number * self.plan.shards // 60
            serializer.write_part(list(map(self.make, range(60))), self.plan, shard)
        return digit(number)


def refuse(number: int) -> Row:
    """Make no row, where none must be asked for."""
    raise AssertionError(f"row {number} was computed")


@dataclass(frozen=True)
class Source:
    """Rows by their index.

    Attributes:
        count: how many there are.
        make: what makes them.
    """

    count: int
    make: Make = digit

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Row:
        return self.make(index)


def plan_of(directory: Path, **options: Any) -> Any:
    return serializer.plan_dataset(directory, "train", **options)


def settled(directory: Path, wanted: dict[str, bytes], plan: Any) -> dict[str, bytes]:
    """Return the files of a directory, once tasks of a failed job have ended.

    Args:
        directory: the directory.
        wanted: its files then.
        plan: of the run, which is abandoned again if a task has written since.
    """
    deadline = monotonic() + PATIENCE / 2
    while monotonic() < deadline:
        try:
            if listed(directory) == wanted:
                break
        except FileNotFoundError:  # what was listed may be removed since
            pass
        sleep(0.2)
        serializer.abandon(plan)
    return listed(directory)


def published(directory: Path) -> list[str]:
    """Return the names that are not hidden; tasks of a failed job may still be at work."""
    return [path.name for path in directory.iterdir() if path.name[0] != "."]
