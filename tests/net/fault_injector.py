"""Breaks programs off at their file operations, and looks at what they leave.

A program is a function, or a command line of schemagen. It runs in a forked process, where
each operation on files below a directory is a step: opening, writing, making durable,
renaming, removing. At one step it is killed or interrupted, or its disk fails. What is
left has to be allowed, and each way to go on has to lead to the files of a program that
nothing has happened to.

The module knows files alone, and not the code that writes them. It is to be imported
before schemagen, whose modules take `FileIO` from `io` by name.
"""

from __future__ import annotations

import builtins
import errno
import io
import itertools
import json
import mmap
import os
import shutil
import signal
import stat
import struct
import sys
import traceback
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

assert "schemagen" not in sys.modules, "import fault_injector before schemagen"

FAULTS = ("kill", "fail", "full", "interrupt")
"""SIGKILL; EIO once; ENOSPC from then on; Ctrl-C. Half of what is written arrives."""

Tree = dict[str, bytes | None]
"""Files and directories (None) by their path below a directory; it is ".", if it is there."""

_OPEN, _FSYNC, _WRITE = io.open, os.fsync, os.write
_FOR_WRITING = os.O_WRONLY | os.O_RDWR

_CHANGES = {
    "os.rename": "rename",
    "os.remove": "remove",
    "os.rmdir": "remove",
    "os.mkdir": "mkdir",
    "os.chmod": "chmod",
    "os.link": "link",
    "os.truncate": "truncate",
}
_READS = ("os.listdir", "os.scandir")

# The number of steps, the operation of the last one, whether it was broken off there;
# then the error that the program has raised, as JSON.
_HEAD = struct.Struct("<I15s?")
_ROOM = 1 << 16


