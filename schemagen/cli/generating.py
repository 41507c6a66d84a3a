"""Verbs that make code from schemas and look at it: init, generate, check, describe."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from ..data.formatting import plural
from .reporting import (
    format_option,
    leave,
    print_document,
    project_option,
    report,
    table_option,
    tracked_option,
)

if TYPE_CHECKING:
    from ..codegen.plan import Plan


@click.command()
@click.argument("directory", default=".", type=click.Path(exists=True, file_okay=False))
@click.option(
    "--train",
    metavar="RECORD",
    help="In a project: write train.py, which trains a model of RECORD.",
)
def init(directory: str, train: str | None) -> None:
    """Make DIRECTORY a project, with a schema to start from."""
    from ..use_cases import init as starting

    if train is None:
        files = starting.init(directory)
        following = "run `schemagen generate`."
        if any(path.endswith(".py") for path in files):
            following = f"edit the schema, then {following}"
    else:
        files = (starting.init_training(train, directory),)
        following = "see `python train.py --help`; the file is yours to change."
    for path in files:
        click.echo(f"wrote {path}")
    click.echo(f"Next: {following}")


@click.command()
@project_option
@format_option
@click.option("--dry-run", is_flag=True, help="Say what would be done; write nothing.")
@click.option(
    "--force", is_flag=True, help="Overwrite generated files that were edited by hand."
)
@click.option(
    "--watch", is_flag=True, help="Generate again whenever a schema is saved."
)
@tracked_option
def generate(
    project: str, style: str, dry_run: bool, force: bool, watch: bool, tracked: bool
) -> None:
    """Write the code for every record in the schema files.

    With --watch it runs until Ctrl-C, which ends it with exit code 0.
    """
    from ..findings import ExitCode
    from ..use_cases import generate as use_cases

    if watch:
        if dry_run:
            raise click.UsageError("--watch writes; leave out --dry-run or --watch.")
        from ..use_cases.watch import watch as keep_generating

        options = ["--format", style, *(["--force"] if force else [])]
        keep_generating(project, options, lambda text: click.echo(text, err=True))
        return
    found = use_cases.generate(project, dry_run=dry_run, force=force)
    findings = use_cases.untracked(found, project) if tracked else ()
    if style == "text":
        _tell_changes(found, dry_run=dry_run)
        if found.is_first and not dry_run:
            output = use_cases.output_directory(project)
            click.echo(
                f"Next: run programs that import {output.name} from {output.parent}, "
                f"or set PYTHONPATH to it."
            )
    report((*findings, *found.warnings), style)
    if findings:
        leave(ExitCode.FINDINGS)


def _tell_changes(found: Plan, *, dry_run: bool) -> None:
    for file in found.changes:
        verb = f"would {file.action.value}" if dry_run else f"{file.action.value}d"
        click.echo(f"{verb} {file.path}")
    unchanged = len(found.files) - len(found.changes)
    changed = plural(len(found.changes), "file")
    click.echo(f"{changed} changed, {unchanged} up to date")


@click.command()
@project_option
@format_option
@click.option("--diff", is_flag=True, help="Show what `generate` would change.")
@tracked_option
def check(project: str, style: str, diff: bool, tracked: bool) -> None:
    """Tell whether the generated code is what the schemas ask for."""
    from ..codegen.plan import unified_diff
    from ..findings import ExitCode
    from ..use_cases import generate as use_cases

    found = use_cases.check(project)
    findings = found.findings
    if tracked:
        findings += use_cases.untracked(found, project)
    if diff:
        text = _coloured(unified_diff(found))
        click.echo(text, nl=False, err=style != "text")
    report((*findings, *found.warnings), style)
    if findings:
        leave(ExitCode.FINDINGS)
    if style == "text":
        click.echo(f"{len(found.files)} files up to date")


_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def _coloured(diff: str) -> str:
    """Return a diff with colours, which click leaves out where there is no terminal."""
    if os.environ.get("NO_COLOR"):
        return diff
    return "".join(
        click.style(line, bold=True)
        if line.startswith(("--- ", "+++ "))
        else click.style(line, fg=_COLOURS[line[0]])
        if line[0] in _COLOURS
        else line
        for line in diff.splitlines(keepends=True)
    )


@click.command()
@click.argument("record", required=False)
@project_option
@table_option("A table for people, or the spec.")
def describe(record: str | None, project: str, style: str) -> None:
    """Show how RECORD, or every record, is stored and read."""
    from ..codegen.describe import describe_text
    from ..spec.serial import dumps, to_data
    from ..use_cases import generate as use_cases

    specs = use_cases.describe(project, record)
    if style == "json":
        data: dict[str, Any] = {"version": 1, "records": [to_data(s) for s in specs]}
        print_document(dumps(data))
    else:
        click.echo("\n".join(map(describe_text, specs)), nl=False)
