"""Help texts: commands by task, examples that parse, and the reference page."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from command_line import run
from schemagen.cli import main
from schemagen.cli.help import FIRST_STEPS, TASKS, Verb

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def _verbs(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from _verbs(command, (*path, name))
        else:
            yield (*path, name)


def _command(path: tuple[str, ...]) -> click.Command:
    found: click.Command = main
    for name in path:
        assert isinstance(found, click.Group)
        found = found.commands[name]
    return found


VERBS = list(_verbs(main))


def test_every_command_is_in_one_task_and_in_the_first_help_text() -> None:
    """The help text and the page list all commands, each once, and the exit codes."""
    listed = [name for names in TASKS.values() for name in names]
    assert sorted(listed) == sorted(main.commands)
    text = run("--help").stdout
    for name in main.commands:
        assert re.search(rf"^ +{name}  ", text, re.M), name
    assert all(re.search(rf"\b{code} \w", text) for code in range(4))


@pytest.mark.parametrize("path", VERBS, ids=" ".join)
def test_the_help_of_a_command_ends_with_its_examples(path: tuple[str, ...]) -> None:
    """Each has at least one, on a line of its own that is not wrapped, after its options."""
    command = _command(path)
    assert isinstance(command, Verb)
    assert command.examples
    text = run(*path, "--help").stdout
    assert text == run(*path, "-h").stdout
    for param in command.params:
        if isinstance(param, click.Option):
            assert param.help, param.name
            assert param.opts[-1] in text
    end = text.split("\nExamples:\n")[1].splitlines()
    for example in command.examples:
        assert f"  {example.command}" in end
        assert example.purpose == "" or f"  # {example.purpose}" in end
    assert end[-1] == f"  {command.examples[-1].command}"


def _examples() -> list[str]:
    found = [example.command for example in FIRST_STEPS]
    for path in VERBS:
        command = _command(path)
        assert isinstance(command, Verb)
        found += [example.command for example in command.examples]
    return found


@pytest.mark.parametrize("example", _examples())
def test_an_example_parses(example: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its options and arguments are those of the command; its files need not exist."""
    monkeypatch.setattr(click.Path, "convert", lambda self, value, param, ctx: value)
    program, *words = shlex.split(example)
    assert program == "schemagen"
    command: click.Command = main
    while isinstance(command, click.Group):
        command = command.commands[words.pop(0)]
    command.make_context(command.name, words)


def test_the_page_is_up_to_date() -> None:
    """`python docs/generators/cli.py > docs/cli.md` prints what is committed."""
    generator = PAGE.parent / "generators" / "cli.py"
    printed = subprocess.run(
        [sys.executable, generator], capture_output=True, check=True
    )
    assert PAGE.read_bytes() == printed.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("verify a/1 a/2", ["not 2 arguments", "Quote a glob"]),
        ("breaking", ["'--against'"]),
        ("generate pet", ["(pet)", "\nFor example: schemagen generate"]),
        ("infer data", ["'--out'", "\nFor example: schemagen infer 'old/train-*' "]),
        ("verify", ["'DATA'", "\nFor example: schemagen verify data/pets"]),
    ],
)
def test_a_wrong_command_line_is_shown_what_to_write(
    words: str, said: list[str]
) -> None:
    """A quoted glob, the option that is missing, or the first example of the help."""
    result = run(*words.split())
    assert result.exit_code == 2
    for each in said:
        assert each in result.stderr
