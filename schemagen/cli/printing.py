"""Printing. No line of it is a command of the service that keeps the log.

GitHub takes a line that begins with `::` for a command, and any line with `##[`; Azure
Pipelines and TeamCity look for `##vso[` and `##teamcity[`. A key or a name from a file
can hold such text, so that a character of it is escaped.
"""

from __future__ import annotations

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
