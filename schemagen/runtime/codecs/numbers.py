"""Numbers of a fixed shape: scalars and vectors, as a list or as raw bytes."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..reading.decoding import Expected
from ..shared import base64_text
from ..shared.dtypes import DTYPES, FLOATS
from ..shared.images import sniff
from ..shared.values import Numbers, check_shape, shape_text
from ..shared.wire import buffer_of
from .base import Codec
from .changes import DEQUANTIZE, DTYPE, ENCODING, FINITE, SHAPE, TRANSFER, parameter
from .decoded import Shape
from .part import BYTES, Part, values_part
from .stored import Read, Rule, Source
from .stored_rows import scaled
from .written import RawRows, Stored, Written, written_numbers

# What is not below it is infinite as a float32: half a step above the largest one.
_FLOAT32_END = (2 - 2**-24) * 2.0**127

# numpy's own numbers that are as good as Python's. (A timedelta64 would be one of
# its integers, too.)
_NUMPY_NUMBERS = frozenset(each.numpy.type for each in DTYPES.values() if each.in_numpy)


# The dtypes of a number of bytes, for the guess that another one was written.
_NAMES = {
    1: "uint8",
    2: "float16 or int16",
    4: "float32 or int32",
    8: "float64 or int64",
}


@dataclass(eq=False, kw_only=True)
class NumbersCodec(Codec):
    """Numbers of an array, as a list or as raw bytes.

    Attributes:
        dtype: by its TensorFlow name.
        exact: refuse floats that `dtype` cannot hold exactly.
        finite: refuse NaN and infinities.
    """

    dtype: str = parameter(*DTYPE, default="float32")
    exact: bool = parameter(default=False)
    finite: bool = parameter(*FINITE, default=True)

    @property
    def shape_of_rows(self) -> Shape:
        """The shape of one row's value; None for a size that varies."""
        return ()

    def __post_init__(self) -> None:
        super().__post_init__()
        self._shape = self.shape_of_rows
        self._numbers = Numbers(
            self.dtype, self.exact, self.finite, single=self._shape == ()
        )
        self._raw = self.parts[0].encoding != "list"
        self._base64 = self.parts[0].transfer_encoding is not None

    def convert(self, value: Any) -> NDArray[Any]:
        array = self._numbers.convert(value)
        if array.shape == (0,) and self._shape[:1] == (None,):
            # [] has no item to tell the sizes that come after.
            array = array.reshape(tuple(size or 0 for size in self._shape))
        check_shape(array, self._shape)
        return array

    def store(self, value: Any) -> Sequence[Stored]:
        return (self._stored(self._numbers.raw(self.convert(value))),)

    def _stored(self, array: NDArray[Any]) -> Stored:
        """Return what is stored of little-endian numbers of the declared dtype."""
        if not self._raw:
            return array.reshape(-1)
        data = buffer_of(array)
        return (base64_text.encoded(data) if self._base64 else data,)


@dataclass(eq=False, kw_only=True)
class FixedNumbers(NumbersCodec):
    """Numbers of a shape, in row-major order.

    Attributes:
        shape: of one row's value; None for a size that varies.
        encoding: "list" for an int64 or float list, "raw" for one bytes value of
            little-endian numbers.
        transfer_encoding: "base64" for raw bytes that are stored as base64 text.
    """

    shape: Shape = parameter(*SHAPE, default=())
    encoding: str = parameter(*ENCODING, default="list")
    transfer_encoding: str | None = parameter(*TRANSFER, default=None)

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
        fast = not (self._shape or self.exact or self._base64)
        self._of_python = _of_python(self.dtype, self._raw) if fast else None

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

    def store(self, value: Any) -> Sequence[Stored]:
        kind = type(value)
        if kind is np.ndarray:
            # What the field declares stays as it is.
            if value.shape == self._shape and self._numbers.accepts(value):
                return (self._stored(value),)
        elif self._of_python is not None:
            number = value.item() if kind in _NUMPY_NUMBERS else value
            stored = self._of_python(number)
            if stored is not None:
                return (stored,)
        return super().store(value)

    def store_column(self, values: Any, rows: int) -> Sequence[Written]:
        if None in self._shape:
            return super().store_column(values, rows)
        array = self._numbers.convert(values)
        check_shape(array, (rows, *self._shape))
        return (self._written(self._numbers.raw(array), rows),)

    def _written(self, array: NDArray[Any], rows: int) -> Written:
        """Return what is stored of arrays of the same shape: [rows, ...]."""
        if self._base64:
            return Written([base64_text.encoded(row.tobytes()) for row in array])
        count = prod(array.shape[1:])
        if self._raw:
            return Written(RawRows(array, np.full(rows, count * array.itemsize)))
        return written_numbers(self.parts[0], array, count)

    @property
    def expected(self) -> Expected | None:
        (part,) = self.parts
        if part.encoding != "raw":
            return part.expected(optional=self.optional, finite=self.finite)
        expected = part.expected(optional=self.optional)
        if expected is None or (self.finite and self.dtype in FLOATS):
            return None
        return expected._replace(
            size=prod(n or 0 for n in self.shape) * DTYPES[self.dtype].size
        )

    def read(self, source: Source) -> Read:
        found = self.numbers(source)
        return found, lambda: found.dense(self.dtype, self.shape)

    def numbers(self, source: Source) -> Any:
        """Return the rows with as many right numbers as the shape has."""
        return numbers_in(
            source, self.parts[0], self.dtype, self.shape_of_rows, finite=self.finite
        )


