"""Numbers and texts of data in the words of the page."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence

_JOINER = "\u200d"  # inside emoji


def shown(text: str, limit: int = 120) -> str:
    """Return text of data as one may print it: no control characters, not too long.

    Characters that change what stands around them, such as those that turn the
    direction of writing, are escaped as well; the page escapes markup.
    """
    cut = text[:limit]
    if not cut.isprintable():
        cut = "".join(map(_visible, cut))
    return cut + "…" if len(text) > limit else cut


def _visible(character: str) -> str:
    if character in (_JOINER, "\n") or character.isprintable():
        return character
    if unicodedata.category(character) == "Zs":
        return character
    return character.encode("unicode_escape").decode()


def one_line(text: str, limit: int = 120) -> str:
    """Return text of data on one line."""
    return shown(text, limit).replace("\n", "\\n")


def decoded(data: bytes, limit: int = 120) -> str | None:
    """Return bytes as text, if they are text that one can read."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    odd = sum(
        1
        for each in text[:4096]
        if not each.isprintable() and each not in "\n\t\r" + _JOINER
    )
    return None if odd else shown(text, limit)


def hexadecimal(data: bytes, limit: int = 16) -> str:
    """Return the first bytes as hex digits, and how many there are."""
    if not data:
        return "no bytes"
    start = data[:limit].hex(" ")
    return f"{start}{' …' if len(data) > limit else ''} ({size(len(data))})"


def number(value: float) -> str:
    """Return a number with as many digits as one reads: 1,024, 0.125, 3.2e-07."""
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < 10**15 else f"{value:.4g}"
    if not math.isfinite(value):
        return {math.inf: "∞", -math.inf: "−∞"}.get(value, "NaN")
    if value == round(value) and abs(value) < 10**9:
        return f"{int(value):,}"
    if 1e-3 <= abs(value) < 1e6:
        digits = max(0, 3 - math.floor(math.log10(abs(value))))
        text = f"{value:,.{digits}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{value:.3g}"


def size(count: float) -> str:
    """Return a number of bytes: 840 bytes, 63.1 kB, 1.2 MB."""
    if count < 1000:
        whole = round(count)
        return "1 byte" if whole == 1 else f"{whole} bytes"
    for unit in ("kB", "MB", "GB", "TB"):
        count /= 1000
        if count < 999.5 or unit == "TB":
            break
    return f"{count:.3g} {unit}" if count < 99.5 else f"{count:,.0f} {unit}"


def share(part: float, whole: float) -> str:
    """Return a part as a percentage that is 0 % and 100 % only where it is that."""
    if not whole:
        return "–"
    return percent(part / whole)


def percent(value: float) -> str:
    """Return a share as a percentage, likewise."""
    if 0 < value < 0.001:
        return "< 0.1 %"
    if 0.999 < value < 1:
        return "> 99.9 %"
    digits = 0 if value in (0, 1) or 0.1 <= value <= 0.9 else 1
    return f"{100 * value:.{digits}f} %"


def plural(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun: 1 file, 2 files."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def listed(words: Sequence[str], limit: int = 5) -> str:
    """Return words as a list: a, b and c; the rest is counted."""
    words = list(words)
    if len(words) > limit:
        words = [*words[:limit], f"{len(words) - limit:,} more"]
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
