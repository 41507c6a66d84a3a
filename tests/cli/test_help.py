"""Help texts: commands by task, examples that parse, and the reference page."""

from __future__ import annotations

import re
import shlex

import click
import pytest
from command_line import COMMANDS, run


def examples(*command: str) -> list[str]:
    """Return the commands under "Examples" in a help text, which end it."""
    lines = run(*command, "--help").stdout.split("\nExamples:\n")[1].splitlines()
    purposes = [line for line in lines if line.startswith("  # ")]
    found = [line.strip() for line in lines if line.startswith("  schemagen ")]
    assert len(purposes) + len(found) == len(list(filter(None, lines)))
    assert lines[-1].strip() == found[-1]
    return found


def test_every_command_is_listed_once_in_the_first_help_text() -> None:
    """Under a task, with what it does; and the exit codes."""
    text = run("--help").stdout
    for name in COMMANDS:
        assert len(re.findall(rf"^ +{name}  +[A-Z]", text, re.M)) == 1, name
    assert all(re.search(rf"\b{code} \w", text) for code in range(4))


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_has_its_options_and_examples(name: str) -> None:
    """Each option has a help text; there is at least one example of the command."""
    text = run(name, "--help").stdout
    assert text == run(name, "-h").stdout
    for param in COMMANDS[name].params:
        if isinstance(param, click.Option):
            assert param.help, param.name
            assert param.opts[-1] in text
    assert any(each.split()[1] == name for each in examples(name))


EXAMPLES = [each for name in COMMANDS for each in examples(name)]


@pytest.mark.parametrize("example", [*examples(), *EXAMPLES])
def test_an_example_parses(example: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its options and arguments are those of the command; its files need not exist."""
    monkeypatch.setattr(click.Path, "convert", lambda self, value, param, ctx: value)
    program, name, *words = shlex.split(example)
    assert program == "schemagen"
    COMMANDS[name].make_context(name, words)


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
