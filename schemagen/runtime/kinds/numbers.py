"""Numbers of a fixed shape: scalars and vectors, as a list or as raw bytes."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import cached_property
from math import inf, nextafter, prod
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from ..cells.cells import Read, Source
from ..cells.checks import Check, Checks, Constraints
from ..cells.columns import Rows
from ..cells.decoded import Form, Shape, SizedRows, Values
from ..cells.delivered import Delivered, Mark
from ..cells.in_numpy import scaled
from ..cells.in_tensorflow import TensorCells, TensorSource
from ..cells.own_decoder import OwnDecoder, is_name
from ..cells.part import BYTES, Part, values_part, with_missing
from ..cells.written import RawRows, Stored, Written, written_numbers
from ..images.formats import sniff, undecoded, with_article
from ..shared import base64_text
from ..shared.dtypes import DTYPES, FLOATS, INTEGERS, NUMBERS, RAW_ONLY
from ..shared.errors import Problem
from ..shared.requirements import lazy_tf as tf
from ..shared.times import Time
from ..shared.values import Numbers, check_shape, described, shape_text
from ..shared.wire import buffer_of
from .box_sides import Side, box_of, box_problems
from .changes import (
    BOX,
    BOX_IMAGE,
    BOX_SCALED,
    DEQUANTIZE,
    DTYPE,
    ENCODING,
    FINITE,
    SHAPE,
    TRANSFER,
    UNIT,
)
from .kind import Default, Kind
from .parameters import (
    FixedShape,
    Name,
    OneOf,
    Size,
    TransferEncoding,
    base64_of_numbers,
    declared,
    parameter,
)
from .python_types import is_numbers, item_name, item_types
from .ranges import Ranged
from .text import String

# What is not below it is infinite as a float32: half a step above the largest one.
_FLOAT32_END = (2 - 2**-24) * 2.0**127

_MOST = float(np.finfo(np.float64).max)

# numpy's own numbers that are as good as Python's. (A timedelta64 would be one of
# its integers, too.)
_NUMPY_NUMBERS = frozenset(each.numpy.type for each in DTYPES.values() if each.in_numpy)


_Finite = Annotated[float, Ge(-_MOST), Le(_MOST)]
ArrayShape = Annotated[
    tuple[Size | None, ...], "a tuple of positive ints and None, such as (None, 3)"
]
ScaleAndOffset = Annotated[
    tuple[_Finite, _Finite], "(scale, offset): two finite numbers"
]

# The dtypes of a number of bytes, for the guess that another one was written.
_NAMES = {
    1: "uint8",
    2: "float16 or int16",
    4: "float32 or int32",
    8: "float64 or int64",
}


class NumbersKind(Ranged):
    """Numbers of an array, as a list or as raw bytes.

    Attributes:
        image: what its boxes are scaled with; None if they are not.
        unpacked: returns the values of checked cells, given the dtype of their numbers.
    """

    exact: bool
    finite: bool
    image: Any = None
    unpacked: Any
    box_scaled: bool | None = None

    @property
    def shape_of_rows(self) -> Shape:
        """The shape of one row's value; None for a size that varies."""
        return ()

    def bind(self) -> None:
        super().bind()
        self._shape = self.shape_of_rows
        self._numbers = Numbers(
            self.dtype,
            self.exact,
            single=self._shape == (),
            time=time_of(self),
        )
        self._raw = self.parts[0].encoding != "list"
        self._base64 = self.parts[0].transfer_encoding is not None

    def _scaled(self, delivered: Delivered) -> Delivered:
        """Return what is delivered of the numbers once boxes are scaled: floats."""
        if not self.box_scaled:
            return delivered
        return replace(delivered, dtype="float32", filler=float(delivered.filler))

    def read(self, source: Source) -> Read:
        if self.image is None:
            return super().read(source)
        (stored,) = source.checked(self.cells(source), *self.checked)
        found, sizes = source.sized(stored, self.image)
        if not isinstance(source, TensorSource):
            return found, lambda: SizedRows(self.unpack(found), sizes)
        axes, after = self._axes_and_sizes()
        before = tf.gather(sizes, axes, axis=1)
        return None, lambda: self.unpacked(found.rescaled(before, after), "float32")

    def in_form(self, values: Values, form: Form) -> Values:
        """Scale boxes, unless their image stays encoded and so as large as it is."""
        if not isinstance(values, SizedRows):
            return values
        if self._stays(form):
            return values.numbers  # type: ignore[no-any-return]
        axes, after = self._axes_and_sizes()

        def scaled(numbers: NDArray[Any], owners: Rows) -> NDArray[Any]:
            before = values.sizes[owners][:, np.newaxis, axes]
            each = prod(numbers.shape[1:]) // len(axes)
            items = numbers.reshape(len(owners), each, len(axes))
            with np.errstate(over="ignore"):  # of damaged numbers
                found = (items * np.array(after, np.float64) / before).astype(
                    np.float32
                )
            return found.reshape(numbers.shape)

        return values.with_numbers(scaled)  # type: ignore[no-any-return]

    def dtype_in(self, form: Form) -> str:
        return str(self.dtype) if self._stays(form) else super().dtype_in(form)

    def _stays(self, form: Form) -> bool:
        """Return whether boxes stay as they are, since their image stays encoded."""
        encoded = self.image is not None and self.image.encoding != "raw"
        return encoded and not form.images

    def _axes_and_sizes(self) -> tuple[list[int], list[int]]:
        """Return the axis of each number of a box, and the size that it is brought to."""
        box = box_of(self)
        assert box is not None
        return box.axes, [self.image.resize[axis] for axis in box.axes]

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


