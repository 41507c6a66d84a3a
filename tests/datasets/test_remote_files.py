"""Datasets of files behind URLs that TensorFlow has no file system for."""

from __future__ import annotations

import errno
import gc
import logging
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

import every_kind
import fsspec
import pytest
import tensorflow as tf
from schemagen.runtime.faults import copies as copies_module
from schemagen.runtime.faults.copies import Copies
from schemagen.runtime.shared.errors import DatasetError
from schemagen.runtime.sources.file_access import is_copied
from schemagen.runtime.storage import remote_files

if TYPE_CHECKING:
    from conftest import Workspace

URL = "memory://bucket/data"
_ROWS, _SHARDS = 50, 5
_SECONDS = 30
# What reads ahead may see that the old files are gone before the new ones are there.
_REPLACED = "when the dataset was made"


@pytest.fixture(autouse=True)
def memory() -> Iterator[Any]:
    """The file system in memory of fsspec, empty before and after."""
    system = fsspec.filesystem("memory")
    system.store.clear()
    yield system
    system.store.clear()


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where copies are made."""
    directory = tmp_path / "temporary"
    directory.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    return directory


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


def numbers(dataset: tf.data.Dataset) -> list[int]:
    """The numbers of all records, in order."""
    return [int(n) for features, _ in dataset for n in features["number"]]


def message(dataset: tf.data.Dataset) -> str:
    """The error that reading ends with."""
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        numbers(dataset)
    return str(caught.value.message).replace("`", "'")


def files(directory: Path) -> list[Path]:
    """All files below a directory."""
    return [path for path in directory.rglob("*") if path.is_file()]


def left(directory: Path) -> list[Path]:
    """The files below a directory, once no one reads any more.

    An iterator that ended with an error may be garbage, and a file that was copied ahead
    of it may be half made.
    """
    deadline = time.monotonic() + _SECONDS
    while (found := files(directory)) and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.05)
    return found


def change(memory: Any, name: str, at: int) -> str:
    """Flip a bit of a remote file, and return its URL."""
    content = bytearray(memory.cat(f"/bucket/data/{name}"))
    content[at] ^= 1
    memory.pipe(f"/bucket/data/{name}", bytes(content))
    return f"{URL}/{name}"


def test_paths_that_tensorflow_reads_are_not_copied(tmp_path: Path) -> None:
    """Local paths, and the URLs of its file systems."""
    for path in (str(tmp_path), "a", f"file://{tmp_path}", "ram://a/b", "gs://b/data"):
        assert not is_copied(path)
    for url in ("s3://b/data", "memory://b", "simplecache::s3://b/data"):
        assert is_copied(url)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"training": True, "seed": 3},
        {"training": True, "seed": 3, "repeat": 3},
        {"repeat": 2, "cache": True},
        {"shard": (1, 2)},
        {"shard": (1, 9)},
        {"on_corrupt": "skip"},
        {"training": True, "seed": 3, "cache_decoded": True},
        {"bucket_by": "tokens", "bucket_boundaries": (5, 10)},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:.*shards")
def test_remote_split_reads_as_the_local_one(
    write: Write,
    make_dataset: MakeDataset,
    tmp_path: Path,
    temporary: Path,
    options: dict[str, Any],
) -> None:
    """In the same order, and nothing is left of the copies."""
    write(str(tmp_path / "data"))
    expected = numbers(make_dataset(tmp_path / "data", "train", **options))
    dataset = make_dataset(write(), "train", **options)
    assert numbers(dataset) == expected
    assert left(temporary) == []


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB"])
def test_compressed_remote_files_are_read(
    write: Write, make_dataset: MakeDataset, temporary: Path, compression: str
) -> None:
    """In each epoch, copied again."""
    dataset = make_dataset(write(compression=compression))
    for _ in range(2):
        assert sorted(numbers(dataset)) == list(range(_ROWS))
        assert left(temporary) == []


def test_globs_lists_and_mixtures_of_remote_files_are_read(
    write: Write, make_dataset: MakeDataset, memory: Any, tmp_path: Path
) -> None:
    """With their manifest and without, next to local files."""
    shard = f"{write()}/train-00001-of-00005.tfrecord"
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


@pytest.mark.filterwarnings("ignore:.*published without records")
def test_a_file_without_records_is_read(
    package: Workspace, make_dataset: MakeDataset, temporary: Path, memory: Any
) -> None:
    """Also one without bytes, and a compressed one."""
    write = package.module("small", "serializer").write_dataset
    write([], URL, "empty", compression="GZIP")
    assert numbers(make_dataset(URL, "empty")) == []
    memory.pipe("/bucket/none.tfrecord", b"")
    assert numbers(make_dataset("memory://bucket/none.tfrecord")) == []
    assert left(temporary) == []


def test_few_copies_are_there_at_a_time(
    write: Write,
    make_dataset: MakeDataset,
    temporary: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those that are copied ahead, and no open one."""
    most = 0
    make = copies_module._copied

    def counting(*arguments: Any) -> Any:
        nonlocal most
        copy = make(*arguments)
        most = max(most, len(files(temporary)))
        return copy

    monkeypatch.setattr(copies_module, "_copied", counting)
    assert len(numbers(make_dataset(write(shards=25)))) == _ROWS
    assert 1 <= most <= 4


