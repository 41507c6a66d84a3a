"""Publishing a split is committed first, and then completed by whichever run is next.

Programs that are broken off at each step are in `tests/net`.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import run
from digit_rows import Row, contents, rows, written
from schemagen.runtime.storage import journal
from schemagen.runtime.storage.local import LocalDirectory
from schemagen.runtime.storage.manifest import Manifest

from generated import DatasetError, check_files
from generated.digit.serializer import write_dataset
from generated.photo import serializer as photo


def shards(directory: Path, split: str = "train") -> dict[str, bytes]:
    """The files that are named as shards of a split."""
    return {p.name: p.read_bytes() for p in sorted(directory.glob(f"{split}-*"))}


def hidden(directory: Path) -> list[str]:
    """The names of hidden files."""
    return [name for name in contents(directory) if name.startswith(".")]


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


@pytest.mark.parametrize("damage", [None, b"short"])
def test_a_new_file_that_has_changed_leaves_the_old_split_as_it_was(
    tmp_path: Path, damage: bytes | None
) -> None:
    """All new files are looked for, with their sizes, before anything is changed."""
    before = written(tmp_path, rows(7), shards=3)

    def second() -> Iterator[Row]:
        [path] = tmp_path.glob(".train-00000.*.tmp")
        path.unlink()
        if damage is not None:
            path.write_bytes(damage)
        return iter(rows(5))

    with pytest.raises(DatasetError, match=r"\.train-00000\..*overwrite=True"):
        write_dataset([lambda: rows(5), second], tmp_path, "train", overwrite=True)
    assert contents(tmp_path).items() >= before.items()


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
        with pytest.raises(DatasetError, match="exists with 30 records"):
            write_dataset(rows(3), directory, "train")

    def write_other_record(directory: Path) -> None:
        with pytest.raises(DatasetError, match="holds 'digit' records"):
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


def test_resuming_a_committed_run_completes_it_without_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    """The same call with resume=True returns the number of records that it publishes."""
    error = commit(tmp_path / "data", monkeypatch)
    assert "split 'train' is complete" in str(error)
    assert not hasattr(error, "__notes__")

    def again() -> int:
        return write_dataset(
            rows(30), tmp_path / "data", "train", shards=2, resume=True
        )

    assert again() == 30
    assert shards(tmp_path / "data") == shards_of_one_run(tmp_path / "whole")
    assert hidden(tmp_path / "data") == []
    assert RuntimeWarning not in {warning.category for warning in recwarn.list}
    with pytest.raises(DatasetError, match="there is nothing to resume"):
        again()


def test_verify_names_a_split_whose_publication_was_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is an error by itself, and a finding next to splits that are published."""
    commit(tmp_path, monkeypatch)
    assert run("verify", tmp_path).exit_code == 2
    write_dataset(rows(3), tmp_path / "other", "test")
    commit(tmp_path / "other", monkeypatch)
    found = run("verify", tmp_path / "other")
    assert found.exit_code == 1
    assert "SG502" in found.output
    assert "SG504" not in found.output
    assert run("verify", tmp_path / "other", "--split", "train").exit_code == 2


@pytest.mark.filterwarnings("ignore:.*had finished 2 shards")
def test_a_commitment_whose_files_are_gone_is_refused_until_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other splits are written with a warning, and nothing else is changed."""
    commit(tmp_path, monkeypatch)
    [path] = tmp_path.glob(".train-00001.*.tmp")
    path.unlink()
    with pytest.raises(DatasetError, match="00001"):
        write_dataset(rows(3), tmp_path, "train")
    with pytest.warns(RuntimeWarning, match="00001"):
        write_dataset(rows(3), tmp_path, "test")
    assert check_files(tmp_path) == []
    with pytest.warns(RuntimeWarning, match="was not completed"):
        write_dataset(rows(3), tmp_path, "train", overwrite=True)
    assert check_files(tmp_path) == []
    assert len(shards(tmp_path)) == 1
    assert hidden(tmp_path) == []


def test_a_run_that_ends_completes_what_another_left_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So no split comes into the directory that the committed one does not go with."""
    writer = photo.Writer(tmp_path, "test")
    commit(tmp_path, monkeypatch)
    with pytest.raises(DatasetError, match="holds 'digit' records"):
        writer.close()
    assert shards(tmp_path) == shards_of_one_run(tmp_path / "whole")
    assert shards(tmp_path, "test") == {}


def test_a_damaged_commitment_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is sealed as a manifest is; a journal without one commits to nothing."""
    commit(tmp_path, monkeypatch)
    path = tmp_path / ".train.journal"
    path.write_bytes(path.read_bytes().replace(b"digit", b"digiu"))
    for split in ("train", "test"):
        with pytest.raises(DatasetError, match=r"\.train\.journal: "):
            write_dataset(rows(3), tmp_path, split)
    for text in (b"[]\n", b"1\n{}\n", b"", b"\xff\n", b'{"format": 1}\n'):
        path.write_bytes(text)
        write_dataset(rows(3), tmp_path, "train", overwrite=True)


def test_lines_of_a_run_that_was_replaced_commit_to_nothing(tmp_path: Path) -> None:
    """It may write into its successor's journal before it notices."""
    made = LocalDirectory(tmp_path)
    new = Manifest("note", "aaaa", {"record": "note", "fields": []}, {})
    mine, theirs = (
        journal.JournalFile(made, "train", journal.Journal(token, {}, {}))
        for token in ("a" * 12, "b" * 12)
    )
    theirs.write()
    mine.write()
    theirs.shuffled()
    theirs.commit(new, [])
    found = journal.read_journal(made, "train")
    assert found == journal.Journal("a" * 12, {}, {})
    mine.commit(new, [])
    found = journal.read_journal(made, "train")
    assert found is not None
    assert found.publication == new
