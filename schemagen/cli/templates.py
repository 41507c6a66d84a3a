"""The verb that lists the templates."""

from __future__ import annotations

import click

from .colors import titled
from .help import Verb
from .printing import echo
from .reporting import print_document, project_option, table_option


@click.command(
    cls=Verb,
    examples=[
        ("See which templates are yours, and where ours are", "schemagen templates")
    ],
)
@project_option
@table_option("A table for people, or data.")
def templates(project: str, style: str) -> None:
    """List the templates, and which the project replaces."""
    from ..use_cases.templates import listing

    text = listing(project, style)
    if style == "json":
        print_document(text)
    else:
        echo(titled(text), nl=False)
