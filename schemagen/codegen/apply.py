"""Carrying out a plan: the only code that writes generated files."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_IMODE

from ..atomic_write import writing_advice
from ..findings import Finding, Location, SchemagenError, refuse
from .plan import Action, Plan, shown_path

if sys.platform != "win32":
    import fcntl

# What a run writes first, and what a run that was killed leaves behind.
_TEMPORARY = re.compile(r"\..+\.\d+\.schemagen\.tmp")

_BYTECODE = "__pycache__"


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
            place = output / file.path
            if place.is_dir():
                raise IsADirectoryError(errno.EISDIR, "a directory is in its place")
            made += [path for path in place.parents if not path.exists()]
            place.parent.mkdir(parents=True, exist_ok=True)
            temporary = _temporary(place)
            staged.append((temporary, place))
            temporary.write_bytes((file.new or "").encode())
            if file.action is Action.UPDATE:
                _keep_mode(place, temporary)
        for temporary, place in staged:
            temporary.replace(place)
        for file in plan.files:
            if file.action is Action.DELETE:
                place = output / file.path
                place.unlink(missing_ok=True)
    except OSError as error:
        path = place.relative_to(output).as_posix()
        raise _unwritable(shown_path(plan.output, path), error, plan.command) from None
    finally:
        for temporary, _ in staged:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
        with suppress(OSError):
            _remove_made(made)


def sweep(output: Path) -> None:
    """Remove what no plan knows of: temporary files, and directories without files.

    Files under temporary names are left over from runs that were killed. A directory
    is without files if there is nothing in it, or bytecode alone. What cannot be
    removed stays for the next time.

    Args:
        output: the output directory, in which no other run writes.
    """
    found = []
    for parent, directories, names in os.walk(output):
        directories[:] = [
            name for name in directories if name != _BYTECODE and name[0] != "."
        ]
        found += [Path(parent, name) for name in directories]
        for name in filter(_TEMPORARY.fullmatch, names):
            with suppress(OSError):
                Path(parent, name).unlink()
    for directory in reversed(found):  # inner ones first
        with suppress(OSError):
            _remove_hollow(directory)


def _temporary(place: Path) -> Path:
    return place.with_name(f".{place.name}.{os.getpid()}.schemagen.tmp")


def _keep_mode(place: Path, temporary: Path) -> None:
    """Give a file the rights of the one that it replaces."""
    with suppress(OSError):
        mode = S_IMODE(place.stat().st_mode)
        if mode != S_IMODE(temporary.stat().st_mode):
            temporary.chmod(mode)


def _unwritable(where: str, error: OSError, command: str) -> SchemagenError:
    return refuse(
        Finding(
            Location(where),
            "SG403",
            f"{where} cannot be written: {error.strerror or error}",
            advice=f"{writing_advice(error)}, and run `{command}`",
        )
    )


def _remove_made(directories: Iterable[Path]) -> None:
    for directory in sorted(set(directories), key=lambda path: -len(path.parts)):
        if directory.is_dir() and not any(directory.iterdir()):
            directory.rmdir()


def _remove_hollow(directory: Path) -> None:
    """Remove a directory if there is nothing in it, or bytecode alone.

    Raises:
        OSError: it cannot be removed.
    """
    left = list(directory.iterdir())
    caches = [path for path in left if path.name == _BYTECODE]
    if left != caches or any(path.is_symlink() for path in (directory, *caches)):
        return
    for cache in caches:
        compiled = list(cache.iterdir())
        if any(path.suffix != ".pyc" for path in compiled):
            return
        for path in compiled:
            path.unlink()
        cache.rmdir()
    directory.rmdir()


@contextmanager
def lock(directory: Path) -> Iterator[bool]:
    """Wait until no other run that writes is in a project, and keep others waiting.

    The directory itself is locked: no file is left over from that, and the lock ends
    with its process, however it ends.

    Args:
        directory: the project's directory.

    Yields:
        Whether others wait. They do not where platform or file system has no such
        locks; each file is written at once all the same.
    """
    if sys.platform == "win32":
        yield False
        return
    try:
        descriptor = os.open(directory, os.O_RDONLY)
    except OSError:
        yield False
        return
    try:
        yield _is_locked(descriptor)
    finally:
        os.close(descriptor)


def _is_locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError:
        return False
    return True
