"""Rows, and sources of them, that worker processes can import."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from schemagen.runtime.shared.errors import RecordError
from schemagen.runtime.writing.encoding import Encoding
from schemagen.runtime.writing.sources import Source
from schemagen.runtime.writing.workers import chunks


class Unsendable(Exception):
    """Cannot be pickled: it holds a function that has no name."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.function = lambda: text


class Unreturnable(Exception):
    """Can be pickled, and not read again."""

    def __init__(self, *, text: str) -> None:
        super().__init__(text)


def serialize(*, number: int, values: Any = (), size: int = 0) -> bytes:
    """Return a record that shows the row, of at least `size` bytes."""
    if number < 0:
        raise RecordError("number", f"{number}", "a number from 0")
    record = b"%d:" % number + np.asarray(values, np.int64).tobytes()
    return record.ljust(size, b".")


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
}


@dataclass
class Table:
    """Rows by index; some of them do something else when they are loaded."""

    length: int
    acts: dict[int, str] = field(default_factory=dict)
    size: int = 0

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> dict[str, Any]:
        return self.load(index)

    def load(self, index: int) -> dict[str, Any]:
        """Return a row, or do what is asked for instead."""
        act = self.acts.get(index, "")
        if act == "refused":
            return {"number": -index}
        if act == "misfit":
            return {"nummer": index}
        if act.startswith("wait for "):
            with open(act.removeprefix("wait for "), encoding="utf-8") as pipe:
                pipe.read()
        elif act:
            ACTS[act]()
        return {"number": index, "values": np.arange(index % 7), "size": self.size}


@dataclass
class Interrupted(Table):
    """Sends a Ctrl-C to whoever pickles it, or to whoever reads it back."""

    pickling: bool = False

    def __getstate__(self) -> dict[str, Any]:
        if self.pickling:
            ACTS["interrupt"]()
        return self.__dict__

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = state
        if not self.pickling:
            ACTS["interrupt"]()


@dataclass
class Part:
    """The rows of one shard, by calling it."""

    table: Table

    def __call__(self) -> Iterator[dict[str, Any]]:
        return (self.table.load(index) for index in range(len(self.table)))


def joined(source: Source, encoding: Encoding | None = None, **options: Any) -> Any:
    """Encode a source; return the bytes, row positions and refused rows by part."""
    found: dict[int, tuple[bytearray, list[int], list[Any]]] = {}
    ended = []
    for chunk in chunks(source, encoding or Encoding(serialize), **options):
        data, rows, refused = found.setdefault(chunk.part, (bytearray(), [], []))
        assert chunk.part not in ended
        data += chunk.framed.data
        rows += chunk.rows.tolist()
        refused += chunk.refused
        if chunk.last:
            ended.append(chunk.part)
    assert set(ended) == set(found)
    return found
