"""Progress bars on terminals and in notebooks, for what takes more than a second.

The command line and the functions for notebooks show them, by `showing`. Other programs
that call schemagen see none.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self, TypeVar

_DELAY_SECONDS = 1.0

Item = TypeVar("Item")

_is_shown = False


@contextmanager
def showing() -> Iterator[None]:
    """Show bars while the block runs, on a terminal or in a notebook, and without `CI`."""
    global _is_shown
    before, _is_shown = _is_shown, True
    try:
        yield
    finally:
        _is_shown = before


def _is_visible() -> bool:
    if not _is_shown or os.environ.get("CI") or os.environ.get("TERM") == "dumb":
        return False
    if sys.stderr is None:
        return False
    return sys.stderr.isatty() or type(sys.stderr).__module__.startswith("ipykernel.")


class Bar:
    """A bar on stderr, with the time that is left. It is removed at the end.

    It appears after a second, so that quick runs show nothing.

    Args:
        title: shown before the bar.
        total: how much there is to do; None if the calls tell.
        unit: what is counted: "B" for bytes, or a noun such as "file".
    """

    def __init__(self, title: str, total: int | None = None, unit: str = "B") -> None:
        is_bytes = unit == "B"
        self._bar = _new_bar(
            title,
            total=total,
            unit=unit if is_bytes else f" {unit}s",
            unit_scale=is_bytes,
            delay=_DELAY_SECONDS,
            miniters=0,
        )

    def __enter__(self) -> Self:
        return self

    def __call__(self, amount: int = 1, total: int | None = None) -> None:
        """Move on.

        Args:
            amount: how much was done since the last call.
            total: how much there is to do in all; None if that is known.
        """
        if self._bar is not None:
            if total is not None:
                self._bar.total = total
            self._bar.update(amount)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()


def track(
    items: Iterable[Item], title: str, unit: str, total: int | None = None
) -> Iterator[Item]:
    """Yield items, with a bar.

    Args:
        items: what is worked on, one after the other.
        title: shown before the bar.
        unit: what an item is, such as "file".
        total: how many there are; None if `items` has a length, or no one knows.
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    with Bar(title, total, unit) as bar:
        for item in items:
            yield item
            bar()


@contextmanager
def step(title: str) -> Iterator[None]:
    """Show a line while the block runs, which cannot tell how far it is."""
    line = _new_bar(title, bar_format="{desc} ...")
    try:
        yield
    finally:
        if line is not None:
            line.close()


def _new_bar(title: str, **options: Any) -> Any:
    """Return a bar of tqdm, or None where none is shown."""
    if not _is_visible():
        return None
    from tqdm import tqdm  # takes time to import, and is seldom needed

    tqdm.monitor_interval = 0  # no thread: every call may draw
    return tqdm(desc=title, leave=False, file=sys.stderr, dynamic_ncols=True, **options)
