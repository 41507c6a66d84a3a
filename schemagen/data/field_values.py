"""The values of fields in many records, as rows hold them, without tensorflow.

It takes columns in which verification has found nothing wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kinds.field import FieldSpec
from ..kinds.image import Image
from ..kinds.label import Label
from ..kinds.mask import Mask
from ..kinds.multilabel import MultiLabel
from ..kinds.scalar import Scalar
from ..kinds.storage import BYTES, Entry
from ..kinds.tensor import Tensor
from ..kinds.text import Text
from ..kinds.varlen import VarLen
from ..kinds.vector import Vector
from .columns import Column, Columns, column_of
from .transfer import from_base64, from_raw
from .verify.faults import kind_of

Values = NDArray[Any] | Sequence[Any]
"""A value for each row: an array [rows, ...], or a list."""


class Layout(NamedTuple):
    """What the values of a field are made of.

    Attributes:
        dtype: of its numbers, or "string" or "bytes".
        rank: the number of dimensions of a value.
        is_tensor: whether it is an array, and not a list or a single value.
    """

    dtype: str
    rank: int
    is_tensor: bool


def layout_of(field: FieldSpec) -> Layout:
    """Return the layout of the values that `values_of` gives for a field."""
    kind, entry = field.kind, field.storage[0]
    if kind.name in ("Label", "MultiLabel"):
        return Layout("int64", int(kind.name == "MultiLabel"), False)
    if entry.stored == BYTES and entry.encoding not in ("raw", "list"):
        return Layout("bytes", int(kind.name == "Images"), False)
    if kind.name == "VarLen":
        rank = 1 + len(kind.item_shape)
        return Layout(entry.dtype, rank, rank > 1)
    rank = len(getattr(kind, "shape", ()))
    return Layout(entry.dtype, rank, rank > 0)


def unreadable(field: FieldSpec) -> str:
    """Return why the values of a field cannot be read, in words; "" if they can."""
    kind = field.kind
    if kind.name not in _READERS:
        return f"fields of kind {kind.name}"
    if getattr(kind, "dequantize", None):
        return "dequantize"
    if getattr(kind, "pad_on_disk", False):
        return "pad_on_disk"
    if field.storage[0].encoding == "proto":
        return "encoding='proto'"
    if getattr(kind, "dtype", "") == "bfloat16":  # no dtype of numpy, nor of Arrow
        return "dtype 'bfloat16'"
    return ""


def values_of(field: FieldSpec, columns: Columns) -> Values:
    """Return the value of a field in each record.

    Values are those that a writer takes: class ids from 0, pixels as they are stored,
    encoded images as bytes, lists as arrays.

    Args:
        field: one that is not `unreadable`.
        columns: records in which nothing is wrong.

    Returns:
        An array [records, ...] where all values have one shape; or a list, with the
        field's default, or None, for missing ones.
    """
    column = _column(columns, field.storage[0])
    values = _READERS[field.kind.name](field, column, columns)
    if len(column) == len(columns.records):
        return values
    found = [field.default] * len(columns.records)
    for row, value in zip(column.rows.tolist(), values, strict=True):
        found[row] = value
    return found


def _column(columns: Columns, entry: Entry) -> Column:
    column = column_of(columns.by_key, entry.key, kind_of(entry))
    return from_base64(column)[0] if entry.transfer_encoding else column


def _texts(column: Column, entry: Entry) -> list[Any]:
    """Return all values of a bytes list, in one list."""
    found = column.bytes_values()
    return [each.decode() for each in found] if entry.dtype == "string" else [*found]


def _numbers(column: Column, entry: Entry) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return all numbers of a list, or of raw bytes, and how many each row has."""
    if entry.encoding == "raw":
        column = from_raw(column, entry.dtype)
    return column.values.astype(entry.dtype), column.lengths


def _split(values: Any, lengths: NDArray[np.int64]) -> list[Any]:
    """Return the values of each row."""
    bounds = [0, *np.cumsum(lengths).tolist()]
    return [values[start:stop] for start, stop in pairwise(bounds)]


