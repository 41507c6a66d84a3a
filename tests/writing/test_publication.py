"""Publishing a split is committed first, and then completed by whichever run is next.

Programs that are broken off at each step are in `tests/net`.
"""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import nullcontext
from pathlib import Path

import pytest
from command_line import run
from digit_rows import rows, written
from published_splits import hidden

from generated import DatasetError, check_files
from generated.digit.serializer import write_dataset
from generated.photo import serializer as photo


def shards(directory: Path, split: str = "train") -> dict[str, bytes]:
    """The files that are named as shards of a split."""
    return {p.name: p.read_bytes() for p in sorted(directory.glob(f"{split}-*"))}


def commit(directory: Path, patch: pytest.MonkeyPatch) -> OSError:
    """Write a split of 30 rows whose files cannot get their names."""
    replace = os.replace

    def refuse(old: Path, new: Path) -> None:
        if Path(new).name.startswith("train-"):
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(new))
        replace(old, new)

    with patch.context() as patched:
        patched.setattr(os, "replace", refuse)
        with pytest.raises(OSError, match="Input/output error") as caught:
            write_dataset(rows(30), directory, "train", shards=2)
    assert shards(directory) == {}
    return caught.value


def test_overwriting_with_equal_rows_repairs_a_damaged_file(tmp_path: Path) -> None:
    """The manifest lists what is to be written already; the files are exchanged all the same."""
    whole = written(tmp_path, rows(7), shards=2)
    next(tmp_path.glob("train-00000-*")).write_bytes(b"damaged")
    assert written(tmp_path, rows(7), shards=2, overwrite=True) == whole


def test_a_committed_split_is_published_by_a_run_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It warns of that and goes on, or is refused for reasons of its own."""
    whole = shards_of_one_run(tmp_path / "whole")

    def write_other(directory: Path) -> None:
        write_dataset(rows(3), directory, "test")

    def write_again(directory: Path) -> None:
        with pytest.raises(DatasetError, match=r"'train'.* 30 "):
            write_dataset(rows(3), directory, "train")

    def write_other_record(directory: Path) -> None:
        with pytest.raises(DatasetError, match="'digit'"):
            photo.Writer(directory, "test")

    for act in (write_other, write_again, write_other_record):
        directory = tmp_path / act.__name__
        commit(directory, monkeypatch)
        with pytest.warns(RuntimeWarning, match="'train' with 30 records"):
            act(directory)
        assert shards(directory) == whole
        assert check_files(directory) == []
        assert hidden(directory) == []


def shards_of_one_run(directory: Path) -> dict[str, bytes]:
    """The files of the run that `commit` interrupts."""
    write_dataset(rows(30), directory, "train", shards=2)
    return shards(directory)


def test_resuming_a_committed_run_says_that_it_is_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is left to write; the error of the first run has told so."""
    error = commit(tmp_path / "data", monkeypatch)
    assert "split 'train' is complete" in str(error)
    assert not hasattr(error, "__notes__")
    for warning in ("'train' with 30 records", None):
        with (
            pytest.warns(RuntimeWarning, match=warning) if warning else nullcontext(),
            pytest.raises(DatasetError, match=r"'train'.* 30 .*complete"),
        ):
            write_dataset(rows(30), tmp_path / "data", "train", shards=2, resume=True)
        assert shards(tmp_path / "data") == shards_of_one_run(tmp_path / "whole")
        shutil.rmtree(tmp_path / "whole")
    assert hidden(tmp_path / "data") == []


def test_verify_reads_a_split_whose_publication_was_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its hidden names, as readers do."""
    commit(tmp_path, monkeypatch)
    found = run("verify", tmp_path)
    assert found.exit_code == 0
    assert "train: 30 records" in found.output


def test_a_run_that_ends_completes_what_another_left_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So no split comes into the directory that the committed one does not go with."""
    writer = photo.Writer(tmp_path, "test", allow_empty=True)
    commit(tmp_path, monkeypatch)
    with pytest.raises(DatasetError, match="'digit'"):
        writer.close()
    assert shards(tmp_path) == shards_of_one_run(tmp_path / "whole")
    assert shards(tmp_path, "test") == {}


@pytest.mark.filterwarnings("ignore:.*'train'")
def test_a_commitment_of_which_something_is_lost_is_refused_until_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever file was cut: other splits are written, and it is whole or not there."""
    whole = shards_of_one_run(tmp_path / "whole")
    write_dataset(rows(3), tmp_path / "new", "train")
    commit(tmp_path / "left", monkeypatch)
    states = []
    for name in hidden(tmp_path / "left"):
        directory = tmp_path / name.strip(".")
        shutil.copytree(tmp_path / "left", directory)
        path = directory / name
        path.write_bytes(path.read_bytes()[:-9])
        for split in ("train", "test"):
            try:
                write_dataset(rows(3), directory, split)
            except DatasetError as error:
                assert split == "train" or name in str(error)  # noqa: PT017
        states.append(shards(directory))
        assert states[-1] in ({}, whole, shards(tmp_path / "new"))
        assert states[-1] == {} or check_files(directory) == []
        write_dataset(rows(3), directory, "train", overwrite=True)
        assert check_files(directory) == []
        assert [len(shards(directory)), hidden(directory)] == [1, []]
    assert {} in states