def test_an_interrupted_iteration_leaves_what_was_copied_ahead(
    write: Write, make_dataset: MakeDataset, temporary: Path
) -> None:
    """However often that happens, and nothing once the dataset is gone."""
    dataset = make_dataset(write(shards=25), batch_size=1)
    for _ in range(10):
        next(iter(dataset))
    assert len(files(temporary)) <= 4
    assert sorted(numbers(dataset)) == list(range(_ROWS))
    next(iter(dataset))
    del dataset
    assert left(temporary) == []


def test_an_iterator_that_a_copying_thread_collects_ends(
    write: Write, make_dataset: MakeDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its end waits for its graph, and the graph must not wait for that thread."""
    dataset = make_dataset(write(shards=25), batch_size=1)
    transfer = copies_module._transfer
    dropped, waiting, collected = (threading.Event() for _ in range(3))

    def collecting(path: str, target: str) -> Any:
        if "train-00001" in path:
            waiting.set()
            dropped.wait(_SECONDS)
            gc.collect()
            collected.set()
        return transfer(path, target)

    monkeypatch.setattr(copies_module, "_transfer", collecting)
    gc.disable()
    try:
        cycle: list[Any] = [iter(dataset)]
        cycle.append(cycle)
        next(cycle[0])
        assert waiting.wait(_SECONDS)
        time.sleep(0.5)  # until the graph asks for that file
        del cycle
        dropped.set()
        assert collected.wait(_SECONDS)
    finally:
        gc.enable()


def test_a_damaged_remote_record_is_named_by_its_url(
    write: Write, make_dataset: MakeDataset, memory: Any, temporary: Path
) -> None:
    """An error names the record; skipping leaves out that record alone."""
    write()
    url = change(memory, "train-00002-of-00005.tfrecord", 30)
    assert f"{url}: record 0: the checksum of the record does not match" in message(
        make_dataset(URL)
    )
    assert len(numbers(make_dataset(URL, on_corrupt="skip"))) == _ROWS - 1
    assert left(temporary) == []


def test_records_replaced_in_a_remote_shard_are_found_by_the_checksum(
    write: Write, make_dataset: MakeDataset, memory: Any
) -> None:
    """Sound records of the same size and end; skipping leaves out the whole file."""
    write()
    name = "/bucket/data/train-00002-of-00005.tfrecord"
    content = memory.cat(name)
    size = 16 + int.from_bytes(content[:8], "little")
    second = size + 16 + int.from_bytes(content[size : size + 8], "little")
    memory.pipe(name, content[size:second] + content[:size] + content[second:])
    found = message(make_dataset(URL))
    assert f"{URL}/train-00002-of-00005.tfrecord: found the CRC-32C " in found
    expected = [n for n in range(_ROWS) if n % _SHARDS != 2]
    assert sorted(numbers(make_dataset(URL, on_corrupt="skip"))) == expected


def test_a_remote_file_that_is_gone_or_rewritten_is_named(
    write: Write, make_dataset: MakeDataset, memory: Any
) -> None:
    """Also after the dataset was made."""
    write()
    name = "/bucket/data/train-00002-of-00005.tfrecord"
    url = f"{URL}/train-00002-of-00005.tfrecord"
    dataset, content = make_dataset(URL), memory.cat(name)
    memory.pipe(name, content[:100])
    assert f"{url}: found 100 bytes, expected the {len(content)}" in message(dataset)
    with pytest.raises(DatasetError, match=f"{url}: found 100 bytes"):
        make_dataset(URL)
    memory.rm(name)
    assert f"{url}: it was there when the dataset was made" in message(dataset)
    with pytest.raises(DatasetError, match=f"{url}: missing"):
        make_dataset(URL)
    memory.pipe(name, content[:-1] + b"?")
    with pytest.raises(DatasetError, match="found the last bytes"):
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
    with pytest.raises(tf.errors.InvalidArgumentError, match=_REPLACED):
        list(iterator)
    assert f"{URL}/manifest.json: split 'train' is not what it was" in message(dataset)
    memory.rm("/bucket/data/manifest.json")
    unlisted = make_dataset(f"{URL}/train-*")
    assert sorted(numbers(unlisted)) == list(range(100, 100 + _ROWS))
    name = "/bucket/data/train-00002-of-00005.tfrecord"
    memory.pipe(name, memory.cat(name))
    assert "its size or modification time is not what it was" in message(unlisted)


def test_a_request_that_fails_is_repeated(
    write: Write,
    make_dataset: MakeDataset,
    memory: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Twice; then the error has the file system's words."""
    monkeypatch.setattr(remote_files, "_PAUSES", (0.0, 0.0))
    dataset = make_dataset(write())
    fetch, fails = type(memory).cat_file, 2

    def failing(self: Any, path: str, *arguments: Any, **options: Any) -> bytes:
        nonlocal fails
        if path.endswith("2-of-00005.tfrecord") and fails:
            fails -= 1
            raise ConnectionError("reset by peer")
        found: bytes = fetch(self, path, *arguments, **options)
        return found

    monkeypatch.setattr(type(memory), "cat_file", failing)
    assert sorted(numbers(dataset)) == list(range(_ROWS))
    assert fails == 0
    fails = 1000
    assert "it cannot be read: " in message(dataset)
    assert "reset by peer" in message(dataset)


@pytest.mark.parametrize("on_corrupt", ["raise", "skip"])
def test_a_full_disk_is_an_error_that_names_the_directory(
    write: Write,
    make_dataset: MakeDataset,
    temporary: Path,
    monkeypatch: pytest.MonkeyPatch,
    on_corrupt: str,
) -> None:
    """Even where corrupt data is skipped: nothing is wrong with the data."""
    dataset = make_dataset(write(), on_corrupt=on_corrupt)

    def full(path: str, target: str) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), target)

    monkeypatch.setattr(copies_module, "_transfer", full)
    found = message(dataset)
    assert f"bytes cannot be copied to {temporary}" in found
    assert "No space left on device" in found
    assert "TMPDIR" in found
    assert left(temporary) == []


