"""Tensors of any shape: sizes that are stored next to them or in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from ...kinds.field import FieldSpec
from ...kinds.storage import Entry
from ...kinds.tensor import Tensor
from ...runtime.shared.values import item_size, shape_text
from ..message import INT64, MalformedError
from ..tensor_proto import DATA_TYPES, DTYPES, TensorProto, parse_tensor_proto
from .causes import what_it_is
from .faults import Passed, Units, amount, kind_of, only, refused, shown_bytes
from .sized import of_sizes, stored_sizes
from .values import finite_bytes, listed_values, single_bytes

# What tensorflow's kernels can count.
_MOST = 2**31 - 1


def tensor(spec: FieldSpec[Tensor], units: Units) -> Passed:
    """Check a tensor: its sizes, and as many numbers as they ask for."""
    if spec.kind.encoding == "proto":
        return (yield from _serialized(spec, units))
    kind, (entry, *further) = spec.kind, spec.storage
    if entry.encoding == "raw":
        text = f"the bytes of a {kind.dtype} tensor"
        column = yield from single_bytes(units, entry, text)
    else:
        text = f"{amount(None, kind_of(entry))} ({kind.dtype})"
        column = yield from listed_values(units, entry, text, kind.finite)
    sizes: Sequence[int | Entry] = further
    if isinstance(kind.shape_key, tuple):
        entries = iter(further)
        sizes = [
            (size or 0) if key is None else next(entries)
            for key, size in zip(kind.shape_key, kind.shape, strict=True)
        ]
    table, known = yield from stored_sizes(units, sizes, _sizes_text, column)
    column = only(column, known[column.rows])
    bad = _misfits(spec, table[column.rows])
    shapes = table[column.rows[bad]]
    column = yield from refused(
        column,
        bad,
        "SG530",
        "stored sizes do not match the shape",
        f"a tensor of shape {_wanted(spec)}",
        lambda _, at: f"the sizes {shape_text(shapes[at].tolist())}",
    )
    unit = "bytes" if entry.encoding == "raw" else "numbers"
    text = f"the {unit} of a {kind.dtype} tensor of the stored sizes"
    column = yield from of_sizes(
        column, table[column.rows], kind.dtype, text, 0, "sizes"
    )
    if entry.encoding == "raw" and kind.finite:
        return (yield from finite_bytes(column, kind.dtype))
    return column


def _sizes_text(entry: Entry) -> str:
    text = f"{amount(entry.count, INT64)}, the tensor's size"
    return text + "s" * ((entry.count or 0) > 1)


def _wanted(spec: FieldSpec[Tensor]) -> str:
    return f"[{', '.join('?' if n is None else str(n) for n in spec.kind.shape)}]"


def _misfits(spec: FieldSpec[Tensor], table: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which rows of sizes [N, rank] do not go with the shape."""
    low = np.array([0 if size is None else size for size in spec.kind.shape], np.int64)
    high = np.array(
        [_MOST if size is None else size for size in spec.kind.shape], np.int64
    )
    return np.asarray(((table < low) | (table > high)).any(axis=1))


def _serialized(spec: FieldSpec[Tensor], units: Units) -> Passed:
    """Check what tf.io.serialize_tensor wrote."""
    expected = f"a serialized tensor of {spec.kind.dtype}, shape {_wanted(spec)}"
    column = yield from single_bytes(units, spec.storage[0], expected)
    extents = column.values.copy()
    bad, texts = np.zeros(len(column), np.bool_), []
    for at, data in enumerate(column.bytes_values()):
        try:
            proto = parse_tensor_proto(data)
            wrong = _wrong_proto(spec, proto)
            extents[at] = extents[at, 0] + proto.content
        except MalformedError:
            wrong = f"other bytes: {what_it_is(data) or shown_bytes(data)}"
        if wrong:
            bad[at] = True
            texts.append(wrong)
    passed = yield from refused(
        column,
        bad,
        "SG528",
        "serialized tensor does not match the schema",
        expected,
        lambda _, at: texts[at],
    )
    if spec.kind.finite:
        inner = only(replace(column, values=extents), ~bad)
        yield from finite_bytes(inner, spec.kind.dtype)
    return passed


def _wrong_proto(spec: FieldSpec[Tensor], proto: TensorProto) -> str:
    """Say what is wrong with a serialized tensor, or return ""."""
    if proto.dtype != DATA_TYPES[spec.kind.dtype]:
        name = DTYPES.get(proto.dtype, f"tensorflow's type {proto.dtype}")
        return f"a serialized tensor of {name}"
    shape = list(proto.shape)
    if len(shape) != len(spec.kind.shape):
        return f"a serialized tensor of rank {len(shape)}, {shape_text(shape)}"
    if shape and _misfits(spec, np.array([shape], np.int64)).any():
        return f"a serialized tensor of shape {shape_text(shape)}"
    begin, end = proto.content
    size = prod(shape) * item_size(spec.kind.dtype)
    if begin != end and end - begin != size:
        return f"{end - begin} bytes of numbers for the shape {shape_text(shape)}"
    return ""
