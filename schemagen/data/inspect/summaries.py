"""What is known of a key's values, in a few words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..formatting import number, percent, plural, sizes
from ..statistics.bytes_values import BytesValues
from ..statistics.contents import (
    EMPTY,
    IMAGES,
    RAW,
    TENSOR,
    TEXT,
    content_of,
)
from ..statistics.model import KindStatistics
from ..statistics.numbers import DISTINCT, Numbers
from ..tensor_proto import TensorHead
from .terminal import quoted

# So many different values are listed with their shares.
_LISTED = 6

# Of texts so many are shown, and of each so many columns.
_TEXTS = 4
_TEXT_COLUMNS = 24

# Above this share it is worth a word that values are zero.
_MANY_ZEROS = 0.5


def values_text(found: KindStatistics, without: int = 0) -> str:
    """Say what the values of a key and kind are.

    Args:
        found: what is known of them.
        without: how many more have the key, and no list.
    """
    parts = []
    if found.numbers is not None:
        parts += _numbers(found.numbers)
    if found.bytes is not None:
        parts += _bytes(found.bytes)
    if found.lengths.zeros and found.lengths.maximum:
        parts.append(plural(found.lengths.zeros, "empty list"))
    if without:
        parts.append(f"{without:,} more without a list")
    return "; ".join(parts)


def _numbers(found: Numbers) -> list[str]:
    if not found.count:
        return []
    parts = []
    few = found.distinct is not None and 1 < len(found.distinct) <= _LISTED
    if found.minimum is None:
        pass
    elif found.constant is not None:
        parts.append(f"always {number(found.constant)}")
    elif few and found.distinct is not None:
        total = found.finite
        parts.append(
            ", ".join(
                f"{number(value)} ({share(count, total)})"
                for value, count in sorted(found.distinct.items())
            )
        )
    elif found.minimum == found.maximum:
        parts.append(number(found.minimum))
    else:
        mean = found.mean or 0.0
        parts.append(f"{extent(found)}, mean {number(mean, 4)}")
        parts += _diversity(found)
    if found.nan:
        parts.append(f"{found.nan:,} NaN")
    for many, name in zip(found.infinite, ("-inf", "inf"), strict=True):
        if many:
            parts.append(f"{many:,} {name}")
    return parts


def _diversity(found: Numbers) -> list[str]:
    parts = []
    whole = found.whole == found.finite
    if found.distinct is not None and found.minimum != found.maximum:
        parts.append(f"{len(found.distinct):,} different")
    elif not found.floats:
        parts.append(f"more than {DISTINCT:,} different")
    if found.floats and whole:
        parts.append("whole numbers")
    if found.zeros > _MANY_ZEROS * found.finite:
        parts.append(f"{share(found.zeros, found.finite)} zeros")
    return parts


def _bytes(found: BytesValues) -> list[str]:
    if not found.count:
        return []
    formats = sorted(found.formats.items(), key=lambda each: (-each[1], each[0]))
    single = len(formats) == 1
    parts = []
    for format_, count in formats:
        text = _format(found, format_)
        parts.append(text if single else f"{text} ({share(count, found.count)})")
    low, high = found.sizes.minimum, found.sizes.maximum
    if low == high and high and not _all_listed(found):
        parts.append(f"always {plural(int(high), 'byte')}")
    elif low is not None and high and not _all_listed(found):
        parts.append(sizes(int(low), int(high)))
    if found.troubles is None:
        parts.append("many that are no whole images")
    else:
        parts += [f"{many:,} {why}" for why, many in sorted(found.troubles.items())]
    if set(found.formats) == {RAW} and found.utf8 == found.count:
        parts.append("UTF-8 with control characters")
    return parts


def _format(found: BytesValues, format_: str) -> str:
    if format_ in IMAGES:
        return _pictures(found, format_)
    if format_ == TENSOR:
        return _tensors(found.tensors)
    if format_ == TEXT:
        return _texts(found)
    return format_ if format_ in (RAW, EMPTY) else ""


def _pictures(found: BytesValues, format_: str) -> str:
    """Say how large the pictures of a format are, if that is known of it alone."""
    some = None
    if found.pictures is not None:
        some = [each for each in found.pictures if each.format == format_]
    if some is not None and not some:
        return format_
    if some is not None and len(some) == 1:
        (only,) = some
        deep = f", {only.bits} bits" if only.bits != 8 else ""
        return f"{format_} {only.height}x{only.width}x{only.channels}{deep}"
    if some is not None:
        heights, widths = {e.height for e in some}, {e.width for e in some}
        high = _between(min(heights), max(heights))
        wide = _between(min(widths), max(widths))
        channels = sorted({each.channels for each in some})
    else:
        high, wide = extent(found.heights), extent(found.widths)
        channels = sorted(found.channels)
    many = " or ".join(map(str, channels))
    return f"{format_} {high} high, {wide} wide, {many} channels"


def _between(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _tensors(tensors: Mapping[TensorHead, int] | None) -> str:
    if tensors is None:
        return "tensors of many shapes"
    if len(tensors) == 1:
        return f"tensor {tensor_text(next(iter(tensors)))}"
    dtypes = "/".join(sorted({tensor.dtype for tensor in tensors}))
    return f"tensor {dtypes} of {len(tensors):,} shapes"


def tensor_text(tensor: TensorHead) -> str:
    """Return "float32 [2, 3]"."""
    if tensor.shape is None:
        return f"{tensor.dtype} of unknown rank"
    return f"{tensor.dtype} [{', '.join(map(str, tensor.shape))}]"


def _texts(found: BytesValues) -> str:
    if found.distinct is None:
        return "text"
    texts = {value: count for value, count in found.distinct.items() if _is_text(value)}
    total = sum(texts.values())
    most: list[tuple[Any, int]] = sorted(
        texts.items(), key=lambda each: (-each[1], each[0])
    )
    if len(most) == 1:
        return f"text, always {quoted(most[0][0].decode(), _TEXT_COLUMNS)}"
    if most[0][1] == 1 and total > _TEXTS:
        return f"text, all {len(most):,} different"
    shown = ", ".join(
        f"{quoted(value.decode(), _TEXT_COLUMNS)} ({share(count, total)})"
        for value, count in most[:_TEXTS]
    )
    if len(most) <= _TEXTS:
        return f"text {shown}"
    return f"text, {len(most):,} different: {shown}, ..."


def _all_listed(found: BytesValues) -> bool:
    """Tell whether every value is a text that is shown."""
    few = found.distinct is not None and len(found.distinct) <= _TEXTS
    return few and set(found.formats) <= {TEXT, EMPTY}


def _is_text(value: bytes) -> bool:
    return content_of(value).format == TEXT


def extent(found: Numbers) -> str:
    """Return from where to where numbers reach: "5", "0 to 32"."""
    if found.minimum is None or found.maximum is None:
        return "none"
    if found.minimum == found.maximum:
        return number(found.minimum)
    return f"{number(found.minimum)} to {number(found.maximum)}"


def share(part: int, whole: int) -> str:
    """Return a part as "all", or in percent."""
    return "all" if part == whole else percent(part, whole, space="")