def test_an_iterator_over_remote_files_is_saved_and_restored(
    write: Write, make_dataset: MakeDataset, tmp_path: Path
) -> None:
    """In the middle of a file, which is copied again."""
    write()
    dataset = make_dataset(URL, batch_size=4)
    iterator = iter(dataset)
    first = [int(n) for _ in range(4) for n in next(iterator)[0]["number"]]
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "checkpoint"))
    again = iter(make_dataset(URL, batch_size=4))
    tf.train.Checkpoint(iterator=again).restore(path)
    rest = [int(n) for features, _ in again for n in features["number"]]
    assert first + rest == numbers(dataset)


def test_a_service_with_remote_files_is_refused(
    write: Write, make_dataset: MakeDataset
) -> None:
    """Its workers run no Python."""
    with pytest.raises(DatasetError, match="has no file system for memory://bucket"):
        make_dataset(write(), service="grpc://localhost:1")


def test_what_is_not_there_is_named(make_dataset: MakeDataset) -> None:
    """A URL, a glob, and a file system whose package is not installed."""
    with pytest.raises(DatasetError, match="memory://b/no: no such directory or file"):
        make_dataset("memory://b/no")
    with pytest.raises(DatasetError, match="no file matches"):
        make_dataset(f"{URL}/train-*")
    with pytest.raises(DatasetError, match=r"fsspec cannot open it: .*adlfs"):
        make_dataset("abfs://bucket/data")


def test_skipped_remote_records_are_reported_by_url(
    write: Write, make_dataset: MakeDataset, memory: Any, caplog: Any
) -> None:
    """Each with its number in the file."""
    write()
    url = change(memory, "train-00000-of-00005.tfrecord", 30)
    logger = tf.get_logger()
    logger.propagate = True
    try:
        with caplog.at_level(logging.WARNING, logger.name):
            numbers(make_dataset(URL, on_corrupt="skip"))
    finally:
        logger.propagate = False
    assert f"corrupt and skipped: 1\n  {url}: record 0: " in caplog.text


def test_copies_that_are_begun_after_the_dataset_is_gone_are_removed(
    write: Write, memory: Any, temporary: Path
) -> None:
    """A thread of an iterator may go on for a moment, and leaves no file."""
    write()
    url = f"{URL}/train-00002-of-00005.tfrecord"
    size = memory.size("/bucket/data/train-00002-of-00005.tfrecord")
    copies = Copies({}, lambda: "")
    copies.clear()
    copies.begin(url, size).copy.result()
    assert left(temporary) == []
    copies = Copies({}, lambda: "")
    copies.begin(url, size).copy.result()
    assert len(files(temporary)) == 1
    copies.clear()
    assert left(temporary) == []


def test_a_copy_that_is_taken_while_the_dataset_goes_is_removed(
    write: Write, memory: Any, temporary: Path
) -> None:
    """Garbage collection removes copies at any moment, also within `take`."""
    write()
    copies = Copies({}, lambda: "")

    class Collecting(copies_module._Ahead):
        """A copy of another reader, during whose check the dataset is collected."""

        def __getattribute__(self, name: str) -> Any:
            if name == "asked":
                copies.clear()
            return super().__getattribute__(name)

    for name in ("a", "b"):
        copies._ahead[name] = Collecting(Future())
    url = f"{URL}/train-00002-of-00005.tfrecord"
    size = memory.size("/bucket/data/train-00002-of-00005.tfrecord")
    assert copies.take(url, size)
    assert left(temporary) == []
