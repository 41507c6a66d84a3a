"""What a reader delivers is of the generation that it opened, or there is an error."""

from __future__ import annotations

import gc
import os
import pickle
import resource
import shutil
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest
from digit_rows import row, scans
from generations import shard_at

from generated import DatasetError
from generated.digit.pipeline import make_dataset
from generated.digit.reader import open_split
from generated.digit.serializer import write_dataset

COUNT, NEW = 60, 10_000

Give = Callable[[Path, Path], object]
"""Gives the contents of another file to a file."""

# More than readers have ahead.
MANY = 5_000


def rows(first: int = 0, count: int = COUNT) -> list[dict[str, Any]]:
    """Rows whose records all have the same size."""
    return [
        {**row(n), "ink_runs": [1, 2], "digit": 3} for n in range(first, first + count)
    ]


def old(source: Any, split: str = "train", shards: int = 6, **options: Any) -> None:
    """Write the generation that readers open."""
    write_dataset(rows(1_000), source, split, shards=shards, **options)


def new(source: Any, count: int = COUNT, shards: int = 6, **options: Any) -> None:
    """Write another one over it, whose records have the same sizes."""
    write_dataset(
        rows(NEW, count), source, "train", shards=shards, overwrite=True, **options
    )


def read_until_error(batches: Iterator[Any]) -> tuple[list[int], str]:
    """Return the numbers of the records that came, and the error after them."""
    found: list[int] = []
    try:
        for batch in batches:
            found += batch["scan"].tolist()
    except DatasetError as error:
        return found, str(error)
    return found, ""


