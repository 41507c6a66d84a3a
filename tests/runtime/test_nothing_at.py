"""What is said of a path or glob that names no file."""

from __future__ import annotations

from pathlib import Path

import pytest
from schemagen.runtime.shared.errors import nothing_at

NOTHING = "no such directory or file"
NO_MATCH = "no file matches"


@pytest.mark.parametrize(
    ("path", "words", "near"),
    [
        ("dta", NOTHING, "data"),
        ("datas/train", NOTHING, "data"),
        ("data/trian.tfrecord", NOTHING, "train.tfrecord"),
        ("data/trian*", NO_MATCH, ""),
        ("dat/train-*", NO_MATCH, "data"),
        ("elsewhere", NOTHING, ""),
        ("data/train.tfrecord/x", NOTHING, ""),
    ],
)
def test_the_nearest_name_and_the_working_directory_are_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    words: str,
    near: str,
) -> None:
    """A relative path may be right, and the working directory wrong."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data/train.tfrecord").touch()
    question = f"; did you mean {near!r}?" if near else ""
    assert nothing_at(str(tmp_path / path)) == words + question
    monkeypatch.chdir(tmp_path)
    where = f"; the working directory is {tmp_path}"
    assert nothing_at(path) == words + where + question


def test_servers_are_not_asked_again() -> None:
    """A URL has no working directory, and its names would be another request."""
    assert nothing_at("gs://bucket/data") == NOTHING
    assert nothing_at("gs://bucket/data-*") == NO_MATCH


def test_a_working_directory_may_be_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message is then as short as can be, and no other error."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert nothing_at("data") == NOTHING
