"""Splits on local and remote file systems: the same files, and errors that name them."""

from __future__ import annotations

import errno
import itertools
import os
import resource
import stat
import sys
from collections.abc import Callable, Iterator
from io import FileIO
from pathlib import Path
from typing import Any

import fsspec
import pytest
from digit_rows import contents, row, rows, written
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.spec import AbstractBufferedFile
from generations import is_of_run, without_runs

from generated import DatasetError, check_files
from generated.digit.serializer import (
    Writer,
    plan_dataset,
    publish,
    write_dataset,
    write_parts,
)

_numbers = itertools.count()


class _Upload(AbstractBufferedFile):
    """A file of an object store: sent in parts, there when the last has come."""

    parts: list[bytes]

    def _initiate_upload(self) -> None:
        self.parts = []

    def _upload_chunk(self, final: bool = False) -> bool:
        self.parts.append(self.buffer.getvalue())
        self.fs.largest = max(self.fs.largest, len(self.parts[-1]))
        if final:
            self.fs.pipe_file(self.path, b"".join(self.parts))
        return True


class Store(MemoryFileSystem):
    """An object store: memory whose files are there, whole, once they are closed."""

    protocol = "store"
    store: dict[str, Any] = {}
    pseudo_dirs = [""]
    largest = 0

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return str(super()._strip_protocol(path.removeprefix("store://")))

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        if mode == "wb" and "data" not in options:
            return _Upload(self, path, mode, block_size=1 << 16)
        return super()._open(path, mode, **options)


class Disk(LocalFileSystem):
    """A server with real directories."""

    protocol = ("disk",)

    @classmethod
    def _strip_protocol(cls, path: Any) -> str:
        return str(super()._strip_protocol(str(path).removeprefix("disk://")))


fsspec.register_implementation("store", Store, clobber=True)
fsspec.register_implementation("disk", Disk, clobber=True)


