"""Commands that describe records and data: describe."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .completion import complete_records
from .help import Command
from .printing import echo, titled
from .reporting import (
    leave,
    print_document,
    project_option,
    reading_options,
    table_option,
    terminal_columns,
)

if TYPE_CHECKING:
    from ..spec.model import RecordSpec


@click.command(
    cls=Command,
    examples=[
        ("Show all records of the project", "schemagen describe"),
        ("Show one record", "schemagen describe pet_photo"),
    ],
)
@click.argument(
    "target",
    metavar="[RECORD | DATA]",
    required=False,
    shell_complete=complete_records,
)
@click.option(
    "--markdown",
    "--md",
    is_flag=True,
    help="Print Markdown.",
)
@reading_options
@project_option
@table_option("A table for people, or data.")
@click.pass_context
def describe(
    context: click.Context,
    /,
    target: str | None,
    markdown: bool,
    project: str,
    style: str,
    **reading: Any,
) -> None:
    """Show how records are stored and read.

    RECORD is a record of the project; all are shown if nothing is named. For DATA, use
    `inspect`, and `inspect --markdown` for a dataset card; in this version `describe`
    still does the same. --split, --limit and --workers go with DATA only. A name that is
    both is a record; ./NAME is data.
    """
    if markdown and style == "json":
        raise click.UsageError("--markdown and --format json exclude each other.")
    specs = _specs(target, project)
    if specs is not None:
        _refuse_data_options(context, reading)
        _print_records(specs, style, markdown=markdown)
        return
    assert target is not None
    _describe_data(target, reading, style, markdown=markdown)


def _specs(target: str | None, project: str) -> list[RecordSpec] | None:
    """Return the records that are asked for; None for data.

    Raises:
        SchemagenError: neither a record nor data has this name.
    """
    from ..findings import SchemagenError

    if target is not None and not target.isidentifier():
        return None  # no record has such a name
    try:
        if target and os.path.lexists(target) and not _is_declared(target, project):
            return None  # without loading all schemas
        from ..use_cases import generate as use_cases

        return use_cases.describe(project, target)
    except SchemagenError as error:
        if target is not None and os.path.lexists(target):
            return None
        if target is None or error.findings[0].rule not in ("SG402", "SG405"):
            raise
        nothing = f"and no file or directory {target!r}"
        raise SchemagenError(
            replace(finding, message=f"{finding.message}; {nothing}")
            for finding in error.findings
        ) from None


def _is_declared(record: str, project: str) -> bool:
    """Return whether a schema file has the class of a record, as its text says.

    Raises:
        SchemagenError: the settings cannot be used.
    """
    from ..config import schemas_for
    from ..spec.names import snake_case

    names: set[str] = set()
    for path in schemas_for(Path(project)).rglob("*.py"):
        text = path.read_text("utf-8", errors="replace")
        names |= set(re.findall(r"^\s*class\s+(\w+)", text, re.MULTILINE))
    return record in names or record in map(snake_case, names)


def _refuse_data_options(context: click.Context, names: Iterable[str]) -> None:
    for name in names:
        given = context.get_parameter_source(name)
        if given is click.core.ParameterSource.COMMANDLINE:
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} goes with DATA, not with a record.")


def _print_records(specs: list[RecordSpec], style: str, *, markdown: bool) -> None:
    from ..display.terminal import UNBOUNDED
    from ..spec.describe import describe_markdown, describe_text
    from ..spec.serial import dumps, to_data

    if style == "json":
        data: dict[str, Any] = {"version": 1, "records": [to_data(s) for s in specs]}
        print_document(dumps(data))
    else:
        columns = terminal_columns(in_pipe=UNBOUNDED)
        texts = (
            describe_markdown(spec)
            if markdown
            else titled(describe_text(spec, columns))
            for spec in specs
        )
        echo("\n".join(texts), nl=False)


def _describe_data(
    target: str, reading: dict[str, Any], style: str, *, markdown: bool
) -> None:
    """Do what `inspect` does, under the name that it had."""
    from ..data.formatting import shell_word
    from ..data.inspect.inspecting import inspect_data
    from ..data.inspect.text import RECORDS
    from ..use_cases.refusing import refusing_data
    from .inspecting import print_profile

    more = " --markdown" * markdown
    echo(f"`schemagen inspect {shell_word(target)}{more}` has replaced this.", err=True)
    with refusing_data(target):
        profile = inspect_data(target, **reading)
    if style == "json":
        from ..data.inspect.as_json import document_of
        from ..spec.serial import dumps, to_data

        records = [to_data(profile.spec)] if profile.spec is not None else []
        data = document_of(profile, records=0).model_dump()
        print_document(dumps({"version": 1, "records": records, "data": data}))
    else:
        print_profile(profile, (), style, RECORDS, markdown=markdown)
    if not profile.statistics.sound:
        leave()
