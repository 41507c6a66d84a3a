"""Verbs about files of any origin: inspect."""

from __future__ import annotations

import click

from .reporting import leave, refusing_data, table_option


@click.command()
@click.argument("data", metavar="DATA")
@click.option("--split", metavar="NAME", help="Only this split.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="Only the first N records of each split.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many processes read; by default one for each core.",
)
@click.option(
    "--records",
    type=click.IntRange(min=0, max=24),
    default=3,
    show_default=True,
    metavar="N",
    help="How many records to show of each split, spread over it.",
)
@table_option("A page for people, or data.")
def inspect(
    data: str,
    split: str | None,
    limit: int | None,
    workers: int | None,
    records: int,
    style: str,
) -> None:
    """Show what TFRecord files hold, without a schema.

    DATA is a data directory, a glob, or a file. Exit code 1 if there is damage, which
    `verify` describes.
    """
    click.get_current_context().meta["schemagen.format"] = style
    from shutil import get_terminal_size

    from ..data.inspect.as_json import inspection_json
    from ..data.inspect.inspecting import inspect_data
    from ..data.inspect.text import inspection_text
    from ..data.parallel import usable_cores
    from ..findings import ExitCode

    with refusing_data(data):
        found = inspect_data(
            data, split, limit=limit, workers=workers or usable_cores()
        )
    if style == "json":
        click.echo(inspection_json(found, records=records), nl=False)
    else:
        columns = min(get_terminal_size().columns, 160)
        text = inspection_text(found, columns=max(columns, 60), records=records)
        click.echo(text, nl=False)
    if not found.sound:
        leave(ExitCode.FINDINGS)
