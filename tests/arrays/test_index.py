"""The index that writers leave next to the shards of a split."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from glob import glob
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest
from digit_rows import rows, scans
from schemagen.runtime.arrays import positions
from schemagen.runtime.arrays.indexes import Index, RecentEnds
from schemagen.runtime.storage import manifest
from schemagen.runtime.storage.directory import open_directory

from generated import DatasetError
from generated.digit.reader import open_split
from generated.digit.serializer import (
    Writer,
    begin,
    plan_dataset,
    publish,
    write_dataset,
    write_part,
)

COUNT = 40


def index_of(directory: Path) -> Path:
    """Return the only index of a directory."""
    [found] = directory.glob(".*.index")
    return found


def ends_in(directory: Path) -> np.ndarray[Any, Any]:
    """Follow the lengths of the shards: where each record ends, through all of them."""
    whole = b"".join(path.read_bytes() for path in sorted(directory.glob("train-*")))
    ends = [0]
    while ends[-1] < len(whole):
        length = int.from_bytes(whole[ends[-1] : ends[-1] + 8], "little")
        ends.append(ends[-1] + 16 + length)
    return np.array(ends[1:], "<u8")


def with_writer(directory: Path) -> None:
    with Writer(directory, "train", shards=3) as writer:
        for each in rows(COUNT):
            writer.write(**each)


def in_parts(directory: Path) -> None:
    source = list(rows(COUNT))
    plan = plan_dataset(directory, "train", shards=3, rows=COUNT)
    begin(plan)
    receipts = [write_part(source, plan, shard) for shard in range(3)]
    publish(plan, receipts)


def by_size(directory: Path) -> None:
    write_dataset(rows(COUNT), directory, "train", shard_bytes=4000)


def shuffled(directory: Path) -> None:
    write_dataset(list(rows(COUNT)), directory, "train", shards=3, shuffle_seed=1)


@pytest.mark.parametrize("write", [with_writer, in_parts, by_size, shuffled])
def test_every_writer_leaves_an_index(tmp_path: Path, write: Any) -> None:
    write(tmp_path)
    contents = index_of(tmp_path).read_bytes()
    np.testing.assert_array_equal(np.frombuffer(contents, "<u8"), ends_in(tmp_path))
    stated = json.loads((tmp_path / "manifest.json").read_text())
    assert (
        index_of(tmp_path).name == f".train.{stated['splits']['train']['index']}.index"
    )


@pytest.mark.parametrize("pattern", ["train-*", "train*", "*.tfrecord*", "*"])
def test_globs_for_shards_miss_the_index(tmp_path: Path, pattern: str) -> None:
    with_writer(tmp_path)
    assert str(index_of(tmp_path)) not in glob(str(tmp_path / pattern))


@pytest.mark.parametrize("options", [{"index": False}, {"compression": "GZIP"}])
def test_a_split_without_an_index_is_read(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    write_dataset(rows(COUNT), tmp_path, "train", **options)
    assert not list(tmp_path.glob(".*"))
    assert len(list(open_split(tmp_path, "train"))) == COUNT


def test_an_index_is_replaced_with_its_split(tmp_path: Path) -> None:
    with_writer(tmp_path)
    before = index_of(tmp_path)
    write_dataset(rows(COUNT // 2), tmp_path, "train", overwrite=True)
    assert index_of(tmp_path) != before


class TestPositions:
    """Where readers find records."""

    @pytest.fixture
    def directory(self, tmp_path: Path) -> Path:
        with_writer(tmp_path)
        return tmp_path

    @pytest.mark.parametrize("glob", [False, True])
    def test_positions_come_from_the_index(self, directory: Path, glob: bool) -> None:
        """Of a split, or a glob of all its shards: no header of a record is asked."""
        shard = min(directory.glob("train-*"))
        data = bytearray(shard.read_bytes())
        data[:8] = bytes(8)
        shard.write_bytes(data)
        if glob:
            split = open_split(str(directory / "train-*"))
        else:
            split = open_split(directory, "train")
        assert len(split) == COUNT
        assert sorted(split[1:]["scan"]) == sorted({*range(COUNT)} - {0})

    @pytest.mark.parametrize(
        "change", ["missing", "damaged", "truncated", "a directory"]
    )
    def test_without_a_whole_index_lengths_are_followed(
        self, directory: Path, change: str
    ) -> None:
        expected = scans(open_split(directory, "train").batches(COUNT))
        index = index_of(directory)
        data = bytearray(index.read_bytes())
        index.unlink()
        if change == "damaged":
            data[0] ^= 1
            index.write_bytes(data)
        if change == "truncated":
            index.write_bytes(data[:-8])
        if change == "a directory":
            index.mkdir()
        split = open_split(directory, "train")
        assert [split[number]["scan"] for number in range(COUNT)] == expected

    def test_some_shards_are_read_without(self, directory: Path) -> None:
        some = open_split(sorted(map(str, directory.glob("train-*")))[1:])
        whole = open_split(directory, "train")
        first = len(whole) - len(some)
        assert some[3]["scan"] == whole[first + 3]["scan"]


class TestPieces:
    """What is read of an index, by whether it is kept and where it is."""

    @pytest.fixture(params=["kept", "stored", "remote, kept", "remote, recent"])
    def place(
        self, request: pytest.FixtureRequest, tmp_path: Path
    ) -> Iterator[tuple[str, dict[str, int]]]:
        """A directory of two splits, and the bounds of memory and of a piece."""
        store = fsspec.filesystem("memory").store
        store.clear()
        is_remote = "remote" in request.param
        where = "memory://bucket/data" if is_remote else str(tmp_path / "data")
        is_kept = "kept" in request.param
        yield where, {"KEPT_BYTES": 1 << 26 if is_kept else 200, "_PIECE_BYTES": 64}
        store.clear()

    @pytest.fixture
    def directory(
        self, place: tuple[str, dict[str, int]], monkeypatch: pytest.MonkeyPatch
    ) -> str:
        where, bounds = place
        for name, value in bounds.items():
            monkeypatch.setattr(f"schemagen.runtime.arrays.indexes.{name}", value)
        # Most shards have several records, and some have none.
        write_dataset(rows(COUNT), where, "train", shards=7)
        write_dataset(rows(COUNT + 4)[COUNT:], where, "more", shards=9)
        return where

    def test_records_are_those_of_their_numbers(self, directory: str) -> None:
        split = open_split(directory, ["train", "more"])
        assert len(split) == COUNT + 4
        random = np.random.default_rng(1)
        for size in (1, 2, 5, 20, 44):
            for _ in range(5):
                numbers = random.permutation(COUNT + 4)[:size]
                assert split[numbers]["scan"].tolist() == numbers.tolist()
        for start in range(0, COUNT, 3):
            some = split[start : start + 7]["scan"].tolist()
            assert some == [*range(start, min(start + 7, COUNT + 4))]

    def test_only_what_is_needed_is_read(
        self, directory: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        read: list[tuple[int, int]] = []
        original = Index.read

        def counted(index: Index, first: int, stop: int) -> bytes:
            read.append((first, stop))
            return original(index, first, stop)

        monkeypatch.setattr(Index, "read", counted)
        split = open_split(directory, "train")
        assert len(split) == COUNT
        assert not read
        split[20]
        [(first, stop)] = read
        assert first <= 20 < stop < first + COUNT / 2
        split[21]
        assert len(read) == 1

    def test_an_index_of_0_4_0_is_read(
        self, directory: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Its manifest has one checksum for all shards."""
        written = manifest.load(directory)
        assert written
        split = written.splits["train"]
        shards = tuple(replace(shard, index=None) for shard in split.shards)
        old = replace(written, splits={"train": replace(split, shards=shards)})
        manifest.save(directory, old)
        monkeypatch.setattr(positions, "_ends_of", None)  # no lengths are followed
        assert open_split(directory, "train")[:]["scan"].tolist() == [*range(COUNT)]

    def test_lengths_are_followed_where_a_piece_is_damaged(
        self, directory: str
    ) -> None:
        """Once it is needed; what was read before is right."""
        files = open_directory(directory)
        name = min(name for name in files.names() if re.match(r"\.train.*index", name))
        contents = bytearray(files.read(name) or b"")
        contents[-1] ^= 1
        files.replace(name, bytes(contents))
        split = open_split(directory, "train")
        for number in (0, 1, COUNT - 1, 5):
            assert split[number]["scan"] == number

    def test_a_split_that_is_written_again_is_refused(self, directory: str) -> None:
        """Also where a piece of its index is asked for, which is gone by then."""
        split = open_split(directory, "train")
        assert split[0]["scan"] == 0
        others = rows(COUNT)[::-1]
        write_dataset(others, directory, "train", shards=7, overwrite=True)
        read: list[Callable[[], object]] = [
            lambda: split[COUNT - 1],
            lambda: split[:],
            lambda: next(split.batches(COUNT, shuffle_seed=1)),
        ]
        for each in read:
            with pytest.raises(DatasetError, match="it was written again"):
                each()

    def test_an_index_may_be_removed(self, directory: str) -> None:
        split = open_split(directory, "train")
        assert split[0]["scan"] == 0
        files = open_directory(directory)
        files.remove(*(name for name in files.names() if name.endswith(".index")))
        with pytest.warns(RuntimeWarning, match="index: damaged or gone"):
            assert sorted(scans(split.batches(5, shuffle_seed=1))) == [*range(COUNT)]
        assert split[COUNT - 1]["scan"] == COUNT - 1

    @pytest.mark.parametrize("place", ["remote, recent"], indirect=True)
    def test_what_is_kept_has_a_bound(
        self, directory: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """By its bytes: pieces that are larger than others do not add up."""
        kept: list[int] = []
        piece = RecentEnds._piece

        def measured(ends: RecentEnds, number: int) -> Any:
            found = piece(ends, number)
            kept.append(sum(each.nbytes for each in ends._recent.values()))
            return found

        monkeypatch.setattr(RecentEnds, "_piece", measured)
        for shards, count in ("small", 20), ("large", 200):
            write_dataset(rows(count), directory, shards, shards=10)
        split = open_split(directory, ["small", "large"])
        assert len(scans(split.batches(20))) == 220
        # A piece that is larger is kept alone.
        assert 0 < max(kept) <= 200
