"""Values in few words: those of a key in all records, and those of one record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...display.blocks import Table
from ...display.terminal import terminal_text
from ...runtime.codecs.tensor_proto import TensorHead
from ...runtime.native import BYTES, NOTHING
from ...runtime.reading.fields import MalformedError
from ...runtime.reading.message import Feature, parse_message
from ...runtime.shared.times import Time
from ..formatting import (
    key_name,
    number,
    percent,
    plural,
    quoted,
    record_value,
    size,
    sizes,
)
from ..statistics.bytes_values import (
    EMPTY,
    IMAGES,
    TENSOR,
    TEXT,
    BytesValues,
    Picture,
    content_of,
)
from ..statistics.model import KindStatistics
from ..statistics.numbers import DISTINCT, Numbers
from ..statistics.samples import Sample

# So many different values are listed with their shares, and so many texts, of which
# each takes so many columns.
_LISTED = 6
_TEXTS = 4
_TEXT_COLUMNS = 24

# Above this share it is worth a word that values are zero.
_MANY_ZEROS = 0.5

# Of a record so many keys are shown, of a list so many values, of a value so many
# columns or bytes.
_SAMPLE_KEYS = 100
_SAMPLE_VALUES = 64
_SAMPLE_COLUMNS = 60
_HEX_BYTES = 8


def extent(found: Numbers, shown: Callable[[float], str] = number) -> str:
    """Return from where to where numbers reach: "5", "0 to 32"."""
    if found.minimum is None or found.maximum is None:
        return "none"
    low, high = shown(found.minimum), shown(found.maximum)
    return low if found.minimum == found.maximum else f"{low} to {high}"


def share(part: int, whole: int) -> str:
    """Return a part as "all", or in percent."""
    return "all" if part == whole else percent(part, whole, space="")


def values_text(
    found: KindStatistics,
    without: int = 0,
    classes: Mapping[int, str] | None = None,
    time: Time | None = None,
) -> str:
    """Describe the values of a key and kind.

    Args:
        found: what is known of them.
        without: how many more have the key, and no list.
        classes: the names of integers, if they are ids of classes.
        time: what integers are, if they are times.
    """
    parts = []
    if classes and found.numbers is not None and found.numbers.distinct:
        parts += _ids(found.numbers.distinct, classes)
    elif found.numbers is not None:
        parts += _numbers(found.numbers, time.text if time else number)
    if found.bytes is not None:
        parts += _bytes(found.bytes)
    if found.lengths.zeros and found.lengths.maximum:
        parts.append(plural(found.lengths.zeros, "empty list"))
    if without:
        parts.append(f"{without:,} more without a list")
    return "; ".join(parts)


def _ids(counts: Mapping[int, int], classes: Mapping[int, str]) -> list[str]:
    """Return the most frequent classes, with their ids and names."""
    total = sum(counts.values())
    most = sorted(counts, key=lambda value: (-counts[value], value))
    shown = []
    for value in most[:_LISTED]:
        known = value in classes
        name = quoted(classes[value], _TEXT_COLUMNS) if known else "no class"
        shown.append(f"{value} {name} ({share(counts[value], total)})")
    return [", ".join(shown) + (", ..." if len(most) > _LISTED else "")]


def _numbers(found: Numbers, shown: Callable[[float], str]) -> list[str]:
    parts = []
    distinct = found.distinct
    if found.constant is not None:
        parts.append(f"always {shown(found.constant)}")
    elif distinct is not None and 1 < len(distinct) <= _LISTED:
        shares = (
            f"{shown(value)} ({share(count, found.finite)})"
            for value, count in sorted(distinct.items())
        )
        parts.append(", ".join(shares))
    elif found.minimum is not None and found.minimum == found.maximum:
        parts.append(shown(found.minimum))
    elif found.minimum is not None:
        mean = f", mean {number(found.mean or 0.0, 4)}" if shown is number else ""
        parts.append(f"{extent(found, shown)}{mean}")
        parts += _diversity(found)
    if found.nan:
        parts.append(f"{found.nan:,} NaN")
    for many, name in zip(found.infinite, ("-inf", "inf"), strict=True):
        if many:
            parts.append(f"{many:,} {name}")
    return parts


def _diversity(found: Numbers) -> list[str]:
    parts = []
    if found.distinct is not None:
        parts.append(f"{len(found.distinct):,} different")
    elif not found.floats:
        parts.append(f"more than {DISTINCT:,} different")
    if found.floats and found.whole == found.finite:
        parts.append("whole numbers")
    if found.zeros > _MANY_ZEROS * found.finite:
        parts.append(f"{share(found.zeros, found.finite)} zeros")
    return parts


def _bytes(found: BytesValues) -> list[str]:
    if not found.count:
        return []
    parts = []
    formats = sorted(found.formats.items(), key=lambda each: (-each[1], each[0]))
    for format_, count in formats:
        text = _format(found, format_)
        several = len(formats) > 1
        parts.append(f"{text} ({share(count, found.count)})" if several else text)
    few = found.distinct is not None and len(found.distinct) <= _TEXTS
    all_listed = few and set(found.formats) <= {TEXT, EMPTY}
    low, high = int(found.sizes.minimum or 0), int(found.sizes.maximum or 0)
    if high and not all_listed:
        same = f"always {plural(high, 'byte')}"
        parts.append(same if low == high else sizes(low, high))
    if found.troubles is None:
        parts.append("many that are not complete images")
    else:
        parts += [f"{many:,} {why}" for why, many in sorted(found.troubles.items())]
    if found.orientations:
        parts.append(f"{sum(found.orientations.values()):,} turned by EXIF")
    return parts


def _format(found: BytesValues, format_: str) -> str:
    if format_ in IMAGES:
        return _pictures(found, format_)
    if format_ == TENSOR:
        return _tensors(found.tensors)
    return _texts(found) if format_ == TEXT else format_


def _pictures(found: BytesValues, format_: str) -> str:
    """Describe the pictures of a format, by the sizes of all formats."""
    if found.pictures is not None:
        some = [each for each in found.pictures if each.format == format_]
        if len(some) < 2:
            return _picture(some[0]) if some else format_
    high, wide = extent(found.heights), extent(found.widths)
    many = " or ".join(map(str, sorted(found.channels)))
    return f"{format_} {high} high, {wide} wide, {many} channels"


def _picture(found: Picture) -> str:
    deep = f", {found.bits} bits" if found.bits != 8 else ""
    return f"{found.format} {found.height}x{found.width}x{found.channels}{deep}"


def _tensors(tensors: Mapping[TensorHead, int] | None) -> str:
    if tensors is None:
        return "tensors of many shapes"
    if len(tensors) == 1:
        return _tensor(next(iter(tensors)))
    dtypes = "/".join(sorted({tensor.dtype for tensor in tensors}))
    return f"tensor {dtypes} of {len(tensors):,} shapes"


def _tensor(head: TensorHead) -> str:
    if head.shape is None:
        return f"tensor {head.dtype} of unknown rank"
    return f"tensor {head.dtype} [{', '.join(map(str, head.shape))}]"


def _texts(found: BytesValues) -> str:
    if found.distinct is None:
        return "text"
    texts = {
        value.decode(): count
        for value, count in sorted(found.distinct.items())
        if content_of(value).format == TEXT
    }
    total = sum(texts.values())
    most = sorted(texts, key=lambda text: -texts[text])
    if len(most) == 1:
        return f"text, always {quoted(most[0], _TEXT_COLUMNS)}"
    if texts[most[0]] == 1 and total > _TEXTS:
        return f"text, all {len(most):,} different"
    shown = ", ".join(
        f"{quoted(text, _TEXT_COLUMNS)} ({share(texts[text], total)})"
        for text in most[:_TEXTS]
    )
    if len(most) <= _TEXTS:
        return f"text {shown}"
    return f"text, {len(most):,} different: {shown}, ..."


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


def feature_text(feature: Feature, data: bytes, room: int) -> str:
    """Return the values of a feature of a record in about so many columns."""
    if feature.kind == NOTHING:
        return "no list"
    count, some = len(feature.values), feature.values[:_SAMPLE_VALUES]
    if feature.kind == BYTES:
        texts = [_bytes_value(data[start:stop]) for start, stop in some]
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


def _bytes_value(value: bytes) -> str:
    """Describe a bytes value, and show how a text begins."""
    content = content_of(value)
    amount = size(len(value))
    if content.format == EMPTY:
        return '""'
    if content.format == TEXT:
        text = value.decode()
        shown = quoted(text, _SAMPLE_COLUMNS)
        return shown if len(text) <= _SAMPLE_COLUMNS else f"{shown} ({amount})"
    if content.picture is not None:
        return f"{_picture(content.picture)}, {amount}"
    if content.trouble:
        return f"{content.trouble}, {amount}"
    if content.tensor is not None:
        return f"{_tensor(content.tensor)}, {amount}"
    dots = " ..." if len(value) > _HEX_BYTES else ""
    return f"{amount}: {value[:_HEX_BYTES].hex(' ')}{dots}"
