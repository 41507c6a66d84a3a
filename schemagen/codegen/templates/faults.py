"""What can be wrong with a template, in words."""

from __future__ import annotations

from collections.abc import Iterable

from jinja2 import StrictUndefined


class PlainText(TypeError):
    """A template prints what no function has made data of."""

    def __init__(self, value: object, filters: Iterable[str]) -> None:
        super().__init__(f"prints {value!r}, which no literal function has made")


class NoSuchName(StrictUndefined):
    """A name that a template uses and that is not there."""
