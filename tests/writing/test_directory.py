"""What writing asks of directories: the same of local and of remote ones."""

from __future__ import annotations

import errno
import itertools
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from io import FileIO
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.spec import AbstractBufferedFile
from schemagen.runtime.shared.errors import DatasetError
from schemagen.runtime.storage import local as local_module
from schemagen.runtime.storage.directory import PIECE_BYTES, Directory, temporary_name
from schemagen.runtime.storage.local import LocalDirectory
from schemagen.runtime.storage.opening import open_directory
from schemagen.runtime.storage.remote import RemoteDirectory

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


fsspec.register_implementation("store", Store, clobber=True)


@pytest.fixture(params=["local", "file", "memory", "store", "fsspec-local"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Directory:
    """A directory that is not there yet, of each kind."""
    number = next(_numbers)
    if request.param == "fsspec-local":
        return RemoteDirectory(f"file://{tmp_path}/data")
    return open_directory(
        {
            "local": tmp_path / "data",
            "file": f"file://{tmp_path}/data",
            "memory": f"memory://tests/{number}/data",
            "store": f"store://tests/{number}/data/",
        }[request.param]
    )


@pytest.fixture
def made(where: Directory) -> Directory:
    """The same, and it is there."""
    where.make()
    return where


def write(directory: Directory, name: str, *pieces: bytes | memoryview) -> None:
    """Write a whole file."""
    file = directory.create(name)
    for piece in pieces:
        file.write(piece)
    file.finish()


def test_what_is_not_there(where: Directory) -> None:
    """Looking into a directory that is not there finds nothing and makes nothing."""
    assert where.names() == []
    assert where.read("manifest.json") is None
    assert where.size("manifest.json") is None
    where.remove("manifest.json")
    assert where.names() == []


def test_making_it(where: Directory) -> None:
    """It is made with all above it, and making it again keeps what is in it."""
    where.make()
    write(where, "a", b"abc")
    where.make()
    assert where.names() == ["a"]


def test_files(made: Directory) -> None:
    """What was written is what is read, whole or in pieces."""
    data = os.urandom(PIECE_BYTES + 7)
    write(made, "shard", data[:10], memoryview(data)[10:], b"")
    write(made, "empty")
    assert made.read("shard") == data
    assert made.size("shard") == len(data)
    pieces = list(made.chunks("shard"))
    assert b"".join(pieces) == data
    assert max(map(len, pieces)) <= PIECE_BYTES
    assert made.read("empty") == b""
    assert made.size("empty") == 0
    assert list(made.chunks("empty")) == []


def test_names(made: Directory) -> None:
    """Hidden files are listed too, in order; directories are not."""
    for name in ("b", ".hidden.tmp", "a"):
        write(made, name, b"x")
    open_directory(f"{made.where}/inner").make()
    assert made.names() == [".hidden.tmp", "a", "b"]


def test_a_name_that_is_taken(made: Directory) -> None:
    """A new file never touches one that is there."""
    write(made, "a", b"old")
    with pytest.raises(FileExistsError) as caught:
        made.create("a")
    assert caught.value.filename == f"{made.where}/a"
    assert caught.value.errno == errno.EEXIST
    assert made.read("a") == b"old"


def test_renaming_replaces(made: Directory) -> None:
    """The file has its new name only, in place of the one that had it."""
    write(made, "a", b"old")
    write(made, ".b.tmp", b"new")
    made.rename(".b.tmp", "a")
    made.sync()
    assert made.names() == ["a"]
    assert made.read("a") == b"new"


def test_renaming_what_is_not_there(made: Directory) -> None:
    """The error has the file's name, and the other file stays."""
    write(made, "b", b"old")
    with pytest.raises(FileNotFoundError) as caught:
        made.rename("a", "b")
    assert caught.value.filename == f"{made.where}/a"
    assert made.read("b") == b"old"


def test_discarding(made: Directory) -> None:
    """A file is discarded while it is written or when it is finished, also twice."""
    written = made.create("a")
    written.write(b"abc" * 100_000)
    finished = made.create("b")
    finished.write(b"abc")
    finished.finish()
    gone = made.create("c")
    made.remove("c")
    for file in (written, finished, gone):
        file.discard()
        file.discard()
    del file, written, finished, gone
    assert made.names() == []


def test_replacing(made: Directory) -> None:
    """A small file is written in one step, and no temporary file is left."""
    made.replace("manifest.json", b"first")
    made.replace("manifest.json", b"second")
    made.sync()
    assert made.names() == ["manifest.json"]
    assert made.read("manifest.json") == b"second"


def test_replacing_that_fails(made: Directory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the last step the old file stands; the temporary one is removed."""
    made.replace("manifest.json", b"first")
    seen: list[str] = []

    def failing(old: str, new: str) -> None:
        seen.extend(made.names())
        raise OSError(errno.EIO, "Input/output error", f"{made.where}/{old}")

    monkeypatch.setattr(made, "rename", failing)
    with pytest.raises(OSError, match="Input/output error"):
        made.replace("manifest.json", b"second")
    hidden, visible = seen
    assert re.fullmatch(r"\.manifest\.json\.[0-9a-f]{12}\.tmp", hidden)
    assert visible == "manifest.json"
    assert made.names() == ["manifest.json"]
    assert made.read("manifest.json") == b"first"


def test_appending(made: Directory) -> None:
    """Lines are added to what is there, and the first one makes the file."""
    for line in (b"one\n", b"two\n", b"three\n"):
        made.append(".train.journal", line)
    assert made.read(".train.journal") == b"one\ntwo\nthree\n"
    assert made.names() == [".train.journal"]


def test_temporary_names() -> None:
    """They are hidden, tell what they are for, and are never given twice."""
    names = {temporary_name(".train.journal") for _ in range(100)}
    assert len(names) == 100
    for name in names:
        assert re.fullmatch(r"\.train\.journal\.[0-9a-f]{12}\.tmp", name)


def test_where_it_is(tmp_path: Path) -> None:
    """Messages join it with a name; only a local one has a path."""
    assert open_directory(tmp_path).where == str(tmp_path)
    assert open_directory(str(tmp_path)).local == tmp_path
    local = open_directory(f"file://{tmp_path}/a b")
    assert isinstance(local, LocalDirectory)
    assert local.local == tmp_path / "a b"
    remote = open_directory("memory://tests/x/")
    assert remote.where == "memory://tests/x"
    assert remote.local is None


# Errors.


def test_a_file_in_its_place(tmp_path: Path) -> None:
    """A path that is a file is refused by its name, whatever is asked of it."""
    path = tmp_path / "data"
    path.write_bytes(b"")
    for directory in (open_directory(path), RemoteDirectory(f"file://{path}")):
        for ask in (directory.make, directory.names):
            with pytest.raises(NotADirectoryError) as caught:
                ask()
            assert caught.value.filename == directory.where
            assert caught.value.errno == errno.ENOTDIR
    below = open_directory(path / "below")
    with pytest.raises(NotADirectoryError) as caught:
        below.make()
    assert str(path) in str(caught.value.filename)


@pytest.mark.parametrize("kind", [open_directory, RemoteDirectory])
def test_a_directory_that_is_gone(
    tmp_path: Path, kind: Callable[[str], Directory]
) -> None:
    """Files are not made in a directory that somebody has removed meanwhile."""
    directory = kind(f"file://{tmp_path}/data")
    for use in (
        lambda: directory.create("a"),
        lambda: directory.replace("a", b""),
        lambda: list(directory.chunks("a")),
    ):
        with pytest.raises(FileNotFoundError) as caught:
            use()
        assert str(caught.value.filename).startswith(f"{directory.where}/")
        assert caught.value.errno == errno.ENOENT


class _Small(FileIO):
    """A file of which the system takes three bytes at a time."""

    def write(self, data: Any, /) -> int:
        return super().write(memoryview(data)[:3])


def test_the_system_may_take_less(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Writing goes on until all bytes are written."""
    monkeypatch.setattr(local_module, "FileIO", _Small)
    made = open_directory(tmp_path)
    write(made, "a", b"0123456789")
    made.append("b", b"0123456789")
    assert made.read("a") == made.read("b") == b"0123456789"


class _Broken(FileIO):
    """A file on a disk that has just failed."""

    def write(self, data: Any, /) -> int:
        raise OSError(errno.EIO, "Input/output error")


def test_errors_of_writing_name_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system does not say which open file it was; these errors do."""
    monkeypatch.setattr(local_module, "FileIO", _Broken)
    made = open_directory(tmp_path)
    file = made.create("a")
    for use in (lambda: file.write(b"x"), lambda: made.append("a", b"x")):
        with pytest.raises(OSError, match="Input/output error") as caught:
            use()
        assert caught.value.filename == str(tmp_path / "a")
        assert caught.value.errno == errno.EIO


def test_errors_of_syncing_name_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What file servers report as late as that is not lost."""

    def failing(handle: int) -> None:
        raise OSError(errno.EDQUOT, "Disk quota exceeded")

    made = open_directory(tmp_path)
    file = made.create("a")
    monkeypatch.setattr(os, "fsync", failing)
    for use, path in ((file.finish, tmp_path / "a"), (made.sync, tmp_path)):
        with pytest.raises(OSError, match="Disk quota exceeded") as caught:
            use()
        assert caught.value.filename == str(path)


def test_directories_that_cannot_be_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some file servers have no such call; that is no error."""

    def failing(handle: int) -> None:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "fsync", failing)
    open_directory(tmp_path).sync()


def test_the_order_of_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes are durable before they have a name, and names when `sync` has run."""
    steps: list[str] = []
    fsync, replace = os.fsync, os.replace

    def syncing(handle: int) -> None:
        steps.append(Path(f"/proc/self/fd/{handle}").resolve().name)
        fsync(handle)

    def replacing(old: Path, new: Path) -> None:
        steps.append(f"-> {Path(new).name}")
        replace(old, new)

    monkeypatch.setattr(os, "fsync", syncing)
    monkeypatch.setattr(os, "replace", replacing)
    made = open_directory(tmp_path / "over" / "data")
    made.make()
    made.replace("manifest.json", b"{}")
    made.sync()
    made.append("journal", b"1")
    made.append("journal", b"2")
    assert [re.sub("[0-9a-f]{12}", "<id>", step) for step in steps] == [
        "over",
        tmp_path.name,
        ".manifest.json.<id>.tmp",
        "-> manifest.json",
        "data",
        "journal",
        "data",
        "journal",
    ]


_FILL = """
import errno, os, resource, sys
from schemagen.runtime.storage.opening import open_directory
if sys.argv[2] != "-":
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
directory = open_directory(sys.argv[1])
file = directory.create("shard")
try:
    for _ in range(100):
        file.write(bytes(100_001))
    file.finish()
except OSError as error:
    print(errno.errorcode[error.errno], error.filename)
file.discard()
print(directory.names())
"""


def _fill(directory: Path, limit: str, before: tuple[str, ...] = ()) -> str:
    root = Path(local_module.__file__).parents[3]
    return subprocess.run(
        [*before, sys.executable, "-c", _FILL, str(directory), limit],
        env={**os.environ, "PYTHONPATH": str(root)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def test_a_limit_of_file_sizes(tmp_path: Path) -> None:
    """The last bytes that fit are no success: the rest is an error with the file."""
    assert resource.RLIMIT_FSIZE is not None
    assert _fill(tmp_path, "1000000") == f"EFBIG {tmp_path}/shard\n[]\n"


def _mounting(directory: Path, options: str) -> tuple[str, ...]:
    """The beginning of a command that runs where a directory is a file system."""
    mount = f'mount -t tmpfs -o {options} tmpfs "{directory}" && exec "$@"'
    before = ("unshare", "--mount", "sh", "-c", mount, "sh")
    if not shutil.which("unshare"):
        pytest.skip("this system has no unshare")
    if subprocess.run([*before, "true"], capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    return before


def test_a_full_disk(tmp_path: Path) -> None:
    """The error names the file, and what was written of it can be removed."""
    before = _mounting(tmp_path, "size=1m")
    assert _fill(tmp_path, "-", before) == f"ENOSPC {tmp_path}/shard\n[]\n"


def test_a_directory_without_permission(tmp_path: Path) -> None:
    """The error of a read-only file system, which binds root too, names the file."""
    before = _mounting(tmp_path, "ro")
    with pytest.raises(subprocess.CalledProcessError) as caught:
        _fill(tmp_path, "-", before)
    assert f"Read-only file system: '{tmp_path}/shard'" in caught.value.stderr


# Remote file systems alone.


class _FlakyError(Exception):
    """An error of a package behind fsspec, which is no OSError."""


def _failing(error: Exception) -> Callable[..., Any]:
    def fail(*arguments: object, **options: object) -> Any:
        raise error

    return fail


def _raised(directory: Directory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for error in (
        _FlakyError("503 slow down"),
        TimeoutError(),
        PermissionError("Forbidden"),
        OSError(errno.ENOSPC, "No space left on device"),
    ):
        for method, use in (
            ("_open", lambda: directory.create("new")),
            ("cat_file", lambda: directory.read("a")),
            ("info", lambda: directory.size("a")),
            ("ls", directory.names),
            ("mv", lambda: directory.rename("a", "b")),
            ("rm", lambda: directory.remove("a")),
            ("makedirs", directory.make),
        ):
            with monkeypatch.context() as patch:
                patch.setattr(Store, method, _failing(error))
                with pytest.raises(OSError) as caught:  # noqa: PT011
                    use()
            yield error, caught.value


def test_remote_errors_name_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a server's package raises becomes an OSError with a number and a URL."""
    directory = open_directory(f"store://tests/{next(_numbers)}")
    write(directory, "a", b"abc")
    texts = set()
    for error, raised in _raised(directory, monkeypatch):
        assert str(raised.filename).startswith(directory.where)
        assert raised.errno is not None
        assert raised.__cause__ is error
        texts.add((type(raised).__name__, raised.strerror))
    assert texts == {
        ("OSError", "Input/output error (_FlakyError: 503 slow down)"),
        ("TimeoutError", "Connection timed out"),
        ("PermissionError", "Permission denied (PermissionError: Forbidden)"),
        ("OSError", "No space left on device"),
    }


def test_nothing_is_there_before_it_is_closed() -> None:
    """On an object store a file is sent in parts, and not seen until it is whole."""
    directory = open_directory(f"store://tests/{next(_numbers)}")
    system = fsspec.filesystem("store")
    system.largest = 0
    file = directory.create("a")
    for _ in range(100):
        file.write(bytes(10_000))
    assert 0 < system.largest < 1 << 17
    assert directory.names() == []
    file.finish()
    assert directory.size("a") == 1_000_000


def test_what_arrives_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is shorter on the server than it was here is an error."""
    directory = open_directory(f"store://tests/{next(_numbers)}")
    pipe_file = Store.pipe_file

    def short(self: Store, path: str, value: bytes, **options: Any) -> None:
        pipe_file(self, path, value[:-1], **options)

    monkeypatch.setattr(Store, "pipe_file", short)
    with pytest.raises(
        OSError, match="2 bytes are there, and 3 were written"
    ) as caught:
        write(directory, "a", b"abc")
    assert caught.value.filename == f"{directory.where}/a"


def test_listings_are_fresh(tmp_path: Path) -> None:
    """What others have written meanwhile is seen, though fsspec remembers listings."""
    directory = open_directory(f"store://tests/{next(_numbers)}")
    forgotten = []
    system = fsspec.filesystem("store")
    system.invalidate_cache = lambda path=None: forgotten.append(path)
    try:
        for look in (
            directory.names,
            lambda: directory.read("a"),
            lambda: directory.size("a"),
        ):
            forgotten.clear()
            look()
            assert forgotten == [None]
    finally:
        del system.invalidate_cache


def test_remote_locks(tmp_path: Path) -> None:
    """There are none: both get one, neither holds anything, and no file is made."""
    directory = open_directory(f"store://tests/{next(_numbers)}")
    with directory.lock(".train.lock") as one, directory.lock(".train.lock") as two:
        assert not one.held
        assert not two.held
        assert directory.names() == []


def test_fsspec_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install."""
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(DatasetError) as caught:
        open_directory("s3://bucket/data")
    assert str(caught.value) == (
        "directory 's3://bucket/data': remote file systems need fsspec, which is not "
        "installed; run pip install 'schemagen[remote]'"
    )


def test_a_package_behind_fsspec_is_not_installed() -> None:
    """The error says what fsspec says, and what to do if it was meant as a path."""
    fsspec.register_implementation(
        "absent",
        "no_such_package.System",
        errtxt="Install no_such_package",
        clobber=True,
    )
    for url, said in (
        ("absent://bucket", "Install no_such_package"),
        ("nosuch://bucket", "Protocol not known: nosuch"),
    ):
        with pytest.raises(DatasetError) as caught:
            open_directory(url)
        assert str(caught.value).startswith(
            f"directory {url!r}: fsspec cannot open it: {said}"
        )
        assert str(caught.value).endswith(
            "for a directory of this machine pass its path"
        )


@pytest.mark.parametrize("path", ["", b"data"])
def test_what_is_no_directory(path: Any) -> None:
    """An empty text would be the current directory, which no one means."""
    with pytest.raises(DatasetError, match=r"directory .*: expected a path or a URL"):
        open_directory(path)


def test_a_url_as_a_path() -> None:
    """Path("s3://...") loses a slash and would make a directory named `s3:`."""
    with pytest.raises(DatasetError) as caught:
        open_directory(Path("s3://bucket/data"))
    assert str(caught.value) == (
        "directory 's3:/bucket/data': a path, which would be made on this machine; pass "
        "the URL 's3://bucket/data' as a str, since Path takes one of the slashes of "
        "s3:// away"
    )
