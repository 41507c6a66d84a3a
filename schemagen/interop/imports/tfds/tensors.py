"""Numbers of any shape, in the encodings of TFDS, and boxes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ....kinds.field import FieldSpec
from ....kinds.tensor import Tensor
from ..outcome import Outcome
from ..places import FLOATS, INTEGERS, RAW_ONLY
from . import table
from .connectors import Connector
from .here import Here, refused
from .lists import bytes_outcome, fields_of, list_outcome

_RAW = (*INTEGERS, *FLOATS, "uint64", "bool", "complex64", "complex128")


def box_outcome(feature: Connector, here: Here) -> Outcome:
    form = feature.says.get("bboxFormat")
    order = str(form or "REL_YXYX")
    doc = here.place.doc or f"A box: {_BOXES.get(order, order)}."
    here = replace(here, place=replace(here.place, doc=doc))
    dtype, shape = feature.dtype or "float32", feature.shape or (4,)
    return list_outcome(dtype, shape, here, table.BOX, role="info")


_BOXES = {
    "REL_YXYX": "ymin, xmin, ymax, xmax, as shares of the picture's size",
    "XYXY": "xmin, ymin, xmax, ymax, in pixels",
    "XYWH": "xmin, ymin, width, height, in pixels",
    "CENTER_XYWH": "x and y of the centre, width, height, in pixels",
    "REL_XYXY": "xmin, ymin, xmax, ymax, as shares of the picture's size",
    "REL_XYWH": "xmin, ymin, width, height, as shares of the picture's size",
    "REL_CENTER_XYWH": "x and y of the centre, width, height, as shares of the size",
}


def tensor_outcome(feature: Connector, here: Here) -> Outcome:
    """Return what becomes of numbers or texts of any shape."""
    shape, dtype = feature.shape, feature.dtype
    encoding = str(feature.says.get("encoding") or "none").lower()
    if feature.says.get("optional"):
        here = replace(here, place=replace(here.place, optional=True))
    if 0 in shape:
        return refused(table.NO_SIZE, here, f"shape {shape}")
    if encoding != "none":
        return _encoded(encoding, shape, dtype, here)
    if (here.rank and None in shape) or shape.count(None) > 1:
        return refused(table.TWO_SIZES, here, f"shape {shape}")
    row = table.TENSOR if shape else table.SCALAR
    if dtype == "string":
        said = "TFDS does not say whether these are texts or bytes"
        return list_outcome("string", shape, here, table.STRINGS, said)
    return list_outcome(dtype, shape, here, row)


def _encoded(
    encoding: str, shape: tuple[int | None, ...], dtype: str, here: Here
) -> Outcome:
    """Return what becomes of numbers that TFDS has turned into bytes."""
    place = here.place
    dynamic = shape.count(None) > 1
    words = f"np.frombuffer(value, {dtype!r})"
    if encoding == "zlib":
        words = f"np.frombuffer(zlib.decompress(value), {dtype!r})"
    words += f".reshape{tuple(-1 if size is None else size for size in shape)}"
    if dtype not in _RAW:
        return refused(table.OTHER, here, f"dtype {dtype}")
    if dynamic and encoding == "bytes" and not here.rank:
        common = replace(place, key=f"{place.key}/value").common("input")
        common["role"] = "info" if dtype.startswith("complex") else "input"
        field = _sized(common, shape, dtype, f"{place.key}/shape")
        return Outcome(here.part, table.DYNAMIC, (field,))
    if dynamic:
        words = (
            words.partition(".reshape")[0] + f".reshape(value of '{place.key}/shape')"
        )
        value = replace(here, place=replace(place, key=f"{place.key}/value"))
        sizes = replace(
            place,
            key=f"{place.key}/shape",
            path=(*place.path[:-1], f"{place.path[-1]}_shape"),
        )
        shape_field = fields_of(
            "int32", (len(shape),), replace(here, place=sizes), "info"
        )
        found = bytes_outcome(table.COMPRESSED, words, value)
        return replace(found, fields=(*found.fields, *shape_field))
    if encoding == "zlib" or here.rank or (None in shape):
        first_only = None in shape[:1] and not here.rank and encoding == "bytes"
        if dtype in RAW_ONLY and first_only:
            field = place.varlen(dtype, tuple(size or 0 for size in shape[1:]))
            return Outcome(here.part, table.RAW, (field,))
        return bytes_outcome(table.COMPRESSED, words, here)
    if not shape and dtype in RAW_ONLY:
        return Outcome(here.part, table.RAW, (place.scalar(dtype),))
    sizes_known = tuple(size or 0 for size in shape) or (1,)
    role = "info" if dtype.startswith("complex") else ""
    field = place.vector(sizes_known, dtype, raw=True, role=role)
    said = "" if shape else "one number, stored as raw bytes"
    return Outcome(here.part, table.RAW, (field,), said)


def _sized(
    common: Mapping[str, Any], shape: tuple[int | None, ...], dtype: str, key: str
) -> FieldSpec:
    zero: bool | int | float = False if dtype == "bool" else 0
    if dtype in FLOATS or dtype.startswith("complex"):
        zero = 0.0
    return FieldSpec.of(
        Tensor,
        **common,
        shape=shape,
        dtype=dtype,
        encoding="raw",
        shape_key=key,
        padding_value=zero,
    )
