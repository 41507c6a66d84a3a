"""The verb that describes records for other tools: export."""

from __future__ import annotations

import click

from .reporting import project_option


@click.command()
@click.argument("record")
@click.option(
    "--to",
    required=True,
    type=click.Choice(["tfds", "tfmd", "arrow", "croissant"]),
    help="What to write.",
)
@click.option(
    "--out",
    required=True,
    metavar="PATH",
    type=click.Path(),
    help="The file to write; for tfds a directory, which may be that of --data.",
)
@click.option(
    "--data",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="The record's data directory: tfds needs it, croissant describes its files.",
)
@click.option(
    "--set",
    "properties",
    multiple=True,
    metavar="NAME=VALUE",
    help="A property of a Croissant description, such as license=CC-BY-4.0.",
)
@click.option("--force", is_flag=True, help="Overwrite files that are there.")
@project_option
def export(
    project: str,
    record: str,
    to: str,
    out: str,
    data: str | None,
    properties: tuple[str, ...],
    force: bool,
) -> None:
    """Describe RECORD for TFDS, TFMD, Arrow or Croissant.

    What another tool cannot say is printed, or refused; docs/interop.md lists it.
    """
    from ..use_cases import export as use_cases

    given = dict(_pair(each) for each in properties)
    found = use_cases.export(
        record, to, out, project, data=data, given=given, force=force
    )
    for path in found.files:
        click.echo(f"wrote {path}")
    for note in found.notes:
        click.echo(str(note))
    for name in found.missing:
        click.echo(f"left out: {name}; a validator recommends it: --set {name}=...")


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name or not value:
        raise click.UsageError(f"--set takes NAME=VALUE, not {text!r}")
    return name, value
