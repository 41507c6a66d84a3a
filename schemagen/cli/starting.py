"""The command that starts a project: init, and what to do next."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

import click

from .completion import complete_records
from .help import Command
from .printing import echo, paint


@click.command(
    cls=Command,
    examples=[
        ("Make this directory a project", "schemagen init"),
        (
            "Write a program that trains the model of a record",
            "schemagen init --train pet_photo",
        ),
    ],
)
@click.argument("directory", default=".", type=click.Path())
@click.option(
    "--train",
    metavar="RECORD",
    shell_complete=complete_records,
    help="In a project: write train.py, a program that trains the model of RECORD.",
)
def init(directory: str, train: str | None) -> None:
    """Make DIRECTORY a project, with an example schema."""
    from ..use_cases import init as starting
    from ..use_cases.generate import generate_command

    if not os.path.isdir(directory):
        raise click.UsageError(
            f"{directory!r} is not a directory. `init` turns a directory that exists "
            "into a project; a record is a class in a file under its schemas/."
        )
    if train is None:
        files = starting.init(directory)
        steps = _first_steps(files, directory)
    else:
        written = starting.init_training(train, directory)
        files = (written.path,)
        command = generate_command(written.project, directory)
        steps = _training_steps(written.package, written.record, command)
    for path in files:
        echo(f"wrote {path}")
    echo(f"\n{paint('Next steps:', 'title')}")
    for number, (step, lines) in enumerate(steps, 1):
        echo(f"  {number}. {step}")
        for line in lines:
            echo(f"         {line}")


Steps = list[tuple[str, Sequence[str]]]


def _first_steps(files: Sequence[str], directory: str) -> Steps:
    """Return what to do in a new project: instructions, and lines to paste."""
    in_project = "" if directory == "." else f" --project {shlex.quote(directory)}"
    command = f"schemagen generate{in_project}"
    schema = next((path for path in files if path.endswith(".py")), None)
    steps: Steps = []
    if schema is not None:
        path = schema if directory == "." else os.path.join(directory, schema)
        steps.append((f"Edit {path}: rename the record, and declare your fields.", []))
    return [
        *steps,
        (
            "Generate the code of your schemas; the command prints its imports:",
            [command],
        ),
        ("Commit the schemas, the generated code and the files above.", []),
    ]


def _training_steps(package: str, record: str, command: str) -> Steps:
    """Return what to do before `train.py` runs."""
    return [
        ("Generate the code of the record, unless it is up to date:", [command]),
        (
            "Write a split named train with the generated writer, from your own rows:",
            [
                f"from {package}.serializer import write_dataset",
                f'write_dataset(rows, "data/{record}", "train")',
            ],
        ),
        (
            "Train on that directory; --help lists the options:",
            [f"python train.py data/{record}"],
        ),
        ("Change train.py as you like: schemagen does not overwrite it.", []),
    ]
