"""Splits on file systems that are reached through fsspec."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from schemagen.runtime.shared.errors import DatasetError, SchemaMismatchError
from schemagen.runtime.storage import manifest
from schemagen.runtime.storage.integrity import check_files
from splits import sharded_writer, write_split

URL = "memory://bucket/data"
SPEC: dict[str, Any] = {"record": "note", "fields": []}
ROWS = [{"n": number} for number in range(2000)]


@pytest.fixture(autouse=True)
def memory() -> Iterator[Any]:
    """The file system in memory of fsspec, empty before and after."""
    system = fsspec.filesystem("memory")
    system.store.clear()
    yield system
    system.store.clear()


def serialize(*, n: int) -> bytes:
    """A record of the test's own."""
    return b"%d " % n + b"x" * (n % 50)


def write(directory: str | os.PathLike[str], rows: Any = ROWS, **options: Any) -> int:
    """Write a split of such records."""
    named = {"record": "note", "spec": SPEC, "fingerprint": "aaaa", **options}
    return write_split(rows, serialize, directory, "train", **named)


def remote(memory: Any) -> dict[str, bytes]:
    """All files of the remote directory."""
    found = memory.find("/bucket/data") if memory.exists("/bucket/data") else []
    return {path.rsplit("/", 1)[1]: memory.cat(path) for path in found}


def local(directory: Path) -> dict[str, bytes]:
    """All files of a local directory."""
    return {path.name: path.read_bytes() for path in directory.iterdir()}


@pytest.mark.parametrize(
    "options",
    [
        {"shard_bytes": 20_000},
        {"shards": 3, "workers": 2},
        {"shuffle_seed": 1, "shards": 2, "compression": "GZIP"},
    ],
)
def test_remote_files_are_the_local_ones(
    tmp_path: Path, memory: Any, options: dict[str, Any]
) -> None:
    """The same rows make the same files there, and nothing else is left."""
    assert write(URL, **options) == write(tmp_path / "data", **options) == len(ROWS)
    assert remote(memory) == local(tmp_path / "data")
    assert check_files(URL) == []


def test_file_urls_are_local_directories(tmp_path: Path) -> None:
    """`file://` is no detour."""
    write(f"file://{tmp_path}/data")
    assert check_files(tmp_path / "data") == []


def test_nothing_is_published_before_the_end(memory: Any) -> None:
    """A source that fails leaves hidden files at most, and what was there before."""
    write(URL, ROWS[:10])
    before = remote(memory)

    def rows() -> Iterator[dict[str, int]]:
        yield from ROWS
        raise KeyError

    with pytest.raises(KeyError):
        write(URL, rows(), shard_bytes=20_000, overwrite=True)
    after = remote(memory)
    assert {name: after[name] for name in before} == before
    assert all(name.startswith(".") for name in set(after) - set(before))
    found = manifest.load(URL)
    assert found is not None
    assert found.splits["train"].records == 10


def test_an_interrupted_run_is_resumed(tmp_path: Path, memory: Any) -> None:
    """The finished shards are taken over, and the files are those of one run."""

    def rows(stop: int | None) -> Iterator[dict[str, int]]:
        for row in ROWS:
            if row["n"] == stop:
                raise KeyError
            yield row

    with pytest.raises(KeyError) as caught:
        write(URL, rows(1900), shard_bytes=20_000)
    assert (
        "records of split 'train' are in finished shards" in caught.value.__notes__[-1]
    )
    assert write(URL, rows(None), shard_bytes=20_000, resume=True) == len(ROWS)
    write(tmp_path / "data", shard_bytes=20_000)
    assert remote(memory) == local(tmp_path / "data")


def test_overwriting_and_other_schemas(memory: Any) -> None:
    """The rules of local directories hold there too."""
    write(URL, shards=3)
    with pytest.raises(DatasetError, match="exists with 2000 records"):
        write(URL)
    assert write(URL, ROWS[:5], overwrite=True) == 5
    assert sorted(remote(memory)) == ["manifest.json", "train-00000-of-00001.tfrecord"]
    field = {"kind": "Text", "name": "a", "key": "a", "optional": False}
    other = {"record": "note", "fields": [field]}
    with pytest.raises(
        SchemaMismatchError, match=f"{URL}/manifest.json: split 'train'"
    ):
        sharded_writer(URL, "test", record="note", spec=other, fingerprint="bbbb")
