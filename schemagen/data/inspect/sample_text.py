"""Records as people read them: a key a line, long values cut, bytes described."""

from __future__ import annotations

from typing import Any

from ..columns import Column, Columns, StepColumn
from ..decoding import decode
from ..formatting import number, plural, size
from ..message import BYTES, NOTHING
from ..records import records_of
from ..statistics.contents import EMPTY, TENSOR, TEXT, content_of
from ..statistics.samples import Sample
from .summaries import tensor_text
from .terminal import escaped, named, quoted, room_for_last, table, width

# Of a record so many keys are shown, of a value so many characters, of a list so many.
_KEYS = 100
_TEXT_COLUMNS = 60
_VALUES = 64

_HEX_BYTES = 8


def sample_text(sample: Sample, name: str, columns: int) -> list[str]:
    """Return the lines that show a record.

    Args:
        sample: the record.
        name: what to call its file.
        columns: how wide the terminal is.
    """
    title = f"record {sample.number:,} of {name}, {size(len(sample.data))}"
    found = decode(records_of([sample.data]))
    if found.malformed:
        return [title, f"  no tf.train.Example: {found.malformed[0].reason}"]
    rows = _rows(found, columns - 2)
    lines = table(rows, columns - 2) if rows else ["no keys"]
    more = len(found.by_key) + len(found.steps) - len(rows)
    if more > 0:
        lines.append(f"... {plural(more, 'key')} more")
    return [title, *(f"  {line}".rstrip() for line in lines)]


def _rows(found: Columns, columns: int) -> list[tuple[str, str, str]]:
    some = [
        (named(key, columns), column.kind or "-", column)
        for key, held in found.by_key.items()
        for column in held
    ][:_KEYS]
    lists = [
        (named(key, columns), _step_kind(column), column)
        for key, column in found.steps.items()
    ][:_KEYS]
    if not some and not lists:
        return []
    room = room_for_last([each[:2] for each in (*some, *lists)], columns)
    return [
        *((name, kind, feature_text(column, 0, room)) for name, kind, column in some),
        *((name, kind, _steps_text(steps, room)) for name, kind, steps in lists),
    ]


def _step_kind(column: StepColumn) -> str:
    return "/".join(each.kind for each in column.columns if each.kind) or "-"


def _steps_text(column: StepColumn, room: int) -> str:
    steps = int(column.steps[0])
    texts: dict[int, str] = {}
    for each in column.columns:
        for at, row in enumerate(each.rows[:_VALUES].tolist()):
            texts[row] = feature_text(each, at, room // 2)
    return f"{plural(steps, 'step')}: {_joined(texts, steps, room)}"


def _joined(texts: dict[int, str], steps: int, room: int) -> str:
    shown: list[str] = []
    used = 0
    for row in sorted(texts):
        used += width(texts[row]) + 3
        if shown and used > room:
            break
        shown.append(texts[row])
    more = " | ..." if len(shown) < steps else ""
    return " | ".join(shown) + more


def feature_text(column: Column, index: int, room: int) -> str:
    """Return what the feature of one row holds, in about so many columns."""
    if column.kind == NOTHING:
        return "no list"
    count = int(column.lengths[index])
    start = int(column.starts[index])
    tail = f", ... {count:,} values]"
    shown: list[str] = []
    used = len(tail)
    for at in range(start, start + min(count, _VALUES)):
        text = _value(column, at)
        used += width(text) + 2
        if shown and used > room and at + 1 < start + count:
            break
        shown.append(text)
    if count == 1:
        return shown[0]
    if len(shown) == count:
        return f"[{', '.join(shown)}]"
    return f"[{', '.join(shown)}{tail}"


def _value(column: Column, at: int) -> str:
    if column.kind == BYTES:
        return bytes_text(column.bytes_at(at))
    value: Any = column.values[at].item()
    return str(value) if isinstance(value, int) else plain_float(value)


def plain_float(value: float) -> str:
    """Return a float32 in at most six digits, without commas: they part values."""
    return number(value).replace(",", "")


def bytes_text(value: bytes) -> str:
    """Say what a bytes value is, and of text how it begins."""
    content = content_of(value)
    if content.format == EMPTY:
        return '""'
    if content.format == TEXT:
        text = value.decode()
        shown = quoted(text, _TEXT_COLUMNS)
        whole = len(text) <= _TEXT_COLUMNS and width(escaped(text)) <= _TEXT_COLUMNS
        return shown if whole else f"{shown} ({size(len(value))})"
    if content.picture is not None:
        _, height, wide, channels, bits = content.picture
        deep = f", {bits} bits" if bits != 8 else ""
        return f"{content.format} {height}x{wide}x{channels}{deep}, {size(len(value))}"
    if content.trouble:
        return f"{content.trouble}, {size(len(value))}"
    if content.format == TENSOR and content.tensor is not None:
        return f"tensor {tensor_text(content.tensor)}, {size(len(value))}"
    dots = " ..." if len(value) > _HEX_BYTES else ""
    return f"{size(len(value))}: {value[:_HEX_BYTES].hex(' ')}{dots}"
