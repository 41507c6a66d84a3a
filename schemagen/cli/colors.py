"""Colors on a terminal."""

from __future__ import annotations

import os

import click

_STYLES: dict[str, dict[str, object]] = {
    "error": {"fg": "red", "bold": True},
    "warning": {"fg": "yellow", "bold": True},
    "label": {"dim": True},
    "mark": {"fg": "green"},
    "title": {"bold": True},
}

_DIFF = {"+": "green", "-": "red", "@": "cyan"}


def wanted() -> bool | None:
    """Return whether the environment asks for colors; None if the output decides.

    `NO_COLOR` turns them off. Otherwise `FORCE_COLOR` or `CLICOLOR_FORCE` turns them
    on, also in files and pipes. `CLICOLOR=0`, `TERM=dumb` and `CI` turn them off.
    """
    get = os.environ.get
    if get("NO_COLOR"):
        return False
    if any(
        get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")
    ):
        return True
    if get("CLICOLOR") == "0" or get("TERM") == "dumb" or get("CI"):
        return False
    return None


def paint(text: str, role: str) -> str:
    """Return text in the colors of its role; click removes them for other outputs."""
    return click.style(text, **_STYLES[role]) if text else text  # type: ignore[arg-type]


def titled(text: str) -> str:
    """Return text with its first line as a title."""
    title, end, rest = text.partition("\n")
    return f"{paint(title, 'title')}{end}{rest}"


def colored_diff(diff: str) -> str:
    """Return a unified diff with colors."""
    return "".join(
        click.style(line, bold=True)
        if line.startswith(("--- ", "+++ "))
        else click.style(line, fg=_DIFF[line[0]])
        if line[0] in _DIFF
        else line
        for line in diff.splitlines(keepends=True)
    )
