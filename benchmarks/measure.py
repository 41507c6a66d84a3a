"""Time alternatives side by side, in alternating order."""

from __future__ import annotations

import gc
import importlib
import os
import shutil
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from unittest import mock

Way = Callable[[], object]
Times = dict[str, list[float]]
Made = TypeVar("Made")


class Missing(Exception):
    """An alternative is not installed; the text names the package."""


class Different(Exception):
    """An alternative reads or writes other values than expected."""


def library(name: str, package: str) -> Any:
    """Import a module of an alternative, or raise `Missing`."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Missing(
            f"{package} cannot be imported ({error}); `make bench` sets up an "
            "environment that has it"
        ) from None


def available(
    makers: Mapping[str, Callable[[], Made]],
) -> tuple[dict[str, Made], list[str]]:
    """Prepare all ways that are installed; return a line of text for each other one."""
    ways: dict[str, Made] = {}
    missing: list[str] = []
    for name, make in makers.items():
        try:
            ways[name] = make()
        except Missing as reason:
            missing.append(f"{name} is left out: {reason}")
    return ways, missing


def alternating(names: Sequence[str], rounds: int) -> Iterator[tuple[str, bool]]:
    """Yield names in the order to run them, and whether the run counts.

    The first round does not count. The order is reversed from round to round.
    """
    for number in range(rounds + 1):
        for name in names if number % 2 else reversed(names):
            yield name, number > 0


def side_by_side(
    ways: Mapping[str, Way], rounds: int, before: Way | None = None
) -> Times:
    """Return the seconds that each way takes in each round.

    Args:
        ways: the functions to time, by name.
        rounds: number of rounds that count, after one that does not.
        before: called before each way, and not timed.
    """
    (times,) = by_clocks(ways, rounds, [time.perf_counter], before)
    return times


def by_clocks(
    ways: Mapping[str, Way],
    rounds: int,
    clocks: Sequence[Callable[[], float]],
    before: Way | None = None,
) -> list[Times]:
    """Do the same with several clocks; return the seconds by each clock."""
    times: list[Times] = [{name: [] for name in ways} for _ in clocks]
    gc.freeze()  # objects that exist already are not collected each time
    try:
        for name, counts in alternating(list(ways), rounds):
            if before is not None:
                before()
            taken = _seconds(ways[name], clocks)
            for seconds, clock in zip(taken, times, strict=True):
                if counts:
                    clock[name].append(seconds)
    finally:
        gc.unfreeze()
    return times


def _seconds(way: Way, clocks: Sequence[Callable[[], float]]) -> list[float]:
    """Time a way without garbage collection."""
    gc.collect()
    gc.disable()
    try:
        start = [clock() for clock in clocks]
        way()
        return [clock() - began for clock, began in zip(clocks, start, strict=True)]
    finally:
        gc.enable()


def exhausting(pieces: Callable[[], Iterable[object]]) -> Way:
    """Return a way that iterates over all pieces and keeps none."""

    def way() -> None:
        for _ in pieces():
            pass

    return way


@dataclass(frozen=True)
class Figure:
    """The median of several rounds, and the quartiles around it."""

    median: float
    low: float
    high: float


def figure(values: Sequence[float]) -> Figure:
    """Return the median and the quartiles of one value a round."""
    if len(values) == 1:
        return Figure(values[0], values[0], values[0])
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return Figure(median, low, high)


def microseconds(times: Sequence[float], records: int) -> Figure:
    """Return the time of one record."""
    return figure([seconds / records * 1e6 for seconds in times])


def ratio(slow: Sequence[float], fast: Sequence[float]) -> Figure:
    """Return the ratio of two ways, compared round by round."""
    return figure([a / b for a, b in zip(slow, fast, strict=True)])


@contextmanager
def without_fsync() -> Iterator[None]:
    """Let `os.fsync` return at once."""

    def at_once(file: object) -> None:
        """Do nothing."""

    with mock.patch.object(os, "fsync", at_once):
        yield


def empty(directory: Path) -> None:
    """Delete and recreate a directory.

    Data that is not on the disk yet is dropped with its files, so no way waits for
    what another one wrote.
    """
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
