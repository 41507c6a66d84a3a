"""How far the writing is: a bar, a callback, or silence."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from ..shared.errors import DatasetError
from ..shared.values import described

# How often a callback is called, at most.
_INTERVAL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of `write_dataset`.

    Attributes:
        records: how many have been written.
        bytes: their size, before compression.
        total: the number of rows, if it is known.
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
    """Counts records while they are written, and calls a function with the progress.

    Used as a context manager around the writing, and called with the number of records
    that were written since the last call, and their bytes. The function is called about
    ten times in a second, and once more if all went well.

    Args:
        function: takes the progress; None for silence.
        total: the number of rows, if it is known.
        close: called at the end, however it comes.
    """

    def __init__(
        self,
        function: Callable[[Progress], object] | None,
        total: int | None,
        close: Callable[[], object] = lambda: None,
    ) -> None:
        self._function = function
        self._close = close
        self._records = self._bytes = 0
        self._total = total
        self._started = self._reported = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __call__(self, records: int, size: int) -> None:
        """Take note of records and their size in bytes."""
        self._records += records
        self._bytes += size
        if time.monotonic() - self._reported >= _INTERVAL_SECONDS:
            self._report()

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        try:
            if kind is None:
                self._report()
        finally:
            self._close()

    def _report(self) -> None:
        self._reported = time.monotonic()
        if self._function is not None:
            seconds = self._reported - self._started
            self._function(Progress(self._records, self._bytes, self._total, seconds))


def _with_bar(total: int | None, title: str) -> Reporter:
    """Return a reporter with a bar on stderr: records, MB a second, and the time left."""
    from tqdm import tqdm  # takes time to import, and is seldom needed

    bar = tqdm(
        total=total, desc=title, unit=" records", unit_scale=True, file=sys.stderr
    )

    def show(progress: Progress) -> None:
        rate = progress.bytes_per_second / 1e6
        bar.set_postfix_str(f"{rate:.1f} MB/s", refresh=False)
        bar.update(progress.records - bar.n)

    return Reporter(show, total, bar.close)


def reporter(
    progress: bool | Callable[[Progress], object] | None,
    total: int | None,
    title: str,
) -> Reporter:
    """Return the reporter of a writing.

    Args:
        progress: a function to call with each `Progress`; True for a bar; False for
            silence; None for a bar if stderr is a terminal and the environment has
            no `CI`.
        total: the number of rows, if it is known.
        title: what the bar is called.

    Raises:
        DatasetError: none of these.
    """
    if progress is None:
        terminal = sys.stderr is not None and sys.stderr.isatty()
        progress = terminal and not os.environ.get("CI")
    if progress is True:
        return _with_bar(total, title)
    if progress is False:
        return Reporter(None, total)
    if callable(progress):
        return Reporter(progress, total)
    raise DatasetError(
        f"progress={described(progress)}: expected None, True, False, or a function "
        "that takes a Progress"
    )