@pytest.fixture(params=["local", "memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A directory of this machine, or one in the memory of fsspec."""
    if request.param == "local":
        yield str(tmp_path / "data")
        return
    store = fsspec.filesystem("memory").store
    store.clear()
    yield "memory://bucket/data"
    store.clear()


@pytest.fixture(params=[{}, {"index": False}, {"compression": "GZIP"}], ids=str)
def options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """How the split is written."""
    found: dict[str, Any] = request.param
    return found


class TestOverwritten:
    """A writer replaces the split while it is read."""

    @pytest.mark.parametrize("count", [MANY, MANY // 2, 2 * MANY])
    def test_batches_are_those_of_one_generation(
        self, place: str, options: dict[str, Any], count: int
    ) -> None:
        """No matter how soon after an earlier comparison; the first ones are read ahead."""
        write_dataset(rows(1_000, MANY), place, "train", shards=6, **options)
        batches = open_split(place, "train").batches(50)
        first = scans([next(batches)])
        new(place, count, **options)
        found, error = read_until_error(batches)
        assert "it was written again" in error
        assert first + found == list(range(1_000, 1_000 + len(first + found)))
        with pytest.raises(DatasetError, match="it was written again"):
            next(batches)

    def test_records_are_those_of_one_generation(self, place: str) -> None:
        old(place)
        split = open_split(place, "train")
        assert split[0]["scan"] == 1_000
        new(place)
        found = set[str]()
        for number in range(1, COUNT):
            try:
                assert split[number]["scan"] == 1_000 + number
            except DatasetError as error:
                found.add(str(error))
        assert any("it was written again" in error for error in found)

    def test_files_that_were_closed_are_not_opened_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Readers keep the first files open, and a quarter of what a process may."""
        write_dataset(rows(1_000, 200), tmp_path, "train", shards=200)
        split = open_split(tmp_path, "train")
        open_by_others = len(os.listdir("/proc/self/fd"))
        monkeypatch.setattr(os, "sysconf", lambda _: 4 * (open_by_others + 100))
        assert scans([split[:]]) == list(range(1_000, 1_200))
        write_dataset(rows(NEW, 200), tmp_path, "train", shards=200, overwrite=True)
        assert split[0]["scan"] == 1_000
        with pytest.raises(DatasetError, match="it was written again"):
            split[199]

    def test_an_error_is_not_forgotten(self, tmp_path: Path) -> None:
        """Sizes and last bytes of the new files are those of the old ones."""

        def write(first: int) -> None:
            some = rows(first, COUNT)
            some[9::10] = rows(5_000, COUNT // 10)  # the last record of each shard
            write_dataset(some, tmp_path, "train", shards=6, overwrite=True)

        write(1_000)
        split = open_split(tmp_path, "train")
        split[0]
        write(NEW)
        for _ in range(2):
            with pytest.raises(DatasetError, match="it was written again"):
                split[20]
            with pytest.raises(DatasetError, match="it was written again"):
                split[21:]
        with pytest.raises(DatasetError, match="it was written again"):
            split[1]

    def test_other_splits_may_be_written(self, place: str) -> None:
        old(place)
        split = open_split(place, "train")
        old(place, "val")
        assert scans(split.batches(5, shuffle_seed=1))
        old(place, "test")
        assert scans([split[:]]) == list(range(1_000, 1_000 + COUNT))


class TestChanged:
    """Another program changes files that are open, or that are to be opened."""

    @pytest.mark.parametrize("options", [{}, {"index": False}])
    @pytest.mark.parametrize("opened", [True, False])
    def test_files_of_another_generation_in_their_place(
        self, tmp_path: Path, opened: bool, options: dict[str, Any]
    ) -> None:
        """They have equal sizes, and are copied into the same inodes."""
        here, there = tmp_path / "here", tmp_path / "there"
        old(here, **options)
        new(there, **options)
        split = open_split(here, "train")
        if opened:
            split[:]
        for path in there.glob("train-*"):
            shutil.copyfile(path, here / path.name)
        with pytest.raises(DatasetError, match="train-0000"):
            split[:]

    @pytest.mark.parametrize("size", [0, 100])
    @pytest.mark.parametrize("opened", [True, False])
    @pytest.mark.parametrize("manifest", [True, False])
    def test_a_file_that_was_cut_off_is_named(
        self, tmp_path: Path, manifest: bool, opened: bool, size: int
    ) -> None:
        """Not a hang, nor a signal."""
        old(tmp_path, index=False)
        paths = sorted(tmp_path.glob("train-*"))
        if not manifest:
            (tmp_path / "manifest.json").unlink()
        split = open_split(paths)
        if opened:
            split[:]
        os.truncate(paths[2], size)
        with pytest.raises(DatasetError, match="train-00002"):
            split[:]

    @pytest.mark.parametrize(
        ("listed", "said"),
        [
            (True, "missing, and the manifest lists it; restore it from a copy"),
            (False, "it was deleted after it was opened"),
        ],
    )
    def test_a_file_that_was_deleted_is_said_to_be(
        self, place: str, listed: bool, said: str
    ) -> None:
        """As make_dataset says it, with what to do."""
        old(place)
        files, where = fsspec.url_to_fs(place)
        if not listed:
            files.rm(f"{where}/manifest.json")
        split = open_split(f"{place}/train-*")
        url, path = shard_at(place, 2)
        files.rm(path)
        with pytest.raises(DatasetError, match=f"{url}: {said}"):
            split[:]

    def test_local_files_in_a_list_with_others_are_compared(
        self, tmp_path: Path
    ) -> None:
        old(tmp_path / "here")
        new(tmp_path / "there")
        store = fsspec.filesystem("memory").store
        old("memory://bucket/data")
        paths = sorted((tmp_path / "here").glob("train-*"))
        url, _ = shard_at("memory://bucket/data", 0)
        split = open_split([*map(str, paths), url])
        assert len(split[:]["scan"]) == COUNT + COUNT // 6
        shutil.copyfile(tmp_path / "there" / paths[1].name, paths[1])
        with pytest.raises(DatasetError, match="train-00001"):
            split[:]
        store.clear()

    @pytest.mark.parametrize("compression", [None, "GZIP"])
    def test_files_without_a_manifest_are_known_by_their_state(
        self, tmp_path: Path, compression: str | None
    ) -> None:
        """Also if another file has the same size and time."""
        old(tmp_path, compression=compression)
        new(tmp_path / "new", compression=compression)
        (tmp_path / "manifest.json").unlink()
        paths = sorted(tmp_path.glob("train-*"))
        split = open_split(paths)
        for path in paths:
            found = path.stat()
            other = tmp_path / "new" / path.name
            other.write_bytes(other.read_bytes()[: found.st_size].ljust(found.st_size))
            os.utime(other, ns=(found.st_atime_ns, found.st_mtime_ns))
            other.replace(path)
        with pytest.raises(DatasetError, match="it was replaced or changed"):
            list(split)


def _edited(source: Path, path: Path) -> None:
    """Write other bytes into a file."""
    with path.open("r+b") as file:
        file.write(source.read_bytes())


def _cut_and_restored(source: Path, path: Path) -> None:
    """Cut a file off, and write other bytes into it."""
    os.truncate(path, 0)
    path.write_bytes(source.read_bytes())


GIVEN: list[Give] = [shutil.copyfile, shutil.move, _edited, _cut_and_restored]


class TestGivenToAnotherProgram:
    """Files of a manifest get other records of equal size, and equal last records."""

    SHARDS = 200
    """More than the 128 files that stay open."""

    @pytest.fixture(scope="class")
    def two(self, tmp_path_factory: pytest.TempPathFactory) -> Path:
        """Two generations, in directories of their own."""
        root = tmp_path_factory.mktemp("two")
        for name, first in ("data", 1_000), ("other", NEW):
            some = rows(first, 2 * self.SHARDS)
            some[1::2] = rows(5_000, self.SHARDS)
            write_dataset(some, root / name, "train", shards=self.SHARDS)
        return root

    @pytest.fixture(params=GIVEN, ids=lambda give: give.__name__.strip("_"))
    def change(
        self, request: pytest.FixtureRequest, two: Path, tmp_path: Path
    ) -> Callable[[], object]:
        """Give the first shard those of another generation."""
        shutil.copytree(two, tmp_path, dirs_exist_ok=True)
        here, there = (min((tmp_path / n).glob("train-*")) for n in ("data", "other"))
        assert here.read_bytes() != there.read_bytes()
        assert here.read_bytes()[-16:] == there.read_bytes()[-16:]
        return partial(request.param, there, here)

    @pytest.mark.parametrize("opened", ["no", "closed again", "open"])
    def test_a_shard_is_the_one_of_opening_or_an_error(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        change: Callable[[], object],
        opened: str,
    ) -> None:
        """Whether it has been read before or not, and whether it is open or was closed."""
        if opened == "closed again":
            monkeypatch.setattr(os, "sysconf", lambda _: 0)
        split = open_split(tmp_path / "data", "train")
        if opened != "no":
            assert len(split[:]["scan"]) == 2 * self.SHARDS
        if opened == "open":
            assert split[0]["scan"] == 1_000
        assert split[-2]["scan"] == 1_000 + 2 * self.SHARDS - 2
        change()
        moved = "move" in repr(change)
        if opened == "open" and moved:  # the file itself stays as it was
            assert split[0]["scan"] == 1_000
        else:
            words = (
                "train-00000-of-00200.tfrecord: its size, modification time or inode"
            )
            with pytest.raises(DatasetError, match=words):
                split[0]
        assert split[2]["scan"] == 1_002

    def test_a_pickled_split_knows_the_files_of_its_opening(
        self, tmp_path: Path, change: Callable[[], object]
    ) -> None:
        """As loaders give it to their workers."""
        data = pickle.dumps(open_split(tmp_path / "data", "train"))
        change()
        split = pickle.loads(data)
        assert split[2]["scan"] == 1_002
        with pytest.raises(DatasetError, match="it was replaced or changed"):
            split[0]


class TestUnsettled:
    """A publication was interrupted: files have hidden names until another writer comes."""

    @pytest.fixture
    def directory(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A directory with a split that is committed, and none of whose files has its name."""
        old(tmp_path)
        replace = os.replace

        def failing(path: str | Path, target: str | Path) -> None:
            if os.path.basename(path).startswith(".train-"):
                raise OSError(5, "failed", str(path))
            replace(path, target)

        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", failing)
            with pytest.raises(OSError, match="hidden names"):
                new(tmp_path)
        assert not list(tmp_path.glob("train-*"))
        return tmp_path

    @pytest.mark.parametrize("opened", [0, 1, COUNT])
    def test_open_split_goes_on_when_it_is_settled(
        self, directory: Path, opened: int
    ) -> None:
        split = open_split(directory, "train")
        split[:opened]
        old(directory, "val")
        assert len(list(directory.glob("train-*"))) == 6
        expected = list(range(NEW, NEW + COUNT))
        assert scans([split[:]]) == expected
        assert scans(split.batches(7)) == expected

    def test_make_dataset_goes_on_when_it_is_settled(self, directory: Path) -> None:
        """Between two epochs, and before the first one."""
        dataset, other = (
            make_dataset(directory, "train", batch_size=5, info=True) for _ in range(2)
        )

        def read(found: Any) -> list[int]:
            return [int(n) for *_, info in found for n in info["scan"]]

        expected = list(range(NEW, NEW + COUNT))
        assert read(dataset) == expected
        old(directory, "val")
        assert len(list(directory.glob("train-*"))) == 6
        assert read(dataset) == expected
        assert read(other) == expected

    def test_an_old_file_is_not_taken_for_a_new_one(self, directory: Path) -> None:
        """It has the name and the size of a new one that another program has removed."""
        new_file = min(directory.glob(".train-00000.*.tmp"))
        old(directory / "other")
        name = "train-00000-of-00006.tfrecord"
        assert (directory / "other" / name).stat().st_size == new_file.stat().st_size
        shutil.copyfile(directory / "other" / name, directory / name)
        new_file.unlink()
        with pytest.warns(RuntimeWarning, match=f"{name}: found the last bytes"):
            old(directory, "val")
        with pytest.raises(DatasetError, match=f"{name}: found the last bytes"):
            open_split(directory, "train")

    def test_a_split_that_is_written_again_is_refused(self, directory: Path) -> None:
        split = open_split(directory, "train")
        old(directory, overwrite=True)
        with pytest.raises(DatasetError, match="it was written again"):
            split[0]


class TestManyShards:
    """Systems limit how many files a process has open."""

    def test_no_more_than_some_files_are_open(self, tmp_path: Path) -> None:
        write_dataset(rows(0, 400), tmp_path, "train", shards=400)
        split = open_split(tmp_path, "train")
        before = len(os.listdir("/proc/self/fd"))
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (before + 200, hard))
        try:
            assert scans(split.batches(50, shuffle_seed=1)) != list(range(400))
            assert scans([split[:]]) == list(range(400))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        # And the index.
        assert len(os.listdir("/proc/self/fd")) <= before + (before + 200) // 4 + 1
        del split
        gc.collect()
        assert len(os.listdir("/proc/self/fd")) <= before


def test_threads_may_read_at_once(tmp_path: Path) -> None:
    """More files than stay open."""
    write_dataset(rows(0, 300), tmp_path, "train", shards=300)
    split = open_split(tmp_path, "train")
    wrong: list[Any] = []

    def read(seed: int) -> None:
        numbers = np.random.default_rng(seed).permutation(300)
        for some in np.array_split(numbers, 20):
            found = split[some]["scan"].tolist()
            if found != some.tolist():
                wrong.append(found)

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
