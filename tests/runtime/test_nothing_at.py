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
        ("datas/", NOTHING, "data"),
        ("data/trian.tfrecord", NOTHING, "data/train.tfrecord"),
        ("log", NOTHING, ""),
        ("logs/../dta", NOTHING, "data"),
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
    (tmp_path / "log.txt").touch()
    whole = f"; did you mean {str(tmp_path / near)!r}?" if near else ""
    assert nothing_at(f"{tmp_path}/{path}") == words + whole
    question = f"; did you mean {near!r}?" if near else ""
    monkeypatch.chdir(tmp_path)
    where = f"; the working directory is {tmp_path}"
    assert nothing_at(path) == words + where + question


@pytest.mark.parametrize(
    ("directory", "path", "near"),
    [
        ("project", "../data", "data"),
        ("project", "../dat", ""),
        ("project/notebooks", "data", "../data"),
        ("project/notebooks", "data/train", "../data/train"),
        ("project/notebooks", "../dta", "../data"),
        ("project/notebooks", "../dta/train", "../data"),
    ],
)
def test_a_path_from_another_directory(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    directory: str,
    path: str,
    near: str,
) -> None:
    """What is suggested is there, from here; a file next to the project is not meant."""
    (tmp_path / "project/data/train").mkdir(parents=True)
    (tmp_path / "project/notebooks").mkdir()
    (tmp_path / "data.log").touch()
    monkeypatch.chdir(tmp_path / directory)
    question = f"; did you mean {near!r}?" if near else ""
    where = f"; the working directory is {tmp_path / directory}"
    assert nothing_at(path) == NOTHING + where + question


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
