"""The output directory: what is there, and carrying out a plan, which alone writes to it."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ..atomic_write import writing_advice
from ..findings import Finding, Location, refuse
from .plan import Action, GenerationPlan, shown_path

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


# What a run writes first, and what a run that was killed leaves behind.
_TEMPORARY = re.compile(r"\..+\.\d+\.schemagen\.tmp")


def apply(plan: GenerationPlan, output: Path) -> None:
    """Write and delete what the plan says; equal files are not touched.

    All new contents are on disk under temporary names before the first file gets
    its name, and deletions come last, so that what fails early changes no file.

    Args:
        plan: a plan without refused files.
        output: the output directory.

    Raises:
        SchemagenError: the disk refuses.
    """
    staged: list[tuple[Path, Path]] = []
    place = output
    try:
        for file in plan.changes:
            place = output / file.path
            if place.is_dir():
                raise IsADirectoryError(errno.EISDIR, "a directory is in its place")
        for file in plan.changes:
            place = output / file.path
            if file.action is not Action.DELETE:
                temporary = place.with_name(
                    f".{place.name}.{os.getpid()}.schemagen.tmp"
                )
                staged.append((temporary, place))
                _stage(temporary, place, file.new or "")
        for temporary, place in staged:
            temporary.replace(place)
        for file in plan.changes:
            if file.action is Action.DELETE:
                place = output / file.path
                place.unlink(missing_ok=True)
    except OSError as error:
        shown = shown_path(plan.output, place.relative_to(output).as_posix())
        raise refuse(
            Finding(
                Location(shown),
                "SG403",
                f"{shown} cannot be written: {error.strerror or error}",
                advice=f"{writing_advice(error)}, and run `{plan.command}`",
            )
        ) from None
    finally:
        for temporary, _ in staged:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def _stage(temporary: Path, place: Path, text: str) -> None:
    """Write a file under its temporary name, with the mode of the one it replaces."""
    place.parent.mkdir(parents=True, exist_ok=True)
    temporary.write_bytes(text.encode())
    with suppress(OSError):  # there may be none, or no modes
        shutil.copymode(place, temporary)


def sweep(output: Path) -> None:
    """Remove what no plan knows of: temporary files, and directories without files.

    Files under temporary names are left over from runs that were killed. A directory
    is without files if there is nothing in it, or bytecode alone. What cannot be
    removed stays for the next time.

    Args:
        output: the output directory, in which no other run writes.
    """
    for parent, _, names in os.walk(output, topdown=False):  # inner ones first
        directory = Path(parent)
        inside = directory.relative_to(output).parts
        if any(name[0] == "." or name == BYTECODE for name in inside):
            continue
        with suppress(OSError):
            for name in filter(_TEMPORARY.fullmatch, names):
                directory.joinpath(name).unlink()
            if inside:
                _remove_hollow(directory)


def _remove_hollow(directory: Path) -> None:
    """Remove a directory if there is nothing in it, or bytecode alone.

    Raises:
        OSError: it cannot be removed, as something else is in it.
    """
    cache = directory / BYTECODE
    alone = [*directory.iterdir()] == [cache]
    if alone and all(path.suffix == ".pyc" for path in cache.iterdir()):
        shutil.rmtree(cache)
    directory.rmdir()


@contextmanager
def lock(directory: Path) -> Iterator[bool]:
    """Wait until no other run that writes is in a project, and keep others waiting.

    The directory itself is locked: no file is left over from that, and the lock ends
    with its process, however it ends.

    Args:
        directory: the project's directory.

    Yields:
        Whether others wait. They do not where the file system has no such locks; each file is written at once all the same.
    """
    descriptor, alone = -1, False
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        alone = True
    try:
        yield alone
    finally:
        if descriptor >= 0:
            os.close(descriptor)
