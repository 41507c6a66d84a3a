"""What is on disk: in the output directory, and additional outputs elsewhere."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..config import Settings
from ..findings import Finding, Location, refuse
from .header import BY, MARK, read_header

_BYTECODE = "__pycache__"


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
            if name.startswith(".") or name == _BYTECODE:
                continue
            path = prefix + name
            if entry.is_symlink():
                links.add(path)
                files[path] = _contents(entry.path) if entry.is_file() else b""
            elif entry.is_dir():
                with suppress(FileNotFoundError):
                    _read(entry.path, f"{path}/", files, links)
            elif entry.is_file():
                with suppress(FileNotFoundError):  # another run has deleted it
                    files[path] = _contents(entry.path)
            else:  # a pipe or the like, which could be read forever
                files[path] = b""


def _contents(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def read_outputs(root: Path, settings: Settings, wanted: Iterable[str]) -> Existing:
    """Return the additional outputs that are there, next to the generated code.

    Those are the files at wanted paths, and all that bear the header of such an output:
    a record that is gone, or an output that is no longer set, leaves them behind.

    Args:
        root: the project's directory.
        settings: where they may be.
        wanted: the paths of all files, relative to the generated code.

    Returns:
        Their paths are relative to the generated code.

    Raises:
        SchemagenError: a directory leads out of its place by a symbolic link.
        OSError: a file cannot be read.
    """
    _refuse_links(root, settings)
    base = root / settings.output
    places = {
        Path(os.path.normpath(base / path)) for path in wanted if path.startswith("../")
    }
    for name in settings.output_directories:
        places.update(_outputs_below(root / name))
    files: dict[str, bytes] = {}
    links: set[str] = set()
    for place in places:
        path = os.path.relpath(place, base).replace(os.sep, "/")
        if place.is_symlink():
            links.add(path)
        if place.is_file() or path in links:
            files[path] = place.read_bytes() if place.is_file() else b""
    return Existing(files, frozenset(links))


def _refuse_links(root: Path, settings: Settings) -> None:
    """See that no directory on the way to an output is a link to elsewhere.

    Raises:
        SchemagenError: one is.
    """
    folders = {name: Location("pyproject.toml") for name in settings.output_directories}
    for row in settings.outputs:
        folders[posixpath.dirname(row.path).replace("{record}", "*")] = row.place
    for folder, place in folders.items():
        link = _link_on_the_way(root, folder)
        if link is not None:
            shown = link.relative_to(root).as_posix()
            raise refuse(
                Finding(
                    place,
                    "SG414",
                    f"{shown} is a symbolic link, and might lead out of the project",
                    found=os.readlink(link),
                    expected="a directory",
                    advice="make a directory of it, or write elsewhere",
                )
            )


def _outputs_below(directory: Path) -> Iterator[Path]:
    """Yield the additional outputs in a directory, but no other project's."""
    for folder, folders, names in os.walk(directory):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name not in (_BYTECODE, "node_modules")
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


def _link_on_the_way(root: Path, folder: str) -> Path | None:
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
