"""Commands about changes of schemas: breaking, explain."""

from __future__ import annotations

import click

from ..data.formatting import plural
from .completion import complete_explained, complete_paths
from .help import Command
from .printing import echo, titled
from .reporting import (
    format_option,
    leave,
    project_option,
    report,
    terminal_columns,
)


@click.command(
    cls=Command,
    examples=[
        (
            "Compare with the revision at which this branch left main",
            "schemagen breaking --against main...",
        ),
        (
            "Compare with the schema that wrote some data",
            "schemagen breaking --against data/pets",
        ),
        (
            "Accept a break, with the reason, in a file to commit",
            "schemagen breaking --against main --accept SG202:pet_photo.breed "
            "--reason 'no data with it is left'",
        ),
    ],
)
@click.option(
    "--against",
    required=True,
    metavar="REF|FILE|DATA",
    shell_complete=complete_paths,
    help="A git revision, such as main, or main... for where the branch began; a "
    "spec.json; or a data directory.",
)
@click.option(
    "--mode",
    type=click.Choice(["backward", "forward", "full"]),
    default="backward",
    show_default=True,
    help="New code with old data and programs, old code with new data, or both.",
)
@click.option(
    "--accept",
    multiple=True,
    metavar="ID",
    help="Record a break as accepted: SG221, SG221:pet_photo.breed, or SG221:pet_photo for "
    "all of its fields.",
)
@click.option(
    "--reason",
    metavar="TEXT",
    help="The reason for accepting it; required with --accept.",
)
@project_option
@format_option
def breaking(
    project: str,
    style: str,
    against: str,
    mode: str,
    accept: tuple[str, ...],
    reason: str | None,
) -> None:
    """Report breaking changes since a revision, file or data.

    A finding has one of three axes: wire (data does not parse), meaning (data parses,
    with another meaning) or api (programs that use the generated code have to change).
    """
    from ..evolution.comparison import Mode
    from ..use_cases.compare import breaking as compare

    if not against.strip():
        raise click.UsageError(
            "--against is empty: it takes a revision, a file or data"
        )
    if bool(accept) != bool(reason and reason.strip()):
        raise click.UsageError("--accept and --reason go together")
    found = compare(
        against, project, mode=Mode(mode), accept=accept, reason=reason or ""
    )
    if found.findings or style != "text":
        report(found.findings, style)
    if style == "text":
        warnings = len(found.findings) - found.breaks
        counts = [plural(found.breaks, "break")]
        counts += [plural(warnings, "warning")] if warnings else []
        counts += [f"{found.accepted} accepted"] if found.accepted else []
        records = plural(found.records, "record")
        echo(f"{records} compared with {found.where}: {', '.join(counts)}")
    if found.breaks:
        leave()


@click.command(
    cls=Command,
    examples=[
        ("Explain a rule, by the id in a finding", "schemagen explain SG304"),
        ("Explain a name that --fail-on takes", "schemagen explain leakage"),
    ],
)
@click.argument("name", shell_complete=complete_explained)
def explain(name: str) -> None:
    """Explain a rule, or what --fail-on judges.

    NAME is the id of a rule, or a name that `inspect --fail-on` takes. Of changes of a
    schema, it also shows an example and what to do; of a judgement, its threshold.
    """
    from ..display.terminal import terminal_text
    from ..use_cases.explain import explained

    try:
        blocks = explained(name)
    except LookupError as error:
        raise click.UsageError(str(error.args[0])) from None
    text = terminal_text(blocks, terminal_columns(), bullet="")
    echo(titled(text), nl=False)
