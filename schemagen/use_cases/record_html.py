"""How a notebook shows a record's class, and a record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..display.blocks import Block, Cell, Code, Heading, InlineImage, Table
from ..display.html import html
from ..findings import SchemagenError, findings_table
from ..runtime.images.formats import sniff
from ..spec.describe import record_blocks
from ..spec.resolve import spec_of_class

# So many pictures of a record are shown, of so many bytes together.
_PICTURES = 4
_PICTURE_BYTES = 48_000

# A text or list is cut to so many characters, and an array is shown up to so many values.
_CHARACTERS = 200
_VALUES = 8


def record_html(shown: Any) -> str | None:
    """Return a record's class as a table of fields, or a record as its values.

    None for a class without fields.
    """
    fields = type(shown).model_fields if not isinstance(shown, type) else None
    if fields is not None:
        cell = _cells()
        rows = [(Code(name), *cell(getattr(shown, name, None))) for name in fields]
        blocks: list[Block] = [Heading(type(shown).__name__)]
        return html([*blocks, Table(("field", "value", "type"), rows)])
    if not shown.model_fields:
        return None
    try:
        return html(record_blocks(spec_of_class(shown)))
    except SchemagenError as error:
        title = Heading(f"{shown.__name__} is not a valid record")
        return html([title, findings_table(error.findings)])


def _cells() -> Callable[[Any], tuple[Cell, Cell]]:
    """Return a function that returns a value and its type, with the first pictures."""
    left, room = _PICTURES, _PICTURE_BYTES

    def cells(value: Any) -> tuple[Cell, Cell]:
        nonlocal left, room
        text, kind = _text_of(value)
        url = _thumbnail(value, room) if left else ""
        if not url:
            return text, kind
        left, room = left - 1, room - len(url)
        return InlineImage(url, text), kind

    return cells


def _text_of(value: Any) -> tuple[str, str]:
    """Return a value in few characters, and its type."""
    if isinstance(value, np.ndarray):
        shape = ", ".join(map(str, value.shape))
        small = value.size <= _VALUES
        return str(value.tolist()) if small else "", f"{value.dtype} [{shape}]"
    if isinstance(value, bytes):
        form = sniff(value)
        text = "" if form or len(value) > _VALUES * 4 else value.hex(" ")
        return text, f"{len(value):,} bytes" + (f", {form}" if form else "")
    text = value if isinstance(value, str) else repr(value)
    cut = f"{text[:_CHARACTERS]}…" if len(text) > _CHARACTERS else text
    kind = type(value).__name__
    if isinstance(value, (list, tuple)):
        kind += f" of {len(value):,}"
    return cut.replace("`", "'"), kind


def _thumbnail(value: Any, room: int) -> str:
    """Return a data URL of a picture of no more than so many characters, or ""."""
    is_pixels = (
        isinstance(value, np.ndarray)
        and value.ndim == 3
        and value.shape[2] in (1, 3, 4)
        and min(value.shape) > 0
        and value.dtype.kind in "biuf"
    )
    form = sniff(value) if isinstance(value, bytes) else None
    if not (is_pixels or form):
        return ""
    from ..data.thumbnails import Budget, copy_of, copy_of_pixels

    budget = Budget(left=room, ample=room)
    return (copy_of_pixels if is_pixels else copy_of)(value, budget).url
