"""What the values of a key are, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...runtime.cells.tensor_proto import TensorHead
from ..formatting import number, plural, quoted, share, sizes
from ..statistics.bytes_values import (
    EMPTY,
    IMAGES,
    SOUNDS,
    TENSOR,
    TEXT,
    BytesValues,
    ImageInfo,
    content_of,
)
from ..statistics.model import KindStatistics
from ..statistics.numbers import DISTINCT, MEASURES, NumericStatistics
from ..statistics.style import PLAIN, Style, measure_texts, spread_of
from .classes import class_text
from .columns import ColumnProfile

# So many different values are listed with their shares, and so many texts, of which
# each takes so many columns.
_LISTED = 6
_TEXTS = 4
_TEXT_COLUMNS = 24

# Above this share it is worth a word that values are zero.
_MANY_ZEROS = 0.5


def extent(found: NumericStatistics, style: Style = PLAIN) -> str:
    """Return from where to where numbers reach: "5", "0 to 32"."""
    if found.minimum is None or found.maximum is None:
        return "none"
    spread = spread_of(found)
    low, high = style.text(found.minimum, spread), style.text(found.maximum, spread)
    return low if found.minimum == found.maximum else f"{low} to {high}"


def values_text(
    found: KindStatistics,
    classes: Mapping[int, str] | None = None,
    style: Style = PLAIN,
) -> str:
    """Describe the values of a key and kind.

    Args:
        found: what is known of them.
        classes: the names of integers, if they are ids of classes.
        style: what the numbers are.
    """
    parts = []
    if classes and found.numbers is not None and found.numbers.distinct:
        parts += _ids(found.numbers.distinct, classes)
    elif found.numbers is not None:
        parts += _numbers(found.numbers, style)
    if found.contents is not None:
        parts += _bytes(found.contents)
    if found.lengths.zeros and found.lengths.maximum:
        parts.append(plural(found.lengths.zeros, "empty list"))
    return "; ".join(parts)


def _ids(counts: Mapping[Any, int], classes: Mapping[int, str]) -> list[str]:
    """Return the most frequent classes, with their ids and names."""
    total = sum(counts.values())
    most = sorted(counts, key=lambda value: (-counts[value], value))
    shown = []
    for value in most[:_LISTED]:
        name = class_text(value, classes, _TEXT_COLUMNS)
        shown.append(f"{name} ({share(counts[value], total)})")
    return [", ".join(shown) + (", ..." if len(most) > _LISTED else "")]


def _numbers(found: NumericStatistics, style: Style) -> list[str]:
    parts = []
    distinct, spread = found.distinct, spread_of(found)
    if found.constant is not None:
        parts.append(f"always {style.text(found.constant)}")
    elif distinct is not None and 1 < len(distinct) <= _LISTED:
        shares = (
            f"{style.text(value, spread)} ({share(count, found.finite)})"
            for value, count in sorted(distinct.items())
        )
        parts.append(", ".join(shares))
    elif found.minimum is not None and found.minimum == found.maximum:
        parts.append(style.text(found.minimum))
    elif found.minimum is not None:
        measures = ""
        if style.are_amounts:
            texts = measure_texts(found)
            measures = "".join(
                f", {measure.name} {texts[measure.name]}"
                for measure in MEASURES
                if measure.in_words
            )
        parts.append(f"{extent(found, style)}{measures}")
        parts += _diversity(found)
    if found.nan:
        parts.append(f"{found.nan:,} NaN")
    for many, name in zip(found.infinite, ("-inf", "inf"), strict=True):
        if many:
            parts.append(f"{many:,} {name}")
    return parts


def _diversity(found: NumericStatistics) -> list[str]:
    parts = []
    if found.distinct is not None:
        parts.append(f"{len(found.distinct):,} different")
    elif not found.floats:
        parts.append(f"more than {DISTINCT:,} different")
    far = max(abs(found.minimum or 0), abs(found.maximum or 0))
    # Beyond this, float64 has whole numbers only.
    if found.floats and found.whole == found.finite and far < 2**53:
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
        parts.append("many that are not complete")
    else:
        parts += [f"{many:,} {why}" for why, many in sorted(found.troubles.items())]
    parts += _durations(found)
    if found.orientations:
        parts.append(f"{sum(found.orientations.values()):,} turned by EXIF")
    return parts


def _format(found: BytesValues, format_: str) -> str:
    if format_ in IMAGES:
        return _pictures(found, format_)
    if format_ == TENSOR:
        return _tensors(found.tensors)
    if format_ in SOUNDS:
        return _sounds(found, format_)
    return _texts(found) if format_ == TEXT else format_


def _pictures(found: BytesValues, format_: str) -> str:
    """Describe the pictures of a format, by the sizes of all formats."""
    if found.pictures is not None:
        some = [each for each in found.pictures if each.format == format_]
        if len(some) < 2:
            return picture_text(some[0]) if some else format_
    high, wide = extent(found.heights), extent(found.widths)
    many = " or ".join(map(str, sorted(found.channels)))
    return f"{format_} {high} high, {wide} wide, {many} channels"


def picture_text(found: ImageInfo) -> str:
    deep = f", {found.bits} bits" if found.bits != 8 else ""
    return f"{found.format} {found.height}x{found.width}x{found.channels}{deep}"


def _sounds(found: BytesValues, format_: str) -> str:
    """Describe the sounds of a format."""
    some = [each for each in found.sounds or () if each.format == format_]
    return " or ".join(sorted(each.text for each in some)[:_TEXTS]) or format_


def _durations(found: BytesValues) -> list[str]:
    """Describe how long sounds are, and how many are clipped or silent."""
    seconds = found.seconds
    if not seconds.count:
        return []
    total = f", {number(float(seconds.total), 4)} s in all" if seconds.count > 1 else ""
    low, high = (number(each or 0, 3) for each in (seconds.minimum, seconds.maximum))
    parts = [f"{low if low == high else f'{low} to {high}'} s{total}"]
    parts += [f"{found.clipped:,} clipped"] * bool(found.clipped)
    return parts + [f"{found.silent:,} silent"] * bool(found.silent)


def _tensors(tensors: Mapping[TensorHead, int] | None) -> str:
    if tensors is None:
        return "tensors of many shapes"
    if len(tensors) == 1:
        return tensor_text(next(iter(tensors)))
    dtypes = "/".join(sorted({tensor.dtype for tensor in tensors}))
    return f"tensor {dtypes} of {len(tensors):,} shapes"


def tensor_text(head: TensorHead) -> str:
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


def values_of(column: ColumnProfile) -> str:
    """Return what the values of a column are, in words."""
    whole, field = column.whole, column.field
    kinds = [each.by_kind for each in column.found.values()]
    total = sum(held.present for each in kinds for held in each.values())
    if not column.found:
        return ""
    if not column.kinds:
        return "no steps" if column.steps and not total else "never a list"
    raw = field is not None and field.parts[0].encoding == "raw"
    if raw and whole.contents:
        size = f"{extent(whole.contents.sizes)} bytes"
        return "; ".join([size, *_durations(whole.contents)])
    text = values_text(whole, column.class_names, column.style)
    if column.steps and whole.present != total:
        return f"in {share(whole.present, total)} of the steps; {text}"
    return text
