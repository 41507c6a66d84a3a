"""Verbs about files of any origin: inspect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypedDict

import click

from ..progress import Bar
from .completion import complete_records
from .dividing import dividing_options, say_written
from .help import Verb
from .reporting import (
    leave,
    print_document,
    project_option,
    reading_options,
    refusing_data,
    spec_of_record,
    table_option,
)

if TYPE_CHECKING:
    from ..data.shares import Share
    from ..data.statistics.model import DataStatistics
    from ..data.verify import Verification
    from ..spec.model import RecordSpec


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
@reading_options
@dividing_options
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
    shell_complete=complete_records,
    help="With --html: what this record of the project says of the data, which a "
    "manifest need not say then.",
)
@project_option
@table_option("A page for people, or data.")
def inspect(
    data: str,
    share: Share | None,
    out: str | None,
    parts: tuple[str, ...],
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

    DATA is a data directory, a glob or a file, or the URL of one. Exit code 1 if there
    is damage, or files of other messages, which `verify` describes; the same with
    --html, whose page shows all that `verify` finds.

    Several machines can share the work: each reads one part, with --part and --out, and
    --merge shows what one run would. With --html, merge the parts of `verify`, too.
    """
    from ..data import formatting
    from ..data.inspect.parts import inspect_part
    from ..findings import ExitCode, printable

    if record is not None and html is None:
        raise click.UsageError("--record goes with --html; `verify` takes it, too.")
    spec = spec_of_record(record, project)
    options: _Options = {
        "split": split,
        "workers": workers,
        "max_record_bytes": max_record_bytes,
    }
    with refusing_data(data or "parts"):
        if share is not None and out is not None:
            part = inspect_part(data, share, out, **options)
            say_written(out, share, part)
            return
        if html is not None:
            from ..data.report import writing  # which imports jinja2

            writing.check_target(html)
        if parts:
            found = _merged(parts, with_findings=html is not None)
        else:
            found = _read(data, options, limit, spec, with_findings=html is not None)
        if html is not None and found.verified is not None:
            size = writing.write_report(
                html, found.statistics, found.specs, found.verified
            )
            click.echo(f"wrote {printable(html)} ({formatting.size(size)})", err=True)
            kinds = len(found.verified.findings)
            if kinds:
                some = formatting.plural(kinds, "kind of finding", "kinds of findings")
                click.echo(
                    f"`schemagen verify` has {some}: the page shows them", err=True
                )
    _print(found.statistics, style, records, with_text=html is None)
    if not found.statistics.sound:
        leave(ExitCode.FINDINGS)


class _Options(TypedDict):
    """What says which data is read, and how."""

    split: str | None
    workers: int | None
    max_record_bytes: int


class _Found(NamedTuple):
    """What is shown.

    Attributes:
        statistics: of the data.
        verified: the findings of `verify`; None without a page.
        specs: what the page says of each split, by its name.
    """

    statistics: DataStatistics
    verified: Verification | None = None
    specs: Mapping[str, RecordSpec] = {}


def _read(
    data: str,
    options: _Options,
    limit: int | None,
    spec: RecordSpec | None,
    *,
    with_findings: bool,
) -> _Found:
    """Read data."""
    from ..data.inspect.inspecting import inspect_data
    from ..data.verify import verify

    found = inspect_data(data, limit=limit, **options)
    if not with_findings:
        return _Found(found)
    from ..data.report.writing import specs_of

    with Bar("verifying") as bar:
        verified = verify(data, spec=spec, limit=limit, progress=bar, **options)
    if spec is not None:
        return _Found(found, verified, dict.fromkeys(found.splits, spec))
    return _Found(found, verified, specs_of(data, options["split"]))


def _merged(parts: Sequence[str], *, with_findings: bool) -> _Found:
    """Merge part files, with those of `verify` if there are to be findings."""
    from ..data.inspect.parts import COMMAND, statistics_of_parts
    from ..data.part_files import open_part_files
    from ..data.verify import parts as verify_parts

    commands = [COMMAND, verify_parts.COMMAND] if with_findings else [COMMAND]
    opened = open_part_files(list(map(Path, parts)), *commands)
    found = statistics_of_parts(opened[COMMAND])
    if not with_findings:
        return _Found(found)
    checked = opened[verify_parts.COMMAND]
    return _Found(
        found,
        verify_parts.verification_of_parts(checked),
        verify_parts.specs_of_parts(checked),
    )


def _print(found: DataStatistics, style: str, records: int, *, with_text: bool) -> None:
    """Print statistics as data, or for people."""
    from shutil import get_terminal_size

    from ..data.inspect.as_json import inspection_json
    from ..data.inspect.text import inspection_text

    if style == "json":
        print_document(inspection_json(found, records=records))
    elif with_text:
        columns = min(get_terminal_size().columns, 160)
        text = inspection_text(found, columns=max(columns, 60), records=records)
        click.echo(text, nl=False)
