"""Data that is replaced while it is read: an error at the start or end of the epoch."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import tensorflow as tf
from every_kind import numbers
from manifests import edited_manifest

if TYPE_CHECKING:
    from conftest import Workspace

_ROWS = 40

FIRST, MANY, BATCH = 8_000, 4_000, 4
"""More batches than a dataset reads ahead; twice as many records have equal sizes."""

Write = Callable[..., Path]


@pytest.fixture
def write(package: Workspace, tmp_path: Path) -> Write:
    """Write a split, mostly in four shards, whose sizes do not depend on the first number."""

    def make(
        first: int,
        split: str = "train",
        where: str = "data",
        count: int = _ROWS,
        shards: int = 4,
    ) -> Path:
        rows = [{"number": first + at, "tokens": [], "kind": 0} for at in range(count)]
        module = package.module("small", "serializer")
        options = {"shards": shards, "overwrite": True}
        module.write_dataset(rows, tmp_path / where, split, **options)
        return tmp_path / where

    return make


def _numbers(dataset: Any) -> list[int]:
    return sorted(numbers(dataset))


def _refusal(dataset: Any) -> str:
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        list(dataset)
    return caught.value.message.replace("`", "'")


def test_split_overwritten_between_epochs_is_refused(
    package: Workspace, write: Write
) -> None:
    """However the files were named and are read; a new dataset reads the new ones."""
    make = package.module("small", "pipeline").make_dataset
    directory = write(0)
    datasets = [
        make(directory, batch_size=8, training=True, shard=(1, 2), on_corrupt="skip"),
        make({f"{directory}/train-*": 1, write(0, where="more"): 1}, batch_size=8),
    ]
    kept = make(directory, batch_size=8, cache=True)
    before = list(range(_ROWS))
    for dataset in datasets:
        assert set(_numbers(dataset)) <= set(before)
    assert _numbers(kept) == before
    write(_ROWS)
    for dataset in datasets:
        assert f"{directory}/manifest.json: split 'train'" in _refusal(dataset)
    assert _numbers(kept) == before
    assert _numbers(make(directory, batch_size=8)) == [n + _ROWS for n in before]


@pytest.mark.parametrize("repeat", [1, 100])
def test_split_overwritten_in_mid_epoch_is_refused_at_its_end(
    package: Workspace, write: Write, repeat: int
) -> None:
    """Also in an epoch of a repeated dataset."""
    make = package.module("small", "pipeline").make_dataset
    directory = write(FIRST, count=MANY)
    batches = iter(make(directory, batch_size=BATCH, repeat=repeat))
    for _ in range(1 if repeat == 1 else MANY // BATCH + 1):
        next(batches)
    write(FIRST + MANY, count=MANY)
    with pytest.raises(tf.errors.InvalidArgumentError, match=str(directory)):
        list(batches)


@pytest.mark.parametrize("before", [0, 1])
def test_shards_of_another_split_in_their_place_are_refused(
    package: Workspace, write: Write, before: int
) -> None:
    """At the beginning of an epoch, or at its end. Sizes and checksums are right."""
    here, there = write(0), write(_ROWS, where="there")
    make = package.module("small", "pipeline").make_dataset
    batches = iter(make(here, "train", batch_size=5))
    for _ in range(before):
        next(batches)
    for path in there.glob("train-*"):
        shutil.copyfile(path, here / path.name)
    with pytest.raises(tf.errors.InvalidArgumentError, match="found the last bytes"):
        list(batches)


@pytest.mark.parametrize("give", [shutil.copyfile, shutil.move])
@pytest.mark.parametrize("on_corrupt", ["raise", "skip"])
@pytest.mark.parametrize("before", [0, 1])
def test_shard_of_equal_size_and_last_record_in_its_place_is_refused(
    package: Workspace,
    tmp_path: Path,
    give: Callable[[Path, Path], object],
    on_corrupt: str,
    before: int,
) -> None:
    """In the first epoch and in a later one; skipping leaves out damage alone."""
    for name, first in ("here", 0), ("there", _ROWS):
        rows = [{"number": first + at, "tokens": [], "kind": 0} for at in range(_ROWS)]
        rows[9::10] = [{**rows[0], "number": 99}] * 4  # the last one of each shard
        module = package.module("small", "serializer")
        module.write_dataset(rows, tmp_path / name, "train", shards=4)
    make = package.module("small", "pipeline").make_dataset
    dataset = make(tmp_path / "here", "train", batch_size=5, on_corrupt=on_corrupt)
    for _ in range(before):
        assert len(_numbers(dataset)) == _ROWS
    path = min((tmp_path / "here").glob("train-*"))
    give(tmp_path / "there" / path.name, path)
    assert f"{path}: its size, modification time or inode is not" in _refusal(dataset)


@pytest.mark.parametrize("on_corrupt", ["raise", "skip"])
@pytest.mark.parametrize("shards", [3, 4])
@pytest.mark.parametrize("asked", ["stat", "open"])
def test_split_written_again_between_two_comparisons_is_refused_as_such(
    package: Workspace,
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
    asked: str,
    shards: int,
    on_corrupt: str,
) -> None:
    """Before files are compared, or between that and reading; also with other names."""
    make = package.module("small", "pipeline").make_dataset
    directory = write(0)
    dataset = make(directory, "train", batch_size=8, on_corrupt=on_corrupt)
    # What reads a file's last bytes opens it so.
    target = {"stat": "os.stat", "open": "schemagen.runtime.storage.local.FileIO"}
    function: Any = {"stat": os.stat, "open": FileIO}[asked]

    def overwriting(path: Any, *arguments: Any, **named: Any) -> Any:
        if "train-00000" in str(path):
            monkeypatch.undo()
            write(_ROWS, shards=shards)
        return function(path, *arguments, **named)

    monkeypatch.setattr(target[asked], overwriting)
    assert "split 'train' is not what it was when it was opened: it was written" in (
        _refusal(dataset)
    )


def test_other_split_written_meanwhile_is_no_matter(
    package: Workspace, write: Write
) -> None:
    """It changes the manifest, in this epoch and all later ones."""
    make = package.module("small", "pipeline").make_dataset
    dataset = make(write(0, count=MANY), "train", batch_size=BATCH)
    iterator = iter(dataset)
    next(iterator)
    write(0, "test")
    assert len(list(iterator)) == MANY // BATCH - 1
    for _ in range(2):
        write(_ROWS, "test")
        assert len(_numbers(dataset)) == MANY


def _without_manifest(path: Path) -> None:
    path.unlink()


def _damaged(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])


def _without_split(path: Path) -> None:
    with edited_manifest(path.parent) as stated:
        stated["splits"].clear()


def test_manifest_without_the_split_is_refused(
    package: Workspace, write: Write
) -> None:
    """It is gone, damaged, or the split is being published; when it is back, all is well."""
    directory = write(0)
    path = directory / "manifest.json"
    text = path.read_bytes()
    dataset = package.module("small", "pipeline").make_dataset(directory, batch_size=8)
    for change in (_without_manifest, _damaged, _without_split):
        change(path)
        assert f"{path}: split 'train'" in _refusal(dataset)
        path.write_bytes(text)
        assert len(_numbers(dataset)) == _ROWS


def test_files_without_a_manifest_are_compared_by_size_and_time(
    package: Workspace, write: Write
) -> None:
    """One that is there with another of the two is an error at the start of an epoch."""
    directory = write(0)
    (directory / "manifest.json").unlink()
    files = sorted(directory.glob("train-*"))
    make = package.module("small", "pipeline").make_dataset
    dataset = make(files, batch_size=8)
    for _ in range(2):
        assert len(_numbers(dataset)) == _ROWS
    content, time = files[1].read_bytes(), files[1].stat().st_mtime_ns
    words = f"{files[1]}: "
    os.utime(files[1], ns=(time, time + 10**9))
    assert words in _refusal(dataset)
    files[1].write_bytes(content * 2)
    os.utime(files[1], ns=(time, time))
    assert words in _refusal(dataset)
    files[1].write_bytes(content)
    os.utime(files[1], ns=(time, time))
    assert len(_numbers(dataset)) == _ROWS
