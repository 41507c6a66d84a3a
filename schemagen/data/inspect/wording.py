"""How numbers, sizes, shares and text of others are shown on a terminal."""

from __future__ import annotations

import unicodedata

from ..statistics.numbers import Numbers

_UNITS = ("kB", "MB", "GB", "TB", "PB")
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}

# Larger whole floats are shown as floats: not all their digits mean anything.
_LARGEST_WHOLE = 1e15


def counted(number: int, noun: str) -> str:
    """Return "1 file", "2 files"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def size(count: int) -> str:
    """Return a size in bytes: "17 bytes", "31.2 kB"."""
    if count < 1000:
        return counted(count, "byte")
    value, unit = _in_units(count)
    return f"{value} {unit}"


def sizes(low: int, high: int) -> str:
    """Return a range of sizes: "3.1 to 90.2 kB"."""
    first, last = size(low), size(high)
    if first == last:
        return last
    if first.split()[1] == last.split()[1] or (low == 1 and high < 1000):
        first = first.split()[0]
    return f"{first} to {last}"


def _in_units(count: int) -> tuple[str, str]:
    value, at = count / 1000, 0
    while value >= 999.5 and at + 1 < len(_UNITS):
        value, at = value / 1000, at + 1
    return f"{value:.1f}" if value < 99.95 else f"{value:.0f}", _UNITS[at]


def number(value: float) -> str:
    """Return a number in few characters: "9,999", "0.125", "1.5e+30"."""
    if isinstance(value, int):
        return f"{value:,}"
    if value.is_integer() and abs(value) < _LARGEST_WHOLE:
        return f"{int(value):,}"
    return f"{value:.6g}"


def share(part: int, whole: int) -> str:
    """Return a share as "all", or in percent; never 0% of some, nor 100% of not all."""
    if part == whole:
        return "all"
    if not part:
        return "0%"
    percent = 100 * part / whole
    if percent < 0.1:
        return "<0.1%"
    text = (
        f"{min(percent, 99.9):.1f}"
        if percent < 10 or percent > 99
        else f"{percent:.0f}"
    )
    return text.removesuffix(".0") + "%"


def extent(found: Numbers) -> str:
    """Return from where to where numbers reach: "5", "0 to 32"."""
    if found.minimum is None or found.maximum is None:
        return "none"
    if found.minimum == found.maximum:
        return number(found.minimum)
    return f"{number(found.minimum)} to {number(found.maximum)}"


def escaped(text: str) -> str:
    """Return text so that a terminal prints it and does nothing else."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return text
    return "".join(_escaped(character) for character in text)


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def quoted(text: str, most: int) -> str:
    """Return text in quotes, cut to so many columns, with dots where it is cut."""
    found = escaped(text[: most + 1])
    if len(text) > most + 1 or width(found) > most:
        return f'"{cut(found, most - 3)}..."'
    return f'"{found}"'


def named(key: str, most: int = 200) -> str:
    """Return a key as it is, or in quotes if it could be taken for something else.

    A longer one loses its middle, and says how long it is.
    """
    plain = key.isprintable() and key == key.strip() and key and '"' not in key
    shown = key if plain and "\\" not in key else f'"{escaped(key)}"'
    if width(shown) <= most:
        return shown
    count = f"... {len(key):,} characters ..."
    half = (most - len(count)) // 2
    return cut(shown, half) + count + cut(shown[::-1], half)[::-1]


def cut(text: str, most: int) -> str:
    """Return as much of the beginning of a text as so many columns hold."""
    if len(text) <= most // 2:
        return text
    columns = 0
    for at, character in enumerate(text):
        columns += width(character)
        if columns > most:
            return text[:at]
    return text


def width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(_width(character) for character in text)


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
