"""Locks: one holder at a time, whoever it is, and none after its death."""

from __future__ import annotations

import errno
import fcntl
import gc
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from io import FileIO
from pathlib import Path
from typing import Any

import pytest
from schemagen.runtime.storage import lock as lock_module
from schemagen.runtime.storage.lock import Busy, acquire
from schemagen.runtime.storage.opening import open_directory

_ROOT = Path(lock_module.__file__).parents[3]

# Says when it has the lock, and keeps it until it is told to go on.
_HOLD = """
import sys
from pathlib import Path
from schemagen.runtime.storage.lock import acquire
lock = acquire(Path(sys.argv[1]), wait=True)
print("held", flush=True)
sys.stdin.readline()
lock.release()
print("released", flush=True)
"""

# Adds to a number in a file, which takes a reading and a writing.
_COUNT = """
import sys
from pathlib import Path
from schemagen.runtime.storage.lock import acquire
number = Path(sys.argv[2])
for _ in range(100):
    with acquire(Path(sys.argv[1]), wait=True) as lock:
        assert lock.held
        number.write_text(str(int(number.read_text()) + 1))
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file to lock, which is not there."""
    return tmp_path / ".train.lock"


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start another process that runs a text with arguments."""
    started: list[subprocess.Popen[str]] = []

    def run(text: str, *arguments: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", text, *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": str(_ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


def _said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def _let_go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def test_a_lock_and_its_file(path: Path) -> None:
    """The file is there while the lock is held, and says by whom."""
    with acquire(path) as lock:
        assert lock.held
        text = path.read_text()
        expected = rf"process {os.getpid()} on {re.escape(socket.gethostname())} since "
        assert re.fullmatch(
            expected + r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d\d:\d\d\n", text
        )
    assert not lock.held
    assert not path.exists()
    lock.release()
    acquire(path).release()


def test_another_holder_in_this_process(path: Path) -> None:
    """Two writers of one process, in one thread or in two, exclude each other."""
    found: list[BaseException] = []

    def take() -> None:
        try:
            acquire(path)
        except OSError as error:
            found.append(error)

    with acquire(path):
        take()
        thread = threading.Thread(target=take)
        thread.start()
        thread.join()
    assert [type(error) for error in found] == [Busy, Busy]


def test_a_directory_gives_locks(tmp_path: Path) -> None:
    """Names are locked each for itself."""
    directory = open_directory(tmp_path)
    with directory.lock(".train.lock"), directory.lock(".test.lock"):
        assert directory.names() == [".test.lock", ".train.lock"]
        with pytest.raises(Busy):
            directory.lock(".train.lock")
    assert directory.names() == []


def test_another_process(
    path: Path, start: Callable[..., subprocess.Popen[str]]
) -> None:
    """The error says who holds it: process, host, and since when."""
    other = start(_HOLD, path)
    assert _said(other) == "held"
    with pytest.raises(Busy) as caught:
        acquire(path)
    busy = caught.value
    assert busy.owner == path.read_text().strip()
    assert busy.owner.startswith(f"process {other.pid} on {socket.gethostname()} since")
    assert str(busy) == f"{path}: held by {busy.owner}"
    assert busy.filename == str(path)
    assert busy.errno == errno.EWOULDBLOCK
    assert path.read_text().strip() == busy.owner
    _let_go(other)
    assert _said(other) == "released"
    acquire(path).release()


def test_a_killed_holder(
    path: Path, start: Callable[..., subprocess.Popen[str]]
) -> None:
    """The lock of a process that was killed is free, and its file does not stay."""
    other = start(_HOLD, path)
    assert _said(other) == "held"
    other.kill()
    other.wait()
    assert path.exists()
    with acquire(path) as lock:
        assert lock.held
        assert path.read_text().startswith(f"process {os.getpid()} on ")
    assert not path.exists()


def test_waiting(path: Path, start: Callable[..., subprocess.Popen[str]]) -> None:
    """Who waits gets the lock when it is released, with a file of its own."""
    lock = acquire(path)
    other = start(_HOLD, path)
    # It waits once the file is open there.
    while f"{path}" not in _open_files(other.pid):
        assert other.poll() is None
    lock.release()
    assert _said(other) == "held"
    assert path.read_text().startswith(f"process {other.pid} on ")
    with pytest.raises(Busy):
        acquire(path)


def _open_files(process: int) -> set[str]:
    found = set()
    for link in Path(f"/proc/{process}/fd").iterdir():
        try:
            found.add(os.readlink(link))
        except FileNotFoundError:  # closed meanwhile
            continue
    return found


@pytest.mark.slow
def test_many_at_once(
    path: Path, tmp_path: Path, start: Callable[..., subprocess.Popen[str]]
) -> None:
    """The file comes and goes, and still there is never more than one holder."""
    number = tmp_path / "number"
    number.write_text("0")
    processes = [start(_COUNT, path, number) for _ in range(4)]
    assert [process.wait() for process in processes] == [0] * 4
    assert number.read_text() == "400"
    assert not path.exists()


def test_many_threads(path: Path) -> None:
    """The same, within one process that forks meanwhile."""
    count = 0

    def add() -> None:
        nonlocal count
        for _ in range(100):
            with acquire(path, wait=True):
                before = count
                count = before + 1

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        child = os.fork()
        if not child:
            os._exit(len(lock_module._HELD))
        assert os.waitpid(child, 0)[1] == 0
    assert count == 400
    assert not path.exists()


@pytest.fixture
def forked() -> Iterator[Callable[[Callable[[], object]], int]]:
    """Run something in a forked child, which then stays until the test's end."""
    children = []

    def fork(run: Callable[[], object]) -> int:
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            try:
                run()
                os.write(writer, b"1")
            finally:
                os.write(writer, b"0")
                signal.pause()
                os._exit(0)
        children.append(child)
        assert os.read(reader, 1) == b"1"
        os.close(reader)
        os.close(writer)
        return child

    yield fork
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_children_do_not_have_it(
    path: Path, forked: Callable[[Callable[[], object]], int]
) -> None:
    """A forked worker neither holds its parent's lock nor can release it."""
    lock = acquire(path)

    def child() -> None:
        assert not lock.held
        lock.release()
        with pytest.raises(Busy):
            acquire(path)

    forked(child)
    assert path.exists()
    with pytest.raises(Busy):
        acquire(path)
    lock.release()
    acquire(path).release()


