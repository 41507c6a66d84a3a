"""Rows that do something else when they are loaded; worker processes import them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from generated import RecordError


class Unsendable(Exception):
    """Cannot be pickled: it holds a function that has no name."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.function = lambda: text


class Unreturnable(Exception):
    """Can be pickled, and not read again."""

    def __init__(self, *, text: str) -> None:
        super().__init__(text)

    def __reduce__(self) -> tuple[Any, ...]:
        # Of an exception without this method, tblib would make one that can be read.
        return type(self), self.args


def _raise(error: BaseException) -> None:
    raise error


ACTS: dict[str, Callable[[], object]] = {
    "unreadable": lambda: _raise(RecordError("photo", "half a file", "a whole one")),
    "error": lambda: _raise(OSError(5, "Input/output error", "/photos/17.jpg")),
    "unsendable": lambda: _raise(Unsendable("no way back")),
    "unreturnable": lambda: _raise(Unreturnable(text="lost on the way")),
    "leave": lambda: os._exit(3),
    "stop": lambda: _raise(StopIteration()),
    "quit": lambda: _raise(SystemExit(4)),
    "interrupt": lambda: os.kill(os.getpid(), signal.SIGINT),
    "die": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "endless": lambda: _say_and_run(),
}


def _say_and_run() -> None:
    print("running", flush=True)
    while True:
        pass  # as encoding does that takes long


@dataclass
class Table:
    """Rows of the digit record by index.

    Attributes:
        length: how many.
        acts: what some of them do when they are loaded: one of ACTS, "refused" for a
            row that is wrong, or "wait for" a file that has stopped growing.
        log: a file that gets a byte for each row that was loaded.
    """

    length: int
    acts: dict[int, str] = field(default_factory=dict)
    log: str = ""

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> dict[str, Any]:
        return self.load(index)

    def load(self, index: int) -> dict[str, Any]:
        """Return a row, or do what is asked for instead."""
        if index >= self.length:
            raise IndexError
        act = self.acts.get(index, "")
        if self.log:
            with open(self.log, "ab") as file:
                file.write(b".")
        if act == "wait":
            _wait(Path(self.log))
        elif act and act != "refused":
            ACTS[act]()
        return {
            "image": np.zeros((8, 8, 1), np.uint8),
            "ink_runs": [index] * (index % 7),
            "moments": [0.5] * 8,
            "digit": 17 if act == "refused" else index % 10,
            "scan": index,
        }


def _wait(log: Path) -> None:
    """Wait until no other process loads rows any more."""
    before = -1
    while (size := log.stat().st_size) != before:
        before = size
        time.sleep(0.4)


class Interrupted(Table):
    """Sends a Ctrl-C to whoever pickles it."""

    def __getstate__(self) -> dict[str, Any]:
        ACTS["interrupt"]()
        return self.__dict__


@dataclass
class Part:
    """The rows of one shard, by calling it."""

    table: Table

    def __call__(self) -> Iterator[dict[str, Any]]:
        return (self.table.load(index) for index in range(len(self.table)))
