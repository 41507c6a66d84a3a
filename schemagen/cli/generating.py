"""Commands that make code from schemas and compare it: generate, check, templates."""

from __future__ import annotations

from pathlib import Path

import click

from ..data.formatting import plural
from .help import Command
from .printing import colored_diff, echo, titled
from .reporting import (
    format_option,
    leave,
    print_document,
    project_option,
    report,
    table_option,
    tracked_option,
)


@click.command(
    cls=Command,
    examples=[
        ("Bring all generated code up to date", "schemagen generate"),
        ("See what would be written", "schemagen generate --dry-run"),
        ("Keep it up to date while you edit schemas", "schemagen generate --watch"),
    ],
)
@project_option
@format_option
@click.option(
    "--dry-run", is_flag=True, help="Print what would be done, and write nothing."
)
@click.option(
    "--force", is_flag=True, help="Overwrite generated files that were edited by hand."
)
@click.option(
    "--watch", is_flag=True, help="Generate again whenever a schema is saved."
)
@tracked_option
def generate(
    project: str,
    style: str,
    dry_run: bool,
    force: bool,
    watch: bool,
    tracked: bool,
) -> None:
    """Write the code for every record in the schema files.

    Of a new record, it prints which fields are inputs and targets.

    With --watch, it runs until Ctrl-C and ends with exit code 0.
    """
    from ..config import find_project
    from ..use_cases import generate as use_cases
    from ..use_cases.plan_text import changes_text, roles_text, usage_text

    if watch:
        if dry_run:
            raise click.UsageError("--watch writes; leave out --dry-run or --watch.")
        from ..use_cases.watch import watch as keep_generating

        options = ["--format", style, *(["--force"] if force else [])]
        keep_generating(project, options, lambda text: echo(text, err=True))
        return
    found = use_cases.generate(project, dry_run=dry_run, force=force)
    findings = use_cases.untracked(found, project) if tracked else ()
    if style == "text":
        usage = "" if dry_run else usage_text(found, find_project(Path(project)))
        texts = (changes_text(found, dry_run=dry_run), roles_text(found), usage)
        echo("\n".join(filter(None, texts)))
    report((*findings, *found.warnings, *found.new_warnings), style)
    if findings:
        leave()


@click.command(
    cls=Command,
    examples=[
        ("Fail in CI if generated code is out of date", "schemagen check"),
        ("Show what generate would change", "schemagen check --diff"),
    ],
)
@project_option
@format_option
@click.option("--diff", is_flag=True, help="Show what `generate` would change.")
@tracked_option
def check(project: str, style: str, diff: bool, tracked: bool) -> None:
    """Check that the generated code is up to date."""
    from ..codegen.plan import unified_diff
    from ..use_cases import generate as use_cases

    found = use_cases.check(project)
    findings = found.findings
    if tracked:
        findings += use_cases.untracked(found, project)
    if diff:
        text = colored_diff(unified_diff(found))
        echo(text, nl=False, err=style != "text")
    report((*findings, *found.warnings), style)
    if findings:
        leave()
    if style == "text":
        echo(f"{plural(len(found.files), 'file')} up to date")


@click.command(
    cls=Command,
    examples=[
        ("See which templates are yours, and where ours are", "schemagen templates")
    ],
)
@project_option
@table_option("A table for people, or data.")
def templates(project: str, style: str) -> None:
    """List the templates, and which the project replaces."""
    from ..use_cases.templates import listing

    text = listing(project, style)
    if style == "json":
        print_document(text)
    else:
        echo(titled(text), nl=False)
