"""How far the writing is: a bar, a callback, or silence."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

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


class Reporter:
    """Is told of records while they are written; this one says nothing.

    Used as a context manager around the writing, and called with the number of records
    that were written since the last call, and their bytes.

    Args:
        total: how many rows there are, if it is known.
    """

    def __init__(self, total: int | None) -> None:
        self._records = self._bytes = 0
        self._total = total
        self._started = self._told = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __call__(self, records: int, size: int) -> None:
        """Take note of records and their size in bytes."""
        self._records += records
        self._bytes += size

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Say no more."""

    def _progress(self) -> Progress:
        seconds = time.monotonic() - self._started
        return Progress(self._records, self._bytes, self._total, seconds)


class Callback(Reporter):
    """Calls a function about ten times in a second, and at the end of the writing."""

    def __init__(
        self, function: Callable[[Progress], object], total: int | None
    ) -> None:
        super().__init__(total)
        self._function = function

    def __call__(self, records: int, size: int) -> None:
        """Take note of records and their size in bytes; perhaps call the function."""
        super().__call__(records, size)
        if time.monotonic() - self._told >= _INTERVAL_SECONDS:
            self._told = time.monotonic()
            self._function(self._progress())

    def __exit__(self, kind: type[BaseException] | None, *others: object) -> None:
        """Call the function once more if all went well."""
        if kind is None:
            self._function(self._progress())


class Bar(Reporter):
    """A bar on stderr: records, MB in a second, and the time that is left.

    Args:
        total: how many rows there are, if it is known.
        title: stands before the bar.
    """

    def __init__(self, total: int | None, title: str) -> None:
        from tqdm import tqdm  # takes time to import, and is seldom needed

        super().__init__(total)
        self._bar = tqdm(
            total=total, desc=title, unit=" records", unit_scale=True, file=sys.stderr
        )

    def __call__(self, records: int, size: int) -> None:
        """Move on by so many records of so many bytes."""
        super().__call__(records, size)
        rate = self._progress().bytes_per_second / 1e6
        self._bar.set_postfix_str(f"{rate:.1f} MB/s", refresh=False)
        self._bar.update(records)

    def __exit__(self, *error: object) -> None:
        """Leave the bar as it is."""
        self._bar.close()


def reporter(
    progress: bool | Callable[[Progress], object] | None,
    total: int | None,
    title: str,
) -> Reporter:
    """Return what is told of records while they are written.

    Args:
        progress: a function to call with each `Progress`; True for a bar; False for
            silence; None for a bar if stderr is a terminal and the environment has
            no `CI`.
        total: how many rows there are, if it is known.
        title: what the bar is called.

    Raises:
        DatasetError: none of these.
    """
    if progress is None:
        terminal = sys.stderr is not None and sys.stderr.isatty()
        progress = terminal and not os.environ.get("CI")
    if progress is True:
        return Bar(total, title)
    if progress is False:
        return Reporter(total)
    if callable(progress):
        return Callback(progress, total)
    raise DatasetError(
        f"progress={described(progress)}: expected None, True, False, or a function "
        "that takes a Progress"
    )
