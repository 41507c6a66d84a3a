"""What a run that was interrupted had finished.

`.<split>.journal` stands beside a split that is being written, one JSON object a
line: first what the run was asked to do, then each shard that is durable, and last
that the shards are being given their names. The next run of the same split knows
from it what is a leftover, and with resume=True it goes on from there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from .directory import Directory
from .shard_file import Contents

_FORMAT = 1


@dataclass(frozen=True)
class Finished:
    """A shard that is durable under a temporary name.

    Attributes:
        shard: its number.
        contents: what it holds.
        next: how many records or rows come before what follows this shard.
        last_row: the position of its last record's row; -1 if it has no record.
    """

    shard: int
    contents: Contents
    next: int
    last_row: int


@dataclass(frozen=True)
class Journal:
    """A run as its journal tells it.

    Attributes:
        token: what tells the run's temporary files from those of others.
        request: what the run was asked to do, as JSON holds it.
        finished: its durable shards, by number.
        total: the number of shards, once they are being given their names.
        shuffled: whether all records have been put into buckets.
    """

    token: str
    request: dict[str, Any]
    finished: dict[int, Finished]
    total: int | None
    shuffled: bool


def journal_name(split: str) -> str:
    """Return the file's name."""
    return f".{split}.journal"


def read_journal(directory: Directory, split: str) -> Journal | None:
    """Read what an earlier run has left, or return None if there is nothing.

    A line that is not whole, and all that comes after it, was never written for
    what follows to rely on; a journal without a whole first line says nothing.
    """
    text = directory.read(journal_name(split))
    if text is None:
        return None
    lines = []
    for line in text.split(b"\n")[:-1]:
        try:
            lines.append(json.loads(line))
        except ValueError:
            break
    if not lines or lines[0].get("format") != _FORMAT:
        return None
    finished: dict[int, Finished] = {}
    total, shuffled = None, False
    for line in lines[1:]:
        if "shard" in line:
            contents = Contents(**line.pop("contents"))
            finished[line["shard"]] = Finished(contents=contents, **line)
        total = line.get("publishing", total)
        shuffled = shuffled or "shuffled" in line
    token, request = lines[0]["token"], lines[0]["request"]
    return Journal(token, request, finished, total, shuffled)


class JournalFile:
    """The journal of the run that is going on; it is made with its first entry.

    Args:
        directory: the data directory.
        split: the split that is being written.
        run: what is known so far: no more than the request, or what the run that is
            resumed had finished.
    """

    def __init__(self, directory: Directory, split: str, run: Journal) -> None:
        self._directory = directory
        self._name = journal_name(split)
        self._head = {"format": _FORMAT, "token": run.token, "request": run.request}
        self._exists = False
        # Written anew when resuming, since the last line may have been torn.
        marks: list[dict[str, Any]] = [{"shuffled": True}] * run.shuffled
        self._waiting = [*marks, *map(asdict, run.finished.values())]

    def finished(self, *shards: Finished) -> None:
        """Note that shards are durable."""
        self._waiting += map(asdict, shards)

    def shuffled(self) -> None:
        """Note that all records have been put into buckets."""
        self._waiting.append({"shuffled": True})

    def publishing(self, total: int) -> None:
        """Note that this many shards are being given their names."""
        self._waiting.append({"publishing": total})

    def write(self) -> None:
        """Make durable what has been noted."""
        if self._exists:
            self._directory.append(self._name, _text(self._waiting))
        else:
            self._directory.replace(self._name, _text([self._head, *self._waiting]))
            self._exists = True
        self._waiting = []

    def remove(self) -> None:
        """Take it away: nothing is left to resume."""
        self._directory.remove(self._name)
        self._exists = False


def _text(lines: Iterable[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def says_publishing(text: bytes) -> bool:
    """Tell whether a journal's text says that its split is being published."""
    lines = []
    for line in text.split(b"\n")[:-1]:
        try:
            lines.append(json.loads(line))
        except ValueError:
            break
    lines = [line for line in lines if isinstance(line, dict)]
    # Lines of a run that another one has replaced name another token.
    token = lines[0].get("token") if lines else None
    return any(
        "publishing" in line and line.get("token", token) == token for line in lines[1:]
    )
