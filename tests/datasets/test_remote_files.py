"""Datasets of files behind URLs that TensorFlow has no file system for."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import every_kind
import pytest
import tensorflow as tf
from every_kind import numbers
from generations import shard_at

from generated import DatasetError

if TYPE_CHECKING:
    from conftest import Workspace

pytestmark = pytest.mark.usefixtures("memory")

URL = "memory://bucket/data"
_ROWS, _SHARDS = 50, 5


@pytest.fixture
def write(package: Workspace) -> Callable[..., str]:
    """Write numbered records, and return their directory."""

    def make(
        url: str = URL, first: int = 0, split: str = "train", **options: Any
    ) -> str:
        module = package.module("small", "serializer")
        rows = map(every_kind.small, range(first, first + _ROWS))
        options = {"shards": _SHARDS, **options}
        module.write_dataset(rows, url, split, **options)
        return url

    return make


@pytest.fixture
def make_dataset(package: Workspace) -> Callable[..., tf.data.Dataset]:
    """`make_dataset` of the record, in batches of eight."""
    make = package.module("small", "pipeline").make_dataset

    def made(source: Any, split: str | None = None, **options: Any) -> tf.data.Dataset:
        found: tf.data.Dataset = make(source, split, **{"batch_size": 8, **options})
        return found

    return made


Write = Callable[..., str]
MakeDataset = Callable[..., tf.data.Dataset]


def message(dataset: tf.data.Dataset) -> str:
    """The error that reading ends with."""
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        numbers(dataset)
    return str(caught.value.message).replace("`", "'")


@pytest.mark.quick_cases(7)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"training": True, "seed": 3, "repeat": 3},
        {"repeat": 2, "cache": True},
        {"shard": (1, 9)},
        {"on_corrupt": "skip"},
        {"bucket_by": "tokens", "bucket_boundaries": (5, 10)},
        {"compression": "GZIP", "repeat": 2},
        {"compression": "ZLIB"},
        {"training": True, "seed": 3},
        {"shard": (1, 2)},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:.*shards")
def test_remote_split_reads_as_the_local_one(
    write: Write,
    make_dataset: MakeDataset,
    tmp_path: Path,
    options: dict[str, Any],
) -> None:
    """In the same order, in each epoch."""
    compression = options.get("compression")
    options = {name: value for name, value in options.items() if name != "compression"}
    write(str(tmp_path / "data"), compression=compression)
    local = make_dataset(tmp_path / "data", "train", **options)
    dataset = make_dataset(write(compression=compression), "train", **options)
    first = numbers(dataset)
    assert first == numbers(local)
    assert sorted(numbers(dataset)) == sorted(first)


def test_globs_lists_and_mixtures_of_remote_files_are_read(
    write: Write, make_dataset: MakeDataset, memory: Any, tmp_path: Path
) -> None:
    """With their manifest and without, next to local files."""
    shard, _ = shard_at(write(), 1)
    write(str(tmp_path / "data"))
    for listed in (True, False):
        found = numbers(make_dataset(f"{URL}/train-*"))
        assert sorted(found) == list(range(_ROWS))
        assert numbers(make_dataset(shard)) == list(range(1, _ROWS, _SHARDS))
        local = tmp_path / "data" / "train-00000-of-00005.tfrecord"
        found = numbers(make_dataset([local, shard]))
        assert sorted(found) == [n for n in range(_ROWS) if n % _SHARDS < 2]
        if listed:
            memory.rm("/bucket/data/manifest.json")
            (tmp_path / "data" / "manifest.json").unlink()
    write(f"{URL}2", 100)
    mixed = make_dataset({f"{URL}/train-*": 1, f"{URL}2": 1}, training=True, seed=1)
    found = numbers(mixed)
    assert len(found) == len(set(found))
    assert min(found) < 50 <= 100 <= max(found)


def test_urls_of_tensorflow_are_read_by_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    write: Write,
    make_dataset: MakeDataset,
) -> None:
    """As `gs://` is, so that no package of fsspec is needed: directories and globs."""
    monkeypatch.setitem(sys.modules, "fsspec", None)
    wanted = list(range(_ROWS))
    for name in Path(write(str(tmp_path))).iterdir():
        tf.io.gfile.copy(str(name), f"ram://{tmp_path}/{name.name}", overwrite=True)
    assert sorted(numbers(make_dataset(f"ram://{tmp_path}", "train"))) == wanted
    assert sorted(numbers(make_dataset(f"ram://{tmp_path}/train-*"))) == wanted


@pytest.mark.parametrize("options", [{}, {"training": True, "seed": 3}], ids=str)
def test_an_iterator_that_is_restored_goes_on(
    write: Write, make_dataset: MakeDataset, tmp_path: Path, options: dict[str, Any]
) -> None:
    """With exactly the batches that remain, in the middle of a shard."""
    url = write(shards=2)
    first = iter(make_dataset(url, batch_size=4, **options))
    for _ in range(3):
        next(first)
    path = tf.train.Checkpoint(iterator=first).save(str(tmp_path / "checkpoint"))
    again = iter(make_dataset(url, batch_size=4, **options))
    tf.train.Checkpoint(iterator=again).restore(path).assert_consumed()
    left = [features["number"].numpy().tolist() for features, _ in first]
    assert [features["number"].numpy().tolist() for features, _ in again] == left


def test_iterators_that_stop_early_do_not_disturb_others(
    write: Write, make_dataset: MakeDataset
) -> None:
    """However many there are, each record comes once in a later epoch."""
    dataset = make_dataset(write(shards=25), batch_size=1, training=True)
    kept = iter(dataset)
    found = [int(next(kept)[0]["number"][0])]
    for _ in range(10):
        next(iter(dataset))
    found += [int(features["number"][0]) for features, _ in kept]
    assert sorted(found) == sorted(numbers(dataset)) == list(range(_ROWS))


def test_a_damaged_remote_record_is_named_by_its_url(
    write: Write,
    make_dataset: MakeDataset,
    memory: Any,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By the error, and by the report of skipping, which leaves out that record alone."""
    write()
    url, name = shard_at(URL, 2)
    content = bytearray(memory.cat(name))
    content[30] ^= 1
    memory.pipe(name, bytes(content))
    place = f"{url}: record 0: "
    assert place in message(make_dataset(URL))
    logger = tf.get_logger()
    monkeypatch.setattr(logger, "propagate", True)
    with caplog.at_level(logging.WARNING, logger.name):
        assert len(numbers(make_dataset(URL, on_corrupt="skip"))) == _ROWS - 1
    assert f": 1\n  {place}" in caplog.text


