"""Docstrings and comments: texts that become data in a file, whatever they say."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from textwrap import TextWrapper

from ..codegen.layout import WIDTH
from ..codegen.literals import comment, prose

# Words by which comments give orders to tools.
_ORDERS = re.compile(
    r"(?i)(?<![\w-])(?:(fmt|yapf|ruff|isort|type|mypy|pyright|pylint|flake8|pragma)"
    r"(?=\s*:)|(no)(?=qa|sec|cover))"
)


def docstring(text: str, indent: int = 0) -> list[str]:
    """Return the lines of a docstring, which reads as the text again.

    Args:
        text: as a spec has it: no tabs, no spaces at the ends of lines.
        indent: how many columns it is moved to the right.
    """
    pad = " " * indent
    if "\n" in text and inspect.cleandoc(text) != text:
        # Its lines would lose what they are indented by; after such a break they do not.
        text = text.replace("\n", "\x0b")
    inside = str(prose(text, indent))
    if inside.startswith('"'):  # formatters would put a space before it
        inside = "\\" + inside
    first, *more = inside.split("\n")
    if not more:
        return [f'{pad}"""{first}"""']
    return [f'{pad}"""{first}', *more, f'{pad}"""']


def comment_lines(texts: Iterable[str], indent: int) -> Iterator[str]:
    """Yield comments, broken into lines that are not too long.

    Args:
        texts: what they say; one that is too long goes on below, moved to the right.
        indent: how many columns they are moved to the right.
    """
    start = " " * indent + "# "
    lines = TextWrapper(
        WIDTH,
        initial_indent=start,
        subsequent_indent=f"{start}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    for text in texts:
        yield from lines.wrap(_harmless(text)) or [start.rstrip()]


def _harmless(text: str) -> str:
    """Write text so that no tool takes it for an order."""
    shown = str(comment(text))
    return _ORDERS.sub(
        lambda order: f"{order[0][:-1]}\\x{ord(order[0][-1]):02x}", shown
    )
