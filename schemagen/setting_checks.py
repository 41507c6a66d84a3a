"""Checks of the settings in `[tool.schemagen]`: each value, and where it is set."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from .findings import Finding, Location
from .runtime.shared.errors import did_you_mean

SETTINGS_FILE = "pyproject.toml"
_TABLE = "tool.schemagen"

setting_finding = partial(Finding, rule="SG401")

# No name is hidden, ends in a way that Windows drops, or leads out of the project.
_PART = re.compile(r"\w([\w.-]*[\w-])?")


def _is_package(value: object) -> bool:
    """Return whether a value is a path that Python can import from."""
    parts = PurePosixPath(value).parts if isinstance(value, str) else ()
    return bool(parts) and all(
        part.isidentifier() and not keyword.iskeyword(part) for part in parts
    )


def _is_plain_path(value: object) -> bool:
    """Return whether a value is a path inside the project that works everywhere."""
    parts = PurePosixPath(value).parts if isinstance(value, str) else ()
    return bool(parts) and all(map(_PART.fullmatch, parts))


def _is_table(value: object) -> bool:
    return isinstance(value, dict)


# For each setting: whether a value is one; what is wrong, expected and to do if not.
_Shape = tuple[Callable[[Any], bool], str, str, str]

_PACKAGE: _Shape = (
    _is_package,
    "is no directory to import from",
    "a path inside the project whose parts are Python names, "
    'such as "schemas" or "src/schemas"',
    "give such a path; what is in it is imported by that name",
)
_SHAPES: dict[str, _Shape] = {
    "schemas": _PACKAGE,
    "output": _PACKAGE,
    "constants": (
        _is_table,
        "is no table",
        "a [tool.schemagen.constants] table",
        "write the constants below such a line, one a line",
    ),
    "templates": (
        _is_plain_path,
        "is no directory of the project",
        'a path inside the project, such as "templates"',
        "name the directory that holds your templates",
    ),
}


def unfit_settings(table: dict[str, Any], text: str) -> Iterator[Finding]:
    """Yield what is wrong with each setting by itself."""
    for name, value in table.items():
        place = setting_place(text, name)
        if name not in _SHAPES:
            yield setting_finding(
                place,
                message=f"unknown setting {name!r}",
                found=name,
                expected=f"one of {', '.join(_SHAPES)}",
                advice=did_you_mean(name, _SHAPES) or "take it out",
            )
            continue
        fits, message, expected, advice = _SHAPES[name]
        if not fits(value):
            yield setting_finding(
                place,
                message=f"setting {name!r} {message}",
                found=repr(value),
                expected=expected,
                advice=advice,
            )


def setting_place(text: str, name: str) -> Location:
    """Return where a setting stands in the file, or where its table begins.

    Args:
        text: of the file.
        name: the setting's name.
    """
    inside = False
    default = Location(SETTINGS_FILE)
    for line_number, line in enumerate(text.splitlines(), start=1):
        start = line.strip()
        here = Location(SETTINGS_FILE, line_number, line.find(start) + 1, line)
        if start.startswith("["):
            header = start.split("]")[0].strip("[ ").replace(" ", "")
            inside = header == _TABLE
            if inside:
                default = here
            elif header == f"{_TABLE}.{name}":
                return here
        elif inside and "=" in start and start.split("=")[0].strip(" \"'") == name:
            return here
    return default
