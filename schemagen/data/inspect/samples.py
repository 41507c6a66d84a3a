"""Records in lines of text: a key a line, long values cut."""

from __future__ import annotations

from collections.abc import Sequence

from ...display.blocks import Table
from ...display.terminal import terminal_text
from ...runtime.native import BYTES, NOTHING
from ...runtime.reading.fields import MalformedError
from ...runtime.reading.message import Feature, parse_message
from ..formatting import key_name, plural, quoted, record_value, size
from ..profile.words import picture_text, tensor_text
from ..statistics.bytes_values import EMPTY, TEXT, content_of
from ..statistics.samples import Sample

# Of a record so many keys are shown, of a list so many values, of a value so many
# columns or bytes.
_SAMPLE_KEYS = 100
_SAMPLE_VALUES = 64
_SAMPLE_COLUMNS = 60
_HEX_BYTES = 8


def sample_text(sample: Sample, name: str, columns: int) -> list[str]:
    """Return the lines that show a record: a key a line, long values cut.

    Args:
        sample: the record.
        name: what to call its file.
        columns: how wide the terminal is.
    """
    title = f"record {sample.number:,} of {name}, {size(len(sample.data))}"
    try:
        message = parse_message(sample.data)
    except MalformedError as error:
        return [title, f"  not a tf.train.Example: {error}"]
    columns -= 2
    features = sorted(message.features.items())[:_SAMPLE_KEYS]
    lists = sorted(message.lists.items())[:_SAMPLE_KEYS]
    heads = [(key_name(key, columns // 3), each.kind or "-") for key, each in features]
    heads += [(key_name(key, columns // 3), _step_kinds(steps)) for key, steps in lists]
    lines = ["no keys"]
    if heads:
        room = max(columns - max(len(key) + len(kind) + 4 for key, kind in heads), 8)
        texts = [feature_text(each, sample.data, room) for _, each in features]
        texts += [steps_text(steps, sample.data, room) for _, steps in lists]
        rows = [(*head, text) for head, text in zip(heads, texts, strict=True)]
        text = terminal_text([Table(("", "", ""), rows)], columns)
        lines = text.rstrip().split("\n")
    more = len(message.features) + len(message.lists) - len(heads)
    if more > 0:
        lines.append(f"... {plural(more, 'key')} more")
    return [title, *(f"  {line}".rstrip() for line in lines)]


def _step_kinds(steps: Sequence[Feature]) -> str:
    return "/".join(sorted({each.kind for each in steps if each.kind})) or "-"


def steps_text(steps: Sequence[Feature], data: bytes, room: int) -> str:
    """Return the features of steps in a record in about so many columns."""
    texts = [feature_text(each, data, room // 2) for each in steps[:_SAMPLE_VALUES]]
    shown = _fitting(texts, room, 3)
    more = " | ..." if len(shown) < len(steps) else ""
    return f"{plural(len(steps), 'step')}: {' | '.join(shown)}{more}"


def feature_text(
    feature: Feature, data: bytes, room: int, most: int = _SAMPLE_COLUMNS
) -> str:
    """Return the values of a feature of a record in about so many columns.

    Args:
        feature: the feature.
        data: the record.
        room: how many columns there are.
        most: how many characters of a text are shown.
    """
    if feature.kind == NOTHING:
        return "no list"
    count, some = len(feature.values), feature.values[:_SAMPLE_VALUES]
    if feature.kind == BYTES:
        texts = [_bytes_value(data[start:stop], most) for start, stop in some]
    else:
        texts = [record_value(value) for value in some]
    if count == 1:
        return texts[0]
    tail = f", ... {count:,} values]"
    shown = _fitting(texts, room - len(tail), 2, whole=len(texts) == count)
    return f"[{', '.join(shown)}" + ("]" if len(shown) == count else tail)


def _fitting(
    texts: Sequence[str], room: int, gap: int, whole: bool = False
) -> Sequence[str]:
    """Return the first texts that fit: at least one.

    Args:
        texts: the texts.
        room: how many columns there are.
        gap: how many of them a text takes in addition to its own.
        whole: whether the last text may take more, since it ends the list.
    """
    used = 0
    for at, text in enumerate(texts):
        used += len(text) + gap
        if at and used > room and not (whole and at + 1 == len(texts)):
            return texts[:at]
    return texts


def _bytes_value(value: bytes, most: int) -> str:
    """Describe a bytes value, and show how a text begins."""
    content = content_of(value)
    amount = size(len(value))
    if content.format == EMPTY:
        return '""'
    if content.format == TEXT:
        text = value.decode()
        shown = quoted(text, most)
        return shown if len(text) <= most else f"{shown} ({amount})"
    if content.picture is not None:
        return f"{picture_text(content.picture)}, {amount}"
    if content.trouble:
        return f"{content.trouble}, {amount}"
    if content.tensor is not None:
        return f"{tensor_text(content.tensor)}, {amount}"
    dots = " ..." if len(value) > _HEX_BYTES else ""
    return f"{amount}: {value[:_HEX_BYTES].hex(' ')}{dots}"
