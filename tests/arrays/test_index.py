"""The index that writers leave next to the shards of a split."""

from __future__ import annotations

import json
from glob import glob
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from digit_rows import rows, scans

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

    @pytest.mark.parametrize("change", ["missing", "damaged", "truncated"])
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
        split = open_split(directory, "train")
        assert [split[number]["scan"] for number in range(COUNT)] == expected

    def test_some_shards_are_read_without(self, directory: Path) -> None:
        some = open_split(sorted(map(str, directory.glob("train-*")))[1:])
        whole = open_split(directory, "train")
        first = len(whole) - len(some)
        assert some[3]["scan"] == whole[first + 3]["scan"]


def test_an_index_that_is_a_directory_is_named(tmp_path: Path) -> None:
    """By every way to read the split."""
    write_dataset(rows(COUNT), tmp_path, "train")
    index = index_of(tmp_path)
    index.unlink()
    index.mkdir()
    split = open_split(tmp_path, "train")
    for read in (split.__getitem__, lambda size: next(iter(split.batches(size)))):
        with pytest.raises(DatasetError, match=f"{index.name}: it cannot be read"):
            read(4)