class _Watch:
    """Counts the steps of this process, and lets something happen at one of them."""

    def __init__(
        self, directory: Path, fault: str, stop: int, reads: bool, memory: mmap.mmap
    ) -> None:
        self._directory = str(directory)
        self._fault = fault
        self._stop = stop
        self._reads = reads
        self._memory = memory
        self._process = os.getpid()
        self._numbers = itertools.count(1)
        self._has_happened = False

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Take part in what Python reports."""
        operation = _CHANGES.get(event, "")
        if event == "open" and isinstance(arguments[2], int):
            operation = "open" if arguments[2] & _FOR_WRITING else "read"
        elif event in _READS:
            operation = "read"
        if not operation or (operation == "read" and not self._reads):
            return
        paths = [str(path) for path in arguments if isinstance(path, str | Path)]
        if any(self.is_below(path) for path in paths):
            self.step(operation, path=paths[0])

    def is_below(self, path: object) -> bool:
        """Whether a file is one of those that count."""
        return isinstance(path, str | os.PathLike) and os.fspath(path).startswith(
            self._directory
        )

    def step(
        self, operation: str, half: Callable[[], object] | None = None, path: str = ""
    ) -> None:
        """Count one step, or do half of it alone, and break the program off."""
        if self._process != os.getpid():
            return  # a process that the program has started
        number = next(self._numbers)
        if self._fault == "full":
            happens = 0 < self._stop <= number and operation in ("write", "fsync")
        else:
            happens = number == self._stop
        if not self._has_happened:
            self._has_happened = happens
            head = _HEAD.pack(number, operation.encode(), happens)
            self._memory[: _HEAD.size] = head
        if happens:
            if half is not None:
                half()
            self._break_off(path)

    def _break_off(self, path: str) -> None:
        if self._fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self._fault == "interrupt":
            os.kill(os.getpid(), signal.SIGINT)
        else:
            number = errno.ENOSPC if self._fault == "full" else errno.EIO
            raise OSError(number, os.strerror(number), *[path] * bool(path))


_watch: _Watch | None = None


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if _watch is not None:
        _watch.audit(event, arguments)


def _fsync(handle: int) -> None:
    if _watch is not None:
        _watch.step("fsync")
    _FSYNC(handle)


def _write(handle: int, data: bytes) -> int:
    if _watch is not None and stat.S_ISREG(os.fstat(handle).st_mode):
        half = memoryview(data)[: len(data) // 2]
        _watch.step("write", lambda: _WRITE(handle, half))
    return _WRITE(handle, data)


class _File(io.FileIO):
    """A file whose writes are steps."""

    def write(self, data: Any, /) -> int:
        if _watch is not None and _watch.is_below(self.name):
            half = memoryview(data)[: len(data) // 2]
            _watch.step("write", lambda: super(_File, self).write(half))
        return super().write(data)


def _open(
    file: Any, mode: str = "r", buffering: int = -1, *more: Any, **named: Any
) -> Any:
    is_watched = _watch is not None and _watch.is_below(file)
    if not is_watched or not {*mode} & {*"wxa"}:
        return _OPEN(file, mode, buffering, *more, **named)
    raw = _File(os.fspath(file), mode.replace("b", "").replace("t", ""))
    if buffering == 0:
        return raw
    buffer = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
    return buffer if "b" in mode else io.TextIOWrapper(buffer, *more, **named)


sys.addaudithook(_audit)
os.fsync, os.write = _fsync, _write
io.FileIO = _File  # type: ignore[misc]
io.open = builtins.open = _open  # type: ignore[assignment]


@dataclass
class Ended:
    """How a program has ended.

    Attributes:
        code: its exit code; the negative number of the signal that has ended it.
        steps: how many there were, up to where it was broken off.
        operation: the last of them.
        happened: whether it was broken off.
        error: the number, path and text of the `OSError` that it has raised.
    """

    code: int
    steps: int
    operation: str
    happened: bool
    error: tuple[int, str, str] | None
    _alive: int

    def wait(self) -> None:
        """Wait until the processes that it has started are gone, too."""
        with os.fdopen(self._alive, "rb") as alive:
            alive.read()


def command(*arguments: str | Path) -> Callable[[], None]:
    """Return the program that a command line of schemagen is."""

    def run() -> None:
        from schemagen.__main__ import main

        sys.argv = ["schemagen", *map(str, arguments)]
        main()

    return run


def broken_off(
    directory: Path,
    program: Callable[[], object],
    *,
    fault: str = "kill",
    step: int = 0,
    reads: bool = False,
) -> Ended:
    """Run a program that is broken off at a step.

    Args:
        directory: operations on what is in it are steps.
        program: what to run.
        fault: what happens, one of `FAULTS`.
        step: where, from 1; with 0 nothing happens.
        reads: whether reading files and listing directories are steps as well.
    """
    memory = mmap.mmap(-1, _ROOM)
    alive, end = os.pipe()
    child = os.fork()
    if not child:
        os.close(alive)
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        warnings.simplefilter("ignore")
        global _watch
        _watch = _Watch(directory, fault, step, reads, memory)
        os._exit(_code(program, memory))
    os.close(end)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    steps, operation, happened = _HEAD.unpack(memory[: _HEAD.size])
    text = memory[_HEAD.size :].rstrip(b"\0")
    error = tuple(json.loads(text)) if text else None
    name = operation.rstrip(b"\0").decode()
    return Ended(code, steps, name, happened, error, alive)


def _code(program: Callable[[], object], memory: mmap.mmap) -> int:
    """Run a program, and return its exit code."""
    try:
        program()
    except OSError as error:
        if error.errno not in (errno.EIO, errno.ENOSPC):
            traceback.print_exc()
        said = json.dumps([error.errno, str(error.filename), str(error.strerror)])
        memory[_HEAD.size : _HEAD.size + len(said)] = said.encode()
        return 1
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else 0
    except KeyboardInterrupt:
        return 130
    except BaseException:
        traceback.print_exc()
        return 3
    return 0


def run(*programs: Callable[[], object]) -> None:
    """Run programs to their end, all at once, each in a process of its own."""
    children = []
    for program in programs:
        child = os.fork()
        if not child:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            warnings.simplefilter("ignore")
            os._exit(_code(program, mmap.mmap(-1, _ROOM)))
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert codes == [0] * len(codes), codes


def tree(root: Path) -> Tree:
    """Return all that is in a directory, hidden files too."""
    found: Tree = {".": None} if root.is_dir() else {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        found[name] = None if path.is_dir() else path.read_bytes()
    return found


def restore(root: Path, files: Tree) -> None:
    """Bring a directory to given contents."""
    shutil.rmtree(root, ignore_errors=True)
    for name, data in files.items():
        if data is None:
            (root / name).mkdir(parents=True, exist_ok=True)
        else:
            (root / name).write_bytes(data)


class Case(ABC):
    """A program, and what has to hold wherever it is broken off.

    Attributes:
        directory: what it works on.
        reads: whether reading is a step.
    """

    directory: Path
    reads = False

    @abstractmethod
    def before(self) -> None:
        """Make what is there before the program runs."""

    @abstractmethod
    def program(self) -> None:
        """Do what is broken off."""

    @abstractmethod
    def whole(self) -> None:
        """Make what is there in the end if nothing happens."""

    @abstractmethod
    def judge(self, ended: Ended, fault: str) -> str:
        """Name the state that the program has left.

        Raises:
            AssertionError: it may not leave that.
        """

    def found(self) -> Tree:
        """Return what is in the directory, as far as it has to be equal in the end."""
        return tree(self.directory)

    @abstractmethod
    def onwards(self) -> Sequence[Callable[[str], object]]:
        """Return ways to go on from a state; each leads to what `whole` makes."""


@dataclass
class Summary:
    """What was broken off: how often in all, by state, by operation."""

    ended: int = 0
    states: Counter[str] = field(default_factory=Counter)
    operations: Counter[str] = field(default_factory=Counter)


def break_off_each(case: Case, fault: str, every: int = 1, first: int = 1) -> Summary:
    """Break a program off at each step, or at some of them, and go on in each way.

    Args:
        case: the program.
        fault: what happens, one of `FAULTS`.
        every: the number of steps from one that is tried to the next.
        first: the first step that is tried.
    """
    summary = Summary()
    case.before()
    initial = tree(case.directory)
    case.whole()
    whole = case.found()
    assert whole != initial

    def once(step: int) -> Ended:
        restore(case.directory, initial)
        return broken_off(
            case.directory, case.program, fault=fault, step=step, reads=case.reads
        )

    total = once(0)
    assert total.code == 0, "a program that nothing has happened to"
    total.wait()
    # Threads share the steps, so that their number is not always the same.
    for step in range(first, total.steps + 1, every):
        ended = once(step)
        place = f"{fault} at step {step}, {ended.operation}"
        try:
            state = case.judge(ended, fault)
            left = tree(case.directory)
            for go_on in case.onwards():
                restore(case.directory, left)
                go_on(state)
                found = case.found()
                assert found == whole, _differing(found, whole)
        except AssertionError as error:
            error.add_note(f"{place}, ended with {ended.code}")
            raise
        ended.wait()
        if ended.happened:
            summary.ended += 1
            summary.states[state] += 1
            summary.operations[ended.operation] += 1
    return summary


def _differing(one: Tree, other: Tree) -> list[str]:
    names = {*one, *other}
    return sorted(name for name in names if one.get(name, 0) != other.get(name, 0))
