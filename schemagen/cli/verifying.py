"""Commands about data files: verify."""

from __future__ import annotations

from typing import Any

import click

from ..progress import Bar
from .completion import complete_records
from .help import Command
from .printing import echo
from .reporting import (
    data_argument,
    format_option,
    leave,
    print_document,
    print_sealing,
    project_option,
    reading_options,
    report,
    saying_not_sealed,
    sealing_options,
    spec_of_record,
)


@click.command(
    cls=Command,
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
            "Check some of the shards, on one of several machines",
            "schemagen verify 'data/pets/train-*[0-4]-of-*'",
        ),
        (
            "Seal the files of another program, so that readers compare them",
            "schemagen verify old --record pet_photo --seal",
        ),
        ("Seal the files that were added since", "schemagen verify old --add"),
    ],
)
@data_argument
@reading_options
@click.option(
    "--record",
    metavar="R",
    shell_complete=complete_records,
    help="Compare with this record of the project, not with the manifest's schema.",
)
@sealing_options(
    "If nothing is wrong, write a manifest next to the files of another program."
)
@click.option(
    "--add",
    is_flag=True,
    help="Check and seal only the files that the manifest does not list yet.",
)
@project_option
@format_option
def verify(
    data: str,
    record: str | None,
    seal: bool,
    accept: bool,
    add: bool,
    project: str,
    style: str,
    **reading: Any,
) -> None:
    """Check data files, without TensorFlow.

    DATA is a directory, a file or a quoted glob, or the URL of one. Checked are framing,
    checksums, the manifest, and every record against the schema that wrote it, or
    against a record of this project.

    Several machines can share the work: each checks the shards that its glob matches,
    and has an exit code of its own.
    """
    from ..data.verify import verify as use_case
    from ..data.verify.verification import summary, to_json
    from ..use_cases.refusing import refusing_data
    from ..use_cases.seal import Sealing, verify_and_seal

    if (seal or add) and reading["limit"]:
        raise click.UsageError("--limit checks only some records: seal without it.")
    if accept and not (seal or add):
        raise click.UsageError("--accept needs --seal or --add.")
    spec = spec_of_record(record, project)
    sealing = Sealing()
    said = saying_not_sealed(wanted=(seal or add) and style == "text")
    with said, refusing_data(data), Bar("verifying") as progress:
        reading |= {"spec": spec, "progress": progress}
        if seal or add:
            del reading["limit"]
            found, sealing = verify_and_seal(data, add=add, accept=accept, **reading)
        else:
            found = use_case(data, **reading)
    if style == "json":
        print_document(to_json(found, sealing.as_json if seal or add else None))
    else:
        report([each.finding() for each in found.findings], style)
    if style == "text":
        if found.splits:
            echo(summary(found))
        else:
            echo("The manifest lists all files; there is nothing to add.")
    if style != "json":
        print_sealing(sealing, err=style != "text")
    if sealing.reasons or not found.clean:
        leave()
