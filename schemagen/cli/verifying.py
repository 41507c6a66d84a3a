"""Verbs about data files: verify."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import click

from .reporting import (
    format_option,
    leave,
    print_document,
    project_option,
    reading_options,
    refusing_data,
    report,
    spec_of_record,
)


@click.command()
@reading_options
@click.option(
    "--record",
    metavar="R",
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
    split: str | None,
    limit: int | None,
    examples: int,
    workers: int | None,
    max_record_bytes: int,
    project: str,
    style: str,
) -> None:
    """Check data: a directory, a file or a quoted glob.

    Framing, checksums, the manifest, and every record against the schema that wrote
    it, or against a record of this project.
    """
    from ..data.verify import verify as use_case
    from ..data.verify.rendering import summary, to_json
    from ..findings import ExitCode

    spec = spec_of_record(record, project)
    with refusing_data(data), _bar(data) as progress:
        found = use_case(
            data,
            spec=spec,
            split=split,
            limit=limit,
            examples=examples,
            workers=workers,
            max_record_bytes=max_record_bytes,
            progress=progress,
        )
    if style == "json":
        print_document(to_json(found))
    else:
        report([each.finding() for each in found.findings], style)
    if style == "text":
        click.echo(summary(found))
    if not found.clean:
        leave(ExitCode.FINDINGS)


@contextmanager
def _bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show how many bytes have been read, on a terminal and if tqdm is installed."""
    from ..data.parallel import ReadingBar
    from ..findings import printable

    with ExitStack() as stack:
        bar: ReadingBar | None = None

        def read(size: int, total: int) -> None:
            nonlocal bar
            if bar is None:
                bar = stack.enter_context(ReadingBar(total, printable(title)))
            bar(size)

        yield read
