"""The command about records: describe."""

from __future__ import annotations

import os
from typing import Any

import click

from .completion import complete_records
from .help import Command
from .printing import echo, titled
from .reporting import print_document, project_option, table_option, terminal_columns


@click.command(
    cls=Command,
    examples=[
        ("Show all records of the project", "schemagen describe"),
        ("Show one record", "schemagen describe pet_photo"),
    ],
)
@click.argument(
    "record",
    metavar="[RECORD]",
    required=False,
    shell_complete=complete_records,
)
@click.option(
    "--markdown",
    "--md",
    is_flag=True,
    help="Print Markdown.",
)
@project_option
@table_option("A table for people, or data.")
def describe(
    record: str | None,
    markdown: bool,
    project: str,
    style: str,
) -> None:
    """Show how records are stored and read.

    RECORD is a record of the project; all are shown if none is named. For data, use
    `inspect`, and `inspect --markdown` for a dataset card.
    """
    from ..findings import SchemagenError
    from ..spec.describe import describe_markdown, describe_text
    from ..spec.serial import dumps, to_data
    from ..use_cases import generate as use_cases

    if markdown and style == "json":
        raise click.UsageError("--markdown and --format json exclude each other.")
    if record is not None and not record.isidentifier():
        raise _for_data(record)
    try:
        specs = use_cases.describe(project, record)
    except SchemagenError:
        if record is not None and os.path.lexists(record):
            raise _for_data(record) from None
        raise
    if style == "json":
        data: dict[str, Any] = {"version": 1, "records": [to_data(s) for s in specs]}
        print_document(dumps(data))
        return
    columns = terminal_columns()
    texts = (
        describe_markdown(spec) if markdown else titled(describe_text(spec, columns))
        for spec in specs
    )
    echo("\n".join(texts), nl=False)


def _for_data(name: str) -> click.UsageError:
    """Return the error for what is not the name of a record."""
    from ..data.formatting import shell_word

    return click.UsageError(
        f"{name!r} is not a record. To describe data, run "
        f"`schemagen inspect {shell_word(name)}`."
    )
