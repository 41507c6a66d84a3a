"""Changes files between any two operations of a reader, and reports what it delivers.

A reader is a function that returns an iterator. It runs in a forked process, where each of
these is a step: opening, listing, mapping, `stat` and reading of files below a directory; a
request to fsspec's file system in memory; asking the iterator for the next item. Before one
of them the files change, once. The change is a function that runs in the process of the
reader, and what it does to files is not a step.

The module knows files alone, and not the code that reads them. Like `fault_injector`, which
it extends, it is to be imported before schemagen.
"""

from __future__ import annotations

import builtins
import io
import itertools
import json
import os
import select
import signal
import stat
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fault_injector  # before the functions of files are taken
from fsspec.implementations.memory import MemoryFileSystem

SECONDS = 10.0
"""How long a reader may take, with what happens to its files."""

# Pauses before a request is repeated are shortened by this: they are not looked at here.
_HASTE = 100

Reader = Callable[[], Iterable[Any]]

_AUDITED = {
    "open": "open",
    "os.listdir": "list",
    "os.scandir": "list",
    "mmap.__new__": "map",
}
_BY_HANDLE = ("pread", "preadv", "read", "fstat")
_REQUESTS = ("cat_file", "exists", "find", "glob", "info", "isdir", "isfile", "ls")

_OPEN, _SLEEP = io.open, time.sleep


class _Watch:
    """Counts the steps of this process, and changes the files before one of them."""

    def __init__(
        self, directory: str, stop: int, change: Callable[[], object], report: Any
    ) -> None:
        self._directory = directory
        self._stop = stop
        self._change = change
        self._report = report
        self._numbers = itertools.count(1)
        self._has_changed = False
        self.steps = 0

    def is_below(self, path: object) -> bool:
        """Whether a file is one of those that count."""
        return isinstance(path, str | os.PathLike) and os.fspath(path).startswith(
            self._directory
        )

    def step(self, operation: str) -> None:
        """Count one step; the threads of a reader share them."""
        if self._has_changed:
            return
        self.steps = next(self._numbers)
        if self.steps == self._stop:
            self._has_changed = True  # so that the change has no steps
            self._report(changed=operation)
            self._change()


_watch: _Watch | None = None


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if _watch is None or event not in _AUDITED:
        return
    if event == "mmap.__new__" or _watch.is_below(arguments[0]):
        _watch.step(_AUDITED[event])


def _is_file(handle: int) -> bool:
    return stat.S_ISREG(_FSTAT(handle).st_mode)


def _by_handle(name: str) -> Any:
    function = getattr(os, name)

    def call(handle: int, *arguments: Any, **named: Any) -> Any:
        if _watch is not None and _is_file(handle):
            _watch.step(name)
        return function(handle, *arguments, **named)

    return call


def _by_path(name: str) -> Any:
    function = getattr(os, name)

    def call(path: Any, *arguments: Any, **named: Any) -> Any:
        if _watch is not None and _watch.is_below(path):
            _watch.step(name)
        return function(path, *arguments, **named)

    return call


def _request(name: str) -> Any:
    method = getattr(MemoryFileSystem, name)

    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        if _watch is not None:
            _watch.step(name)
        return method(self, *arguments, **named)

    return call


class _File(io.FileIO):
    """A file whose reads are steps."""

    def readinto(self, buffer: Any, /) -> int | None:
        self._step()
        return super().readinto(buffer)

    def readall(self) -> bytes | None:
        self._step()
        return super().readall()

    def _step(self) -> None:
        if _watch is not None and _is_file(self.fileno()):
            _watch.step("read")


def _open(
    file: Any, mode: str = "r", buffering: int = -1, *more: Any, **named: Any
) -> Any:
    is_watched = _watch is not None and _watch.is_below(file)
    if not is_watched or {*mode} & {*"wxa+"}:
        return _OPEN(file, mode, buffering, *more, **named)
    raw = _File(os.fspath(file))
    if buffering == 0:
        return raw
    buffer = io.BufferedReader(raw)
    return buffer if "b" in mode else io.TextIOWrapper(buffer, *more, **named)


_FSTAT = os.fstat
sys.addaudithook(_audit)
for _name in _BY_HANDLE:
    setattr(os, _name, _by_handle(_name))
for _name in ("stat", "lstat"):
    setattr(os, _name, _by_path(_name))
for _name in (*_REQUESTS, "_open"):
    setattr(MemoryFileSystem, _name, _request(_name))
io.FileIO = _File  # type: ignore[misc]
io.open = builtins.open = _open  # type: ignore[assignment]


@dataclass
class Read:
    """What a reader has delivered, and how it has ended.

    Attributes:
        delivered: its items.
        steps: how many there were, up to the change.
        changed: the operation before which the files changed; "" if they did not.
        error: the text of the error with which it refused to go on.
        fault: "raw" for any other error, "signal", "hang", or "".
        says: the traceback of a raw error, or which signal it was.
    """

    delivered: list[Any] = field(default_factory=list)
    steps: int = 0
    changed: str = ""
    error: str | None = None
    fault: str = ""
    says: str = ""


def read_while(
    directory: Path,
    reader: Reader,
    refusal: type[Exception],
    *,
    change: Callable[[], object] = lambda: None,
    step: int = 0,
    seconds: float = SECONDS,
) -> Read:
    """Run a reader whose files change before a step.

    Args:
        directory: operations on what is in it are steps.
        reader: its items can be stored as JSON.
        refusal: the class of error with which it may end.
        change: what happens to the files.
        step: where, from 1; with 0 nothing happens.
        seconds: after which it is killed, and called a hang.
    """
    received, sent = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(received)
            _run(directory, reader, refusal, change, step, sent)
        finally:
            os._exit(0)  # also where threads are left
    os.close(sent)
    lines, has_ended = _received(received, seconds)
    os.close(received)
    if not has_ended:
        os.kill(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    found = Read()
    for line in lines:
        for name, value in json.loads(line).items():
            if name == "item":
                found.delivered.append(value)
            else:
                setattr(found, name, value)
    if not has_ended:
        found.fault = "hang"
    elif code:
        found.fault, found.says = "signal", signal.Signals(-code).name
    return found


def _run(
    directory: Path,
    reader: Reader,
    refusal: type[Exception],
    change: Callable[[], object],
    step: int,
    sent: int,
) -> None:
    """Run a reader in this process, and report its items one by one."""
    global _watch
    pipe = os.fdopen(sent, "wb")

    def report(**facts: Any) -> None:
        pipe.write(json.dumps(facts).encode() + b"\n")
        pipe.flush()

    warnings.simplefilter("ignore")
    time.sleep = lambda seconds: _SLEEP(seconds / _HASTE)
    watch = _watch = _Watch(str(directory), step, change, report)
    try:
        watch.step("next")
        for item in reader():
            report(item=item)
            watch.step("next")
    except refusal as error:
        report(error=str(error))
    except BaseException:
        report(fault="raw", says=traceback.format_exc())
    report(steps=watch.steps)


def _received(handle: int, seconds: float) -> tuple[list[bytes], bool]:
    """Return the whole lines that come through a pipe, and whether it was closed in time."""
    data, end = bytearray(), time.monotonic() + seconds
    while select.select([handle], [], [], max(0.0, end - time.monotonic()))[0]:
        piece = os.read(handle, 1 << 20)
        if not piece:
            return data.split(b"\n")[:-1], True
        data += piece
    return data.split(b"\n")[:-1], False


__all__ = ["SECONDS", "Read", "Reader", "fault_injector", "read_while"]
