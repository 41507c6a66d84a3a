"""Generating again whenever a schema is saved.

Each run is a process of its own: nothing that a schema imports can be served from
before. It writes down which files it has read and when those were changed; the watcher
looks whether one of them has changed since. So no change is lost that comes while a run
goes on, and what the file system reports is no more than a hint to look now.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from typing import TYPE_CHECKING

from .config import FILE_NAME, Project, find_project
from .findings import Finding, Location, refuse
from .inputs import Inputs, read_inputs

if TYPE_CHECKING:
    from types import ModuleType

# A save is over when nothing has happened for this long.
_QUIET_MS = 100

# How often to look without having been told: not every file system tells.
_LOOK_MS = 1000


def watch(directory: str, options: Sequence[str], tell: Callable[[str], None]) -> None:
    """Generate now and after each change, until Ctrl-C.

    Watched are the schemas, pyproject.toml, and what these read: modules that they
    import, and files that they name.

    Args:
        directory: in the project.
        options: further options for `schemagen generate`.
        tell: prints a line about what goes on.

    Raises:
        SchemagenError: no project, or nothing to watch files with.
    """
    watchfiles = _watchfiles()
    project = find_project(Path(directory))
    inputs = Inputs({}, str(project.root / project.settings.schemas))
    with suppress(KeyboardInterrupt), TemporaryDirectory() as scratch:
        report = Path(scratch, "inputs.json")
        while True:
            inputs = _generated(directory, options, report) or inputs.renewed()
            tell("watching for changes; Ctrl-C ends it")
            changed = _next_change(inputs, watchfiles)
            tell(f"{_shown(changed, project)} has changed")


def _watchfiles() -> ModuleType:
    try:
        import watchfiles
    except ImportError:
        raise refuse(
            Finding(
                Location(FILE_NAME),
                "SG407",
                "--watch needs the package watchfiles, which is not installed",
                advice='run `pip install "schemagen[watch]"`',
            )
        ) from None
    return watchfiles


def _generated(directory: str, options: Sequence[str], report: Path) -> Inputs | None:
    """Run `schemagen generate` and return what it has read, if it came to that."""
    report.unlink(missing_ok=True)
    # Like this process, the new one looks for modules in its directory or does not.
    safe = [] if {"", os.getcwd()} & set(sys.path) else ["-P"]
    command = [sys.executable, *safe, "-m", f"{__package__}.watched"]
    process = subprocess.Popen(
        [*command, str(report), directory, *options], stdin=subprocess.DEVNULL
    )
    try:
        process.wait()
    except KeyboardInterrupt:
        process.wait()  # Ctrl-C has reached it, too: it leaves nothing half-done
        raise
    return read_inputs(report)


def _next_change(inputs: Inputs, watchfiles: ModuleType) -> str:
    """Wait until a file has changed, and return it."""
    while True:
        # Made anew for each run: a directory may be another one by the same name.
        hints = watchfiles.watch(
            *inputs.directories(),
            watch_filter=None,
            step=_QUIET_MS,
            rust_timeout=_LOOK_MS,
            yield_on_timeout=True,
            recursive=False,
            raise_interrupt=True,
        )
        with suppress(OSError), closing(hints):
            for _ in hints:
                changed = inputs.changed()
                if changed is not None:
                    return changed
        # A directory has gone while watching began, or there are too many to watch.
        sleep(_LOOK_MS / 1000)
        changed = inputs.changed()
        if changed is not None:
            return changed


def _shown(path: str, project: Project) -> str:
    found = Path(path)
    inside = found.is_relative_to(project.root)
    return (found.relative_to(project.root) if inside else found).as_posix()
