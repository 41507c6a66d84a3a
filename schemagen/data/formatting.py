"""Numbers, sizes, shares and text of data, as tools on files show them."""

from __future__ import annotations

import math
import shlex
import struct
from collections.abc import Sequence
from decimal import Decimal

from ..display.blocks import printable, printable_lines

_UNITS = ("kB", "MB", "GB", "TB", "PB")

# Of other floats, all digits before the point are not shown.
_SMALLEST_FIXED, _LARGEST_FIXED = -4, 15

# What text that one can read has besides: line breaks, and what joins emoji.
_LAYOUT = "\n\t\r\u200d"


def number(value: float, digits: int | None = None, spread: float = 0.0) -> str:
    """Return a number in few characters: "9,999", "0.125", "1.5e+30".

    Args:
        value: the number; an integer is shown in full.
        digits: so many significant digits of a float; None for six, or all before the
            point.
        spread: of the numbers that it is one of, which are told apart: four digits of
            the spread are shown, too.
    """
    if isinstance(value, int):
        return f"{value:,}"
    if not math.isfinite(value):
        return _not_finite(value)
    most = digits or max(6, _exponent(value) + 1 if abs(value) < 1e15 else 0)
    if spread:
        most = max(most, _exponent(value) - _exponent(spread) + 4)
    shown = _shortest(value)
    if len(shown.as_tuple().digits) > most:
        shown = Decimal(f"{value:.{most - 1}e}").normalize()
    return _decimal(shown, ",")


def record_value(value: float) -> str:
    """Return a value of a record in full, without separators: it may be an id.

    A float has the fewest digits that stand for it as float32, or else as float64.
    """
    if isinstance(value, int):
        return str(value)
    return _decimal(_shortest(value)) if math.isfinite(value) else _not_finite(value)


def _not_finite(value: float) -> str:
    return "NaN" if math.isnan(value) else str(value)


def _exponent(value: float) -> int:
    """Return the power of ten of the first digit."""
    return int(f"{value:e}".partition("e")[2])


def _shortest(value: float) -> Decimal:
    """Return the fewest digits that stand for a number as float32, or as float64."""
    for digits in range(9):
        text = f"{value:.{digits}e}"
        if _single(float(text)) == value:
            return Decimal(text).normalize()
    return Decimal(repr(value)).normalize()


def _single(value: float) -> float:
    """Return the nearest float32."""
    try:
        (found,) = struct.unpack("f", struct.pack("f", value))
    except OverflowError:
        return math.inf
    return float(found)


def _decimal(value: Decimal, separator: str = "") -> str:
    if not value:
        return "0"
    fixed = _SMALLEST_FIXED <= value.adjusted() < _LARGEST_FIXED
    return f"{value:{separator}f}" if fixed else f"{value:e}"


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


def share(part: float, whole: float = 1) -> str:
    """Return a part as a percentage, which is 0 % and 100 % only where it is that.

    It is a dash if there is no whole.
    """
    if not whole:
        return "–"
    value = 100 * part / whole
    if not part or part == whole:
        return f"{value:.0f} %"
    if value < 0.1:
        return "<0.1 %"
    if value < 10 or value > 99:
        return f"{min(value, 99.9):.1f}".removesuffix(".0") + " %"
    return f"{value:.0f} %"


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