def test_a_dead_parent_with_living_children(path: Path) -> None:
    """Workers that outlive a killed writer do not hold its lock."""
    reader, writer = os.pipe()
    parent = os.fork()
    if not parent:
        lock = acquire(path)
        child = os.fork()
        if not child:
            os.write(writer, b"%d\n" % os.getpid())
            signal.pause()
        assert lock.held
        signal.pause()
    with os.fdopen(reader) as lines:
        child = int(lines.readline())
    os.close(writer)
    try:
        with pytest.raises(Busy):
            acquire(path)
    finally:
        os.kill(parent, signal.SIGKILL)
        os.waitpid(parent, 0)
    try:
        with acquire(path) as lock:
            assert lock.held
    finally:
        os.kill(child, signal.SIGKILL)  # which proves that it lived until now


def test_a_lock_that_is_forgotten(path: Path) -> None:
    """A lock that no one refers to any more is not held."""
    acquire(path)
    gc.collect()
    acquire(path).release()


def test_a_file_that_was_removed_by_hand(path: Path) -> None:
    """Its holder does not remove the next one's file."""
    first = acquire(path)
    path.unlink()
    second = acquire(path)
    first.release()
    assert path.exists()
    with pytest.raises(Busy):
        acquire(path)
    second.release()
    assert not path.exists()


def test_no_directory(tmp_path: Path) -> None:
    """The error has the file's name."""
    path = tmp_path / "nowhere" / ".train.lock"
    with pytest.raises(FileNotFoundError) as caught:
        acquire(path)
    assert caught.value.filename == str(path)


def _refusing(number: int) -> Callable[..., None]:
    def refuse(file: object, how: int) -> None:
        raise OSError(number, os.strerror(number))

    return refuse


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS])
def test_file_systems_without_locks(
    path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Writing goes on with a warning, since a file server may have none."""
    monkeypatch.setattr(fcntl, "flock", _refusing(number))
    with pytest.warns(RuntimeWarning) as caught:
        lock = acquire(path)
    assert str(caught[0].message) == (
        f"{path}: this file system cannot lock files ({os.strerror(number)}); make sure "
        "yourself that no one else writes here meanwhile"
    )
    assert not lock.held
    lock.release()
    assert not path.exists()


def test_other_errors_of_locking(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that fails is not taken for one without locks."""
    monkeypatch.setattr(fcntl, "flock", _refusing(errno.EIO))
    with pytest.raises(OSError, match="Input/output error") as caught:
        acquire(path)
    assert caught.value.filename == str(path)


def test_platforms_without_locks(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There, too, writing goes on with a warning."""
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.warns(RuntimeWarning, match="this platform has no locks that end with"):
        lock = acquire(path)
    assert not lock.held
    lock.release()


class _Full(FileIO):
    """A file on a full disk."""

    def write(self, data: Any, /) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock holds also where there is no room to say whose it is."""
    monkeypatch.setattr(lock_module, "FileIO", _Full)
    with acquire(path), pytest.raises(Busy) as caught:
        acquire(path)
    assert caught.value.owner == "another process"
