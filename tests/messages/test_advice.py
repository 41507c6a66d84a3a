"""What messages tell people to run can be run."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import schemagen
from command_line import COMMANDS

SOURCE = Path(schemagen.__file__).parent

_COMMAND = re.compile(r"`schemagen ([^`\n]*)`")


def literals(path: Path) -> Iterator[str]:
    """Yield the texts of a module; what an f-string fills in is `x`, no docstrings."""
    tree = ast.parse(path.read_text("utf-8"))
    skipped = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            skipped.add(node.value)
        if isinstance(node, ast.JoinedStr):
            parts = [part for part in node.values if isinstance(part, ast.Constant)]
            skipped |= set(parts)
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "x"
                for part in node.values
            )
        elif isinstance(node, ast.Constant) and node not in skipped:
            yield str(node.value)


ADVICE = sorted(
    {
        command
        for path in SOURCE.rglob("*.py")
        for text in literals(path)
        for command in _COMMAND.findall(text)
    }
)


@pytest.mark.parametrize("command", ADVICE)
def test_commands_in_messages_exist(command: str) -> None:
    """The verb and its options are those of the command line."""
    verb, *arguments = shlex.split(command)
    known = COMMANDS[verb]
    options = {name for each in known.params for name in each.opts}
    with click.Context(known):
        assert {each for each in arguments if each.startswith("-")} <= options
