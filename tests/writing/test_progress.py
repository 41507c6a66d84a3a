"""A bar, a callback or silence."""

from __future__ import annotations

import io
import sys
import time
from typing import Any

import pytest
from schemagen.runtime.shared.errors import DatasetError
from schemagen.runtime.writing.progress import Bar, Callback, Progress, reporter


class Clock:
    """Goes on only as told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)


class Terminal(io.StringIO):
    """Takes what is shown, as a terminal."""

    def isatty(self) -> bool:
        return True


def on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Make stderr the terminal of a person; in the test, for pytest sets it before."""
    found = Terminal()
    monkeypatch.setattr(sys, "stderr", found)
    return found


def test_rates() -> None:
    """Rates are means since the beginning; what is not known is not guessed."""
    found = Progress(records=300, bytes=6_000_000, total=900, seconds=3.0)
    assert found.records_per_second == 100
    assert found.bytes_per_second == 2_000_000
    assert found.seconds_left == 6
    beginning = Progress(0, 0, 900, 0.0)
    assert (beginning.records_per_second, beginning.bytes_per_second) == (0, 0)
    assert beginning.seconds_left is None
    assert Progress(300, 1, None, 3.0).seconds_left is None
    assert Progress(300, 1, 200, 3.0).seconds_left == 0


def test_a_callback(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is called ten times a second at most, and once when all is written."""
    clock = Clock(monkeypatch)
    told: list[Progress] = []
    with reporter(told.append, 100, "train") as seen:
        for _ in range(10):
            clock.now += 0.03125
            seen(5, 1000)
    assert told == [
        Progress(20, 4000, 100, 0.125),
        Progress(40, 8000, 100, 0.25),
        Progress(50, 10_000, 100, 0.3125),
    ]


def test_a_callback_is_not_told_of_an_end_that_was_none() -> None:
    """After an error nothing more is said, and the error comes through."""
    told: list[Progress] = []

    def fail() -> None:
        with reporter(told.append, None, "train"):
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        fail()
    assert told == []


def test_what_a_callback_raises_ends_the_writing() -> None:
    """So it can be used to stop."""

    def stop(progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), reporter(stop, None, "train"):
        pass


def test_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal it shows the title, records of how many, and MB in a second."""
    terminal = on_a_terminal(monkeypatch)
    clock = Clock(monkeypatch)
    with reporter(None, 2000, "train") as seen:
        clock.now += 2
        seen(1000, 5_000_000)
    shown = terminal.getvalue()
    assert "train:  50%" in shown
    assert "1.00k/2.00k" in shown
    assert "2.5 MB/s" in shown


def test_a_bar_of_unknown_length(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the number of rows is not known, the records are counted."""
    terminal = on_a_terminal(monkeypatch)
    with reporter(True, None, "train") as seen:
        seen(1000, 5_000_000)
    assert "train: 1.00k records" in terminal.getvalue()


@pytest.mark.parametrize("why", ["CI", "no terminal", "no stderr", "no tqdm", "False"])
def test_silence(why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs of machines, and who does not want it, are spared."""
    terminal = on_a_terminal(monkeypatch)
    if why == "CI":
        monkeypatch.setenv("CI", "true")
    elif why == "no terminal":
        monkeypatch.setattr(terminal, "isatty", lambda: False)
    elif why == "no stderr":
        monkeypatch.setattr(sys, "stderr", None)
    elif why == "no tqdm":
        monkeypatch.setitem(sys.modules, "tqdm", None)
    with reporter(False if why == "False" else None, 10, "train") as seen:
        seen(5, 100)
    assert terminal.getvalue() == ""
    assert not isinstance(seen, (Bar, Callback))


def test_a_bar_that_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks for a bar is told what is missing."""
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.raises(DatasetError) as caught:
        reporter(True, 10, "train")
    assert str(caught.value) == (
        "progress=True: a bar needs tqdm, which is not installed; pip install tqdm, or "
        "pass a function to be called"
    )


@pytest.mark.parametrize(
    ("value", "found"), [("yes", "str 'yes'"), (1, "int 1"), (0, "int 0")]
)
def test_other_values(value: Any, found: str) -> None:
    """Nothing else means anything."""
    with pytest.raises(DatasetError) as caught:
        reporter(value, 10, "train")
    assert str(caught.value) == (
        f"progress={found}: expected None, True, False, or a function that takes a "
        "Progress"
    )
