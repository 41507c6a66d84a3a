"""Help texts: commands by task, examples that parse, and the reference page."""

from __future__ import annotations

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


def test_every_command_is_in_one_task() -> None:
    """The help text and the page list all commands, each once."""
    listed = [name for names in TASKS.values() for name in names]
    assert sorted(listed) == sorted(main.commands)


@pytest.mark.parametrize("path", VERBS, ids=" ".join)
def test_the_help_of_a_command_ends_with_its_examples(path: tuple[str, ...]) -> None:
    """Each command has at least one, on a line of its own that is not wrapped."""
    command = _command(path)
    assert isinstance(command, Verb)
    assert command.examples
    end = run(*path, "--help").stdout.split("\nExamples:\n")[1].splitlines()
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


def test_a_renamed_option_fails_an_example() -> None:
    """The check above notices options that do not exist."""
    with pytest.raises(click.NoSuchOption):
        main.commands["generate"].make_context("generate", ["--dry"])


def test_the_page_is_up_to_date() -> None:
    """`python docs/generators/cli.py > docs/cli.md` prints what is committed."""
    generator = PAGE.parent / "generators" / "cli.py"
    printed = subprocess.run(
        [sys.executable, generator], capture_output=True, check=True
    )
    assert PAGE.read_bytes() == printed.stdout


def test_the_page_has_every_option() -> None:
    """With its help text; each command has a section."""
    page = PAGE.read_text(encoding="utf-8")
    for path in VERBS:
        start = page.index(f"# {' '.join(path)}\n")
        section = page[start : page.index("\n#", start)]
        for param in _command(path).params:
            if isinstance(param, click.Option):
                assert f"| `{param.opts[-1]}" in section


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["infer", "old/a-1.x", "old/a-2.x", "--out", "x.py"],
            "old/a-1.x old/a-2.x. Quote a glob, so that the shell does not expand it: "
            "'old/a-*.x'",
        ),
        (["adopt", "a1", "a2", "a3", "a4", "--out", "x.py"], "a1 ... a4. Quote a glob"),
        (["verify", "a/1", "a/2"], "not 2 arguments: a/1 a/2. Quote a glob"),
        (["inspect", "data", "train"], "does not expand it\n"),
    ],
)
def test_an_unquoted_glob_is_explained(words: list[str], message: str) -> None:
    """The message says how many arguments there are, and suggests a quoted glob."""
    result = run(*words)
    assert result.exit_code == 2
    assert message in result.stderr


def test_breaking_without_a_reference_names_some() -> None:
    """Newcomers do not know what to compare with."""
    result = run("breaking")
    assert result.exit_code == 2
    assert "Missing option '--against'. It names what to compare with" in result.stderr


@pytest.mark.parametrize(
    ("words", "message", "example"),
    [
        (["generate", "pet"], "unexpected extra argument (pet)", "schemagen generate"),
        (["infer", "data"], "Missing option '--out'", "schemagen infer 'old/train-*' "),
        (["verify"], "Missing argument 'DATA'", "schemagen verify data/pets"),
    ],
)
def test_an_incomplete_command_line_is_shown_an_example(
    words: list[str], message: str, example: str
) -> None:
    """The first one of its help."""
    result = run(*words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert f"\nFor example: {example}" in result.stderr
