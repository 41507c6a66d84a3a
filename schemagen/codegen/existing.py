"""What is on disk in the output directory."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

BYTECODE = "__pycache__"


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
    """Read an output directory; nothing if it is not there.

    Links to directories are not followed.

    Raises:
        OSError: it is no directory, or something in it cannot be read.
    """
    files: dict[str, bytes] = {}
    links: set[str] = set()
    if output.exists():
        _read(str(output), "", files, links)
    return Existing(files, frozenset(links))


def _read(
    directory: str, prefix: str, files: dict[str, bytes], links: set[str]
) -> None:
    with os.scandir(directory) as entries:
        for entry in entries:
            name = entry.name
            if name.startswith(".") or name == BYTECODE:
                continue
            path = prefix + name
            if entry.is_symlink():
                links.add(path)
                files[path] = Path(entry.path).read_bytes() if entry.is_file() else b""
            elif entry.is_dir():
                with suppress(FileNotFoundError):
                    _read(entry.path, f"{path}/", files, links)
            elif entry.is_file():
                with suppress(FileNotFoundError):  # another run has deleted it
                    files[path] = Path(entry.path).read_bytes()
            else:  # a pipe or the like, which could be read forever
                files[path] = b""
