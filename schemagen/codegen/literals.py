"""Data as source code: the only way in which schema text reaches a template."""

from __future__ import annotations

import keyword
import re
import unicodedata


class Code(str):
    """Text that is safe to print into generated code.

    Templates print nothing else. Joining, formatting or cutting it returns a plain str,
    so no other text gets in next to it.
    """

    __slots__ = ()


def literal(value: object) -> Code:
    """Write a value of a spec as a Python literal, as `ruff format` would.

    Raises:
        TypeError: a value that has no literal.
    """
    return Code(_literal(value))


def _literal(value: object) -> str:
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, bytes):
        return "b" + _quoted(value.decode("latin-1"), hexadecimal=True)
    if isinstance(value, int):
        return repr(value)
    if isinstance(value, float):
        finite = value == value and value not in (float("inf"), float("-inf"))
        return repr(value) if finite else f'float("{value!r}")'
    if isinstance(value, tuple):
        items = ", ".join(map(_literal, value))
        return f"({items},)" if len(value) == 1 else f"({items})"
    raise TypeError(f"no literal for a {type(value).__name__}")


_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
# Letters, marks and digits, punctuation, symbols. Controls, separators, surrogates
# and the characters that reorder a line are written as escapes.
_SHOWN = ("Lu", "Ll", "Lt", "Lo", "Nd", "Pc", "Pd", "Ps", "Pe", "Po", "Sm", "Sc")


def _quoted(text: str, *, hexadecimal: bool = False) -> str:
    quote = "'" if text.count('"') > text.count("'") else '"'
    return quote + _shown(text, hexadecimal).replace(quote, f"\\{quote}") + quote


def _shown(text: str, hexadecimal: bool = False) -> str:
    if text.isascii() and text.isprintable():  # nearly all text, and all at once
        return text.replace("\\", "\\\\")
    return "".join(_shown_character(character, hexadecimal) for character in text)


def _shown_character(character: str, hexadecimal: bool) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    point = ord(character)
    if 0x20 <= point < 0x7F:
        return character
    if hexadecimal or point < 0xA0:
        return f"\\x{point:02x}"
    if unicodedata.category(character) in _SHOWN:
        return character
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"


def identifier(name: str) -> Code:
    """Let a name through that is a Python identifier.

    Raises:
        ValueError: it is not one.
    """
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError(f"not an identifier: {name!r}")
    return Code(name)


# Three quotes in a row would end a docstring, and so would one next to its end.
_QUOTES = re.compile(r'"{3,}')
_LAST_QUOTES = re.compile(r'"{3,}|"+\Z')


def _escaped_quotes(run: re.Match[str]) -> str:
    return '\\"' * len(run[0])


def prose(text: str, indent: int = 0) -> Code:
    """Write text for the inside of a docstring.

    Lines after the first are indented; nothing in the text can end the docstring.
    """
    lines = [_shown(line).rstrip() for line in text.split("\n")]
    last = _LAST_QUOTES.sub(_escaped_quotes, lines.pop())
    lines = [*(_QUOTES.sub(_escaped_quotes, line) for line in lines), last]
    pad = "\n" + " " * indent
    return Code(pad.join(lines).replace(pad + "\n", "\n\n").replace(pad + "\n", "\n\n"))


# By such a comment in its first lines a Python file says that it is not UTF-8: the name
# of an encoding follows, without quotes.
_ENCODING = re.compile(r"(?<=coding)[:=](?=[ \t]*[-\w.])")


def comment(text: str) -> Code:
    """Write text for a comment of one line."""
    return Code(_ENCODING.sub(lambda match: f"\\x{ord(match[0]):02x}", _shown(text)))
