"""Tensors of any shape: sizes that are stored next to them or in them."""

from __future__ import annotations

from collections.abc import Generator
from math import prod

import numpy as np
from numpy.typing import NDArray

from ...kinds.field import FieldSpec
from ...kinds.tensor import Tensor
from ...runtime.shared.values import item_size, shape_text
from ..columns import Column
from ..message import INT64, MalformedError
from ..tensor_proto import DATA_TYPES, DTYPES, TensorProto, parse_tensor_proto
from .causes import cause_of_size, what_it_is
from .faults import (
    Fault,
    Passed,
    Units,
    amount,
    kind_of,
    only,
    refused,
    shown_bytes,
    sizes_of,
    stored,
    typed,
)
from .numbers import finite_bytes, of_dtype, single_bytes

# What tensorflow's kernels can count.
_MOST = 2**31 - 1


def tensor(spec: FieldSpec[Tensor], units: Units) -> Passed:
    """Check a tensor: its sizes, and as many numbers as they ask for."""
    if spec.kind.encoding == "proto":
        return (yield from _serialized(spec, units))
    entry = spec.storage[0]
    raw = entry.encoding == "raw"
    if raw:
        column = yield from single_bytes(
            units,
            entry,
            optional=spec.optional,
            expected=f"the bytes of a {spec.kind.dtype} tensor",
        )
    else:
        text = f"{amount(None, kind_of(entry))} ({spec.kind.dtype})"
        column = yield from typed(units, entry, optional=spec.optional, expected=text)
        column = yield from of_dtype(column, entry, finite=spec.kind.finite)
    table, known = yield from _stored_sizes(spec, units, column)
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
    item = item_size(spec.kind.dtype) if raw else 1
    have = sizes_of(column) if raw else column.lengths
    # In float64, so that sizes which no memory holds do not wrap around.
    sizes = table[column.rows]
    wanted = np.prod(sizes.astype(np.float64), axis=1) * item
    wrong: NDArray[np.bool_] = np.asarray(wanted != have)
    shapes_of_wrong, held = sizes[wrong], have[wrong]
    unit = "bytes" if raw else "numbers"
    column = yield from refused(
        column,
        wrong,
        "SG530",
        f"{unit} do not match the stored sizes",
        f"the {unit} of a {spec.kind.dtype} tensor of the stored sizes",
        lambda _, at: (
            f"{held[at]} {unit} and the sizes "
            f"{shape_text(shapes_of_wrong[at].tolist())}"
        ),
        lambda wrong, at: (
            cause_of_size(
                wrong.bytes_at(at),
                spec.kind.dtype,
                prod(shapes_of_wrong[at].tolist()) * item,
            )
            if raw
            else ""
        ),
    )
    if raw and spec.kind.finite:
        return (yield from finite_bytes(column, spec.kind.dtype))
    return column


def _wanted(spec: FieldSpec[Tensor]) -> str:
    return f"[{', '.join('?' if n is None else str(n) for n in spec.kind.shape)}]"


def _misfits(spec: FieldSpec[Tensor], table: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which rows of sizes [N, rank] do not go with the shape."""
    low = np.array([0 if size is None else size for size in spec.kind.shape], np.int64)
    high = np.array(
        [_MOST if size is None else size for size in spec.kind.shape], np.int64
    )
    return np.asarray(((table < low) | (table > high)).any(axis=1))


def _stored_sizes(
    spec: FieldSpec[Tensor], units: Units, column: Column
) -> Generator[Fault, None, tuple[NDArray[np.int64], NDArray[np.bool_]]]:
    """Return the sizes of each row, int64 [units, rank], and which are known.

    Of a tensor that is there the sizes have to be; without it they are not read.
    """
    count, rank = len(units.live), len(spec.kind.shape)
    table = np.zeros((count, rank), np.int64)
    known = units.live.copy()
    there = np.zeros(count, np.bool_)
    there[column.rows] = True
    keys, entries = spec.kind.shape_key, spec.storage[1:]
    if isinstance(keys, str):
        parts = [(entries[0], slice(0, rank))]
    else:
        assert keys is not None
        axes_of = [at for at, key in enumerate(keys) if key is not None]
        parts = [
            (entry, slice(at, at + 1))
            for entry, at in zip(entries, axes_of, strict=True)
        ]
        for at, (key, size) in enumerate(zip(keys, spec.kind.shape, strict=True)):
            if key is None:
                table[:, at] = size or 0
    for entry, axes in parts:
        key, width = entry.key, axes.stop - axes.start
        text = f"{amount(width, INT64)}, the tensor's size"
        text += "s" if width > 1 else ""
        sizes = yield from stored(units, entry, optional=spec.optional, expected=text)
        right = np.zeros(count, np.bool_)
        right[sizes.rows] = True
        table[sizes.rows, axes] = sizes.values.reshape(-1, width)
        known &= right
        if spec.optional:
            lacking = np.flatnonzero(there & ~units.present(key))
            if len(lacking):
                what = "the sizes of a tensor are missing"
                yield Fault(
                    "SG522", what, text, lacking, lambda at: "a tensor alone", key=key
                )
    return table, known


def _serialized(spec: FieldSpec[Tensor], units: Units) -> Passed:
    """Check what tf.io.serialize_tensor wrote."""
    expected = f"a serialized tensor of {spec.kind.dtype}, shape {_wanted(spec)}"
    column = yield from single_bytes(
        units, spec.storage[0], optional=spec.optional, expected=expected
    )
    view = column.data.data
    found: dict[int, str] = {}
    extents: list[tuple[int, int]] = []
    for at, (start, stop) in enumerate(column.values.tolist()):
        data = bytes(view[start:stop])
        try:
            proto = parse_tensor_proto(data)
        except MalformedError:
            what = what_it_is(data)
            found[at] = f"other bytes: {what or shown_bytes(data)}"
            continue
        wrong = _wrong_proto(spec, proto)
        if wrong:
            found[at] = wrong
        else:
            begin, end = proto.content
            extents.append((start + begin, start + end))
    texts = list(found.values())
    bad = np.zeros(len(column), np.bool_)
    bad[list(found)] = True
    column = yield from refused(
        column,
        bad,
        "SG528",
        "serialized tensor does not match the schema",
        expected,
        lambda _, at: texts[at],
    )
    if spec.kind.finite and extents:
        inner = Column(
            column.key,
            column.kind,
            column.rows,
            column.lengths,
            np.array(extents, np.int64),
            column.data,
        )
        yield from finite_bytes(inner, spec.kind.dtype)
    return column


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
