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
    found = [column.bytes_at(at) for at in range(len(column.values))]
    return [each.decode() for each in found] if entry.dtype == "string" else found


def _numbers(column: Column, entry: Entry) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return all numbers of a list, or of raw bytes, and how many each row has."""
    if entry.encoding == "raw":
        column = from_raw(column, entry.dtype)
    return column.values.astype(entry.dtype), column.lengths


def _split(values: Any, lengths: NDArray[np.int64]) -> list[Any]:
    """Return the values of each row."""
    bounds = [0, *np.cumsum(lengths).tolist()]
    return [values[start:stop] for start, stop in pairwise(bounds)]


def _scalar(field: FieldSpec[Scalar], column: Column, columns: Columns) -> Values:
    entry = field.storage[0]
    if entry.dtype in ("string", "bytes"):
        return _texts(column, entry)
    return _numbers(column, entry)[0]


def _vector(field: FieldSpec[Vector], column: Column, columns: Columns) -> Values:
    numbers, _ = _numbers(column, field.storage[0])
    return numbers.reshape(len(column), *field.kind.shape)


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


def _label(field: FieldSpec[Label], column: Column, columns: Columns) -> Values:
    return _ids(field, column)


def _multi_label(
    field: FieldSpec[MultiLabel], column: Column, columns: Columns
) -> Values:
    return _split(_ids(field, column), column.lengths)


def _ids(
    field: FieldSpec[Label] | FieldSpec[MultiLabel], column: Column
) -> NDArray[np.int64]:
    kind, entry = field.kind, field.storage[0]
    if kind.stored == "id":
        return np.asarray(column.values - kind.offset, np.int64)
    ids = {name: at for at, name in enumerate(kind.class_names)}
    return np.array([ids[text] for text in _texts(column, entry)], np.int64)


def _image(
    field: FieldSpec[Image] | FieldSpec[Mask], column: Column, columns: Columns
) -> Values:
    kind = field.kind
    if kind.encoding != "raw":
        return _texts(column, field.storage[0])
    keys = (kind.height_key, kind.width_key, getattr(kind, "channels_key", None))
    return _shaped(field, column, columns, kind.shape, keys[: len(kind.shape)])


def _images(field: FieldSpec, column: Column, columns: Columns) -> Values:
    return _split(_texts(column, field.storage[0]), column.lengths)


def _tensor(field: FieldSpec[Tensor], column: Column, columns: Columns) -> Values:
    kind = field.kind
    if isinstance(kind.shape_key, tuple) or None not in kind.shape:
        keys = kind.shape_key if isinstance(kind.shape_key, tuple) else ()
        return _shaped(field, column, columns, kind.shape, keys)
    sizes = _column(columns, field.storage[1])
    shapes = sizes.values.reshape(len(sizes), len(kind.shape))
    return _reshaped(field, column, shapes[np.searchsorted(sizes.rows, column.rows)])


def _shaped(
    field: FieldSpec,
    column: Column,
    columns: Columns,
    shape: tuple[int | None, ...],
    keys: tuple[str | None, ...],
) -> Values:
    """Return numbers of a shape with sizes that vary, stored under a key each."""
    if None not in shape:
        numbers, _ = _numbers(column, field.storage[0])
        return numbers.reshape(len(column), *shape)
    entries = {entry.key: entry for entry in field.storage}
    shapes = np.empty((len(column), len(shape)), np.int64)
    for at, (length, key) in enumerate(zip(shape, keys, strict=True)):
        if length is not None:
            shapes[:, at] = length
        else:
            sizes = _column(columns, entries[key or ""])
            shapes[:, at] = sizes.values[np.searchsorted(sizes.rows, column.rows)]
    return _reshaped(field, column, shapes)


def _reshaped(field: FieldSpec, column: Column, shapes: NDArray[np.int64]) -> Values:
    rows = _split(*_numbers(column, field.storage[0]))
    pairs = zip(rows, shapes.tolist(), strict=True)
    return [row.reshape(shape) for row, shape in pairs]


_READERS: dict[str, Callable[[Any, Column, Columns], Values]] = {
    "Image": _image,
    "Images": _images,
    "Label": _label,
    "Mask": _image,
    "MultiLabel": _multi_label,
    "Scalar": _scalar,
    "Tensor": _tensor,
    "Text": _scalar,
    "VarLen": _var_len,
    "Vector": _vector,
}
