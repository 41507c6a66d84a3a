"""Verbs about files of any origin: inspect."""

from __future__ import annotations

import click

from .reporting import (
    leave,
    print_document,
    project_option,
    reading_options,
    refusing_data,
    spec_of_record,
    table_option,
)


@click.command()
@reading_options
@click.option(
    "--records",
    type=click.IntRange(min=0, max=24),
    default=3,
    show_default=True,
    metavar="N",
    help="How many records to show of each split, spread over it.",
)
@click.option(
    "--html",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write a page with pictures, plots and the findings of verify.",
)
@click.option(
    "--record",
    metavar="R",
    help="With --html: what this record of the project says of the data, which a "
    "manifest need not say then.",
)
@project_option
@table_option("A page for people, or data.")
def inspect(
    data: str,
    split: str | None,
    limit: int | None,
    workers: int | None,
    max_record_bytes: int,
    records: int,
    html: str | None,
    record: str | None,
    project: str,
    style: str,
) -> None:
    """Show what TFRecord files hold, without a schema.

    DATA is a data directory, a glob, or a file. Exit code 1 if there is damage, which
    `verify` describes; with --html, if `verify` finds anything.
    """
    from shutil import get_terminal_size

    from ..data import formatting
    from ..data.inspect.as_json import inspection_json
    from ..data.inspect.inspecting import inspect_data
    from ..data.inspect.text import inspection_text
    from ..data.verify import verify
    from ..findings import ExitCode, printable

    if record is not None and html is None:
        raise click.UsageError("--record goes with --html; `verify` takes it, too.")
    spec = spec_of_record(record, project)
    clean = True
    with refusing_data(data):
        if html is not None:
            from ..data.report import writing  # which imports jinja2

            writing.check_target(html)
        found = inspect_data(
            data,
            split,
            limit=limit,
            workers=workers,
            max_record_bytes=max_record_bytes,
        )
        if html is not None:
            verified = verify(
                data,
                spec=spec,
                split=split,
                limit=limit,
                workers=workers,
                max_record_bytes=max_record_bytes,
            )
            clean = verified.clean
            specs = (
                writing.specs_of(data, split)
                if spec is None
                else dict.fromkeys(found.splits, spec)
            )
            size = writing.write_report(html, found, specs, verified)
            click.echo(f"wrote {printable(html)} ({formatting.size(size)})", err=True)
    if style == "json":
        print_document(inspection_json(found, records=records))
    elif html is None:
        columns = min(get_terminal_size().columns, 160)
        text = inspection_text(found, columns=max(columns, 60), records=records)
        click.echo(text, nl=False)
    if not (found.sound and clean):
        leave(ExitCode.FINDINGS)
