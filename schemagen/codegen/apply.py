"""Carrying out a plan: the only code that writes generated files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from errno import EISDIR
from pathlib import Path

from ..findings import Finding, Location, refuse
from .plan import Action, Plan, shown_path

_IGNORED_DIRECTORIES = ("__pycache__",)


def read_existing(output: Path) -> dict[str, bytes]:
    """Return the files of an output directory by path, hidden ones left out.

    Raises:
        OSError: it is no directory, or cannot be read.
    """
    if not output.exists():
        return {}
    found = {}
    for directory, directories, names in os.walk(output, onerror=_raise):
        directories[:] = sorted(
            name
            for name in directories
            if name not in _IGNORED_DIRECTORIES and not name.startswith(".")
        )
        for name in names:
            if not name.startswith("."):
                path = Path(directory, name)
                found[path.relative_to(output).as_posix()] = path.read_bytes()
    return found


def apply(plan: Plan, output: Path) -> None:
    """Write and delete what the plan says; equal files are not touched.

    All new contents are on disk under temporary names before the first file gets
    its name, and deletions come last, so that what fails early changes nothing.

    Args:
        plan: a plan without refused files.
        output: the output directory.

    Raises:
        SchemagenError: the disk refuses.
    """
    written = [
        file for file in plan.files if file.action in (Action.CREATE, Action.UPDATE)
    ]
    staged: list[tuple[Path, Path]] = []
    made: list[Path] = []
    place = output
    try:
        for file in written:
            place = _place(output, file.path)
            if place.is_dir():
                raise IsADirectoryError(EISDIR, "a directory is in its place")
            made += [path for path in place.parents if not path.exists()]
            place.parent.mkdir(parents=True, exist_ok=True)
            staged.append((_temporary(place), place))
            _temporary(place).write_bytes((file.new or "").encode())
        for temporary, place in staged:
            temporary.replace(place)
        for file in plan.files:
            if file.action is Action.DELETE:
                place = _place(output, file.path)
                place.unlink(missing_ok=True)
                _remove_empty(place.parent, output)
    except OSError as error:
        path = os.path.relpath(place, output).replace(os.sep, "/")
        where = shown_path(plan.output, path)
        raise refuse(
            Finding(
                Location(where),
                "SG403",
                f"{where} cannot be written: {error.strerror or error}",
                advice="make the directory writable and run the command again",
            )
        ) from None
    finally:
        for temporary, _ in staged:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
        with suppress(OSError):
            _remove_made(made)


def _place(output: Path, path: str) -> Path:
    """Return where a planned file is, also if the output directory is a link."""
    return Path(os.path.normpath(output / path))


def _temporary(place: Path) -> Path:
    return place.with_name(f".{place.name}.{os.getpid()}.tmp")


def _remove_made(directories: Iterable[Path]) -> None:
    for directory in sorted(set(directories), key=lambda path: -len(path.parts)):
        if directory.is_dir() and not any(directory.iterdir()):
            directory.rmdir()


def _remove_empty(directory: Path, output: Path) -> None:
    """Remove a package that has lost its last file, with its bytecode."""
    while directory != output and directory.is_dir():
        left = list(directory.iterdir())
        if any(path.name not in _IGNORED_DIRECTORIES for path in left):
            return
        for cache in left:
            for path in cache.iterdir():
                path.unlink()
            cache.rmdir()
        directory.rmdir()
        directory = directory.parent


def _raise(error: OSError) -> None:
    raise error
