"""Splits behind URLs are read by ranges of bytes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from digit_rows import row, rows, scans

from generated import DatasetError, mix
from generated.digit.reader import open_split
from generated.digit.serializer import write_dataset

URL = "memory://bucket/data"
COUNT = 100


@pytest.fixture(autouse=True)
def system() -> Iterator[Any]:
    """The file system in memory of fsspec, with a hundred records in four shards."""
    found = fsspec.filesystem("memory")
    found.store.clear()
    write_dataset(rows(COUNT), URL, "train", shards=4)
    yield found
    found.store.clear()


@pytest.fixture
def requests(system: Any, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of what was asked for."""
    sizes: list[int] = []
    whole = type(system).cat_file

    def cat_file(self: Any, path: str, start: Any = None, end: Any = None) -> Any:
        data = whole(self, path, start, end)
        if path.endswith(".tfrecord"):
            sizes.append(len(data))
        return data

    monkeypatch.setattr(type(system), "cat_file", cat_file)
    return sizes


def test_records_are_read_by_ranges(requests: list[int]) -> None:
    split = open_split(URL, "train")
    size = len(split[0]) and requests[-1]
    requests.clear()
    assert split[50]["image"].shape == (8, 8, 1)
    assert len(requests) == 1
    assert requests[0] <= 2 * size


def test_listed_remote_files_and_others_are_read_as_one(
    tmp_path: Path, system: Any
) -> None:
    """Each by the manifest in its own directory; an overwrite of one is an error."""
    write_dataset(rows(COUNT + 20)[COUNT:], tmp_path, "train", shards=1)
    (tmp_path / "manifest.json").unlink()
    folder = URL.removeprefix("memory:/")
    remote = [f"memory:/{path}" for path in system.glob(f"{folder}/train-*")]
    split = open_split([*remote, *sorted(tmp_path.glob("train-*"))])
    assert [row["scan"] for row in split] == list(range(COUNT + 20))
    write_dataset(rows(COUNT)[::-1], URL, "train", shards=4, overwrite=True)
    with pytest.raises(DatasetError, match=f"{URL}/manifest.json: split 'train'"):
        split[:]


@pytest.mark.parametrize("block", [None, 8])
def test_every_record_of_a_remote_split_is_read_once(block: int | None) -> None:
    split = open_split(URL, "train")
    found = scans(split.batches(7, shuffle_seed=1, block=block))
    assert sorted(found) == list(range(COUNT))


def test_neighbours_come_with_one_request(requests: list[int]) -> None:
    split = open_split(URL, "train")
    split[0]
    requests.clear()
    split[:COUNT]
    assert len(requests) == 4


def test_a_file_that_is_gone_is_named(system: Any) -> None:
    split = open_split(URL, "train")
    split[0]
    (path,) = [path for path in system.find("/bucket") if "00001-of" in path]
    system.rm(path)
    with pytest.raises(
        DatasetError, match=r"train-00001-of-00004\.\w{24}\.tfrecord: missing"
    ):
        split[:COUNT]


def test_a_split_that_was_written_again_is_refused() -> None:
    split = open_split(URL, "train")
    write_dataset(map(row, range(50)), URL, "train", shards=4, overwrite=True)
    with pytest.raises(DatasetError, match="it was written again"):
        split[0]


@pytest.mark.parametrize("cache", ["simplecache", "filecache"])
class TestCopies:
    """Files that fsspec keeps on this machine."""

    def test_files_are_copied_once(
        self, system: Any, cache: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        opened: list[str] = []
        whole = type(system)._open

        def _open(self: Any, path: str, *args: Any, **options: Any) -> Any:
            opened.append(path)
            return whole(self, path, *args, **options)

        url = f"{cache}::{URL}-once"
        write_dataset(rows(COUNT), f"{URL}-once", "train", shards=4)
        monkeypatch.setattr(type(system), "_open", _open)
        split = open_split(url, "train")
        for epoch in range(3):
            found = scans(split.batches(16, shuffle_seed=1, epoch=epoch))
            assert sorted(found) == list(range(COUNT))
        shards = [path for path in opened if path.endswith(".tfrecord")]
        assert len(shards) == len(set(shards)) == 4

    def test_a_split_that_is_written_again_is_noticed(self, cache: str) -> None:
        where = f"{URL}-{cache}"
        write_dataset(rows(COUNT), where, "train", shards=4)
        split = open_split(f"{cache}::{where}", "train")
        assert split[3]["scan"] == 3
        write_dataset(rows(COUNT)[::-1], where, "train", shards=4, overwrite=True)
        with pytest.raises(DatasetError, match="is not what it was when it was opened"):
            list(split.batches(8, shuffle_seed=1))
        again = open_split(f"{cache}::{where}", "train")
        assert [row["scan"] for row in again] == [*range(COUNT)][::-1]


@pytest.mark.parametrize("block", [None, 4])
def test_splits_that_are_mixed_and_repeated_are_read(block: int | None) -> None:
    """By several threads at once, and with remote and local ones together."""
    write_dataset(rows(COUNT), f"{URL}-other", "train", shards=3)
    one, other = open_split(URL, "train"), open_split(f"{URL}-other", "train")
    both = mix([one, other.select([*range(COUNT), *range(50)])], weights=[2, 3])
    for epoch in range(3):
        found = scans(both.batches(7, shuffle_seed=1, epoch=epoch, block=block))
        assert len(found) == len(both) == 250
        assert sorted(set(found)) == list(range(COUNT))
