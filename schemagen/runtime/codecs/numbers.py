"""Numbers of a fixed shape: scalars and vectors, as a list or as raw bytes."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import isfinite, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..reading.columns import Column
from ..reading.decoding import Expected
from ..shared import base64_text
from ..shared.errors import Problem
from ..shared.values import FLOATS, INTEGERS, Numbers, item_size, shape_text
from ..shared.wire import Pieces, varint
from . import graph
from .decoded import Shape
from .entry_columns import EntryColumn, bytes_column, numbers_column, raw_column
from .faults import Features, Passed
from .parsed import Parsed
from .part import BYTES, Part, values_part
from .single import ColumnCodec, NumbersCodec
from .values import checked_finite, checked_size, raw_numbers

# numpy's own numbers that are as good as Python's. (A timedelta64 would be one of
# its integers, too.)
_NUMPY_NUMBERS = frozenset(
    np.dtype(name).type for name in ("bool", *INTEGERS, "float16", "float32", "float64")
)


@dataclass(eq=False, kw_only=True)
class FixedNumbers(NumbersCodec, ColumnCodec):
    """Numbers of a shape, in row-major order.

    Attributes:
        shape: of one row's value; None for a size that varies.
        encoding: "list" for an int64 or float list, "raw" for one bytes value of
            little-endian numbers.
        transfer_encoding: "base64" for raw bytes that are stored as base64 text.
    """

    shape: Shape = ()
    encoding: str = "list"
    transfer_encoding: str | None = None

    @property
    def shape_of_rows(self) -> Shape:
        return self.shape

    @property
    def delivered_shape(self) -> Shape:
        return self.shape

    @property
    def decoded_as(self) -> tuple[str, Shape]:
        return self.delivered_dtype, self.delivered_shape

    @property
    def nan_if_missing(self) -> bool:
        return self.missing and self.delivered_dtype in FLOATS

    def __post_init__(self) -> None:
        super().__post_init__()
        self._base64 = self.transfer_encoding is not None
        self._python_type, self._packed = _python_numbers(self.dtype, self._varints)
        if self._shape or self.exact or self._base64:
            self._python_type = None

    def make_parts(self) -> tuple[Part, ...]:
        shape = tuple(size or 0 for size in self.shape_of_rows)
        part = values_part(
            self.key,
            self.dtype,
            prod(shape),
            raw=self.encoding == "raw",
            transfer_encoding=self.transfer_encoding,
        )
        if part.stored != BYTES:
            part = replace(part, shape=shape)
        return (self._with_missing(part, shape),)

    def _with_missing(self, part: Part, shape: tuple[int, ...]) -> Part:
        """State what TensorFlow parses where the feature is missing."""
        if not self.optional:
            return part
        floats = self.dtype in FLOATS
        item: Any = self.default
        if item is None:
            item = float("nan") if self.nan_if_missing and floats else 0
        if part.encoding != "raw":
            return replace(part, missing=_as_stored(item, part.stored))
        numbers = Numbers(self.dtype, finite=False)
        array = np.asarray(item)
        if self.default is None:
            array = np.array([item], "float64" if floats else self.dtype)
        data = numbers.raw(numbers.convert(array)).tobytes()
        repeats = prod(shape) if self.default is None else 1
        return replace(part, missing=data, repeats=repeats)

    def encode(self, value: Any) -> Pieces:
        kind = type(value)
        if kind is np.ndarray:
            # What the field declares stays as it is.
            if value.shape == self._shape and self._numbers.accepts(value):
                return self._stored(value)
        elif self._python_type is not None:
            number = value.item() if kind in _NUMPY_NUMBERS else value
            if type(number) is self._python_type:
                packed = self._packed(number)
                if packed is not None:
                    return (self._entry.packed_head(len(packed)) + packed,)
        return self._row(value, None)

    def _stored(self, array: NDArray[Any]) -> Pieces:
        if self._base64:
            text = base64_text.encoded(array.tobytes())
            return self._entry.packed_head(len(text)), text
        return super()._stored(array)

    def _column(self, values: Any, rows: int) -> EntryColumn:
        if None in self._shape:
            return super()._column(values, rows)
        array = self._numbers.convert(values)
        if array.shape != (rows, *self._shape):
            raise Problem(f"shape {list(array.shape)}", f"{[rows, *self._shape]}")
        array = self._numbers.raw(array)
        if self._base64:
            return bytes_column(
                self._entry, [base64_text.encoded(row.tobytes()) for row in array]
            )
        if self._raw:
            sizes = np.full(rows, array.nbytes // rows)
            return raw_column(self._entry, array, sizes)
        return numbers_column(self._entry, array, array.size // rows)

    @property
    def expected(self) -> Expected | None:
        (part,) = self.parts
        if part.encoding != "raw":
            return part.expected(optional=self.optional, finite=self.finite)
        expected = part.expected(optional=self.optional)
        if expected is None or (self.finite and self.dtype in FLOATS):
            return None
        return expected._replace(size=self._raw_size)

    @property
    def _raw_size(self) -> int:
        """How many bytes the raw numbers have."""
        return prod(n or 0 for n in self.shape_of_rows) * item_size(self.dtype)

    def column(self, features: Features) -> Passed:
        """Return the rows with as many right numbers as the shape has."""
        (part,) = self.parts
        shape = shape_text(self.shape_of_rows)
        if part.encoding != "raw":
            text = f"{part.text} ({self.dtype} {shape})"
            return (yield from part.values(features, text, finite=self.finite))
        size = self._raw_size
        text = f"{size} bytes ({self.dtype} {shape})"
        column = yield from part.column(features, text)
        column = yield from checked_size(column, text, self.dtype, size)
        return (yield from checked_finite(column, self.dtype, self.finite))

    def _values(self, column: Column) -> NDArray[Any]:
        return numbers_of(column, self.dtype).reshape(len(column), *self._shape)

    def parse(self, parsed: Parsed) -> Any:
        (part,) = self.parts
        stored = part.tensor(parsed, self.label)
        if part.encoding == "raw":
            return graph.decode_raw(
                stored, self.label, self.tf_dtype, self.shape_of_rows
            )
        return graph.as_dtype(stored, self.label, self.tf_dtype)


@dataclass(eq=False, kw_only=True)
class Scalar(FixedNumbers):
    """One number or bool."""

    dtype: str = field()
    shape: Shape = field(default=(), init=False)

    @property
    def annotation(self) -> str:
        if self.dtype == "bool":
            return "bool"
        return "float" if self.dtype in FLOATS else "int"


@dataclass(eq=False, kw_only=True)
class Vector(FixedNumbers):
    """Numbers of a fixed shape.

    Attributes:
        dequantize: (scale, offset) of integers: readers deliver them times scale plus
            offset, as float32.
    """

    shape: Shape = field()
    dequantize: tuple[float, float] | None = None

    @property
    def delivered_dtype(self) -> str:
        return "float32" if self.dequantize else self.dtype

    @property
    def if_missing(self) -> str:
        text = super().if_missing
        given = self.default is not None
        return f"{text}, dequantized," if given and self.dequantize else text

    @property
    def absent(self) -> Any:
        given = self.default is not None
        return self._dequantized(np.array(self.default)) if given else super().absent

    def _values(self, column: Column) -> NDArray[Any]:
        return self._dequantized(super()._values(column))

    def _dequantized(self, numbers: NDArray[Any]) -> NDArray[Any]:
        if self.dequantize is None:
            return numbers
        scale, offset = map(np.float32, self.dequantize)
        return numbers.astype(np.float32) * scale + offset

    def parse(self, parsed: Parsed) -> Any:
        numbers = super().parse(parsed)
        if self.dequantize is None:
            return numbers
        present = parsed.present(self.key) if self.missing else None
        return graph.dequantized(numbers, self.dequantize, present=present)


def numbers_of(column: Column, dtype: str) -> NDArray[Any]:
    """Return all numbers of a list, or of raw bytes, in their dtype.

    Those of bfloat16 are of ml_dtypes' dtype, which has to be installed.
    """
    if column.kind == "bytes":
        column = raw_numbers(column, dtype)
    return column.values.astype(numpy_dtype(dtype), copy=False)


def numpy_dtype(dtype: str) -> np.dtype[Any]:
    """Return the numpy dtype of a TensorFlow dtype.

    Raises:
        ModuleNotFoundError: ml_dtypes is not installed, which has bfloat16.
    """
    if dtype == "bfloat16":
        import ml_dtypes  # type: ignore[import-not-found, import-untyped, unused-ignore]

        found: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
        return found
    return np.dtype(dtype)


def _as_stored(value: Any, stored: str) -> Any:
    """Return a default as the numbers of a list: bools are integers."""
    if isinstance(value, tuple):
        return tuple(_as_stored(each, stored) for each in value)
    return int(value) if stored == "int64" else float(value)


def _python_numbers(
    dtype: str, varints: bool
) -> tuple[type | None, Callable[[Any], bytes | None]]:
    """Return how Python's own numbers become bytes: for a type of theirs, a function.

    It takes a number and returns None for one that needs a closer look.
    """
    if dtype in ("float32", "float64"):
        layout = struct.Struct("<f" if dtype == "float32" else "<d")

        def packed_float(number: float) -> bytes | None:
            try:
                return layout.pack(number) if isfinite(number) else None
            except OverflowError:
                return None

        return float, packed_float
    if varints and dtype != "bool":
        bounds = np.iinfo(dtype)
        low, high = int(bounds.min), int(bounds.max)

        def packed_integer(number: int) -> bytes | None:
            if low <= number <= high:
                return varint(number & 0xFFFF_FFFF_FFFF_FFFF)
            return None

        return int, packed_integer
    if varints:
        return bool, lambda number: (b"\x00", b"\x01")[number]
    return None, lambda _: None
