"""What is on disk in the output directory."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

BYTECODE = "__pycache__"
"""The directories of compiled modules."""


@dataclass(frozen=True)
class Existing:
    """What is in an output directory, hidden files and bytecode left out.

    Attributes:
        files: the contents of each file by its path, with forward slashes; empty of
            what is neither a file nor a link to one.
        links: the paths of those that are symbolic links, and of links to directories.
    """

    files: dict[str, bytes]
    links: frozenset[str]


def read_existing(output: Path) -> Existing:
    """Read an output directory; nothing if it does not exist.

    Links to directories are not followed.

    Raises:
        OSError: it is not a directory, or something in it cannot be read.
    """
    files: dict[str, bytes] = {}
    links: set[str] = set()
    pending = [(str(output), "")] if output.exists() else []
    while pending:
        directory, prefix = pending.pop()
        for entry in os.scandir(directory):
            path = prefix + entry.name
            if entry.name.startswith(".") or entry.name == BYTECODE:
                continue
            if entry.is_dir(follow_symlinks=False):
                pending.append((entry.path, f"{path}/"))
                continue
            if entry.is_symlink():
                links.add(path)
            with suppress(FileNotFoundError):  # another run has deleted it
                # What is not a file, such as a pipe, could be read forever.
                data = Path(entry.path).read_bytes() if entry.is_file() else b""
                files[path] = data
    return Existing(files, frozenset(links))