class FixedNumbers(NumbersKind):
    """Numbers of a shape, in row-major order."""

    shape: Any = ()
    encoding: Any
    transfer_encoding: Any

    @property
    def shape_of_rows(self) -> Shape:
        return self.shape  # type: ignore[no-any-return]

    @cached_property
    def delivered(self) -> Delivered:
        return self._scaled(self._delivers_numbers(self.dtype))

    def _delivers_numbers(self, dtype: str) -> Delivered:
        mark: Mark = "nan" if dtype in FLOATS else "mask"
        return self._delivers(self.shape_of_rows, dtype, mark=mark)

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
        if self.default is not None:
            return with_missing(part, self.dtype, self.default)
        zero = {"bool": False}.get(self.dtype, 0)
        marked = self.delivered.absence.mark == "nan" and self.dtype in FLOATS
        item = float("nan") if marked else zero
        return with_missing(part, self.dtype, item, prod(shape))

    def store(self, value: Any) -> Sequence[Stored]:
        # What the field declares stays as it is.
        if (
            type(value) is np.ndarray
            and value.shape == self._shape
            and self._numbers.accepts(value)
        ):
            return (self._stored(value),)
        return super().store(value)

    @cached_property
    def quick(self) -> Callable[[Any], Stored | None] | None:
        if self.plan is None or self._shape or self.exact or self._base64:
            return None
        return _of_python(self.dtype, self._raw, self.plan)

    def pack(self, values: Any, rows: int) -> Sequence[Written]:
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
    def checks(self) -> Checks:
        return (*super().checks, *self.checks_of_numbers())

    def cells(self, source: Source) -> tuple[Any, ...]:
        return (numbers_in(source, self.parts[0], self.dtype, self.shape_of_rows),)

    def unpack(self, *cells: Any) -> Any:
        (found,) = cells
        return self.unpacked(found, str(self.dtype))

    def unpacked(self, found: Any, dtype: str) -> Any:
        return found.dense(dtype, self.shape)


