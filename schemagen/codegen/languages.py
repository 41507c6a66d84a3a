"""Languages of additional outputs: their comments, and data as their source code.

What is safe in one language is code in another: a backslash ends no string of standard
SQL, and does end one of Python. So each language has its own filters, and what they make
can be printed in files of that language only; see `literals.py` for Python.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from ..kinds.literals import comment as in_line
from ..kinds.literals import identifier as python_identifier


class Foreign(str):
    """Text that is safe to print into a file of another language than Python."""

    __slots__ = ()


Filters = Mapping[str, Callable[..., Any]]


@dataclass(frozen=True)
class Comment:
    """How a language writes comments: `//` for each line, or `/*` and `*/` around it.

    Attributes:
        opening: what stands before the text.
        closing: what stands behind it; empty if the line's end does.
    """

    opening: str
    closing: str = ""

    def line(self, text: str) -> str:
        """Write text as a comment of one line, which it cannot end."""
        return self.around(self.harmless(text))

    def lines(self, text: str, indent: int = 0) -> Foreign:
        """Write text as comments, one a line; lines after the first are indented."""
        found = [self.line(line.rstrip()) for line in text.strip().split("\n")]
        return Foreign(("\n" + " " * indent).join(found))

    def around(self, text: str) -> str:
        """Put the marks of a comment around a line that is harmless."""
        return " ".join(filter(None, (self.opening, text, self.closing)))

    def harmless(self, text: str) -> str:
        """Keep text from ending its comment, in any language that has such ones.

        Comments nest in Rust and Swift, Java reads the escape of a line's end as one,
        and a last backslash, or ??/, draws the next line into the comment in C.
        """
        shown = str(in_line(text))
        for mark in (self.opening, self.closing) if self.closing else ():
            shown = shown.replace(mark, f"{mark[0]}\\{mark[1:]}" if mark[1:] else "")
        if self.closing == "-->":  # --!> ends such a comment as well
            shown = shown.replace("--", "-\\-")
        return _CONTINUED.sub("\\\\x5c", shown)


_CONTINUED = re.compile(r"(\\|\?\?/)\Z")


@dataclass(frozen=True)
class Language:
    """What a file's templates need to know of its language.

    Attributes:
        comment: how it writes comments; None for JSON, which has none.
        filters: what makes data of text, by name.
    """

    comment: Comment | None
    filters: Filters


def json_text(value: object) -> Foreign:
    """Write a value as JSON, in ASCII and without anything that HTML would end at.

    Raises:
        TypeError: bytes, or another value that JSON has no form for.
        ValueError: not a number, or infinite.
    """
    text = json.dumps(value, allow_nan=False)
    return Foreign(text.replace("<", "\\u003c"))


def sql(value: object) -> Foreign:
    """Write a value as standard SQL has it, in which a backslash is a letter as others.

    Raises:
        TypeError: a value that SQL has no literal for.
        ValueError: not a number, infinite, or text with a zero byte.
    """
    if value is None:
        return Foreign("NULL")
    if isinstance(value, bool):
        return Foreign("TRUE" if value else "FALSE")
    if isinstance(value, (int, float)):
        return json_text(value)
    if isinstance(value, bytes):
        return Foreign(f"X'{value.hex()}'")
    if isinstance(value, str):
        return _sql_quoted(value, "'")
    raise TypeError(f"SQL has no literal for a {type(value).__name__}")


def mysql(value: object) -> Foreign:
    """Write a value for MySQL and MariaDB, where a backslash in text is an escape."""
    return sql(value.replace("\\", "\\\\") if isinstance(value, str) else value)


def sql_name(name: str) -> Foreign:
    """Write the name of a table or column, quoted: any word may be one then."""
    return _sql_quoted(name, '"')


def _sql_quoted(text: str, quote: str) -> Foreign:
    if "\0" in text:
        raise ValueError("SQL holds no text with a zero byte")
    return Foreign(f"{quote}{text.replace(quote, quote * 2)}{quote}")


def identifier(name: str) -> Foreign:
    """Let a name through that is an identifier here as well as in Python.

    Raises:
        ValueError: it is not one.
    """
    return Foreign(python_identifier(name))


_NAMES: Filters = {
    "identifier": identifier,
    "spaces": lambda _, count: Foreign(" " * count),
}
_JSON: Filters = {"json": json_text}
_SQL: Filters = {"sql": sql, "mysql": mysql, "sql_name": sql_name}

# The endings of files whose comments we know. JSON is a literal of those in the first
# rows, at worst one that a compiler refuses; in others, such as Kotlin or shell, it may
# hold expressions that are evaluated, so that they have no filter for text at all.
_ENDINGS: tuple[tuple[str, Comment | None, Filters], ...] = (
    ("json", None, _JSON),
    ("js jsx mjs cjs ts tsx mts cts jsonc json5", Comment("//"), _JSON),
    ("c h cc cpp hpp cs go java proto rs swift zig", Comment("//"), _JSON),
    ("toml yaml yml", Comment("#"), _JSON),
    ("sql", Comment("--"), _SQL),
    ("dart groovy kt kts scala", Comment("//"), {}),
    ("cmake conf gql graphql jl nix pl r rb sh tf", Comment("#"), {}),
    ("elm hs lua", Comment("--"), {}),
    ("css", Comment("/*", "*/"), {}),
)
_LANGUAGES: dict[str, tuple[Comment | None, Filters]] = {
    f".{ending}": (comment, filters)
    for endings, comment, filters in _ENDINGS
    for ending in endings.split()
}


def language_of(path: str, comment: str | None = None) -> Language | None:
    """Return the language of a file, by its ending; None if it is not known.

    Args:
        path: the file's name.
        comment: how it writes comments, if a project's settings say so: "//", or the
            two marks around a comment with a blank between them.
    """
    known = _LANGUAGES.get(PurePosixPath(path).suffix.lower())
    if comment is not None:
        style: Comment | None = Comment(*comment.split())
        filters = known[1] if known else {**_JSON, **_SQL}
    elif known is not None:
        style, filters = known
    else:
        return None
    remarks = {"comment": style.lines} if style is not None else {}
    return Language(style, {**_NAMES, **remarks, **filters})
