"""The journal of a run: what it has finished.

`.<split>.journal` stands next to a split that is being written, one JSON object a
line: first what the run was asked to do, then each shard that is durable, and last how
many shards there are. A run of the same split with resume=True goes on after the
finished shards.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from ..shared.errors import DatasetError
from .directory import Directory
from .manifest import Shard

_FORMAT = 3


@dataclass(frozen=True)
class Contents:
    """What a finished shard holds.

    Attributes:
        records: how many.
        bytes: its size on disk.
        crc32c: the CRC-32C of its bytes on disk, eight hex digits.
        last: the last four bytes, before compression: its last record's checksum.
        tail: its last bytes on disk, as the manifest lists them; None in the journal
            of an earlier version.
        lengths: those of its frames, as `storage.index` packs them; None if it is
            compressed.
    """

    records: int
    bytes: int
    crc32c: str
    last: str
    tail: str | None = None
    lengths: str | None = None

    def listed(self, file: str) -> Shard:
        """Return what a manifest says of the shard, whose file has a name."""
        return Shard(file, self.records, self.bytes, self.crc32c, self.tail)


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
        shuffled: whether all records have been put into buckets.
        total: how many shards there are, if all are finished; else None.
    """

    token: str
    request: dict[str, Any]
    finished: dict[int, Finished]
    shuffled: bool = False
    total: int | None = None


def journal_name(split: str) -> str:
    """Return the file's name."""
    return f".{split}.journal"


def read_journal(directory: Directory, split: str) -> Journal | None:
    """Read what a run has left, or return None if there is nothing.

    A journal without a complete first line says nothing.

    Raises:
        DatasetError: version 0.2.0 was interrupted while it published the split.
    """
    name = journal_name(split)
    text = directory.read(name)
    lines = [] if text is None else _lines(text)
    if any("publishing" in line for line in lines):
        raise DatasetError(
            f"{directory.where}/{name}: version 0.2.0 was interrupted while it published "
            f"split {split!r}; complete it by writing any split there with 0.2.0, or "
            "replace it with overwrite=True"
        )
    if not lines or lines[0].get("format") != _FORMAT:
        return None
    token, request = lines[0]["token"], lines[0]["request"]
    finished: dict[int, Finished] = {}
    shuffled, total = False, None
    # A run that another one has replaced may not have noticed yet.
    for line in [line for line in lines[1:] if line.pop("token", "") == token]:
        if "shard" in line:
            contents = Contents(**line.pop("contents"))
            finished[line["shard"]] = Finished(contents=contents, **line)
        shuffled = shuffled or "shuffled" in line
        total = line.get("total", total)
    return Journal(token, request, finished, shuffled, total)


def _lines(text: bytes) -> list[dict[str, Any]]:
    """Return the entries of a journal.

    A line that is not complete, and all that comes after it, was never written for
    what follows to rely on.
    """
    lines = []
    for line in text.split(b"\n")[:-1]:
        try:
            lines.append(json.loads(line))
        except ValueError:
            break
    return [line for line in lines if isinstance(line, dict)]


class JournalFile:
    """The journal of the run that is going on; it is made with its first entry.

    Args:
        directory: the data directory.
        split: the split that is being written.
        run: what is known so far: no more than the request, or what the run that is
            resumed had finished.

    Attributes:
        token: what tells the run's temporary files from those of others.
    """

    def __init__(self, directory: Directory, split: str, run: Journal) -> None:
        self.token = run.token
        self._directory = directory
        self._name = journal_name(split)
        self._head = {"format": _FORMAT, "token": run.token, "request": run.request}
        self._exists = False
        # A resumed run begins a new file, since the last line may have been torn.
        marks: list[dict[str, Any]] = [{"shuffled": True}] * run.shuffled
        self._waiting = [*marks, *map(asdict, run.finished.values())]

    def finished(self, *shards: Finished) -> None:
        """Note that shards are durable."""
        self._waiting += map(asdict, shards)

    def shuffled(self) -> None:
        """Note that all records have been put into buckets."""
        self._waiting.append({"shuffled": True})

    def write(self) -> None:
        """Make durable what has been noted."""
        lines = [{**line, "token": self.token} for line in self._waiting]
        if not self._exists:
            self._directory.replace(self._name, _text([self._head, *lines]))
            self._exists = True
        elif lines:
            self._directory.append(self._name, _text(lines))
        self._waiting = []

    def all_finished(self, total: int) -> None:
        """Note durably that all shards are finished, and how many there are."""
        self._waiting.append({"total": total})
        self.write()

    def remove(self) -> None:
        """Take it away: nothing is left to resume."""
        self._directory.remove(self._name)
        self._exists = False


def _text(lines: Iterable[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in lines).encode()
