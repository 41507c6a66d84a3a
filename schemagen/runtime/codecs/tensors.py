"""Tensors of any shape: with their sizes next to them, or inside a TensorProto."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..reading.columns import Column, Rows
from ..reading.fields import MalformedError
from ..shared import base64_text
from ..shared.values import item_size, shape_text
from ..shared.wire import Buffer, Pieces, buffer_of, varint
from . import graph_tensors
from .compound import Compound
from .decoded import Decoded, Decoding, Shape
from .faults import Features, refused, shown_bytes
from .numbers import FixedNumbers, Scalar, numbers_of, numpy_dtype
from .parsed import Parsed
from .part import INT, Part, size_part, values_part
from .single import NumbersCodec
from .sizes import counted, shaped, stored_sizes
from .tensor_proto import DATA_TYPES, DTYPES, TensorProto, parse_tensor_proto
from .values import checked_finite

# What tensorflow's kernels can count.
_MOST = 2**31 - 1

_SHARED_WORDS = ("height", "width", "channels")


@dataclass(eq=False, kw_only=True)
class _Padded(NumbersCodec):
    """Numbers of a shape some sizes of which may vary.

    Attributes:
        shape: of one row's value; None for a size that varies.
        padding_value: what fills a batch up to its largest tensor.
        transfer_encoding: "base64" for bytes that are stored as base64 text.
    """

    shape: tuple[int | None, ...]
    padding_value: Any = 0
    transfer_encoding: str | None = None

    @property
    def shape_of_rows(self) -> Shape:
        return self.shape

    @property
    def delivered_shape(self) -> Shape:
        return self.shape

    @property
    def takes(self) -> str:
        return f"{self.dtype} {shape_text(self.shape)}"

    @property
    def delivers(self) -> str:
        sizes = ("B", *("?" if size is None else size for size in self.shape))
        text = f"{self.dtype} [{', '.join(map(str, sizes))}]"
        if None not in self.shape:
            return text
        return f"{text}, padded with {self.filler!r}"

    if_missing = "only padding"

    @property
    def _wanted(self) -> str:
        return f"[{', '.join('?' if n is None else str(n) for n in self.shape)}]"

    def _misfits(self, table: Rows) -> NDArray[np.bool_]:
        """Return which rows of sizes [N, rank] do not match the shape."""
        low = np.array([0 if size is None else size for size in self.shape], np.int64)
        high = np.array([_MOST if n is None else n for n in self.shape], np.int64)
        return np.asarray(((table < low) | (table > high)).any(axis=1))

    def _present(self, parsed: Parsed) -> Any:
        return parsed.present(self.key) if self.missing else None


@dataclass(eq=False, kw_only=True)
class Tensor(Compound, _Padded):
    """A tensor of any shape, whose sizes are stored next to it.

    Attributes:
        dtype: by its TensorFlow name.
        shape_key: the key of all sizes, or one for each dimension with None for a
            fixed one that is not stored.
        encoding: "raw" for little-endian bytes, "list" for an int64 or float list.
    """

    dtype: str = "float32"
    shape_key: str | tuple[str | None, ...]
    encoding: str = "raw"

    def __post_init__(self) -> None:
        super().__post_init__()
        numbers = FixedNumbers(
            self.label,
            key=self.key,
            shape=self.shape,
            dtype=self.dtype,
            encoding=self.encoding,
            exact=self.exact,
            finite=self.finite,
            transfer_encoding=self.transfer_encoding,
        )
        self.members: Sequence[Any] = (numbers, *self._size_members())

    def _size_members(self) -> Sequence[Any]:
        if isinstance(self.shape_key, str):
            facts: dict[str, Any] = {"key": self.shape_key, "shape": (len(self.shape),)}
            return [FixedNumbers(self.label, dtype="int64", **facts)]
        return size_members(self.label, self.shape_key)

    def make_parts(self) -> tuple[Part, ...]:
        fixed = None not in self.shape
        count = prod(size or 1 for size in self.shape) if fixed else None
        value = values_part(
            self.key,
            self.dtype,
            count,
            raw=self.encoding == "raw",
            transfer_encoding=self.transfer_encoding,
        )
        raw = value.encoding == "raw"
        value = replace(value, missing=b"" if self.optional and raw else None)
        missing = -1 if self.optional else None
        keys, rank = self.shape_key, len(self.shape)
        if isinstance(keys, str):
            together = Part(
                keys,
                INT,
                rank,
                holds="size",
                bounds=(0, None),
                parameter="shape_key",
                content=f"the {rank} sizes of a tensor",
                sizes=self.shape,
                shape=(rank,),
                missing=None if missing is None else (missing,) * rank,
            )
            return (value, together)
        sizes = (
            size_part(key, "shape_key", _held(key), length, missing)
            for key, length in zip(keys, self.shape, strict=True)
            if key is not None
        )
        return (value, *sizes)

    @property
    def features(self) -> tuple[Part, ...]:
        value, *sizes = self.parts
        if value.encoding != "raw":  # TensorFlow parses it as a list of any length
            value = replace(value, count=None)
        return (value, *sizes)

    def convert(self, value: Any) -> NDArray[Any]:
        array: NDArray[Any] = self.members[0].convert(value)
        return array

    def split(self, value: Any) -> Sequence[Any]:
        if isinstance(self.shape_key, str):
            return value, list(value.shape)
        axes = stored_axes(self.shape_key)
        return value, *(value.shape[axis] for axis in axes)

    def decode(self, features: Features) -> Decoding:
        part = self.parts[0]
        raw = part.encoding == "raw"
        if raw:
            text = f"the bytes of a {self.dtype} tensor"
            column = yield from part.column(features, text)
        else:
            unfixed = replace(part, count=None)
            text = f"{unfixed.text} ({self.dtype})"
            column = yield from part.values(features, text, finite=self.finite)
        sizes = self._sizes_of(self.parts[1:])
        table, known = yield from stored_sizes(features, sizes, _sizes_text, column)
        column = column.only(known[column.rows])
        bad = self._misfits(table[column.rows])
        shapes = table[column.rows[bad]]
        column = yield from refused(
            column,
            bad,
            "SG530",
            "stored sizes do not match the shape",
            f"a tensor of shape {self._wanted}",
            lambda _, at: f"the sizes {shape_text(shapes[at].tolist())}",
        )
        text = f"the {'bytes' if raw else 'numbers'} of a {self.dtype} tensor of the stored sizes"
        own = table[column.rows]
        column = yield from counted(column, own, self.dtype, text, 0, "sizes")
        if raw and self.finite:
            column = yield from checked_finite(column, self.dtype)
        return Decoded(column.rows, lambda: self._values(column, table))

    def _sizes_of(self, parts: Sequence[Part]) -> Sequence[Any]:
        """Return the size of each dimension, or the part in which it is stored."""
        if isinstance(self.shape_key, str):
            return parts
        stored = iter(parts)
        return [
            size if key is None else next(stored)
            for key, size in zip(self.shape_key, self.shape, strict=True)
        ]

    def _values(self, column: Column, table: Rows) -> Any:
        numbers = numbers_of(column, self.dtype)
        return shaped(numbers, table[column.rows], self.shape)

    def parse(self, parsed: Parsed) -> Any:
        value, *parts = self.parts
        stored = self._sizes_of(parts)
        sizes: Any = tuple(
            parsed[each.key] if isinstance(each, Part) else each for each in stored
        )
        return graph_tensors.sized(
            value.tensor(parsed, self.label),
            self.label,
            self.tf_dtype,
            self.shape,
            sizes=sizes[0] if isinstance(self.shape_key, str) else sizes,
            padding_value=self.filler,
            present=self._present(parsed),
        )


@dataclass(eq=False, kw_only=True)
class SerializedTensor(_Padded):
    """A tensor of any shape, as tf.io.serialize_tensor writes it."""

    shape_key: None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._type = b"\x08" + varint(DATA_TYPES[self.dtype])

    def make_parts(self) -> tuple[Part, ...]:
        part = values_part(
            self.key, self.dtype, 1, raw=True, transfer_encoding=self.transfer_encoding
        )
        missing = b"" if self.optional else None
        return (replace(part, encoding="proto", missing=missing),)

    def _pieces(self, value: Any) -> Pieces:
        pieces = self._message(self.convert(value))
        if self.transfer_encoding:
            pieces = (base64_text.encoded(b"".join(pieces)),)
        return self._entry.packed_head(sum(map(len, pieces))), *pieces

    def _message(self, array: NDArray[Any]) -> tuple[Buffer, ...]:
        """Return the TensorProto of an array: what comes before its numbers, and these."""
        sizes = b"".join(map(_dimension, array.shape))
        numbers = buffer_of(self._numbers.raw(array))
        head = self._type + b"\x12" + varint(len(sizes)) + sizes
        if len(numbers):
            head += b"\x22" + varint(len(numbers))
        return head, numbers

    def decode(self, features: Features) -> Decoding:
        expected = f"a serialized tensor of {self.dtype}, shape {self._wanted}"
        column = yield from self.parts[0].column(features, expected)
        extents = column.values.copy()
        bad, texts = np.zeros(len(column), np.bool_), []
        shapes: list[tuple[int, ...]] = []
        for at, data in enumerate(column.bytes_values()):
            try:
                proto = parse_tensor_proto(data)
                wrong = self._wrong(proto)
                extents[at] = extents[at, 0] + proto.content
                shapes.append(proto.shape)
            except MalformedError:
                wrong = f"other bytes: {shown_bytes(data)}"
                shapes.append(())
            if wrong:
                bad[at] = True
                texts.append(wrong)
        yield from refused(
            column,
            bad,
            "SG528",
            "serialized tensor does not match the schema",
            expected,
            lambda _, at: texts[at],
        )
        inner = replace(column, values=extents).only(~bad)
        if self.finite:
            yield from checked_finite(inner, self.dtype)
        kept = [shape for shape, is_bad in zip(shapes, bad, strict=True) if not is_bad]
        return Decoded(inner.rows, lambda: self._values(inner, kept))

    def _wrong(self, proto: TensorProto) -> str:
        """Say what is wrong with a serialized tensor, or return ""."""
        if proto.dtype != DATA_TYPES[self.dtype]:
            name = DTYPES.get(proto.dtype, f"tensorflow's type {proto.dtype}")
            return f"a serialized tensor of {name}"
        shape = list(proto.shape)
        if len(shape) != len(self.shape):
            return f"a serialized tensor of rank {len(shape)}, {shape_text(shape)}"
        if shape and self._misfits(np.array([shape], np.int64)).any():
            return f"a serialized tensor of shape {shape_text(shape)}"
        begin, end = proto.content
        size = prod(shape) * item_size(self.dtype)
        if begin != end and end - begin != size:
            return f"{end - begin} bytes of numbers for the shape {shape_text(shape)}"
        return ""

    def _values(self, column: Column, shapes: list[tuple[int, ...]]) -> Any:
        """Return the tensors; numbers that are not in one piece are zeros or repeated."""
        sizes = column.sizes // item_size(self.dtype)
        numbers = numbers_of(column, self.dtype)
        rows, at = [], 0
        for shape, size in zip(shapes, sizes.tolist(), strict=True):
            if size != prod(shape):
                raise NotImplementedError(
                    f"field {self.label!r}: a serialized tensor whose numbers are not in "
                    "tensor_content, as tf.io.serialize_tensor writes them"
                )
            rows.append(numbers[at : at + size].reshape(shape))
            at += size
        if None in self.shape:
            return rows
        if rows:
            return np.stack(rows)
        return np.empty((0, *[n or 0 for n in self.shape]), numpy_dtype(self.dtype))

    def parse(self, parsed: Parsed) -> Any:
        return graph_tensors.deserialized(
            self.parts[0].tensor(parsed, self.label),
            self.label,
            self.tf_dtype,
            self.shape,
            padding_value=self.filler,
            present=self._present(parsed),
        )


def size_members(label: str, keys: Sequence[str | None]) -> list[Scalar]:
    """Return the codecs of a value's sizes, for those that have a key."""
    return [Scalar(label, key=key, dtype="int64") for key in keys if key]


def stored_axes(keys: Sequence[str | None]) -> list[int]:
    """Return the dimensions whose sizes have a key."""
    return [axis for axis, key in enumerate(keys) if key]


def _sizes_text(part: Part) -> str:
    text = f"{part.text}, the tensor's size"
    return text + "s" * ((part.count or 0) > 1)


def _held(key: str) -> str:
    """Say what a key of one size holds, in the word that images have for theirs."""
    last = key.rpartition("/")[2]
    return last if last in _SHARED_WORDS else "one size"


def _dimension(size: int) -> bytes:
    """Return a size as a message of its own; protobuf leaves out a zero."""
    message = b"\x08" + varint(size) if size else b""
    return b"\x12" + varint(len(message)) + message
