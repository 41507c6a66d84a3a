"""The settings of a project: `[tool.schemagen]` in its pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial, reduce
from operator import getitem
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from .findings import Finding, Location, SchemagenError, refused
from .rules import Thresholds
from .runtime.shared.errors import did_you_mean

if TYPE_CHECKING:
    from .settings import Settings

FILE_NAME = "pyproject.toml"
_TABLE = "tool.schemagen"

_DEFAULT_OUTPUT = "generated"

_setting_finding = partial(Finding, rule="SG401")

_PATHS = ("schemas", "output", "templates")

# The parts of a TOML key: in quotes, or of these characters.
_PARTS = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")


class Constants(dict[str, Any]):
    """The values below `[tool.schemagen.constants]`."""

    def __missing__(self, name: str) -> Any:
        names = ", ".join(self) or "none"
        raise LookupError(
            f"no constant {name!r} in [tool.schemagen.constants] of {FILE_NAME}; "
            + (did_you_mean(name, self) or f"there are: {names}")
        )


def constants(schema_file: str) -> Constants:
    """Return the constants of a project, for use in its schema files.

    Args:
        schema_file: the schema file: `constants(__file__)`.

    Returns:
        The values of `[tool.schemagen.constants]` in `pyproject.toml`, by name.

    Raises:
        SchemagenError: the file is in no project, or the settings are not valid.
    """
    return Constants(find_project(Path(schema_file).parent).settings.constants)


@dataclass(frozen=True)
class Project:
    """A directory with schemas and its settings."""

    root: Path
    settings: Settings

    @property
    def output(self) -> Path:
        """The output directory."""
        return self.root / self.settings.output


def find_project(start: Path) -> Project:
    """Find the project that a directory is in: it, or the nearest parent that is one.

    Raises:
        SchemagenError: there is no project, or its settings cannot be used.
    """
    directory = settings_directory(start)
    if directory is None:
        raise refused(
            FILE_NAME,
            "no project here: neither this directory nor one above it has a "
            f"{FILE_NAME} with [tool.schemagen]",
            rule="SG402",
            advice="run `schemagen init` in the directory of your project",
        )
    text, table = read_settings(directory / FILE_NAME)
    return Project(directory, _settings(table or {}, text))


def schemas_for(directory: Path) -> Path:
    """Return the directory of schemas of the project that a directory is in.

    Without a project it is the one that `schemagen init` would set.

    Raises:
        SchemagenError: the settings cannot be used.
    """
    root = settings_directory(directory)
    if root is None:
        return directory.resolve() / _settings({}, "").schemas
    project = find_project(root)
    return project.root / project.settings.schemas


def record_limit(start: Path) -> int:
    """Return `max-record-bytes` of the project that a directory is in, or its default.

    Without the setting, pydantic is not imported.

    Raises:
        SchemagenError: the settings cannot be used.
    """
    from .runtime.shared.tfrecord import MOST_RECORD_BYTES

    settings = _settings_with("max-record-bytes", start)
    return MOST_RECORD_BYTES if settings is None else settings.max_record_bytes


def thresholds_for(start: Path) -> Thresholds:
    """Return the thresholds of the project that a directory is in, or the defaults.

    Without the setting, pydantic is not imported.

    Raises:
        SchemagenError: the settings cannot be used.
    """
    settings = _settings_with("thresholds", start)
    return Thresholds() if settings is None else settings.thresholds.thresholds()


def _settings_with(name: str, start: Path) -> Settings | None:
    """Return the settings of the project that a directory is in; None without a name."""
    directory = settings_directory(start)
    if directory is None:
        return None
    _, table = read_settings(directory / FILE_NAME)
    return find_project(directory).settings if name in (table or {}) else None


def output_in(text: str) -> str | None:
    """Return the output directory that the settings of any version of schemagen name.

    Args:
        text: of a pyproject.toml.

    Returns:
        None if there are no settings that can be read.
    """
    try:
        table = tomllib.loads(text)["tool"]["schemagen"]
        return str(table.get("output", _DEFAULT_OUTPUT))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def settings_directory(start: Path) -> Path | None:
    """Return the directory of the project that a directory is in, if it is in one.

    Unlike `find_project` this finds also a project whose settings cannot be used.
    """
    start = start.resolve()
    for directory in (start, *start.parents):
        path = directory / FILE_NAME
        try:
            if path.is_file() and read_settings(path)[1] is not None:
                return directory
        except SchemagenError:
            return directory
    return None


def read_settings(path: Path) -> tuple[str, dict[str, Any] | None]:
    """Return the text of a pyproject.toml and its table, None if it has no such table.

    Raises:
        SchemagenError: the file cannot be read, or the table is not one.
    """
    text = ""
    try:
        text = path.read_bytes().decode()
        data = tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise refused(
            _place_in_message(str(error), text),
            f"{FILE_NAME} cannot be read: {error}",
            rule="SG401",
            expected="a TOML file in UTF-8",
            advice="correct the file",
        ) from None
    tool = data.get("tool")
    table = tool.get("schemagen") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise refused(
            FILE_NAME,
            "tool.schemagen is not a table",
            rule="SG401",
            found=repr(table),
            expected="a [tool.schemagen] table",
            advice="write the settings below a line [tool.schemagen]",
        )
    return text, table


def _place_in_message(message: str, text: str) -> Location:
    """Return the place that tomllib names: its errors have it in their text only."""
    match = re.search(r"\(at line (\d+), column (\d+)\)", message)
    if match is None:
        return Location(FILE_NAME)
    line, column = int(match[1]), int(match[2])
    lines = text.splitlines()
    return Location(
        FILE_NAME, line, column, lines[line - 1] if line <= len(lines) else ""
    )


def _settings(table: dict[str, Any], text: str) -> Settings:
    from .settings import Settings, wrong_paths

    findings = [_wrong_setting(path, table, text) for path in wrong_paths(table)]
    if not findings:
        settings = Settings(**table)
        findings = [*_overlaps(settings, text)]
    if findings:
        raise SchemagenError(findings)
    return settings


def _wrong_setting(path: tuple[str, ...], table: dict[str, Any], text: str) -> Finding:
    """Return the finding of a setting that is unknown or has a wrong value.

    Args:
        path: the names of the tables that it is in, and its own.
        table: all settings.
        text: of the file.
    """
    from .settings import described

    name, known = path[-1], described(path)
    if name in known:
        value = reduce(getitem, path, table)
        message, found = f"setting {'.'.join(path)!r} has a wrong value", repr(value)
        expected, near = known[name], ""
    else:
        message, found = f"unknown setting {'.'.join(path)!r}", name
        expected, near = f"one of {', '.join(known)}", did_you_mean(name, known)
    return _setting_finding(
        setting_place(text, *path),
        message=message,
        found=found,
        expected=expected,
        advice=near or "correct or remove the setting",
    )


def setting_place(text: str, *path: str) -> Location:
    """Return the place of a setting in the file, or of the innermost table that it is in.

    Args:
        text: of the file.
        path: the names of the tables that it is in, and its own.
    """
    wanted = (*_TABLE.split("."), *path)
    table: tuple[str, ...] = ()
    most, place = 1, Location(FILE_NAME)
    for line_number, line in enumerate(text.splitlines(), start=1):
        start = line.strip()
        if start.startswith("["):
            table = names = _names(start.partition("]")[0])
        elif "=" in start and not start.startswith("#"):
            names = (*table, *_names(start.partition("=")[0]))
        else:
            continue
        if len(names) > most and names == wanted[: len(names)]:
            most = len(names)
            place = Location(FILE_NAME, line_number, line.find(start) + 1, line)
    return place


def _names(key: str) -> tuple[str, ...]:
    """Return the parts of a key or of the name of a table, without quotes."""
    return tuple(part.strip("\"'") for part in _PARTS.findall(key))


def _overlaps(settings: Settings, text: str) -> Iterator[Finding]:
    """Yield a finding for each two directories of which one is inside the other."""
    # Some systems take directories for one that differ in case only.
    paths = [(name, getattr(settings, name)) for name in _PATHS]
    named = [(name, path) for name, path in paths if path is not None]
    for at, (second, other) in enumerate(named):
        for first, path in named[:at]:
            one, two = PurePosixPath(path.casefold()), PurePosixPath(other.casefold())
            if one.is_relative_to(two) or two.is_relative_to(one):
                yield _setting_finding(
                    setting_place(text, second),
                    message=f"{first} and {second} overlap",
                    found=f"{path!r} and {other!r}",
                    expected="two directories, neither inside the other",
                    advice="give each its own directory",
                )
