"""Several readers of one split: each record is read by one, in as many batches each."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import tensorflow as tf
from every_kind import numbers
from manifests import count_one_more
from tfrecord_files import flip_bit

if TYPE_CHECKING:
    from conftest import Data, MakeDataset, Workspace

# Thirteen in each of four files: for three readers 17, 17 and 18.
_ROWS = 52

WAYS: dict[str, dict[str, Any]] = {
    "in order": {},
    "in blocks": {"training": True, "seed": 1},
    "in small blocks": {"training": True, "shuffle_buffer": 1},
    "cached": {"training": True, "cache": True},
}


@pytest.fixture(autouse=True)
def _few_files_are_meant() -> Iterator[None]:
    """Tests have fewer files than readers on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


# Which records a reader gets.


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("shards", [4, 1, 3])
@pytest.mark.parametrize("readers", [3, 5, 2, 4, 7])
def test_every_record_goes_to_one_reader(
    data: Data,
    make_dataset: MakeDataset,
    tmp_path: Path,
    readers: int,
    shards: int,
    listed: bool,
    training: bool,
) -> None:
    """For any numbers of files and readers; to each as many, where these are known."""
    directory = shutil.copytree(data(shards=shards), tmp_path / "data")
    if not listed:
        (directory / "manifest.json").unlink()
    source = directory if listed else f"{directory}/train-*"
    uneven = shards < readers or (not listed and shards % readers)
    with pytest.warns(RuntimeWarning) if uneven else warnings.catch_warnings():
        parts = [
            numbers(
                make_dataset(
                    source, batch_size=8, training=training, shard=(n, readers)
                )
            )
            for n in range(readers)
        ]
    assert sorted(chain(*parts)) == list(range(50))
    sizes = list(map(len, parts))
    if listed:
        assert max(sizes) - min(sizes) <= 1
    elif readers > shards:
        assert max(sizes) - min(sizes) <= shards


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("readers", [2, 3, 5])
@pytest.mark.parametrize("counts", [(1, 30, 0, 7), (14, 12, 12), (5, 0, 0), (60,)])
def test_shares_of_uneven_files_are_equal(
    package: Workspace,
    make_dataset: MakeDataset,
    tmp_path: Path,
    counts: tuple[int, ...],
    readers: int,
) -> None:
    """Files are cut, so that no reader has more than one record more than another."""
    starts = [sum(counts[:at]) for at in range(len(counts))]
    rows = [
        [{"number": start + n, "tokens": [], "kind": 0} for n in range(count)]
        for start, count in zip(starts, counts, strict=True)
    ]
    write = package.module("small", "serializer").write_dataset
    write([lambda part=part: iter(part) for part in rows], tmp_path, "train")
    parts = [
        numbers(make_dataset(tmp_path, batch_size=8, shard=(n, readers)))
        for n in range(readers)
    ]
    assert sorted(chain(*parts)) == list(range(sum(counts)))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_a_wrong_count_of_a_file_that_is_cut_is_an_error(
    data: Data, make_dataset: MakeDataset, tmp_path: Path
) -> None:
    """The reader of its end finds too few records, and no other reader does."""
    directory = shutil.copytree(data(rows=_ROWS), tmp_path / "data")
    count_one_more(directory, 3)
    parts = [make_dataset(directory, batch_size=1, shard=(n, 3)) for n in range(3)]
    found = [*numbers(parts[0]), *numbers(parts[2])]
    assert len(set(found)) == len(found) == 17 + 18
    words = r"-00003-of-00004.tfrecord: .*13 records.* 14"
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        numbers(parts[1])


# How many batches a reader has.


def _batches(dataset: Any) -> list[list[int]]:
    return [features["number"].numpy().tolist() for features, _ in dataset]


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("batch_size", [9, 18, 4])
@pytest.mark.parametrize("way", WAYS)
def test_full_batches_are_as_many_for_each_reader(
    way: str, batch_size: int, data: Data, package: Workspace
) -> None:
    """Those of the smallest share, in each epoch, as the cardinality says."""
    make = package.module("small", "pipeline").make_dataset
    options = {**WAYS[way], "batch_size": batch_size, "drop_remainder": True}
    found = [
        make(data(rows=_ROWS), shard=(index, 3), repeat=2, **options)
        for index in range(3)
    ]
    batches = [_batches(dataset) for dataset in found]
    expected = 17 // batch_size
    assert [len(each) for each in batches] == [2 * expected] * 3
    assert [len(dataset) for dataset in found] == [2 * expected] * 3
    for epoch in (0, 1):
        start = epoch * expected
        read = [*chain(*(chain(*b[start : start + expected]) for b in batches))]
        assert len(read) == len(set(read)) == 3 * expected * batch_size


def test_files_within_one_percent_are_whole_and_batches_as_many(
    package: Workspace, tmp_path: Path
) -> None:
    """A reader with three records more leaves out a batch, another one each epoch."""
    write = package.module("small", "serializer").write_dataset

    def rows(first: int, stop: int) -> Iterator[dict[str, Any]]:
        return ({"number": n, "tokens": [], "kind": 0} for n in range(first, stop))

    write([lambda: rows(0, 300), lambda: rows(300, 603)], tmp_path, "train")
    make = package.module("small", "pipeline").make_dataset
    options: dict[str, Any] = {"batch_size": 3, "training": True, "seed": 1}
    first, second = (
        make(tmp_path, shard=(index, 2), drop_remainder=True, **options)
        for index in range(2)
    )
    assert sorted(chain(*_batches(first))) == list(range(300))
    epochs = [set(chain(*_batches(second))) for _ in range(2)]
    assert [len(epoch) for epoch in epochs] == [300, 300]
    assert epochs[0] | epochs[1] <= set(range(300, 603))
    assert epochs[0] != epochs[1]


@pytest.mark.parametrize("compression", [None, "GZIP"])
def test_a_full_cache_has_left_out_batches_too(
    package: Workspace, tmp_path: Path, compression: str | None
) -> None:
    """The second epoch reads no files, though the first one delivered fewer records."""
    write = package.module("small", "serializer").write_dataset
    rows = [{"number": n, "tokens": [], "kind": 0} for n in range(_ROWS)]
    write(rows, tmp_path, "train", shards=4, compression=compression)
    make = package.module("small", "pipeline").make_dataset
    dataset = make(
        tmp_path, batch_size=9, shard=(2, 3), cache=True, drop_remainder=True
    )
    before = _batches(dataset)
    shutil.rmtree(tmp_path)
    assert _batches(dataset) == before
    assert [len(batch) for batch in before] == [9]


@pytest.mark.parametrize(("where", "failing"), [(3, 0), (10, 1)])
def test_a_damaged_record_concerns_the_reader_that_has_it(
    where: int, failing: int, make_dataset: MakeDataset, data: Data, tmp_path: Path
) -> None:
    """Others pass over it, or stop before it; skipping loses that record alone.

    It is in the file that the first two of three readers share.
    """
    directory = shutil.copytree(data(rows=_ROWS), tmp_path / "data")
    path = directory / "train-00003-of-00004.tfrecord"
    flip_bit(path, where, 14)

    def read(index: int, **options: Any) -> list[int]:
        return numbers(
            make_dataset(directory, batch_size=9, shard=(index, 3), **options)
        )

    for index in {0, 1, 2} - {failing}:
        read(index)
    words = f"{path}: record {where}: "
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        read(failing)
    found = [n for index in range(3) for n in read(index, on_corrupt="skip")]
    assert len(found) == len(set(found)) == _ROWS - 1
