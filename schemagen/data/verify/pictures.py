"""Pictures and masks: headers and sizes, without decoding a pixel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from ...kinds.field import FieldSpec
from ...kinds.image import Image
from ...kinds.images import Images
from ...kinds.mask import Mask
from ...runtime.encoding import mask as encoded_mask
from ...runtime.encoding.base import BytesFeature
from ...runtime.encoding.image import EncodedImage
from ...runtime.shared.errors import Problem
from ...runtime.shared.images import header_of, sniff
from ...runtime.shared.values import item_size
from ..columns import Column
from ..message import BYTES
from ..transfer import from_raw
from .beside import beside, formats
from .causes import what_it_is
from .faults import (
    Fault,
    Passed,
    Units,
    amount,
    only,
    refused_values,
    sizes_of,
    stored,
)
from .lists import at_most
from .sized import of_sizes, stored_sizes
from .values import fixed_values, outside, single_bytes

_SIZES = ("height", "width", "channels")


def image(spec: FieldSpec[Image], units: Units) -> Passed:
    """Check a picture, and what is stored next to it about its size and format."""
    kind = spec.kind
    keys = (kind.height_key, kind.width_key, kind.channels_key)
    if kind.encoding == "raw":
        filled = spec.optional and None in kind.shape
        column = yield from _raw(spec, units, keys, filled=filled)
        return (yield from formats(spec, units, column, ["raw"] * len(column)))
    check = _codec(spec, kind.stored_dtype)
    return (yield from _encoded(spec, units, check, keys))


def images(spec: FieldSpec[Images], units: Units) -> Passed:
    """Check a list of pictures."""
    (entry,) = spec.storage
    text = f"{amount(entry.count, BYTES)}, each an image"
    column = yield from stored(units, entry, text)
    if entry.count is not None and spec.optional:
        nothing = (sizes_of(column).reshape(-1, entry.count) == 0).all(axis=1)
        column = only(column, ~nothing)
    column = yield from _checked(column, _codec(spec))
    if spec.kind.max_count is None:
        return column
    return (yield from at_most(column, column.lengths, spec.kind.max_count, "images"))


def mask(spec: FieldSpec[Mask], units: Units) -> Passed:
    """Check a mask: its header, or its ids if they are stored as they are."""
    kind = spec.kind
    keys = (kind.height_key, kind.width_key)
    if kind.encoding == "raw":
        column = yield from _raw(spec, units, keys, filled=spec.optional)
        column = yield from _ids(spec, column)
        return (yield from formats(spec, units, column, ["raw"] * len(column)))
    check = encoded_mask.Mask(
        spec.name, key=spec.key, shape=kind.shape, dtype=kind.dtype
    )
    return (yield from _encoded(spec, units, check, keys))


def _codec(spec: FieldSpec[Image | Images], dtype: str = "uint8") -> EncodedImage:
    kind = spec.kind
    return EncodedImage(
        spec.name, key=spec.key, shape=kind.shape, encoding=kind.encoding, dtype=dtype
    )


def _encoded(
    spec: FieldSpec[Image | Mask],
    units: Units,
    codec: BytesFeature,
    keys: Sequence[str | None],
) -> Passed:
    column = yield from single_bytes(
        units,
        spec.storage[0],
        f"an encoded {spec.kind.encoding}",
        filled=spec.optional,  # "" stands for none
    )
    column = yield from _checked(column, codec)
    if not (any(keys) or spec.kind.format_key) or not len(column):
        return column
    found = list(map(header_of, column.bytes_values()))
    sizes = np.array([header[:3] for _, header in found], np.int64)
    yield from beside(units, column, keys, sizes)
    return (yield from formats(spec, units, column, [form for form, _ in found]))


def _checked(column: Column, codec: BytesFeature) -> Passed:
    """Refuse the rows with a value that a codec raises a Problem for."""
    problems: dict[int, tuple[int, Problem]] = {}  # the first one of each row
    ends = np.cumsum(column.lengths)
    for at, data in enumerate(column.bytes_values()):
        try:
            codec.convert(data)
        except Problem as problem:
            row = int(np.searchsorted(ends, at, "right"))
            # A traceback would keep the memory of these records.
            problems.setdefault(row, (at, problem.with_traceback(None)))

    def found(rows: list[int], at: int) -> str:
        row = rows[at]
        value, refusal = problems[row]
        alone, place = column.lengths[row] == 1, value - column.starts[row]
        return refusal.found if alone else f"{refusal.found} at [{place}]"

    def cause(rows: list[int], at: int) -> str:
        value, refusal = problems[rows[at]]
        return refusal.advice or _cause(column.bytes_at(value))

    by_expected: dict[str, list[int]] = {}
    for row, (_, refusal) in problems.items():
        by_expected.setdefault(refusal.expected, []).append(row)
    for expected, rows in by_expected.items():
        yield Fault(
            "SG528",
            "image does not match the schema",
            expected,
            column.rows[rows],
            partial(found, rows),
            partial(cause, rows),
            column.key,
        )
    keep = np.ones(len(column), np.bool_)
    keep[list(problems)] = False
    return only(column, keep)


def _cause(data: bytes) -> str:
    if not data:
        return "nothing was written"
    if sniff(data):
        return ""
    if data.lstrip()[:5] in (b"<?xml", b"<svg "):
        return "an SVG, which tensorflow does not decode"
    if data.startswith((b"/9j/", b"iVBOR")):
        return 'an image in base64: declare transfer_encoding="base64"'
    what = what_it_is(data)
    return f"they begin like {what}" if what else "raw pixels, or a path?"


def _raw(
    spec: FieldSpec[Image | Mask],
    units: Units,
    keys: Sequence[str | None],
    *,
    filled: bool,
) -> Passed:
    """Check raw pixels, of a fixed shape or of the one that is stored next to them."""
    kind, (entry, *further) = spec.kind, spec.storage
    fixed = None not in kind.shape
    if fixed:
        shape = [size or 0 for size in kind.shape]
        column = yield from fixed_values(
            units, entry, shape, finite=False, filled=filled
        )
    else:
        text = f"{kind.dtype} pixels of the size that is stored next to them"
        column = yield from single_bytes(units, entry, text, filled=filled)
    read = {each.content: each for each in further if each.read}
    sizes = [
        read[name] if size is None else size
        for name, size in zip(_SIZES, kind.shape, strict=False)
    ]
    table, known = yield from stored_sizes(
        units,
        sizes,
        lambda entry: f"1 int64 value, the {entry.content}",
    )
    if not fixed:
        known &= (table != -1).all(axis=1)  # -1 is passed over
        column = only(column, known[column.rows])
        text = " x ".join(_SIZES[: len(sizes)])
        text = f"{text} x {item_size(kind.dtype)} bytes ({kind.dtype})"
        shapes = table[column.rows]
        column = yield from of_sizes(column, shapes, kind.dtype, text, 1, "size")
    pairs = zip(keys, kind.shape, strict=True)
    own = [None if size is None else key for key, size in pairs]
    return (yield from beside(units, column, own, table[column.rows]))


def _ids(spec: FieldSpec[Mask], column: Column) -> Passed:
    """Check the ids of raw masks."""
    count, ignore, dtype = spec.kind.count, spec.kind.ignore, spec.kind.dtype
    if count is None or count > np.iinfo(dtype).max:
        return column
    ids = from_raw(column, dtype)
    wrong = outside(ids.values, 0, count - 1)
    expected = f"class ids from 0 to {count - 1}"
    if ignore is not None:
        wrong &= ids.values != ignore
        expected += f", or {ignore} to be ignored"
    passed = yield from refused_values(
        ids,
        wrong,
        "SG527",
        "class id out of range",
        expected,
        found=lambda value: f"class id {value}",
    )
    return only(column, np.isin(column.rows, passed.rows))
