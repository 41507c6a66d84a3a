"""Numbered keys: the keys of one field that differ in a number."""

from __future__ import annotations

import re
from string import Formatter
from typing import NamedTuple

# How Python formats the number: as it is, or with zeros in front of it.
_NUMBER = re.compile(r"(0[1-9][0-9]?)?d?")


class Numbering(NamedTuple):
    """A format of keys.

    Attributes:
        head: what comes before the number.
        form: how `format` writes the number, such as "04d".
        tail: what comes after it.
    """

    head: str
    form: str
    tail: str

    def key(self, number: int) -> str:
        """Return the key with a number."""
        return f"{self.head}{number:{self.form}}{self.tail}"

    def keys(self, first: int, count: int) -> list[str]:
        """Return so many keys, from the one with a number on."""
        return [*map(self.key, range(first, first + count))]

    @property
    def text(self) -> str:
        """The format as `str.format` takes it."""
        place = f"{{:{self.form}}}" if self.form else "{}"
        return f"{_escaped(self.head)}{place}{_escaped(self.tail)}"


def numbering_of(keys: object) -> Numbering | None:
    """Return the format in a text; None if it has not one place for an integer."""
    if not isinstance(keys, str):
        return None
    texts, form = [""], None
    try:
        for text, name, spec, conversion in Formatter().parse(keys):
            texts[-1] += text
            if name is None:
                continue
            if (
                form is not None
                or name
                or conversion
                or not _NUMBER.fullmatch(spec or "")
            ):
                return None
            form = spec or ""
            texts.append("")
    except ValueError:
        return None
    return None if form is None else Numbering(texts[0], form, texts[1])


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
