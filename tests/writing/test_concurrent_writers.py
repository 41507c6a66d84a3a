"""Who may write a split: one run at a time, of any process and machine, and none forever."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from digit_rows import contents, rows, written
from generations import without_runs
from published_splits import hidden, names, numbers_of

from generated import DatasetError, check_files
from generated.digit.serializer import Writer, write_dataset

URL = "memory://bucket/data"
HERE = Path(__file__).parent

# Writes three shards of a split, says so, and stays in the middle of it.
_HOLD = """
import os, signal, socket, sys
if len(sys.argv) > 2:
    socket.gethostname = lambda: sys.argv[2]
from digit_rows import rows
from generated.digit.serializer import Writer
with Writer(sys.argv[1], "train", shard_bytes=300) as writer:
    for row in rows(6):
        writer.write(**row)
    child = os.fork()
    if child:
        print(child, flush=True)
    signal.pause()
"""

# Writes splits one after the other.
_SPLITS = """
import sys
from digit_rows import rows
from generated.digit.serializer import write_dataset
for number in range(8):
    write_dataset(rows(2), sys.argv[1], f"{sys.argv[2]}-{number}")
"""

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start another process that runs a text with arguments."""
    started: list[subprocess.Popen[str]] = []

    def run(text: str, *arguments: object) -> subprocess.Popen[str]:
        found = [HERE.parents[1], HERE.parent]
        process = subprocess.Popen(
            [sys.executable, "-c", text, *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, found))},
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def killed(start: Start, directory: Path, *host: str) -> None:
    """Leave what a writer leaves that is killed in the middle."""
    process = start(_HOLD, directory, *host)
    assert process.stdout is not None
    assert process.stdout.readline()
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert hidden(directory) == names(directory) != []


def test_writers_of_one_process_exclude_each_other(tmp_path: Path) -> None:
    """In one thread or in two; afterwards another may write."""
    found: list[BaseException] = []

    def attempt() -> None:
        try:
            Writer(tmp_path, "train", overwrite=True)
        except DatasetError as error:
            found.append(error)

    with Writer(tmp_path, "train") as writer:
        writer.write_batch(**{name: [] for name in rows(1)[0]})
        writer.write(**rows(1)[0])
        attempt()
        thread = threading.Thread(target=attempt)
        thread.start()
        thread.join()
    assert [str(os.getpid()) in str(error) for error in found] == [True, True]
    assert numbers_of(tmp_path) == [[0]]
    assert hidden(tmp_path) == []
    assert written(tmp_path, rows(3), overwrite=True)


def test_a_lock_ends_with_its_process(
    tmp_path: Path, start: Start, recwarn: pytest.WarningsRecorder
) -> None:
    """Its children may live on; another run then takes over silently, and clears up."""
    process = start(_HOLD, tmp_path / "data")
    assert process.stdout is not None
    child = int(process.stdout.readline())
    with pytest.raises(DatasetError, match=rf"'train'.* {process.pid} ") as caught:
        Writer(tmp_path / "data", "train")
    assert socket.gethostname() in str(caught.value)
    process.kill()
    process.wait()
    os.kill(child, 0)  # it lives
    whole = written(tmp_path / "whole", rows(3))
    assert written(tmp_path / "data", rows(3)) == whole
    os.kill(child, signal.SIGKILL)
    assert not recwarn.list


def test_a_forked_child_neither_holds_nor_ends_its_parent_s_writer(
    tmp_path: Path,
) -> None:
    """What it does to the writer is nothing, and it is refused as any other."""
    with Writer(tmp_path, "train") as writer:
        for row in rows(3):
            writer.write(**row)
        child = os.fork()
        if not child:
            refused = 0
            for use in (writer.abort, lambda: Writer(tmp_path, "train")):
                try:
                    use()
                except DatasetError:
                    refused += 1
            os._exit(refused)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
        with pytest.raises(DatasetError):
            Writer(tmp_path, "train")
    assert numbers_of(tmp_path) == [[0, 1, 2]]


