"""How far the writing is: a bar, a callback, or silence."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from ..shared.errors import DatasetError
from ..shared.values import described

# How often a callback is called, at most.
_INTERVAL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the writing is.

    Attributes:
        records: how many have been written.
        bytes: how many those are, before compression.
        total: how many rows there are, if it is known.
        seconds: since the beginning.
    """

    records: int
    bytes: int
    total: int | None
    seconds: float

    @property
    def records_per_second(self) -> float:
        """The mean since the beginning; 0 at the beginning."""
        return self.records / self.seconds if self.seconds > 0 else 0.0

    @property
    def bytes_per_second(self) -> float:
        """The mean since the beginning; 0 at the beginning."""
        return self.bytes / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """An estimate, if the total is known and there are records."""
        if self.total is None or not self.records:
            return None
        return max(0, self.total - self.records) * self.seconds / self.records


class Silence:
    """Is told of records and says nothing.

    Used as a context manager around the writing, and called with the number of
    records that were written since the last call, and their bytes.
    """

    def __enter__(self) -> Self:
        return self

    def __call__(self, records: int, size: int) -> None:
        """Take note of records and their size in bytes."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Say no more."""


class Callback(Silence):
    """Calls a function about ten times in a second, and at the end of the writing.

    Args:
        function: takes a `Progress`.
        total: how many rows there are, if it is known.
    """

    def __init__(
        self, function: Callable[[Progress], object], total: int | None
    ) -> None:
        self._function = function
        self._total = total
        self._records = 0
        self._bytes = 0
        self._started = self._told = time.monotonic()

    def __call__(self, records: int, size: int) -> None:
        """Take note of records and their size in bytes; perhaps call the function."""
        self._records += records
        self._bytes += size
        if time.monotonic() - self._told >= _INTERVAL_SECONDS:
            self._tell()

    def _tell(self) -> None:
        self._told = time.monotonic()
        seconds = self._told - self._started
        self._function(Progress(self._records, self._bytes, self._total, seconds))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Call the function once more if all went well."""
        if kind is None:
            self._tell()


class Bar(Silence):
    """A bar on stderr: records, MB in a second, and the time that is left.

    Args:
        bar: a class like `tqdm.tqdm`.
        total: how many rows there are, if it is known.
        title: stands before the bar.
    """

    def __init__(self, bar: Any, total: int | None, title: str) -> None:
        self._bar = bar(
            total=total, desc=title, unit=" records", unit_scale=True, file=sys.stderr
        )
        self._bytes = 0
        self._started = time.monotonic()

    def __call__(self, records: int, size: int) -> None:
        """Move on by so many records of so many bytes."""
        self._bytes += size
        seconds = time.monotonic() - self._started
        if seconds > 0:
            rate = self._bytes / seconds / 1e6
            self._bar.set_postfix_str(f"{rate:.1f} MB/s", refresh=False)
        self._bar.update(records)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the bar as it is."""
        self._bar.close()


def reporter(
    progress: bool | Callable[[Progress], object] | None,
    total: int | None,
    title: str,
) -> Silence:
    """Return what is told of records while they are written.

    Args:
        progress: a function to call with each `Progress`; True for a bar; False for
            silence; None for a bar if stderr is a terminal, tqdm is installed, and
            the environment has no `CI`.
        total: how many rows there are, if it is known.
        title: what the bar is called.

    Raises:
        DatasetError: none of these, or a bar is asked for and tqdm is not installed.
    """
    if progress is False:
        return Silence()
    if progress is None:
        if os.environ.get("CI") or sys.stderr is None or not sys.stderr.isatty():
            return Silence()
        bar = _bar_class()
        return Silence() if bar is None else Bar(bar, total, title)
    if progress is True:
        bar = _bar_class()
        if bar is None:
            raise DatasetError(
                "progress=True: a bar needs tqdm, which is not installed; "
                "pip install tqdm, or pass a function to be called"
            )
        return Bar(bar, total, title)
    if callable(progress):
        return Callback(progress, total)
    raise DatasetError(
        f"progress={described(progress)}: expected None, True, False, or a function "
        "that takes a Progress"
    )


def _bar_class() -> Any:
    """Return tqdm's bar, or None if it is not installed."""
    try:
        from tqdm import tqdm  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        return None
    return tqdm
