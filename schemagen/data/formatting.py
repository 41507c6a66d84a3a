"""Numbers, sizes, shares and text of data, as tools on files show them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from ..display.blocks import printable, printable_lines

_UNITS = ("kB", "MB", "GB", "TB", "PB")

# Larger whole floats are shown as floats: not all their digits mean anything.
_LARGEST_WHOLE = 1e15

# What text that one can read has besides: line breaks, and what joins emoji.
_LAYOUT = "\n\t\r\u200d"


def number(value: float, digits: int | None = None) -> str:
    """Return a number in few characters: "9,999", "0.125", "1.5e+30".

    Args:
        value: the number.
        digits: round floats to so many significant digits; None shows six, or all
            before the point.
    """
    if isinstance(value, int):
        return f"{value:,}"
    if digits is not None:
        value = float(f"{value:.{digits}g}")
    if value.is_integer() and abs(value) < _LARGEST_WHOLE:
        return f"{int(value):,}"
    return f"{value:,.0f}" if 1e6 <= abs(value) < _LARGEST_WHOLE else f"{value:.6g}"


def record_value(value: float) -> str:
    """Return a value of a record, without separators: it may be an id, or in a list."""
    return str(value) if isinstance(value, int) else number(value).replace(",", "")


def size(count: float) -> str:
    """Return a size in bytes: "17 bytes", "31.2 kB"."""
    if count < 1000:
        return plural(round(count), "byte")
    value, at = count / 1000, 0
    while value >= 999.5 and at + 1 < len(_UNITS):
        value, at = value / 1000, at + 1
    return f"{value:.1f} {_UNITS[at]}" if value < 99.95 else f"{value:.0f} {_UNITS[at]}"


def sizes(low: int, high: int) -> str:
    """Return a range of sizes: "3.1 to 90.2 kB"."""
    first, last = size(low), size(high)
    if first == last:
        return last
    if first.split()[1] == last.split()[1] or (low == 1 and high < 1000):
        first = first.split()[0]
    return f"{first} to {last}"


def share(part: float, whole: float) -> str:
    """Return a part as a percentage; a dash if there is no whole."""
    return percent(part, whole) if whole else "–"


def percent(part: float, whole: float = 1, space: str = " ") -> str:
    """Return a part as a percentage that is 0 % and 100 % only where it is that."""
    value = 100 * part / whole
    if not part or part == whole:
        text = f"{value:.0f}"
    elif value < 0.1:
        text = f"<{space}0.1"
    elif value < 10 or value > 99:
        text = f"{min(value, 99.9):.1f}".removesuffix(".0")
    else:
        text = f"{value:.0f}"
    return f"{text}{space}%"


def plural(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun: "1 file", "2 files"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def listed(words: Sequence[str], limit: int = 5) -> str:
    """Return words as a list: "a, b and c"; the rest is counted."""
    words = list(words)
    if len(words) > limit:
        words = [*words[:limit], f"{len(words) - limit:,} more"]
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def one_line(text: str, limit: int = 120) -> str:
    """Return text of data on one line: no control characters, not too long."""
    shown = printable(text[:limit])
    return f"{shown}…" if len(text) > limit else shown


def quoted(text: str, limit: int) -> str:
    """Return text of data in quotes, on one line."""
    return f'"{one_line(text, limit)}"'


def key_name(key: str, limit: int = 200) -> str:
    """Return a key as it is, or in quotes if it could be taken for something else."""
    is_plain = key.isprintable() and key == key.strip() and key and '"' not in key
    return one_line(key, limit) if is_plain else quoted(key, limit)


def decoded(data: bytes, limit: int = 120) -> str | None:
    """Return the beginning of bytes, if they are text that one can read."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    if any(not each.isprintable() and each not in _LAYOUT for each in text[:4096]):
        return None
    shown = printable_lines(text[:limit])
    return f"{shown}…" if len(text) > limit else shown


def hexadecimal(data: bytes, limit: int = 16) -> str:
    """Return the first bytes as hex digits, and how many there are."""
    if not data:
        return "no bytes"
    start = data[:limit].hex(" ")
    return f"{start}{' …' if len(data) > limit else ''} ({size(len(data))})"


def shell_word(text: str) -> str:
    """Return text as one word of a shell command that can be pasted."""
    return shlex.quote(printable(text))
