"""Help texts: commands by task, and examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import click

TASKS = {
    "Start": {
        "init": "starting.init",
        "infer": "inferring.infer",
        "import": "interop.import_",
        "adopt": "inferring.adopt",
    },
    "Generate code": {
        "generate": "generating.generate",
        "check": "generating.check",
        "describe": "describing.describe",
        "templates": "generating.templates",
    },
    "Review changes and findings": {
        "breaking": "changes.breaking",
        "explain": "changes.explain",
    },
    "Look at data": {
        "verify": "verifying.verify",
        "inspect": "inspecting.inspect",
        "diff": "inspecting.diff",
    },
    "Use other tools": {"export": "interop.export"},
}
"""The commands of each task, in the order of the help text, and where they are in `cli`."""


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
        examples: pairs of a purpose and a command line.
        attributes: those of `click.Command`.
    """

    def __init__(
        self,
        name: str | None,
        *,
        examples: Sequence[tuple[str, str]] = (),
        **attributes: Any,
    ) -> None:
        super().__init__(name, **attributes)
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
        for task, names in TASKS.items():
            with formatter.section(task):
                formatter.write_dl(
                    [
                        (name.ljust(width), self.commands[name].get_short_help_str(70))
                        for name in names
                    ]
                )

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the first steps."""
        write_examples(FIRST_STEPS, formatter)


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
