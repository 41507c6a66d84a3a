"""Printing, with colors on a terminal. No line of it is a command of the service that keeps the log.

GitHub takes a line that begins with `::` for a command, and any line with `##[`; Azure
Pipelines and TeamCity look for `##vso[` and `##teamcity[`. A key or a name from a file
can hold such text, so that a character of it is escaped.
"""

from __future__ import annotations

import os
import re

import click

# Click removes colors after this.
_LINE_COMMAND = re.compile(r"((?:^|[\r\n])(?:[^\S\r\n]|\x1b\[[;?\d]*[A-Za-z])*):(?=:)")
_COMMAND = re.compile(r"#(?=#\w*\[)")


def echo(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print text for people.

    Args:
        text: one or more lines, with colors or without.
        err: print to stderr.
        nl: end with a line break.
    """
    text = _LINE_COMMAND.sub(r"\1\\x3a", text)
    click.echo(_COMMAND.sub(r"\\x23", text), err=err, nl=nl)


def echo_document(text: str) -> None:
    """Print JSON, or commands for GitHub; JSON has the same values as before."""
    click.echo(_COMMAND.sub(r"\\u0023", text), nl=not text.endswith("\n"))


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
