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
_FILE = Location(SETTINGS_FILE)
_TABLE = "tool.schemagen"

setting_finding = partial(Finding, rule="SG401")

# No name is hidden, ends in a way that Windows drops, or leads out of the project.
_PART = re.compile(r"\w([\w.-]*[\w-])?")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_MARK = re.compile(r"[^\w\s\"'\\]{1,4}( [^\w\s\"'\\]{1,4})?")


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


def _is_list(value: object, fits: Callable[[object], bool]) -> bool:
    return isinstance(value, list) and all(map(fits, value))


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
    "output_directories": (
        partial(_is_list, fits=_is_plain_path),
        "is no list of directories of the project",
        'a list of paths inside the project, such as ["web/types"]',
        "list the directories that [[tool.schemagen.outputs]] write to",
    ),
    "outputs": (
        partial(_is_list, fits=_is_table),
        "is no list of tables",
        "[[tool.schemagen.outputs]] with `template` and `path`",
        "write each below such a line; the directory of generated code is set by "
        "`output`",
    ),
    "runtime": (
        lambda value: value in ("installed", "vendored"),
        "has an unknown value",
        '"installed" or "vendored"',
        "take it out to import the installed schemagen.runtime",
    ),
}
_OUTPUT_SHAPES: dict[str, _Shape] = {
    "template": (
        _is_plain_path,
        "'s template is no file name",
        'a path below the directory `templates`, such as "types.ts.jinja"',
        "name the template",
    ),
    "per": (
        lambda value: value in ("record", "project"),
        " is written per record or per project",
        '"record" or "project"',
        "choose one of them",
    ),
    "comment": (
        lambda value: isinstance(value, str) and _MARK.fullmatch(value) is not None,
        "'s comment is no mark of comments",
        'the mark that begins a comment, such as "--", or the two around it, such as '
        '"/* */"',
        "say how the language of the file writes comments",
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
        elif name == "outputs":
            for number, row in enumerate(value):
                yield from _unfit_output(row, text, number)


def _unfit_output(row: dict[str, Any], text: str, number: int) -> Iterator[Finding]:
    """Yield what is wrong with the settings of an additional output."""
    place = partial(output_place, text, number)
    known = ("template", "path", "per", "comment")
    for key in row:
        if key not in known:
            yield setting_finding(
                place(key),
                message=f"unknown setting {key!r} of an output",
                found=key,
                expected=f"one of {', '.join(known)}",
                advice=did_you_mean(key, known) or "take it out",
            )
    for key in ("template", "path"):
        if key not in row:
            yield setting_finding(
                place(),
                message=f"an output without {key}",
                expected=f'{key} = "..."',
                advice="say which template makes it, and where it is written",
            )
    for key, (fits, message, expected, advice) in _OUTPUT_SHAPES.items():
        if key in row and not fits(row[key]):
            near = did_you_mean(row[key], ("record", "project")) if key == "per" else ""
            yield setting_finding(
                place(key),
                message=f"an output{message}",
                found=repr(row[key]),
                expected=expected,
                advice=near or advice,
            )
    per = row.get("per", "record")
    if "path" in row and per in ("record", "project"):
        wrong = _wrong_path(row["path"], per)
        if wrong:
            yield setting_finding(
                place("path"),
                message=f"an output's path {wrong[0]}",
                found=repr(row["path"]),
                expected=wrong[1],
                advice="paths are relative to the project",
            )


def _wrong_path(path: object, per: str) -> tuple[str, str] | None:
    """Return what is wrong with an output's path and what is expected, if it is."""
    inside = 'a path inside the project, such as "web/types/{record}.ts"'
    if not isinstance(path, str) or not _is_plain_path(_PLACEHOLDER.sub("x", path)):
        return "does not stay inside the project", inside
    if {"__pycache__", "node_modules"} & set(PurePosixPath(path).parts):
        return "leads where schemagen does not look", inside
    for name in _PLACEHOLDER.findall(path):
        if name != "record":
            return f"has an unknown {{{name}}}", "{record}, for the record's name"
    if per == "record" and "{record}" not in path:
        return "is the same for all records", f'{inside}; or per = "project"'
    if per == "project" and "{record}" in path:
        return "names a record, but is written once", "a path without {record}"
    return None


def output_place(text: str, number: int, key: str = "") -> Location:
    """Return where one of the outputs is set, or a key of it."""
    default = setting_place(text, "outputs")
    return setting_place(text, key, f"{_TABLE}.outputs", number, default)


def setting_place(
    text: str,
    name: str,
    table: str = _TABLE,
    number: int = 0,
    default: Location = _FILE,
) -> Location:
    """Return where a setting stands in the file, or where its table begins.

    Args:
        text: of the file.
        name: the setting's name.
        table: the name of its table.
        number: which of several tables of that name it is in, counted from 0.
        default: the place if there is no such table.
    """
    inside = False
    seen = -1
    for line_number, line in enumerate(text.splitlines(), start=1):
        start = line.strip()
        here = Location(SETTINGS_FILE, line_number, line.find(start) + 1, line)
        if start.startswith("["):
            header = start.split("]")[0].strip("[ ").replace(" ", "")
            seen += header == table
            inside = header == table and seen == number
            if inside:
                default = here
            elif header == f"{table}.{name}":
                return here
        elif inside and "=" in start and start.split("=")[0].strip(" \"'") == name:
            return here
    return default
