"""The page as text: a template, a style sheet and a script, and what seals them."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from .palette import rules
from .view import Page

GENERATOR = "schemagen inspect"
"""What the page says has made it: such files may be replaced."""


def html(page: Page) -> str:
    """Return the whole page.

    Its policy allows pictures that stand in it, one style sheet and one script, which
    are known by their hashes; so that nothing in the data could load or run, were it
    ever to be printed as it is.
    """
    style = f"{_source('style.css')}\n{rules()}"
    script = _source("script.js")
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; "
        f"script-src '{_hash(script)}'; base-uri 'none'; form-action 'none'"
    )
    return (
        _environment()
        .get_template("page.html.jinja")
        .render(
            page=page,
            policy=policy,
            style=Markup(style),
            script=Markup(script),
            generator=GENERATOR,
        )
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__, "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["drawn"] = Markup
    return environment


def _source(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256-" + base64.b64encode(digest).decode()