@pytest.fixture(params=["file", "memory", "store", "disk"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a directory that is not there yet."""
    if request.param in ("file", "disk"):
        return f"{request.param}://{tmp_path}/there/data"
    return f"{request.param}://tests/{next(_numbers)}/data"


@pytest.fixture
def store() -> str:
    """The URL of a directory in a store."""
    return f"store://tests/{next(_numbers)}/data"


def there(url: str) -> dict[str, bytes]:
    """All files of the directory at a URL."""
    system, path = fsspec.core.url_to_fs(url)
    found = system.find(path) if system.exists(path) else []
    return {name.rsplit("/", 1)[1]: system.cat(name) for name in found}


@pytest.mark.parametrize(
    "options",
    [
        {"shard_bytes": 20_000},
        {"shards": 3},
        {"shuffle_seed": 1, "shards": 2, "compression": "GZIP"},
    ],
)
def test_files_are_those_of_a_local_directory(
    tmp_path: Path, url: str, options: dict[str, Any]
) -> None:
    """Of the first run and of one that overwrites it; and nothing else is left."""
    wanted = written(tmp_path / "here", rows(400), **options)
    write_dataset(rows(7), url, "train", shards=4)
    with pytest.raises(DatasetError, match=r"/manifest\.json: .*'train'.* 7 "):
        write_dataset(rows(400), url, "train", **options)
    assert write_dataset(rows(400), url, "train", overwrite=True, **options) == 400
    assert without_runs(there(url)) == without_runs(wanted)
    assert check_files(url) == []


def test_an_interrupted_run_keeps_what_was_there_and_is_resumed(
    tmp_path: Path, url: str
) -> None:
    """The finished shards are taken over, and the files are those of one run."""
    options = {"shard_bytes": 20_000, "overwrite": True}
    write_dataset(rows(10), url, "train")
    before = there(url)

    def failing() -> Iterator[dict[str, Any]]:
        yield from rows(350)
        raise KeyError

    with pytest.raises(KeyError):
        write_dataset(failing(), url, "train", **options)
    after = there(url)
    assert before.items() <= after.items()
    new = set(after) - set(before)
    assert all(name.startswith(".") or is_of_run(name) for name in new)
    assert len(new) > 2
    seen = []
    source = map(row, range(400))
    write_dataset(source, url, "train", resume=True, progress=seen.append, **options)
    assert seen[-1].records < 350
    whole = written(tmp_path / "here", rows(400), **options)
    assert without_runs(there(url)) == without_runs(whole)


@pytest.mark.parametrize("kind", ["", "disk://"])
def test_a_file_in_the_place_of_the_directory_is_named(
    tmp_path: Path, kind: str
) -> None:
    """Or in the place of one above it."""
    path = tmp_path / "data"
    path.write_bytes(b"")
    for where in (f"{kind}{path}", f"{kind}{path}/below"):
        with pytest.raises(NotADirectoryError) as caught:
            write_dataset(rows(1), where, "train")
        assert str(path) in str(caught.value.filename)
        assert caught.value.errno == errno.ENOTDIR


@pytest.mark.parametrize(
    ("directory", "named"),
    [
        ("", "''"),
        (b"data", "b'data'"),
        (Path("s3://bucket/data"), "s3://bucket/data"),
        ("absent://bucket", "no_such_package"),
        ("nosuch://bucket", "nosuch"),
    ],
)
def test_what_is_not_a_directory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, directory: Any, named: str
) -> None:
    """`Path` takes a slash of a URL away, and would make a directory named `s3:`."""
    monkeypatch.chdir(tmp_path)
    fsspec.register_implementation(
        "absent", "no_such_package.System", errtxt="no_such_package", clobber=True
    )
    with pytest.raises((DatasetError, TypeError), match=named):
        Writer(directory, "train")
    assert contents(tmp_path) == {}


def test_a_url_without_fsspec_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is a requirement of remote directories alone."""
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(DatasetError, match=r"s3://bucket/data.* fsspec.*pip install"):
        Writer("s3://bucket/data", "train")


class _Acting(list[dict[str, Any]]):
    """Rows with an index, and what to do before one of them is loaded at first."""

    def __init__(self, at: int, act: Callable[[], object]) -> None:
        super().__init__(rows(400))
        self._acts = {at: act}

    def __getitem__(self, index: Any) -> Any:
        self._acts.pop(index, lambda: None)()
        return super().__getitem__(index)


@pytest.mark.parametrize("at", [200, 250], ids=["between shards", "in a shard"])
@pytest.mark.parametrize("resume", [False, True])
def test_a_run_that_was_taken_over_and_lives_publishes_nothing(
    tmp_path: Path, resume: bool, at: int
) -> None:
    """Nor harms it the process that begins again, or goes on with the run."""
    url = f"disk://{tmp_path}/there/data"
    whole = written(tmp_path / "here", rows(400), shards=4)
    (told, tell), (ends, end) = os.pipe(), os.pipe()
    children = []

    def wait() -> None:
        os.write(tell, b".")
        os.read(ends, 1)

    def take_over() -> None:
        children.append(os.fork())
        if not children[0]:
            more = {"shards": 4, "take_over": True, "resume": resume}
            try:
                write_dataset(_Acting(390, wait), url, "train", **more)
                os._exit(0)
            finally:
                os._exit(1)
        os.read(told, 1)

    try:
        with pytest.raises(DatasetError, match="'train'"):
            write_dataset(_Acting(at, take_over), url, "train", shards=4)
    finally:
        os.write(end, b".")
    assert os.waitpid(children[0], 0)[1] == 0
    for handle in (told, tell, ends, end):
        os.close(handle)
    assert without_runs(there(url)) == without_runs(whole)


# Stores.


def _failing(error: Exception) -> Callable[..., Any]:
    def fail(*arguments: object, **options: object) -> Any:
        raise error

    return fail


class _Unavailable(Exception):
    """An error of a package behind fsspec, which is no OSError."""


@pytest.mark.parametrize(
    "method", ["_open", "cat_file", "info", "ls", "mv", "makedirs"]
)
@pytest.mark.parametrize(
    "error",
    [
        _Unavailable("503"),
        TimeoutError(),
        PermissionError("Forbidden"),
        OSError(errno.ENOSPC, "No space left on device"),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.filterwarnings("ignore:.*'train'")
@pytest.mark.usefixtures("no_pauses")
def test_an_error_of_a_store_names_the_file(
    monkeypatch: pytest.MonkeyPatch, store: str, method: str, error: Exception
) -> None:
    """Whatever its package raises is an OSError with a number and a URL."""
    write_dataset(rows(3), store, "train")
    with monkeypatch.context() as patch:
        patch.setattr(Store, method, _failing(error))
        with pytest.raises(OSError) as caught:  # noqa: PT011
            write_dataset(rows(5), store, "train", overwrite=True)
    assert str(caught.value.filename).startswith(store)
    assert caught.value.errno is not None
    assert str(error).removeprefix("[Errno 28] ") in str(caught.value)
    assert isinstance(caught.value, type(error)) or isinstance(error, _Unavailable)
    assert check_files(store) == []
    write_dataset(rows(5), store, "train", overwrite=True)
    assert check_files(store) == []
    assert len(there(store)) == 3  # a shard, its index and the manifest


def test_files_are_sent_while_they_are_written(store: str) -> None:
    """No shard is held in memory as a whole."""
    system = fsspec.filesystem("store")
    system.largest = 0
    with Writer(store, "train") as writer:
        for _ in range(100):
            writer.append(bytes(100_000))
    assert 0 < system.largest < 2_000_000
    assert check_files(store) == []


def test_a_file_that_arrives_cut_is_not_published(
    monkeypatch: pytest.MonkeyPatch, store: str
) -> None:
    """One that is shorter on the server than it was here is an error."""
    pipe_file = Store.pipe_file

    def short(self: Store, path: str, value: bytes, **options: Any) -> None:
        pipe_file(self, path, value[:-1], **options)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "pipe_file", short)
        with pytest.raises(OSError, match=store):
            write_dataset(rows(3), store, "train")
    assert there(store) == {}


# Disks.


class _Small(FileIO):
    """A file of which the system takes three bytes at a time."""

    def write(self, data: Any, /) -> int:
        return super().write(memoryview(data)[:3])


def test_the_system_may_take_less_than_it_is_given(
    tmp_path: Path, local_files: Callable[[type[FileIO]], None]
) -> None:
    """Writing goes on until all bytes are written."""
    wanted = written(tmp_path / "wanted", rows(20))
    local_files(_Small)
    assert written(tmp_path / "data", rows(20)) == wanted


def test_a_directory_that_cannot_be_synced_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some file servers have no such call; that is no error."""
    fsync = os.fsync

    def failing(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        fsync(handle)

    wanted = written(tmp_path / "wanted", rows(20))
    monkeypatch.setattr(os, "fsync", failing)
    assert written(tmp_path / "data", rows(20)) == wanted


def test_bytes_are_durable_before_they_have_a_visible_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And names are durable when writing returns: of the directories above, too."""
    synced: set[int] = set()
    named: list[str] = []
    fsync, replace = os.fsync, os.replace

    def syncing(handle: int) -> None:
        fsync(handle)
        synced.add(os.fstat(handle).st_ino)

    def replacing(old: Path, new: Path) -> None:
        assert os.stat(old).st_ino in synced, old
        replace(old, new)
        named.append(Path(new).name)
        synced.discard(os.stat(Path(new).parent).st_ino)

    monkeypatch.setattr(os, "fsync", syncing)
    monkeypatch.setattr(os, "replace", replacing)
    directory = tmp_path / "over" / "data"
    write_dataset(rows(20), directory, "train", shards=2)
    assert set(contents(directory)) <= set(named)
    for path in (tmp_path, directory.parent, directory):
        assert path.stat().st_ino in synced


class _Full(FileIO):
    """A file on a disk that has no room beyond `_Full.room` bytes in a directory."""

    room = 0

    def write(self, data: Any, /) -> int:
        used = sum(path.stat().st_size for path in Path(self.name).parent.iterdir())
        if used + len(memoryview(data)) > self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(data)


@pytest.mark.filterwarnings("ignore:.*what an interrupted run had finished")
@pytest.mark.parametrize("ranks", [False, True])
def test_a_disk_that_an_interrupted_run_has_filled_is_written_again(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    local_files: Callable[[type[FileIO]], None],
    ranks: bool,
) -> None:
    """What it has left goes before anything is written."""
    source, directory = rows(60), tmp_path / "data"

    def failing() -> Iterator[dict[str, Any]]:
        yield from source
        raise KeyError

    with pytest.raises(KeyError):
        write_dataset(failing(), directory, "train", shard_bytes=3000)
    used = sum(path.stat().st_size for path in directory.iterdir())
    monkeypatch.setattr(_Full, "room", used + 10)
    local_files(_Full)
    with pytest.raises(OSError, match="No space left"):
        write_dataset(rows(3), directory, "test")
    if ranks:
        plan = plan_dataset(directory, "train", shards=1, rows=3)
        write_parts(rows(3), plan, part=(0, 1))
        publish(plan)
    else:
        write_dataset(rows(3), directory, "train")
    assert check_files(directory) == []


@pytest.fixture
def few_files() -> Iterator[None]:
    """A limit of 60 more open files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = len(os.listdir("/dev/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + 60, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("few_files")
def test_more_shards_than_files_may_be_open_are_refused(tmp_path: Path) -> None:
    """Before anything is written, where all of them would be open at once."""
    for write in (
        lambda: write_dataset(iter(rows(3)), tmp_path / "data", "train", shards=100),
        lambda: Writer(tmp_path / "data", "train", shards=100),
    ):
        with pytest.raises(DatasetError, match=r"shards=100: .*`ulimit -n`"):
            write()
        assert not (tmp_path / "data").exists()
    write_dataset(iter(rows(3)), tmp_path / "data", "train", shards=30)
    write_dataset(rows(3), tmp_path / "data", "test", shards=100)
    write_dataset(iter(rows(3)), tmp_path / "data", "val", shards=100, shuffle_seed=1)
    assert check_files(tmp_path / "data") == []
