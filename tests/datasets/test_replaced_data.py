"""Data that is replaced while it is read: an error at the start or end of the epoch."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import tensorflow as tf
from every_kind import numbers
from read_splits import compared_records_of
from schemagen.runtime.sources.opening import open_shards
from schemagen.runtime.storage import manifest

if TYPE_CHECKING:
    from conftest import Workspace

_ROWS = 40

Write = Callable[..., Path]


@pytest.fixture
def write(package: Workspace, tmp_path: Path) -> Write:
    """Write a split in four shards, whose sizes do not depend on the first number."""

    def make(first: int, split: str = "train", where: str = "data") -> Path:
        rows = [{"number": first + at, "tokens": [], "kind": 0} for at in range(_ROWS)]
        module = package.module("small", "serializer")
        module.write_dataset(rows, tmp_path / where, split, shards=4, overwrite=True)
        return tmp_path / where

    return make


def _numbers(dataset: Any) -> list[int]:
    return sorted(numbers(dataset))


def _records(source: Any, split: str | None = None) -> tf.data.Dataset:
    """The serialized records of a source, with nothing that reads ahead."""
    paths: list[Path] = sorted(source.glob("*-0*")) if split else sorted(source)
    found = manifest.load(paths[0].parent)
    spec = found.spec if found else {"record": "small", "fields": []}
    files = open_shards(source, split, spec)
    return compared_records_of(files)


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


def test_split_overwritten_in_mid_epoch_is_refused_at_its_end(write: Write) -> None:
    """Also in an epoch of a repeated dataset."""
    directory = write(0)
    records = iter(_records(directory, "train"))
    next(records)
    write(_ROWS)
    with pytest.raises(tf.errors.InvalidArgumentError, match=str(directory)):
        list(records)
    # A few epochs may have been read ahead.
    repeated = iter(_records(write(0), "train").repeat(100))
    for _ in range(_ROWS + 1):
        next(repeated)
    write(_ROWS)
    with pytest.raises(tf.errors.InvalidArgumentError, match=str(directory)):
        list(repeated)


def test_other_split_written_meanwhile_is_no_matter(write: Write) -> None:
    """It changes the manifest, in this epoch and all later ones."""
    dataset = _records(write(0), "train")
    iterator = iter(dataset)
    next(iterator)
    write(0, "test")
    assert len(list(iterator)) == _ROWS - 1
    for _ in range(2):
        write(_ROWS, "test")
        assert len(list(dataset)) == _ROWS


def _without_manifest(path: Path) -> None:
    path.unlink()


def _damaged(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])


def _without_split(path: Path) -> None:
    found = manifest.load(path.parent)
    assert found is not None
    found.splits.clear()
    manifest.save(path.parent, found)


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


def test_files_without_a_manifest_are_compared_by_size_and_time(write: Write) -> None:
    """One that is there with another of the two is an error at the start of an epoch."""
    directory = write(0)
    (directory / "manifest.json").unlink()
    files = sorted(directory.glob("train-*"))
    dataset = _records(files)
    for _ in range(2):
        assert len(list(dataset)) == _ROWS
    content, time = files[1].read_bytes(), files[1].stat().st_mtime_ns
    words = f"{files[1]}: "
    os.utime(files[1], ns=(time, time + 10**9))
    assert words in _refusal(dataset)
    files[1].write_bytes(content * 2)
    os.utime(files[1], ns=(time, time))
    assert words in _refusal(dataset)
    files[1].write_bytes(content)
    os.utime(files[1], ns=(time, time))
    assert len(list(dataset)) == _ROWS