def _fixed(
    field: FieldSpec[Scalar | Text | Vector], column: Column, columns: Columns
) -> Values:
    entry = field.storage[0]
    if entry.dtype in ("string", "bytes"):
        return _texts(column, entry)
    numbers, _ = _numbers(column, entry)
    return numbers.reshape(len(column), *getattr(field.kind, "shape", ()))


def _var_len(field: FieldSpec[VarLen], column: Column, columns: Columns) -> Values:
    kind, entry = field.kind, field.storage[0]
    if entry.stored == BYTES and entry.encoding != "raw":
        rows = _split(_texts(column, entry), column.lengths)
    else:
        numbers, lengths = _numbers(column, entry)
        numbers = numbers.reshape(-1, *kind.item_shape)
        rows = _split(numbers, lengths // prod(kind.item_shape))
    if kind.too_long == "error" or kind.max_length is None:
        return rows
    most = kind.max_length
    keeps_head = kind.too_long == "keep_head"
    return [
        row[:most] if keeps_head else row[max(0, len(row) - most) :] for row in rows
    ]


def _classes(
    field: FieldSpec[Label | MultiLabel], column: Column, columns: Columns
) -> Values:
    kind, entry = field.kind, field.storage[0]
    if kind.stored == "id":
        ids = np.asarray(column.values - kind.offset, np.int64)
    else:
        known = {name: at for at, name in enumerate(kind.class_names)}
        ids = np.array([known[text] for text in _texts(column, entry)], np.int64)
    return ids if entry.count == 1 else _split(ids, column.lengths)


def _image(field: FieldSpec[Image | Mask], column: Column, columns: Columns) -> Values:
    kind = field.kind
    if kind.encoding != "raw":
        return _texts(column, field.storage[0])
    keys = (kind.height_key, kind.width_key, getattr(kind, "channels_key", None))
    return _shaped(field, column, columns, keys[: len(kind.shape)])


def _images(field: FieldSpec, column: Column, columns: Columns) -> Values:
    return _split(_texts(column, field.storage[0]), column.lengths)


def _tensor(field: FieldSpec[Tensor], column: Column, columns: Columns) -> Values:
    return _shaped(field, column, columns, field.kind.shape_key or ())


def _shaped(
    field: FieldSpec[Image | Mask | Tensor],
    column: Column,
    columns: Columns,
    keys: str | tuple[str | None, ...],
) -> Values:
    """Return numbers of a shape with sizes that vary.

    Args:
        field: the field.
        column: its numbers.
        columns: where the sizes are stored.
        keys: the key of all sizes, or of each that varies.
    """
    shape, entry = field.kind.shape, field.storage[0]
    numbers, lengths = _numbers(column, entry)
    if None not in shape:
        return numbers.reshape(len(column), *shape)
    axes: list[NDArray[np.int64]] = []
    for at, key in enumerate([keys] if isinstance(keys, str) else keys):
        if shape[at] is not None and not isinstance(keys, str):
            axes.append(np.full((len(column), 1), shape[at], np.int64))
            continue
        [part] = [each for each in field.storage[1:] if each.key == key]
        sizes = _column(columns, part)
        table = sizes.values.reshape(-1, part.count or 1)
        axes.append(table[np.searchsorted(sizes.rows, column.rows)])
    shapes = np.concatenate(axes, axis=1).tolist()
    pairs = zip(_split(numbers, lengths), shapes, strict=True)
    return [row.reshape(each) for row, each in pairs]


_READERS: dict[str, Callable[[Any, Column, Columns], Values]] = {
    "Image": _image,
    "Images": _images,
    "Label": _classes,
    "Mask": _image,
    "MultiLabel": _classes,
    "Scalar": _fixed,
    "Tensor": _tensor,
    "Text": _fixed,
    "VarLen": _var_len,
    "Vector": _fixed,
}