def test_many_writers_of_a_directory_lose_no_split(
    tmp_path: Path, start: Start
) -> None:
    """They enter their splits into the same manifest, one after the other."""
    processes = [start(_SPLITS, tmp_path, name) for name in "abcd"]
    assert [process.wait() for process in processes] == [0] * 4
    assert hidden(tmp_path) == []
    for name in "abcd":
        for number in range(8):
            assert numbers_of(tmp_path, f"{name}-{number}") == [[0, 1]]


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS])
def test_a_file_system_without_locks_is_written_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """A file server may have none; a disk that fails is not taken for one."""

    def refuse(file: object, how: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.warns(RuntimeWarning, match=str(tmp_path)):
        write_dataset(rows(3), tmp_path, "train")
    assert numbers_of(tmp_path) == [[0, 1, 2]]
    assert hidden(tmp_path) == []
    number = errno.EIO
    with pytest.raises(OSError, match=str(tmp_path)) as caught:
        write_dataset(rows(3), tmp_path, "test")
    assert caught.value.errno == errno.EIO


# Runs of other machines, and on file systems without locks.


def test_a_run_of_another_machine_is_refused_until_taken_over(
    tmp_path: Path, start: Start
) -> None:
    """Nobody here knows whether it lives; its files stay as long."""
    killed(start, tmp_path / "data", "elsewhere")
    (tmp_path / "data/.train.lock").unlink()  # each run that is refused has it, too
    before = contents(tmp_path / "data")
    for options in ({}, {"resume": True}, {"overwrite": True}):
        with pytest.raises(DatasetError, match=r"'train'.* elsewhere .*take_over="):
            write_dataset(rows(3), tmp_path / "data", "train", **options)
        assert contents(tmp_path / "data") == before
    with pytest.warns(RuntimeWarning, match=r"'train'.* elsewhere "):
        found = written(tmp_path / "data", rows(3), take_over=True)
    assert found == written(tmp_path / "whole", rows(3))


@pytest.mark.parametrize("text", [b"", b'{"host": "a", "pro', b"somewhere\n"])
@pytest.mark.filterwarnings("ignore:.*taking split 'train' over")
def test_whatever_a_killed_run_has_left_can_be_taken_over(
    tmp_path: Path, start: Start, text: bytes
) -> None:
    """Also if its files are torn, or from a program of which nothing is known."""
    killed(start, tmp_path / "killed")
    whole = written(tmp_path / "whole", rows(3))
    for name in hidden(tmp_path / "killed"):
        directory = tmp_path / name.replace(".", "-")
        directory.mkdir()
        for path in (tmp_path / "killed").iterdir():
            data = text if path.name == name else path.read_bytes()
            (directory / path.name).write_bytes(data)
        assert written(directory, rows(3), take_over=True) == whole


def test_without_locks_two_runs_at_once_are_kept_apart(
    tmp_path: Path, memory: Any
) -> None:
    """The second is refused; one that is told to take over ends the first."""
    first = Writer(URL, "train")
    first.write(**rows(1)[0])
    for options in ({}, {"overwrite": True}):
        with pytest.raises(DatasetError, match=rf"'train'.* {os.getpid()} "):
            Writer(URL, "train", **options)
    with pytest.warns(RuntimeWarning, match="'train'"):
        second = Writer(URL, "train", take_over=True)
    second.write(**rows(2)[1])
    with pytest.raises(DatasetError, match="'train'"):
        first.close()
    second.close()
    assert check_files(URL) == []
    found = {
        path.rsplit("/", 1)[1]: memory.cat(path) for path in memory.find("/bucket/data")
    }
    whole = written(tmp_path / "whole", rows(2)[1:])
    assert without_runs(found) == without_runs(whole)


def test_a_dead_holder_of_the_manifest_blocks_a_store_for_a_while_only(
    memory: Any, lease_of: Callable[[float], None]
) -> None:
    """A file that is not renewed any more is taken over."""
    lease_of(0.5)
    memory.pipe_file("/bucket/data/.manifest.lock", b"of a dead process\n")
    write_dataset(rows(3), URL, "train")
    assert check_files(URL) == []
    assert not memory.exists("/bucket/data/.manifest.lock")
