"""Generating again whenever a schema is saved.

Each run is a process of its own, so that no module of an earlier run is imported.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from ..config import FILE_NAME, Project, find_project
from ..findings import COMMAND_LINE, SchemagenError, refused
from ..runtime.interface import install

# A save is over when no file has changed for this long.
_QUIET_MS = 100


def watch(directory: str, options: Sequence[str], tell: Callable[[str], None]) -> None:
    """Generate now and after each change, until Ctrl-C.

    Watched are the directories of schemas and templates, pyproject.toml, and all Python
    files of the project that are not generated.

    Args:
        directory: in the project.
        options: further options for `schemagen generate`.
        tell: prints a line.

    Raises:
        SchemagenError: no project, or watchfiles is not installed.
    """
    try:
        import watchfiles
    except ImportError:
        raise refused(
            COMMAND_LINE,
            "--watch needs watchfiles, which is not installed",
            rule="SG407",
            advice=f"run `{install('watch')}`",
        ) from None
    project = find_project(Path(directory))
    changes = watchfiles.watch(
        project.root,
        watch_filter=watchfiles.DefaultFilter(),
        step=_QUIET_MS,
        rust_timeout=_QUIET_MS,
        yield_on_timeout=True,
        raise_interrupt=True,
    )
    with suppress(KeyboardInterrupt):
        next(changes)  # from here on, changes during a run are seen after it
        _generate(directory, options)
        tell("watching for changes; Ctrl-C ends it")
        for found in changes:
            paths = sorted(Path(path) for _, path in found)
            inputs = [path for path in paths if _is_input(path, project)]
            if not inputs:
                continue
            tell(f"{inputs[0].relative_to(project.root).as_posix()} has changed")
            _generate(directory, options)
            with suppress(SchemagenError):
                project = find_project(Path(directory))
            tell("watching for changes; Ctrl-C ends it")


def _is_input(path: Path, project: Project) -> bool:
    """Tell whether a file may be read by a run, and is not written by one."""
    settings = project.settings
    if path.is_relative_to(project.output):
        return False
    read = filter(None, (settings.schemas, settings.templates))
    return (
        path == project.root / FILE_NAME
        or path.suffix == ".py"
        or any(path.is_relative_to(project.root / name) for name in read)
    )


def _generate(directory: str, options: Sequence[str]) -> None:
    """Run `schemagen generate`, which prints its findings."""
    # Like this process, the new one looks for modules in its directory or does not.
    safe = [] if {"", os.getcwd()} & set(sys.path) else ["-P"]
    command = [sys.executable, *safe, "-m", "schemagen", "generate"]
    process = subprocess.Popen(
        [*command, "--project", directory, *options], stdin=subprocess.DEVNULL
    )
    try:
        process.wait()
    except KeyboardInterrupt:
        process.wait()  # Ctrl-C has reached it, too: it leaves nothing half-done
        raise
