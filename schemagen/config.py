"""The settings of a project: `[tool.schemagen]` in its pyproject.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
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
    """

    schemas: str = "schemas"
    output: str = "generated"


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
            text, table = _read(path)
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


def _read(path: Path) -> tuple[str, dict[str, Any] | None]:
    """Return a file's text and its table, or None if it has no such table."""
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise refuse(
            Finding(
                Location(FILE_NAME, getattr(error, "lineno", 1) or 1),
                "SG401",
                f"{FILE_NAME} cannot be read: {error}",
                advice="mend the file",
            )
        ) from None
    tool = data.get("tool", {})
    return text, tool.get("schemagen") if isinstance(tool, dict) else None


def _settings(table: dict[str, Any], text: str) -> Settings:
    known = [field.name for field in fields(Settings)]
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
        elif not _is_inner_path(value):
            findings.append(
                Finding(
                    place,
                    "SG401",
                    f"setting {name!r} is not a directory inside the project",
                    found=repr(value),
                    expected='a relative path such as "schemas", without ".."',
                    advice="give a path below the project's directory",
                )
            )
    if findings:
        raise SchemagenError(findings)
    settings = Settings(**table)
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
    if not isinstance(value, str) or not value or "\\" in value:
        return False
    path = PurePosixPath(value)
    return (
        not path.is_absolute() and ".." not in path.parts and path != PurePosixPath(".")
    )


def _overlap(left: str, right: str) -> bool:
    one, other = PurePosixPath(left), PurePosixPath(right)
    return one.is_relative_to(other) or other.is_relative_to(one)


def _place(text: str, name: str) -> Location:
    """Return where a setting stands in the file."""
    inside = False
    first = Location(FILE_NAME)
    for number, line in enumerate(text.splitlines(), start=1):
        start = line.strip()
        if start.startswith("["):
            inside = start.replace(" ", "").startswith("[tool.schemagen]")
            if inside:
                first = Location(FILE_NAME, number, 1, line)
        key = start.split("=")[0].strip().strip("\"'")
        if inside and "=" in start and key == name:
            return Location(FILE_NAME, number, line.index(start[0]) + 1, line)
    return first
