"""Timing several ways of doing one thing, side by side."""

from __future__ import annotations

import gc
import importlib
import os
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from unittest import mock

Way = Callable[[], object]
Times = dict[str, list[float]]
Made = TypeVar("Made")


class Missing(Exception):
    """A way that cannot be measured here; the text says what is not installed."""


class Different(Exception):
    """A way wrote or read something else than it was given."""


def library(name: str, package: str) -> Any:
    """Import a module of a peer, or raise `Missing`, which names the package."""
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
    """Make the ways that can be made.

    Args:
        makers: by the way's name, what prepares it, outside of the time that is taken.

    Returns:
        The ways, in the same order, and a line for each that is missing.
    """
    ways: dict[str, Made] = {}
    missing: list[str] = []
    for name, make in makers.items():
        try:
            ways[name] = make()
        except Missing as reason:
            missing.append(f"{name} is left out: {reason}")
    return ways, missing


def side_by_side(
    ways: Mapping[str, Way], rounds: int, before: Way | None = None
) -> Times:
    """Time every way once a round, after one round that does not count.

    The order turns around from round to round, so that none always comes after the
    one that leaves the caches as it needs them.

    Args:
        ways: by name, what is timed.
        rounds: how many count.
        before: done before each way, and not timed.

    Returns:
        Seconds, by way, a number a round.
    """
    (times,) = by_clocks(ways, rounds, [time.perf_counter], before)
    return times


def by_clocks(
    ways: Mapping[str, Way],
    rounds: int,
    clocks: Sequence[Callable[[], float]],
    before: Way | None = None,
) -> list[Times]:
    """Do the same and look at several clocks.

    Returns:
        Seconds by each of the clocks.
    """
    names = list(ways)
    times: list[Times] = [{name: [] for name in names} for _ in clocks]
    gc.freeze()  # what is there already need not be looked through each time
    try:
        for name, counts in turns(names, rounds):
            if before is not None:
                before()
            taken = _seconds(ways[name], clocks)
            for seconds, clock in zip(taken, times, strict=True):
                if counts:
                    clock[name].append(seconds)
    finally:
        gc.unfreeze()
    return times


def turns(names: Sequence[str], rounds: int) -> Iterator[tuple[str, bool]]:
    """Yield whose turn it is, and whether it counts: those of the first round do not.

    The order turns around from round to round.
    """
    for number in range(rounds + 1):
        for name in names if number % 2 else reversed(names):
            yield name, number > 0


def _seconds(way: Way, clocks: Sequence[Callable[[], float]]) -> list[float]:
    """Time something that begins without garbage and is not stopped to collect any."""
    gc.collect()
    gc.disable()
    try:
        start = [clock() for clock in clocks]
        way()
        return [clock() - began for clock, began in zip(clocks, start, strict=True)]
    finally:
        gc.enable()


def exhausting(pieces: Callable[[], Iterable[object]]) -> Way:
    """Return a way that makes all pieces and lets each go, as one who writes does."""

    def way() -> None:
        for _ in pieces():
            pass

    return way


@dataclass(frozen=True)
class Figure:
    """What several rounds say.

    Attributes:
        median: of the rounds.
        low: below it lies a quarter of the rounds.
        high: above it lies a quarter of the rounds.
    """

    median: float
    low: float
    high: float


def figure(values: Sequence[float]) -> Figure:
    """Return the median and the middle half of some values, one a round."""
    if len(values) == 1:
        return Figure(values[0], values[0], values[0])
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return Figure(median, low, high)


def microseconds(times: Sequence[float], records: int) -> Figure:
    """Return the time of one record."""
    return figure([seconds / records * 1e6 for seconds in times])


def ratio(slow: Sequence[float], fast: Sequence[float]) -> Figure:
    """Return how many times faster one way is, compared round by round."""
    return figure([a / b for a, b in zip(slow, fast, strict=True)])


@contextmanager
def without_waiting_for_the_disk() -> Iterator[None]:
    """Let fsync return at once: what is written stays with the system, as peers do."""

    def at_once(file: object) -> None:
        """Do nothing."""

    with mock.patch.object(os, "fsync", at_once):
        yield
