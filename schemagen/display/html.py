"""Blocks as HTML for a notebook: one element with its own style, and no script.

Colors and fonts are those of the notebook, so that light and dark themes are readable.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from .blocks import (
    Block,
    Code,
    Heading,
    InlineImage,
    Items,
    Listing,
    Paragraph,
    Table,
    printable,
    printable_lines,
)
from .markdown import parts

_KINDS = (Code, Heading, Items, Listing, Paragraph, InlineImage, Table)


def html(blocks: Sequence[Block]) -> str:
    """Return blocks as an HTML fragment, with all text escaped."""
    return _template().render(blocks=blocks)


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader(__package__, "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "parts": parts,
        "visible": printable,
        "visible_lines": printable_lines,
    }
    for kind in _KINDS:
        name = kind.__name__.lower()
        environment.tests[name] = lambda value, kind=kind: isinstance(value, kind)
    style = resources.files(__package__).joinpath("style.css").read_text("utf-8")
    environment.globals["style"] = Markup(style.strip())
    return environment.get_template("fragment.html.jinja")
