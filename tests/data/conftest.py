"""What tests of data share."""

from __future__ import annotations

import pytest
from schemagen.data import framing, one_pass
from schemagen.data.statistics import samples

_parts_of = one_pass.ranges_of


class Limits:
    """Sizes that decide how files are read, which are too large for files of a test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def part(self, size: int) -> None:
        """Let files of twice so many bytes be read in parts, by several processes."""
        self._monkeypatch.setattr(one_pass, "_TASK_BYTES", size)
        self._monkeypatch.setattr(one_pass, "RANGE_BYTES", size)
        self._monkeypatch.setattr(
            one_pass, "ranges_of", lambda file: _parts_of(file, size)
        )

    def task(self, size: int) -> None:
        """Let a process read no more files together than of so many bytes."""
        self._monkeypatch.setattr(one_pass, "_TASK_BYTES", size)

    def piece(self, size: int) -> None:
        """Let so many bytes of a file be held at a time."""
        self._monkeypatch.setattr(framing, "RUN_BYTES", size)

    def samples(self, size: int) -> None:
        """Let at most so many bytes of records be kept to show them."""
        self._monkeypatch.setattr(samples, "MOST_BYTES", size)


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> Limits:
    """Limits that a test may lower."""
    return Limits(monkeypatch)