@declared
class Scalar(Ranged):
    """One number, one bool, or one value of opaque bytes.

    Opaque bytes have the default role info: no model can take them as they are. The
    arrays of a decoder are inputs, as a `Tensor` of their shape and dtype is.

    Attributes:
        dtype: of the value.
        exact: refuse floats that dtype cannot hold exactly, instead of rounding them.
        finite: refuse NaN and infinities.
        transfer_encoding: "base64" stores opaque bytes, or a number that is stored as
            raw bytes, as base64 text.
        unit: of an int64 that is a time, "s", "ms", "us" or "ns". Rows may then hold
            times of Python, numpy and pandas: points in time since 1970 in UTC, which
            those without a time zone are taken to be in; or durations.
        duration: whether it is a duration, which a field of type timedelta is.
        decoder: "package.module:function" that readers decode opaque bytes with. It is
            imported where data is read, and takes bytes; they deliver the array that it
            returns.
        shape: of this array; None for a size that varies.
        decoded_dtype: its dtype.
    """

    dtype: Annotated[str, OneOf((*NUMBERS, "bytes"))] = parameter(*DTYPE)
    exact: bool = parameter(default=False)
    finite: bool = parameter(*FINITE, default=True)
    transfer_encoding: TransferEncoding = parameter(
        *TRANSFER, default=None, omit_default=True
    )

    unit: Literal["s", "ms", "us", "ns"] | None = parameter(
        *UNIT, default=None, omit_default=True
    )
    duration: bool = parameter(*UNIT, default=False, omit_default=True)
    # What is stored stays the same, whatever decodes it.
    decoder: Name | None = parameter(default=None, omit_default=True)
    shape: ArrayShape = parameter(default=(), omit_default=True)
    decoded_dtype: Annotated[str, OneOf(NUMBERS)] | None = parameter(
        default=None, omit_default=True
    )

    kind: ClassVar[str] = "Scalar"
    has_head: ClassVar[bool] = True
    layers: ClassVar[tuple[str, ...]] = ("normalization",)
    derived: ClassVar[Mapping[str, Any]] = {"encoding": "list"}

    def form(self) -> type[Scalar]:
        if self.decoder:
            return DecodedBytes
        return OpaqueBytes if self.dtype == "bytes" else SingleNumber

    @property
    def takes_default(self) -> Default:  # type: ignore[override]
        return "none" if self.decoder else "any"

    @property
    def encoding(self) -> str:
        """The encoding, which follows from the dtype."""
        return "raw" if self.dtype in RAW_ONLY else "list"

    @property
    def python_type(self) -> str:
        return item_name(self.dtype)

    @property
    def holds(self) -> str:  # type: ignore[override]
        if self.unit:
            return "datetime, date or int; or timedelta, for a duration"
        return f"{self.python_type}, because dtype={self.dtype!r}"

    def accepts(self, python_type: Any) -> bool:
        times: tuple[type, ...] = ()
        if self.unit:
            times = (timedelta,) if self.duration else (datetime, date)
        return python_type in (*item_types(self.dtype), *times, Any)

    def rules(self) -> Iterator[Problem]:
        yield from super().rules()
        if self.unit and self.dtype != "int64":
            yield Problem(f"unit={self.unit!r} with dtype {self.dtype!r}", "'int64'")
        if self.duration and not self.unit:
            yield Problem("duration=True without a unit", "a unit, such as unit='s'")
        if self.transfer_encoding and self.dtype not in (*RAW_ONLY, "bytes"):
            yield base64_of_numbers("Vector((1,), encoding='raw', ...)")
        yield from self._decoder_problems()

    def _decoder_problems(self) -> Iterator[Problem]:
        if self.decoder is None:
            if self.shape or self.decoded_dtype:
                yield Problem(
                    "shape or decoded_dtype without a decoder",
                    "the decoder whose array they describe",
                    "use Vector for numbers of a shape",
                )
            return
        if self.dtype != "bytes":
            yield Problem(f"a decoder with dtype {self.dtype!r}", "'bytes'")
        if not is_name(self.decoder):
            yield Problem(
                f"decoder={self.decoder!r}",
                "'package.module:function', such as 'clips:frames'",
            )
        if self.decoded_dtype is None:
            yield Problem("a decoder without decoded_dtype", "the dtype of its array")


class SingleNumber(FixedNumbers, Scalar):
    """One number or bool."""


class OpaqueBytes(String, Scalar):
    """One value of opaque bytes."""

    def convert(self, value: Any) -> bytes:
        if not isinstance(value, bytes):
            raise Problem(described(value), "bytes")
        return value


