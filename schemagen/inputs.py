"""The files that a run reads: what `--watch` has to look at."""

from __future__ import annotations

import json
import os
import site
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import source_from_cache
from pathlib import Path
from typing import Any

from .config import find_project
from .findings import SchemagenError

# When a file was changed and how long it is; None if it is not there.
Stamp = tuple[int, int] | None


@dataclass(frozen=True)
class Inputs:
    """What a run has read.

    Attributes:
        files: each file that it opened or looked for, as it was then.
        schemas: the directory of schema files; None if the settings do not tell.
    """

    files: Mapping[str, Stamp]
    schemas: str | None

    def changed(self) -> str | None:
        """Return a file that is not as it was, or a new schema file; None if none."""
        for path, stamp in self.files.items():
            if _stamp(path) != stamp:
                return path
        for path in _schemas_in(self.schemas):
            if path not in self.files:
                return path
        return None

    def renewed(self) -> Inputs:
        """Return the same files as they are now."""
        files = [*self.files, *_schemas_in(self.schemas)]
        return Inputs({path: _stamp(path) for path in files}, self.schemas)

    def directories(self) -> tuple[str, ...]:
        """Return the directories in which something may change: those that exist."""
        found = {os.path.dirname(path) for path in self.files}
        if self.schemas is not None:
            found.add(self.schemas)
            found.update(parent for parent, _, _ in os.walk(self.schemas))
        return tuple(sorted({_nearest(path) for path in found}))


def read_inputs(path: Path) -> Inputs | None:
    """Read what `recorded` has written; None if it has not come to that."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    files = {name: tuple(s) if s else None for name, s in data["files"].items()}
    return Inputs(files, data["schemas"])


@contextmanager
def recorded(path: Path, directory: Path) -> Iterator[None]:
    """Write at the end which files were read meanwhile, also if that ends in an error.

    Python files count whose bytecode was read. Those of Python itself and of installed
    packages do not, and neither do generated ones. The hook that sees files being
    opened cannot be taken out: this is for processes that end soon.

    Args:
        path: where to write.
        directory: in the project.
    """
    files: dict[str, Stamp] = {}
    written: set[str] = set()
    active = True

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if active and event == "open" and isinstance(arguments[0], (str, bytes)):
            name = os.path.abspath(os.fsdecode(arguments[0]))
            if _writes(*arguments[1:3]):
                written.add(name)
            else:
                source = _source(name)
                files.setdefault(source, _stamp(source))

    sys.addaudithook(hook)
    schemas: str | None = None
    foreign = _foreign()
    try:
        try:
            project = find_project(directory)
        except SchemagenError:
            pass  # what follows says it again, to be seen
        else:
            schemas = str(project.root / project.settings.schemas)
            foreign = (*foreign, str(project.output))
            files.update({name: _stamp(name) for name in _schemas_in(schemas)})
        yield
    finally:
        active = False
        own = {
            name: stamp
            for name, stamp in files.items()
            if name not in written  # or each run would be the cause of the next
            and not any(_is_inside(name, place) for place in foreign)
            and not os.path.isdir(name)
        }
        text = json.dumps({"files": own, "schemas": schemas})
        path.write_text(text, encoding="utf-8")


def _writes(mode: str | None, flags: int) -> bool:
    return bool(set(mode or "") & set("wax+") or flags & (os.O_WRONLY | os.O_RDWR))


def _source(path: str) -> str:
    """Return a file, or the one that it is the bytecode of."""
    try:
        return source_from_cache(path) if path.endswith(".pyc") else path
    except ValueError:
        return path


def _stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size


def _schemas_in(directory: str | None) -> list[str]:
    """Return the Python files of a directory, those of editors left out."""
    if directory is None:
        return []
    return [str(p) for p in Path(directory).rglob("*.py") if p.name[0] != "."]


def _foreign() -> tuple[str, ...]:
    """Return where Python and installed packages are, and what is no file at all."""
    paths = sysconfig.get_paths()
    installed = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    installed += [*site.getsitepackages(), site.getusersitepackages()]
    return (*dict.fromkeys(installed), "/proc", "/sys", "/dev")


def _is_inside(path: str, directory: str) -> bool:
    return path.startswith(directory.rstrip(os.sep) + os.sep)


def _nearest(path: str) -> str:
    """Return a directory, or the nearest one above it that exists."""
    while not os.path.isdir(path):
        path = os.path.dirname(path)
    return path
