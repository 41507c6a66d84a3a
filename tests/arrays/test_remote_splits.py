"""Splits behind URLs are read by ranges of bytes."""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest
from digit_rows import row, rows, scans
from remote_requests import watch_shards
from schemagen.runtime.arrays.ahead import Ahead

from generated import DatasetError, mix
from generated.digit.reader import open_split
from generated.digit.serializer import write_dataset

URL = "memory://bucket/data"
COUNT = 100


def threads() -> int:
    """How many cores this process may use."""
    return min(8, len(os.sched_getaffinity(0)))


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
    watch_shards(system, monkeypatch, lambda _, data: sizes.append(len(data)))
    return sizes


def test_records_are_read_by_ranges(requests: list[int]) -> None:
    split = open_split(URL, "train")
    size = len(split[0]) and requests[-1]
    requests.clear()
    assert split[50]["image"].shape == (8, 8, 1)
    assert len(requests) == 1
    assert requests[0] <= 2 * size


class TestManyShards:
    """Of which a listing tells as much as requests for each."""

    @pytest.fixture
    def asked(self, system: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """The paths of shards that are asked for by themselves."""
        write_dataset(rows(COUNT), URL, "many", shards=20)
        paths: list[str] = []
        for name in ("info", "cat_file"):
            whole = getattr(type(system), name)

            def counted(
                self: Any, path: str, *given: Any, whole: Any = whole, **named: Any
            ) -> Any:
                paths.extend([path] if path.endswith(".tfrecord") else [])
                return whole(self, path, *given, **named)

            monkeypatch.setattr(type(system), name, counted)
        return paths

    def test_opening_asks_for_none(self, asked: list[str]) -> None:
        assert len(open_split(URL, "many")) == COUNT
        assert not asked

    def test_each_is_asked_for_where_nothing_is_listed(
        self, asked: list[str], system: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Some may read files and not list them."""

        def refused(self: Any, path: str, **_: Any) -> Any:
            raise PermissionError(errno.EACCES, "no ListBucket", path)

        monkeypatch.setattr(type(system), "ls", refused)
        assert scans(open_split(URL, "many").batches(7)) == [*range(COUNT)]
        assert len({*asked}) == 20

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda store, path: store.pop(path), "missing, and the manifest lists it"),
            (lambda store, path: store[path].truncate(9), "found 9 bytes, expected"),
        ],
    )
    def test_one_that_is_missing_or_cut_is_named(
        self, asked: list[str], system: Any, change: Any, words: str
    ) -> None:
        path = max(path for path in system.store if "many-" in path)
        change(system.store, path)
        with pytest.raises(DatasetError, match=f"{Path(path).name}: {words}"):
            open_split(URL, "many")


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


def test_blocks_are_fetched_once_and_decoded_in_parts(requests: list[int]) -> None:
    """Records that are large only when a function has changed them."""
    made: list[int] = []

    def enlarged(record: dict[str, Any]) -> dict[str, Any]:
        made.append(record["scan"])
        return {"scan": record["scan"], "large": np.zeros(1 << 21)}

    split = open_split(URL, "train")
    split[0]
    requests.clear()
    taken = 0
    for batch in split.map(enlarged).batches(2, shuffle_seed=1, block=4):
        taken += len(batch["scan"])
        assert len(made) - taken <= 2 * (threads() + 2)
    assert taken == COUNT
    # The first batch, the rest of its window, and the last one: each of four files.
    assert len(requests) <= 12


def test_the_first_batch_asks_for_its_own_records(
    requests: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a function, each thread begins one. The next ones are begun when it is there."""
    asked, fill = list[int](), Ahead._fill

    def counted(ahead: Ahead[Any], most: int) -> None:
        if ahead._delivered:
            asked.append(sum(requests))
        fill(ahead, most)

    monkeypatch.setattr(Ahead, "_fill", counted)
    whole = open_split(URL, "train").batches(COUNT, prefetch=0)
    requests.clear()
    next(whole)
    every = sum(requests)
    for prefetch, most in ((0, 2), (1, 4), (None, 2 * threads())):
        batches = open_split(URL, "train").batches(2, prefetch=prefetch)
        len(batches)
        requests.clear()
        asked.clear()
        next(batches)
        assert 0 < asked[0] < every * (most + 1) / COUNT


@pytest.mark.parametrize("compression", [None, "GZIP"])
def test_threads_end_with_a_loop_that_is_left(compression: Any) -> None:
    """Also the one that waits for URLs."""
    write_dataset(rows(COUNT), f"{URL}-more", "train", compression=compression)
    before = {*threading.enumerate()}
    split = open_split(f"{URL}-more", "train")
    for _ in split.batches(4):
        break
    for _ in split:
        break
    until = time.monotonic() + 60
    while not {*threading.enumerate()} <= before:
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.parametrize("stop", ["first", "last"])
@pytest.mark.parametrize("pack", [None, {"ink_runs": 16}], ids=str)
def test_a_mixture_in_order_does_not_depend_on_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: Any, pack: Any
) -> None:
    """Of compressed and other files, behind URLs and here, with functions and without."""
    write_dataset(rows(30), f"{URL}-gz", "train", shards=2, compression="GZIP")
    write_dataset(rows(70), tmp_path, "train", shards=3, compression="GZIP")
    one, other, local = (
        open_split(where, "train") for where in (URL, f"{URL}-gz", tmp_path)
    )
    changed = [
        split.map(lambda row: {**row, "scan": row["scan"] * 2})
        for split in (one, other, local)
    ]
    for splits in ([one, other, local], changed):
        both = mix(splits, weights=[3, 1, 2], stop=stop)
        expected = [*both.batches(4, pack=pack, prefetch=0)]
        for cores, prefetch in ((1, None), (2, 3), (5, None)):
            monkeypatch.setattr(
                os, "sched_getaffinity", lambda _, cores=cores: {*range(cores)}
            )
            found = [*both.batches(4, pack=pack, prefetch=prefetch)]
            for batch, own in zip(found, expected, strict=True):
                assert batch.keys() == own.keys()
                for name in own:
                    np.testing.assert_array_equal(batch[name], own[name])


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
