"""The journal of a run: what it has finished, and what it has committed to publish.

`.<split>.journal` stands next to a split that is being written, one JSON object a
line: first what the run was asked to do, then each shard that is durable, and last,
as a sealed manifest of this split alone, what is to be published. With that last line
the publication is committed: the next run in the directory completes it, whichever
split it writes. Before it, a run of the same split with resume=True goes on after the
finished shards.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from . import manifest
from .directory import Directory
from .manifest import Manifest

_FORMAT = 2

_NAME = re.compile(r"\.(.+)\.journal")


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
        publication: a manifest with the split that is committed to be published, and
            no other; None before that.
        files: the temporary name of each of its shards; () if they follow from the
            token.
        host: the machine that has committed to it; "" likewise.
    """

    token: str
    request: dict[str, Any]
    finished: dict[int, Finished]
    shuffled: bool = False
    publication: Manifest | None = None
    files: tuple[str, ...] = ()
    host: str = ""


def journal_name(split: str) -> str:
    """Return the file's name."""
    return f".{split}.journal"


def read_journal(directory: Directory, split: str) -> Journal | None:
    """Read what a run has left, or return None if there is nothing.

    A journal without a complete first line says nothing.

    Raises:
        DatasetError: what is to be published has been damaged.
    """
    name = journal_name(split)
    text = directory.read(name)
    lines = [] if text is None else _lines(text)
    if not lines or lines[0].get("format") != _FORMAT:
        return None
    token, request = lines[0]["token"], lines[0]["request"]
    finished: dict[int, Finished] = {}
    shuffled, publication = False, None
    files: tuple[str, ...] = ()
    host = ""
    # A run that another one has replaced may not have noticed yet.
    for line in [line for line in lines[1:] if line.pop("token", "") == token]:
        if "shard" in line:
            contents = Contents(**line.pop("contents"))
            finished[line["shard"]] = Finished(contents=contents, **line)
        if "publishing" in line:
            publication = manifest.loads(
                line["publishing"], f"{directory.where}/{name}"
            )
            files, host = tuple(line.get("files", ())), line.get("host", "")
        shuffled = shuffled or "shuffled" in line
    return Journal(token, request, finished, shuffled, publication, files, host)


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


def committed(directory: Directory) -> dict[str, Journal]:
    """Return the journals of a directory that commit to a publication, by split.

    Raises:
        DatasetError: what is to be published has been damaged.
    """
    names = filter(None, map(_NAME.fullmatch, directory.names()))
    read = {name[1]: read_journal(directory, name[1]) for name in names}
    return {split: run for split, run in read.items() if run and run.publication}


def publishing_problem(directory: str, split: str) -> str:
    """Say of a split that its shards are being given their names."""
    return (
        f"{directory}: split {split!r} is being published, or its publication was "
        "interrupted; wait for its writer, or if none is running, run any writer for "
        "this directory again, which completes the publication"
    )


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

    def commit(self, publication: Manifest, files: Sequence[str]) -> None:
        """Note durably that this split is to be published; now it will be.

        Args:
            publication: a manifest with this split alone.
            files: the temporary name of each shard.

        Raises:
            OSError: the disk refuses. Whether it has the note, `read_journal` tells.
        """
        import socket  # takes longer to import than all of this module

        self.write()
        note = {
            "publishing": manifest.dumps(publication),
            "files": list(files),
            "host": socket.gethostname(),
            "token": self.token,
        }
        self._directory.append(self._name, _text([note]))
        self._directory.sync()

    def remove(self) -> None:
        """Take it away: nothing is left to resume."""
        self._directory.remove(self._name)
        self._exists = False


def _text(lines: Iterable[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def says_publishing(text: bytes) -> bool:
    """Tell whether a journal's text says that its split is being published."""
    lines = _lines(text)
    # Lines of a run that another one has replaced name another token.
    token = lines[0].get("token") if lines else None
    return any(
        "publishing" in line and line.get("token", token) == token for line in lines[1:]
    )
