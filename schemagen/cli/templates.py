"""Verbs about templates: list, eject."""

from __future__ import annotations

import click

from .colors import titled
from .help import Verb
from .reporting import print_document, project_option, table_option


@click.group()
def templates() -> None:
    """List the templates, or copy one to change it."""


@templates.command(
    "list",
    cls=Verb,
    examples=[
        (
            "See which templates there are, and which are yours",
            "schemagen templates list",
        )
    ],
)
@project_option
@table_option("A table for people, or data.")
def list_(project: str, style: str) -> None:
    """List all templates, with what they generate and which are yours."""
    from ..use_cases import templates as own_templates

    text = own_templates.listing(project, style)
    if style == "json":
        print_document(text)
    else:
        click.echo(titled(text), nl=False)


@templates.command(
    cls=Verb,
    examples=[
        (
            "Copy the template of model.py into the project, to change it there",
            "schemagen templates eject model.py.jinja",
        )
    ],
)
@click.argument("name")
@project_option
def eject(name: str, project: str) -> None:
    """Copy the template NAME into the project, to change it there."""
    from ..use_cases import templates as own_templates

    done = own_templates.eject(name, project)
    click.echo(f"wrote {done.path}")
    if done.setting:
        click.echo('added templates = "templates" to [tool.schemagen]')
    if done.to_add:
        click.echo(f"Next: add {done.to_add} to [tool.schemagen] in pyproject.toml.")
