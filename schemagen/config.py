"""The settings of a project: `[tool.schemagen]` in its pyproject.toml."""

from __future__ import annotations

import keyword
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import Any

from .findings import Finding, Location, SchemagenError, refuse

FILE_NAME = "pyproject.toml"


@dataclass(frozen=True)
class Settings:
    """What a project may set.

    Attributes:
        schemas: the directory of schema files, relative to the project.
        output: the directory of generated code, relative to the project.
        constants: values that schema files share; see `constants`.
    """

    schemas: str = "schemas"
    output: str = "generated"
    constants: Mapping[str, Any] = field(default_factory=dict)


class Constants(dict[str, Any]):
    """The values below `[tool.schemagen.constants]`."""

    def __missing__(self, name: str) -> Any:
        near = get_close_matches(name, self, n=1)
        names = ", ".join(self) or "none"
        raise LookupError(
            f"no constant {name!r} in [tool.schemagen.constants] of {FILE_NAME}; "
            + (f"did you mean {near[0]!r}?" if near else f"there are: {names}")
        )


def constants(schema_file: str) -> Constants:
    """Return what `[tool.schemagen.constants]` of a schema file's project says.

    Args:
        schema_file: the schema's `__file__`.

    Raises:
        SchemagenError: no project, or its settings cannot be used.
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
        SchemagenError: there is none, or its settings cannot be used.
    """
    start = start.resolve()
    for directory in (start, *start.parents):
        path = directory / FILE_NAME
        if path.is_file():
            text, table = read_settings(path)
            if table is not None:
                return Project(directory, _settings(table, text))
    raise refuse(
        Finding(
            Location(FILE_NAME),
            "SG402",
            "no project here: neither this directory nor one above it has a "
            f"{FILE_NAME} with [tool.schemagen]",
            advice="run `schemagen init` in the directory of your project",
        )
    )


def output_in(text: str) -> str | None:
    """Return the output directory that the settings of any version of schemagen name.

    Args:
        text: of a pyproject.toml.

    Returns:
        None if there are no settings that can be read.
    """
    try:
        table = tomllib.loads(text)["tool"]["schemagen"]
        return str(table.get("output", Settings.output))
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
        SchemagenError: the file cannot be read, or the table is none.
    """
    text = ""
    try:
        text = path.read_bytes().decode()
        data = tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise refuse(
            Finding(
                _place_in_message(str(error), text),
                "SG401",
                f"{FILE_NAME} cannot be read: {error}",
                expected="a TOML file in UTF-8",
                advice="mend the file",
            )
        ) from None
    tool = data.get("tool")
    table = tool.get("schemagen") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise refuse(
            Finding(
                Location(FILE_NAME),
                "SG401",
                "tool.schemagen is not a table",
                found=repr(table),
                expected="a [tool.schemagen] table",
                advice="write the settings below a line [tool.schemagen]",
            )
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
    known = [setting.name for setting in fields(Settings)]
    findings = []
    for name, value in table.items():
        place = _place(text, name)
        if name not in known:
            near = get_close_matches(name, known, n=1)
            findings.append(
                Finding(
                    place,
                    "SG401",
                    f"unknown setting {name!r}",
                    found=name,
                    expected=f"one of {', '.join(known)}",
                    advice=f"did you mean {near[0]!r}?" if near else "take it out",
                )
            )
        elif name == "constants":
            if not isinstance(value, dict):
                findings.append(
                    Finding(
                        place,
                        "SG401",
                        "setting 'constants' is no table",
                        found=repr(value),
                        expected="a [tool.schemagen.constants] table",
                        advice="write the constants below such a line, one a line",
                    )
                )
        elif not _is_inner_path(value):
            findings.append(
                Finding(
                    place,
                    "SG401",
                    f"setting {name!r} is no directory to import from",
                    found=repr(value),
                    expected="a path inside the project whose parts are Python names, "
                    'such as "schemas" or "src/schemas"',
                    advice="give such a path; what is in it is imported by that name",
                )
            )
    if findings:
        raise SchemagenError(findings)
    shared = table.get("constants", {})
    paths = {name: value for name, value in table.items() if name != "constants"}
    settings = Settings(
        **{name: PurePosixPath(value).as_posix() for name, value in paths.items()},
        constants=shared,
    )
    if _overlap(settings.schemas, settings.output):
        raise refuse(
            Finding(
                _place(text, "output"),
                "SG401",
                "schemas and output overlap",
                found=f"{settings.schemas!r} and {settings.output!r}",
                expected="two directories, neither inside the other",
                advice="generate into a directory of its own",
            )
        )
    return settings


def _is_inner_path(value: object) -> bool:
    if not isinstance(value, str):
        return False
    parts = PurePosixPath(value).parts
    return bool(parts) and all(
        part.isidentifier() and not keyword.iskeyword(part) for part in parts
    )


def _overlap(left: str, right: str) -> bool:
    one, other = PurePosixPath(left), PurePosixPath(right)
    return one.is_relative_to(other) or other.is_relative_to(one)


def _place(text: str, name: str) -> Location:
    """Return where a setting stands in the file, or where its table begins."""
    inside = False
    table = Location(FILE_NAME)
    for number, line in enumerate(text.splitlines(), start=1):
        start = line.strip()
        column = len(line) - len(line.lstrip()) + 1
        if start.startswith("["):
            header = start.split("]")[0].strip("[ ").replace(" ", "")
            inside = header == "tool.schemagen"
            if inside:
                table = Location(FILE_NAME, number, column, line)
            elif header == f"tool.schemagen.{name}":
                return Location(FILE_NAME, number, column, line)
        elif inside and "=" in start:
            key = start.split("=")[0].strip().strip("\"'")
            if key == name:
                return Location(FILE_NAME, number, column, line)
    return table
