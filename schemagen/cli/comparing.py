"""Verbs that compare data: diff."""

from __future__ import annotations

from typing import Any

import click

from .completion import complete_paths
from .help import Verb
from .printing import echo
from .reporting import (
    html_option,
    leave,
    print_document,
    print_written,
    reading_options,
    table_option,
    terminal_columns,
)


@click.command(
    cls=Verb,
    examples=[
        ("Compare two versions of a dataset", "schemagen diff data/v1 data/v2"),
        (
            "Find records that were changed, by an identifier",
            "schemagen diff data/v1 data/v2 --key id",
        ),
    ],
)
@click.argument("one", metavar="A", shell_complete=complete_paths)
@click.argument("other", metavar="B", shell_complete=complete_paths)
@click.option(
    "--key",
    default="",
    metavar="FIELD",
    help="Match records by this field.  [default: by all of their bytes]",
)
@html_option
@reading_options
@table_option("Tables for people, or data.")
def diff(
    one: str, other: str, key: str, html: str | None, style: str, **reading: Any
) -> None:
    """Compare two datasets: schemas, counts, distributions, and records.

    A and B are data directories, files or quoted globs, or URLs. Splits of equal names
    are compared; if each has one split, these. Exit code 1 if anything differs:
    a change of the schema that `breaking` would report, a split, records that one of
    them lacks, or a distribution by an effect of 0.5 (see `inspect`).
    """
    from ..use_cases.diff import diff as use_case
    from ..use_cases.diff import write_diff
    from ..use_cases.refusing import refusing_data

    if html is not None:
        from ..data.report.page import check_target  # which imports jinja2

        check_target(html)
    with refusing_data(one):
        found = use_case(one, other, key, **reading)
        if html is not None:
            print_written(html, write_diff(html, found))
    if style == "json":
        from ..data.inspect.as_json import text_of
        from ..data.inspect.diff_document import diff_document

        print_document(text_of(diff_document(found)))
    else:
        from ..data.inspect.text import diff_blocks
        from ..display.terminal import terminal_text

        echo(terminal_text([*diff_blocks(found)], terminal_columns()), nl=False)
    if not found.same:
        leave()
