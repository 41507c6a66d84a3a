"""Progress of writing: a bar, a callback or silence."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from digit_rows import row, rows
from published_splits import names, published
from schemagen.runtime.writing.progress import Progress, reporter

from generated import DatasetError
from generated.digit.serializer import write_dataset


class Terminal(io.StringIO):
    """Takes what is shown, as a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal() -> Terminal:
    return Terminal()


def shown(
    terminal: Terminal, directory: Path, patch: pytest.MonkeyPatch, **options: Any
) -> str:
    """Write 2000 rows before a terminal, and return what it shows."""
    with patch.context() as patched:
        if sys.stderr is not None:  # pytest has set it since the fixtures
            patched.setattr(sys, "stderr", terminal)
        source = options.pop("source", rows(2000))
        write_dataset(source, directory, "train", **options)
    return terminal.getvalue()


def test_rates_are_means_since_the_beginning() -> None:
    """What is not known is not guessed."""
    found = Progress(records=300, bytes=6_000_000, total=900, seconds=3.0)
    assert found.records_per_second == 100
    assert found.bytes_per_second == 2_000_000
    assert found.seconds_left == 6
    beginning = Progress(0, 0, 900, 0.0)
    assert (beginning.records_per_second, beginning.bytes_per_second) == (0, 0)
    assert beginning.seconds_left is None
    assert Progress(300, 1, None, 3.0).seconds_left is None
    assert Progress(300, 1, 200, 3.0).seconds_left == 0


def test_a_callback_is_called_now_and_then_and_at_the_end(tmp_path: Path) -> None:
    """With all records, their bytes, and how many there were to be."""
    seen: list[Progress] = []
    write_dataset(rows(3000), tmp_path, "train", progress=seen.append)
    size = sum(path.stat().st_size for path in tmp_path.glob("train*"))
    assert (seen[-1].records, seen[-1].bytes, seen[-1].total) == (3000, size, 3000)
    assert len(seen) <= 2 + 10 * seen[-1].seconds


def test_a_callback_can_stop_the_writing(tmp_path: Path) -> None:
    """What it raises comes through; after an error of the source it is not called."""

    def stop(progress: Progress) -> None:
        raise KeyboardInterrupt

    def failing() -> Iterator[dict[str, Any]]:
        yield row(0)
        raise KeyError

    with pytest.raises(KeyboardInterrupt):
        write_dataset(rows(3), tmp_path, "train", progress=stop)
    with pytest.raises(KeyError):
        write_dataset(failing(), tmp_path, "train", progress=stop)
    assert published(tmp_path) == []


def test_a_terminal_shows_a_bar(
    tmp_path: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The split, records of how many if that is known, and MB in a second."""
    text = shown(terminal, tmp_path / "a", monkeypatch)
    assert "train: 100%" in text
    assert "2.00k/2.00k" in text
    assert "MB/s" in text
    source = map(row, range(1000))
    text = shown(Terminal(), tmp_path / "b", monkeypatch, source=source, progress=True)
    assert "train: 1.00k records" in text


def test_a_bar_ends_with_a_failure_before_the_error_is_shown(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that the error stands on a line of its own."""
    monkeypatch.setattr(sys, "stderr", terminal)
    told = reporter(True, 10, "train")
    with pytest.raises(KeyError) as kept, told:
        raise KeyError
    assert kept.value
    assert terminal.getvalue().endswith("\n")


@pytest.mark.parametrize("why", ["CI", "no terminal", "no stderr", "False"])
def test_no_bar_is_shown_where_nobody_sees_or_wants_it(
    why: str, tmp_path: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Logs of machines, and whoever does not want it, are spared."""
    if why == "CI":
        monkeypatch.setenv("CI", "true")
    elif why == "no terminal":
        monkeypatch.setattr(terminal, "isatty", lambda: False)
    elif why == "no stderr":
        monkeypatch.setattr(sys, "stderr", None)
    options = {"progress": False} if why == "False" else {}
    assert shown(terminal, tmp_path, monkeypatch, **options) == ""


@pytest.mark.parametrize(("progress", "named"), [("yes", "str 'yes'"), (1, "int 1")])
def test_progress_that_is_not_a_function_is_refused(
    tmp_path: Path, progress: Any, named: str
) -> None:
    """Only None, True, False and functions are taken, and nothing is written."""
    with pytest.raises(DatasetError, match=f"^progress=.*{named}"):
        write_dataset(rows(3), tmp_path, "train", progress=progress)
    assert names(tmp_path) == []
