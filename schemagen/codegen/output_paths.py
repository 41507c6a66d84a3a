"""Where additional outputs are on disk: whose a file is, and which paths are taken."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator
from pathlib import Path

from .header import BY, MARK, read_header

# Folders that are never looked into.
_FOREIGN = ("__pycache__", "node_modules")


class Taken:
    """The paths of files, for systems that tell no capital from a small letter."""

    def __init__(self) -> None:
        self._files: dict[str, str] = {}
        self._folders: dict[str, str] = {}

    def add(self, path: str) -> None:
        """Take a path."""
        folded = path.casefold()
        self._files.setdefault(folded, path)
        for folder in _folders(folded):
            self._folders.setdefault(folder, path)

    def by(self, path: str) -> str | None:
        """Return a file at a path, above it or below it, if there is one."""
        folded = path.casefold()
        above = (self._files.get(folder) for folder in (folded, *_folders(folded)))
        return next(filter(None, above), None) or self._folders.get(folded)


def _folders(path: str) -> Iterator[str]:
    while path := posixpath.dirname(path):
        yield path


def outputs_below(directory: Path) -> Iterator[Path]:
    """Yield the additional outputs in a directory, but no other project's."""
    for folder, folders, names in os.walk(directory):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name not in _FOREIGN
            and not Path(folder, name, "pyproject.toml").exists()
        )
        for name in names:
            place = Path(folder, name)
            if not name.startswith(".") and place.is_file() and _is_output(place):
                yield place


def _is_output(place: Path) -> bool:
    """Tell whether a file bears the header of an additional output."""
    with place.open("rb") as file:
        start = file.read(4096).decode(errors="replace").replace("\r\n", "\n")
    lines = start.split("\n", 3)[:3]
    return read_header(start) is not None and any(
        MARK in line and BY in line for line in lines
    )


def link_on_the_way(root: Path, folder: str) -> Path | None:
    """Return the first symbolic link among a folder of a project and those above it.

    Args:
        root: the project's directory.
        folder: relative to it; "*" stands for any name.
    """
    parts = folder.split("/")
    for count in range(1, len(parts) + 1):
        for place in sorted(root.glob("/".join(parts[:count]))):
            if place.is_symlink():
                return place
    return None