@dataclass(eq=False, kw_only=True)
class Scalar(FixedNumbers):
    """One number or bool."""

    dtype: str = parameter(*DTYPE)
    shape: Shape = field(default=(), init=False)


@dataclass(eq=False, kw_only=True)
class Vector(FixedNumbers):
    """Numbers of a fixed shape.

    Attributes:
        dequantize: (scale, offset) of integers: readers deliver them times scale plus
            offset, as float32.
    """

    shape: Shape = parameter(*SHAPE)
    dequantize: tuple[float, float] | None = parameter(*DEQUANTIZE, default=None)

    @property
    def delivered_dtype(self) -> str:
        return "float32" if self.dequantize else self.dtype

    @property
    def absent(self) -> Any:
        if self.default is None or self.dequantize is None:
            return super().absent
        return scaled(np.array(self.default), *self.dequantize)

    def read(self, source: Source) -> Read:
        found, numbers = super().read(source)
        if self.dequantize is None:
            return found, numbers
        scale, offset = self.dequantize
        absent = source.absent(self.parts[0]) if self.missing else False
        return found, lambda: found.scaled(numbers(), scale, offset, absent)


def numbers_in(
    source: Source,
    part: Part,
    dtype: str,
    shape: Shape,
    *,
    finite: bool,
    fill: bool = False,
) -> Any:
    """Read the numbers of a list, or those that are raw bytes.

    Args:
        source: what they are read from.
        part: where they are stored.
        dtype: of the numbers.
        shape: of one row's numbers; (None, ...) for any number of items.
        finite: whether NaN and infinities are refused.
        fill: whether rows without are rows without values; see `Source.read`.
    """
    count = None if None in shape else prod(n or 0 for n in shape)
    if part.encoding != "raw":
        what = shape_text(shape) if count is not None else ""
        words = f"{part.text} ({f'{dtype} {what}'.strip()})"
        found = source.read(part, words, fill=fill)
        return found.numbers_of(dtype, part.bounds, finite=finite)
    item = DTYPES[dtype].size
    size = None if count is None else count * item
    text = f"raw {dtype} numbers of {item} bytes"
    if size is not None:
        text = f"{size} bytes ({dtype} {shape_text(shape)})"
    found = source.read(part, text, fill=fill)
    found = found.check_rows(
        lambda: (
            found.sizes % item == 0 if size is None else found.sizes == size,
            found.sizes,
        ),
        Rule("SG525", "wrong size of raw bytes", text),
        "{} bytes",
        cause=lambda wrong, at: cause_of_size(wrong.bytes_at(at), dtype, size),
    )
    numbers = found.raw(dtype, count)
    return numbers.finite(dtype) if finite and dtype in FLOATS else numbers


def cause_of_size(data: bytes, dtype: str, size: int | None) -> str:
    """Guess why raw bytes have another size than `size`, or return ""."""
    form = sniff(data)
    if form:
        return f"they begin like a {form}: declare that encoding in the schema"
    if not data:
        return "nothing was written"
    item = DTYPES[dtype].size
    for other, names in _NAMES.items():
        if size and other != item and len(data) * item == size * other:
            return (
                f"that is the size of as many {names} numbers: stored as such, read "
                f"as {dtype}?"
            )
    return ""


def _as_stored(value: Any, stored: str) -> Any:
    """Return a default as the numbers of a list: bools are integers."""
    if isinstance(value, tuple):
        return tuple(_as_stored(each, stored) for each in value)
    return int(value) if stored == "int64" else float(value)


def _of_python(dtype: str, raw: bool) -> Callable[[Any], Stored | None] | None:
    """Return how Python's own numbers are stored; None if each needs a closer look.

    The function returns None for a value that does.
    """
    if dtype == "bool" and not raw:
        return lambda value: (value,) if type(value) is bool else None
    if dtype in ("float32", "float64"):
        most = _FLOAT32_END if dtype == "float32" else float("inf")
        layout = struct.Struct("<f" if dtype == "float32" else "<d")

        def stored_float(value: Any) -> Stored | None:
            if type(value) is not float or not -most < value < most:
                return None
            return (layout.pack(value) if raw else value,)

        return stored_float
    bounds = DTYPES[dtype].bounds
    if raw or bounds is None:
        return None
    low, high = bounds
    return lambda value: (
        (value,) if type(value) is int and low <= value <= high else None
    )
