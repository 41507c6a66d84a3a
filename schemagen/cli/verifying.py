"""Verbs about data files: verify."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import click

from ..findings import ExitCode
from ..progress import Bar
from .completion import complete_records
from .dividing import dividing_options, say_written
from .help import Verb
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

if TYPE_CHECKING:
    from ..data.shares import Share
    from ..spec.model import RecordSpec


class _Options(TypedDict):
    """What `verify` and `verify_part` take."""

    spec: RecordSpec | None
    split: str | None
    examples: int
    workers: int | None
    max_record_bytes: int


@click.command(
    cls=Verb,
    examples=[
        (
            "Check a data directory with the schema in its manifest",
            "schemagen verify data/pets",
        ),
        (
            "Check the files of another program with a record of this project",
            "schemagen verify 'old/train-*' --record pet_photo",
        ),
        (
            "Divide the work between two machines, then merge the results",
            "schemagen verify data/pets --part 1/2 --out part-1.json",
        ),
        ("", "schemagen verify data/pets --part 2/2 --out part-2.json"),
        ("", "schemagen verify --merge part-1.json part-2.json"),
    ],
)
@reading_options
@dividing_options
@click.option(
    "--record",
    metavar="R",
    shell_complete=complete_records,
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
    share: Share | None,
    out: str | None,
    parts: tuple[str, ...],
    record: str | None,
    split: str | None,
    limit: int | None,
    examples: int,
    workers: int | None,
    max_record_bytes: int,
    project: str,
    style: str,
) -> None:
    """Check data files, without TensorFlow.

    DATA is a directory, a file or a quoted glob, or the URL of one. Checked are framing,
    checksums, the manifest, and every record against the schema that wrote it, or
    against a record of this project.

    Several machines can share the work: each reads one part, with --part and --out, and
    --merge reports what one run would. A part ends with exit code 0 when it was read,
    whatever it found.
    """
    from ..data.verify import verify as use_case
    from ..data.verify.parts import merged_verification, verify_part
    from ..data.verify.rendering import summary, to_json

    if parts:
        with refusing_data("parts"):
            found = merged_verification(parts)
    else:
        options: _Options = {
            "spec": spec_of_record(record, project),
            "split": split,
            "examples": examples,
            "workers": workers,
            "max_record_bytes": max_record_bytes,
        }
        with refusing_data(data), Bar("verifying") as progress:
            if share is not None and out is not None:
                size = verify_part(data, share, out, progress=progress, **options)
                say_written(out, share, size)
                return
            found = use_case(data, limit=limit, progress=progress, **options)
    if style == "json":
        print_document(to_json(found))
    else:
        report([each.finding() for each in found.findings], style)
    if style == "text":
        click.echo(summary(found))
    if not found.clean:
        leave(ExitCode.FINDINGS)
