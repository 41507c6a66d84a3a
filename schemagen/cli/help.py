"""Help texts: commands by task, and examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import click

TASKS = (
    "Start",
    "Generate code",
    "Review changes and findings",
    "Look at data",
    "Use other tools",
)
"""What commands are for, in the order of the help text."""


class Example(NamedTuple):
    """A command line, and what it is for."""

    purpose: str
    command: str


FIRST_STEPS = (
    Example("Make a project with a schema, and generate its code", "schemagen init"),
    Example("", "schemagen generate"),
    Example(
        "Make a schema of existing data",
        "schemagen infer 'data/train-*' --out schemas/photo.py",
    ),
)
"""What the help text of `schemagen` shows."""


class Command(click.Command):
    """A command whose help ends with examples.

    Args:
        task: which of `TASKS` it is for.
        examples: pairs of a purpose and a command line.
        attributes: those of `click.Command`.
    """

    def __init__(
        self,
        name: str | None,
        *,
        task: str,
        examples: Sequence[tuple[str, str]] = (),
        **attributes: Any,
    ) -> None:
        super().__init__(name, **attributes)
        self.task = task
        self.examples = [Example(*each) for each in examples]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line; if arguments are missing or too many, show an example.

        Raises:
            click.UsageError: the command line is not one of this command.
        """
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            # Errors of other classes suggest something themselves.
            plain = type(error) in (click.UsageError, click.MissingParameter)
            if not plain or not self.examples:
                raise
            example = self.examples[0].command
            raise click.UsageError(
                f"{error.format_message()}\nFor example: {example}", ctx
            ) from error

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        write_examples(self.examples, formatter)


class CommandGroup(click.Group):
    """A command with commands, which its help lists by task."""

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the commands of each task with the first sentence of their help."""
        width = max(map(len, self.commands))
        for task, commands in by_task(self).items():
            with formatter.section(task):
                formatter.write_dl(
                    [
                        (name.ljust(width), command.get_short_help_str(70))
                        for name, command in commands.items()
                    ]
                )

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the first steps."""
        write_examples(FIRST_STEPS, formatter)


def by_task(group: click.Group) -> dict[str, dict[str, Command]]:
    """Return the commands of each task, by name."""
    commands = [each for each in group.commands.values() if isinstance(each, Command)]
    return {
        task: {str(each.name): each for each in commands if each.task == task}
        for task in TASKS
    }


def write_examples(examples: Sequence[Example], formatter: click.HelpFormatter) -> None:
    """Write examples as lines that can be pasted: comments, and commands unwrapped."""
    if not examples:
        return
    with formatter.section("Examples"):
        indent = " " * formatter.current_indent
        for line in example_lines(examples):
            formatter.write(f"{indent}{line}\n" if line else "\n")


def example_lines(examples: Sequence[Example]) -> list[str]:
    """Return examples as the lines of a shell script."""
    lines: list[str] = []
    for purpose, command in examples:
        if purpose:
            lines += [*[""] * bool(lines), f"# {purpose}"]
        lines.append(command)
    return lines
