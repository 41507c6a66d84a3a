"""Verbs about data files: verify."""

from __future__ import annotations

from typing import Any

import click

from ..progress import Bar
from .completion import complete_records
from .help import Verb
from .printing import echo
from .reporting import (
    data_argument,
    format_option,
    leave,
    print_document,
    project_option,
    reading_options,
    report,
    spec_of_record,
)


@click.command(
    cls=Verb,
    examples=[
        (
            "Check a data directory with the schema in its manifest",
            "schemagen verify data/pets",
        ),
        (
            "Check the files of another program with a record of this project",
            "schemagen verify 'old/train-*' --record pet_photo",
        ),
        (
            "Check some of the shards, on one of several machines",
            "schemagen verify 'data/pets/train-*[0-4]-of-*'",
        ),
    ],
)
@data_argument
@reading_options
@click.option(
    "--record",
    metavar="R",
    shell_complete=complete_records,
    help="Compare with this record of the project, not with what the manifest says.",
)
@click.option(
    "--examples",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    metavar="N",
    help="How many places to show of each kind of finding.",
)
@project_option
@format_option
def verify(
    data: str,
    record: str | None,
    examples: int,
    project: str,
    style: str,
    **reading: Any,
) -> None:
    """Check data files, without TensorFlow.

    DATA is a directory, a file or a quoted glob, or the URL of one. Checked are framing,
    checksums, the manifest, and every record against the schema that wrote it, or
    against a record of this project.

    Several machines can share the work: each checks the shards that its glob matches,
    and has an exit code of its own.
    """
    from ..data.verify import verify as use_case
    from ..data.verify.rendering import summary, to_json
    from ..use_cases.refusing import refusing_data

    spec = spec_of_record(record, project)
    with refusing_data(data), Bar("verifying") as progress:
        found = use_case(
            data, spec=spec, examples=examples, progress=progress, **reading
        )
    if style == "json":
        print_document(to_json(found))
    else:
        report([each.finding() for each in found.findings], style)
    if style == "text":
        echo(summary(found))
    if not found.clean:
        leave()
