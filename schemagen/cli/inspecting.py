"""Verbs about files of any origin: inspect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .completion import complete_records
from .help import Verb
from .printing import echo
from .reporting import (
    data_argument,
    html_option,
    leave,
    print_document,
    project_option,
    reading_options,
    spec_of_record,
    table_option,
    terminal_columns,
)

if TYPE_CHECKING:
    from ..data.statistics.model import DataStatistics
    from ..use_cases.inspect import Report


@click.command(
    cls=Verb,
    examples=[
        ("Show what files of unknown origin hold", "schemagen inspect 'old/train-*'"),
        (
            "Write a page with pictures, plots and findings",
            "schemagen inspect data/pets --html pets.html",
        ),
    ],
)
@data_argument
@reading_options
@click.option(
    "--records",
    type=click.IntRange(min=0, max=24),
    default=3,
    show_default=True,
    metavar="N",
    help="How many records to show of each split, spread over it.",
)
@html_option
@click.option(
    "--record",
    metavar="R",
    shell_complete=complete_records,
    help="With --html: read the data with this record of the project, not with the "
    "manifest's schema.",
)
@project_option
@table_option("A page for people, or data.")
def inspect(
    data: str,
    split: str | None,
    records: int,
    html: str | None,
    record: str | None,
    project: str,
    style: str,
    **reading: Any,
) -> None:
    """Show what TFRecord files hold, without a schema.

    DATA is a data directory, a glob or a file, or the URL of one. Exit code 1 if there
    is damage, or files of other messages, which `verify` describes; the same with
    --html, whose page shows all that `verify` finds.
    """
    from ..data.inspect.inspecting import inspect_data
    from ..data.listing import list_data
    from ..use_cases.refusing import refusing_data

    if record is not None and html is None:
        raise click.UsageError("--record goes with --html; `verify` takes it, too.")
    spec = spec_of_record(record, project)
    with refusing_data(data):
        if html is None:
            found = inspect_data(data, split, **reading)
        else:
            from ..data.report.writing import check_target  # which imports jinja2
            from ..use_cases.inspect import write_report

            check_target(html)
            report = write_report(html, list_data(data, split), spec, **reading)
            found = report.statistics
            _print_report(report)
    _print(found, style, records, with_text=html is None)
    if not found.sound:
        leave()


def _print_report(report: Report) -> None:
    """Print where a report is, and how many findings it shows."""
    from ..data import formatting
    from ..findings import printable

    size = formatting.size(report.bytes)
    echo(f"wrote {printable(report.path)} ({size})", err=True)
    kinds = len(report.verification.findings)
    if kinds:
        some = formatting.plural(kinds, "kind of finding", "kinds of findings")
        echo(f"`schemagen verify` has {some}: the page shows them", err=True)


def _print(found: DataStatistics, style: str, records: int, *, with_text: bool) -> None:
    """Print statistics as data, or for people."""
    from ..data.inspect.as_json import inspection_json
    from ..data.inspect.text import inspection_text

    if style == "json":
        print_document(inspection_json(found, records=records))
    elif with_text:
        text = inspection_text(found, columns=terminal_columns(), records=records)
        echo(text, nl=False)