class DecodedBytes(OpaqueBytes):
    """One value of opaque bytes, which a function of the user decodes."""

    def bind(self) -> None:
        super().bind()
        dtype = str(self.decoded_dtype)
        self._decoder = OwnDecoder(self.label, str(self.decoder), dtype, self.shape)

    @cached_property
    def delivered(self) -> Delivered:
        return self._delivers(self.shape, self.decoded_dtype, decoded=("bytes", ()))

    def prepare(self) -> None:
        super().prepare()
        _ = self._decoder.function

    def unpack(self, *cells: Any) -> Any:
        (found,) = cells
        if isinstance(found, TensorCells):
            return self._decoder.tensor(found.tensor, found.absent)
        return super().unpack(found)

    def in_form(self, values: Values, form: Form) -> Values:
        return self._decoder.arrays(list(values)) if form.images else values


def time_of(kind: Kind) -> Time | None:
    """Return what the integers of a kind are, if they are times."""
    if not isinstance(kind, Scalar) or kind.unit is None:
        return None
    return Time(kind.unit, kind.duration)


@declared
class Vector(FixedNumbers):
    """Numbers of a fixed shape.

    Attributes:
        shape: of one row's value.
        dtype: of its numbers.
        encoding: "list" stores an int64 or float list, "raw" little-endian bytes.
            Dtypes that the lists of tf.train.Example cannot hold, such as float64, are
            always raw.
        exact: refuse floats that dtype cannot hold exactly, instead of rounding them.
        finite: refuse NaN and infinities.
        dequantize: (scale, offset), of integers: rows hold the integers that are
            stored, readers deliver them times scale plus offset, as float32.
        transfer_encoding: "base64" stores raw bytes as base64 text.
        box: the last four numbers are a box: their names, as for `VarLen`.
        box_image: the field of the image inside of which it is, if it is in pixels.
        box_scaled: whether readers scale it with this image, as for `VarLen`.
    """

    shape: FixedShape = parameter(*SHAPE)
    dtype: Annotated[str, OneOf(tuple(DTYPES))] = parameter(*DTYPE, default="float32")
    encoding: Literal["list", "raw"] = parameter(*ENCODING, default="list")
    exact: bool = parameter(default=False)
    finite: bool = parameter(*FINITE, default=True)
    dequantize: ScaleAndOffset | None = parameter(
        *DEQUANTIZE, default=None, omit_default=True
    )
    transfer_encoding: TransferEncoding = parameter(
        *TRANSFER, default=None, omit_default=True
    )

    box: tuple[Side, Side, Side, Side] | None = parameter(
        *BOX, default=None, omit_default=True
    )
    box_image: Name | None = parameter(*BOX_IMAGE, default=None, omit_default=True)
    box_scaled: bool | None = parameter(*BOX_SCALED, default=None, omit_default=True)

    kind: ClassVar[str] = "Vector"
    has_head: ClassVar[bool] = True
    layers: ClassVar[tuple[str, ...]] = ("normalization",)
    holds: ClassVar[str] = "np.ndarray or a list of its dtype"

    def accepts(self, python_type: Any) -> bool:
        return is_numbers(python_type, self.dtype)

    def rules(self) -> Iterator[Problem]:
        yield from super().rules()
        raw = self.encoding == "raw" or self.dtype in RAW_ONLY
        if self.transfer_encoding and not raw:
            yield base64_of_numbers("encoding='raw'")
        if self.dequantize and (not self.dequantize[0] or self.dtype not in INTEGERS):
            yield Problem(
                f"dequantize={self.dequantize!r} with dtype {self.dtype!r}",
                "a scale other than 0, and the dtype of the stored integers",
            )
        yield from box_problems(self, self.shape)

    def resolved(self, name: str) -> Self:
        encoding = "raw" if self.dtype in RAW_ONLY else self.encoding
        given = self.dequantize
        return replace(
            super().resolved(name),
            encoding=encoding,
            dequantize=given and (float(given[0]), float(given[1])),
        )

    @cached_property
    def delivered(self) -> Delivered:
        if self.dequantize is None:
            return super().delivered
        found = self._delivers_numbers("float32")
        if self.default is None:
            return found
        value = scaled(np.array(self.default), *self.dequantize)
        return replace(found, absence=replace(found.absence, value=value))

    def unpack(self, *cells: Any) -> Any:
        numbers = super().unpack(*cells)
        if self.dequantize is None:
            return numbers
        return cells[0].scaled(numbers, *self.dequantize)