def test_records_replaced_in_a_remote_shard_are_found_by_the_checksum(
    write: Write, make_dataset: MakeDataset, memory: Any
) -> None:
    """Sound records of the same size and end are an error even where damage is skipped."""
    write()
    url, name = shard_at(URL, 2)
    content = memory.cat(name)
    size = 16 + int.from_bytes(content[:8], "little")
    second = size + 16 + int.from_bytes(content[size : size + 8], "little")
    memory.pipe(name, content[size:second] + content[:size] + content[second:])
    for policy in ("raise", "skip"):
        found = message(make_dataset(URL, on_corrupt=policy))
        assert f"{url}: " in found


def test_a_remote_file_that_is_gone_or_rewritten_is_named(
    write: Write, make_dataset: MakeDataset, memory: Any
) -> None:
    """Also after the dataset was made."""
    write()
    url, name = shard_at(URL, 2)
    dataset, content = make_dataset(URL), memory.cat(name)
    memory.pipe(name, content[:100])
    found = message(dataset)
    assert f"{url}: " in found
    assert f"{len(content)}" in found
    with pytest.raises(DatasetError, match=f"{url}: .*100 bytes"):
        make_dataset(URL)
    memory.rm(name)
    assert f"{url}: " in message(dataset)
    with pytest.raises(DatasetError, match=url):
        make_dataset(URL)
    memory.pipe(name, content[:-1] + b"?")
    with pytest.raises(DatasetError, match=url):
        make_dataset(URL)


def test_a_remote_split_that_is_overwritten_is_refused(
    write: Write, make_dataset: MakeDataset, memory: Any
) -> None:
    """Between epochs and in the middle of one; files without a manifest too."""
    dataset = make_dataset(write(), batch_size=1)
    assert len(numbers(dataset)) == _ROWS
    iterator = iter(dataset)
    next(iterator)
    write(first=100, overwrite=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match=URL):
        list(iterator)
    assert f"{URL}/manifest.json: split 'train'" in message(dataset)
    memory.rm("/bucket/data/manifest.json")
    unlisted = make_dataset(f"{URL}/train-*")
    assert sorted(numbers(unlisted)) == list(range(100, 100 + _ROWS))
    url, name = shard_at(URL, 2)
    memory.pipe(name, memory.cat(name))
    assert f"{url}: " in message(unlisted)


@pytest.mark.usefixtures("no_pauses")
def test_a_request_that_fails_is_repeated(
    write: Write,
    make_dataset: MakeDataset,
    memory: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Twice; then the error has the file system's words."""
    dataset = make_dataset(write())
    fetch, fails = type(memory).cat_file, 2

    def failing(self: Any, path: str, *arguments: Any, **options: Any) -> bytes:
        nonlocal fails
        if "2-of-00005." in path and fails:
            fails -= 1
            raise ConnectionError("reset by peer")
        found: bytes = fetch(self, path, *arguments, **options)
        return found

    monkeypatch.setattr(type(memory), "cat_file", failing)
    assert sorted(numbers(dataset)) == list(range(_ROWS))
    assert fails == 0
    fails = 1000
    assert "2-of-00005." in (found := message(dataset))
    assert "reset by peer" in found


def test_what_is_not_there_is_named(make_dataset: MakeDataset) -> None:
    """A URL, a glob, and a file system whose package is not installed."""
    with pytest.raises(DatasetError, match="memory://b/no"):
        make_dataset("memory://b/no")
    with pytest.raises(DatasetError, match=f"{URL}/train-"):
        make_dataset(f"{URL}/train-*")
    with pytest.raises(DatasetError, match=r"abfs://bucket/data.*adlfs"):
        make_dataset("abfs://bucket/data")