def numbers_in(
    source: Source, part: Part, dtype: str, shape: Shape, *, fill: bool = False
) -> Any:
    """Read the numbers of a list, or those that are raw bytes.

    Args:
        source: what they are read from.
        part: where they are stored.
        dtype: of the numbers.
        shape: of one row's numbers; (None, ...) for any number of items.
        fill: whether rows without are rows without values; see `Source.read`.
    """
    count = None if None in shape else prod(n or 0 for n in shape)
    if part.encoding != "raw":
        what = shape_text(shape) if count is not None else ""
        words = f"{part.text} ({f'{dtype} {what}'.strip()})"
        return source.read(part, words, fill=fill)
    item = DTYPES[dtype].size
    text = f"raw {dtype} numbers of {item} bytes"
    if count is not None:
        text = f"{count * item} bytes ({dtype} {shape_text(shape)})"
    size = None if count is None else count * item
    found = (source.read(part, text, fill=fill),)
    (found,) = source.checked(found, of_size(size, item, text, dtype))
    return found.raw(dtype, count)


def of_size(size: int | None, item: int, expected: str, dtype: str) -> Check:
    """Return the check of the number of raw bytes.

    Args:
        size: how many there are; None for a multiple of `item`.
        item: how many bytes an item has.
        expected: what should be there, in words.
        dtype: of the numbers.
    """

    def right(found: Any) -> Any:
        return found.sizes % item == 0 if size is None else found.sizes == size

    return Check(
        "SG525",
        "wrong size of raw bytes",
        expected,
        right,
        by_row=True,
        numbers=lambda found: (found.sizes,),
        found="{} bytes",
        cause=lambda wrong, at: cause_of_size(wrong.bytes_at(at), dtype, size),
    )


def cause_of_size(data: bytes, dtype: str, size: int | None) -> str:
    """Guess why raw bytes have another size than `size`, or return ""."""
    form = sniff(data)
    if form:
        return (
            f"they begin like {with_article(form)}: declare that encoding in the schema"
        )
    other = undecoded(data)
    if other:
        return f"they begin like {other.image}: {other.advice('raw')}"
    if not data:
        return "nothing was written"
    return other_dtype(len(data), dtype, size) if size else ""


def other_dtype(length: int, dtype: str, size: int) -> str:
    """Guess which numbers have so many bytes, where a dtype has `size`; "" if none has."""
    item = DTYPES[dtype].size
    for other, names in _NAMES.items():
        if other != item and length * item == size * other:
            return (
                f"that is the size of as many {names} numbers: stored as such, read "
                f"as {dtype}?"
            )
    return ""


def _of_python(
    dtype: str, raw: bool, plan: Constraints
) -> Callable[[Any], Stored | None] | None:
    """Return how numbers of Python and numpy are stored; None if each needs a closer look.

    The function returns None for a value that does.
    """
    least, greatest = plan.bounds
    if dtype == "bool" and not raw:
        return lambda value: (bool(value),) if type(value) in (bool, np.bool_) else None
    if dtype in ("float32", "float64"):
        most = _FLOAT32_END if dtype == "float32" else inf
        layout = struct.Struct("<f" if dtype == "float32" else "<d")
        # What is just out of the range, so that one comparison does for both.
        below = -most if least is None else nextafter(least, -inf)
        above = most if greatest is None else nextafter(greatest, inf)

        def stored_float(value: Any) -> Stored | None:
            if type(value) in _NUMPY_NUMBERS:
                value = value.item()
            if type(value) is not float or not below < value < above:
                return None
            return (layout.pack(value) if raw else value,)

        return stored_float
    bounds = DTYPES[dtype].bounds
    if raw or bounds is None:
        return None
    low = bounds[0] if least is None else least
    high = bounds[1] if greatest is None else greatest

    def stored_integer(value: Any) -> Stored | None:
        if type(value) in _NUMPY_NUMBERS:
            value = value.item()
        return (value,) if type(value) is int and low <= value <= high else None

    return stored_integer
