"""Tensors of any shape: with their sizes next to them, or inside a TensorProto."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import Annotated, Any, ClassVar, Literal, Self

from numpy.typing import NDArray

from ..cells.cells import Source
from ..cells.checks import Check, Checks
from ..cells.decoded import Shape
from ..cells.delivered import Delivered
from ..cells.part import INT, Part, size_part, values_part
from ..cells.tensor_proto import DATA_TYPES
from ..cells.written import Stored
from ..shared import base64_text
from ..shared.dtypes import DTYPES, RAW_ONLY
from ..shared.errors import Problem
from ..shared.wire import buffer_of, varint
from .changes import DTYPE, ENCODING, FINITE, KEY, PADDING, SHAPE, TRANSFER
from .kind import Default
from .lists import padding_of, padding_problems
from .numbers import ArrayShape, NumbersKind, cause_of_size, of_size
from .parameters import (
    Name,
    Number,
    OneOf,
    TransferEncoding,
    base64_of_numbers,
    declared,
    parameter,
)
from .python_types import is_numbers

# What tensorflow's kernels can count.
_MOST = 2**31 - 1

_SHARED_WORDS = ("height", "width", "channels")


ShapeKey = Annotated[
    Name | tuple[Name | None, ...],
    "a key of all sizes, or a tuple with one for each dimension",
]


@declared
class Tensor(NumbersKind):
    """Numbers of a shape some sizes of which may vary from row to row.

    Attributes:
        shape: of one row's value; None for a size that may vary.
        dtype: of its numbers.
        encoding: "raw" stores little-endian bytes and "list" an int64 or float list,
            both with the sizes under `shape_key`. "proto" stores what
            tf.io.serialize_tensor returns, with its sizes.
        shape_key: where the sizes are stored: the key of a list of all of them, or
            one key for each dimension, with None for a fixed one that is not stored.
            None where "raw" stores none: one size may vary, which follows from the
            number of bytes.
        padding_value: what fills a batch up to its largest tensor.
        exact: refuse floats that dtype cannot hold exactly, instead of rounding them.
        finite: refuse NaN and infinities.
        transfer_encoding: "base64" stores raw bytes, or those of a serialized tensor,
            as base64 text.
    """

    shape: ArrayShape = parameter(*SHAPE)
    dtype: Annotated[str, OneOf(tuple(DTYPES))] = parameter(*DTYPE, default="float32")
    encoding: Literal["raw", "proto", "list"] = parameter(*ENCODING, default="raw")
    shape_key: ShapeKey | None = parameter(*KEY, default=None)
    padding_value: Number = parameter(*PADDING, default=0)
    exact: bool = parameter(default=False)
    finite: bool = parameter(*FINITE, default=True)
    transfer_encoding: TransferEncoding = parameter(
        *TRANSFER, default=None, omit_default=True
    )

    kind: ClassVar[str] = "Tensor"
    layers: ClassVar[tuple[str, ...]] = ("dense", "normalization")
    takes_default: ClassVar[Default] = "none"
    holds: ClassVar[str] = "np.ndarray or a list of its dtype"

    def form(self) -> type[Tensor]:
        if self.encoding == "proto":
            return SerializedTensor
        return MeasuredTensor if self.shape_key is None else Tensor

    def accepts(self, python_type: Any) -> bool:
        return is_numbers(python_type, self.dtype)

    def rules(self) -> Iterator[Problem]:
        yield from super().rules()
        if not self.shape and self.encoding != "proto":
            yield Problem("shape=()", "at least one size", "use Scalar for one number")
        elif not self._stores_sizes():
            yield Problem(
                f"shape={self.shape!r} with shape_key={self.shape_key!r}",
                "None with encoding='proto', or where one size of raw bytes varies; else "
                "one key of all sizes, or a tuple with a key for each size that varies",
                "for example shape_key='image/shape'; use Vector for a fixed shape",
            )
        if self.encoding == "list" and self.dtype in RAW_ONLY:
            yield Problem(
                f"encoding='list' with dtype {self.dtype!r}",
                "'raw' or 'proto'",
                "the lists of tf.train.Example cannot hold it",
            )
        if self.encoding == "list" and self.transfer_encoding:
            yield base64_of_numbers("encoding='raw' or 'proto'")
        yield from padding_problems(self.dtype, self.padding_value)

    def _stores_sizes(self) -> bool:
        keys = self.shape_key
        if self.encoding == "raw" and keys is None:
            return self.shape.count(None) == 1
        if self.encoding == "proto" or not isinstance(keys, tuple):
            return (self.encoding == "proto") == (keys is None)
        return (
            len(keys) == len(self.shape)
            and any(keys)
            and all(key or size for key, size in zip(keys, self.shape, strict=True))
        )

    def resolved(self, name: str) -> Self:
        padding: Any = padding_of(self.dtype, self.padding_value)  # of numbers
        return replace(super().resolved(name), padding_value=padding)

    @property
    def shape_of_rows(self) -> Shape:
        return self.shape

    @cached_property
    def delivered(self) -> Delivered:
        return self._delivers(self.shape, filler=self.padding_value)

    @property
    def _wanted(self) -> str:
        return f"[{', '.join('?' if n is None else str(n) for n in self.shape)}]"

    def _are_right(self, sizes: Sequence[Any]) -> Any:
        """Return which rows have sizes that match the shape, given those of each axis."""
        right: Any = True
        for size, found in zip(self.shape, sizes, strict=True):
            low, high = (0, _MOST) if size is None else (size, size)
            right = (found >= low) & (found <= high) & right
        return right

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
        rank = len(self.shape)
        keys = self.shape_key or (None,) * rank
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
            size_part(key, "shape_key", _size_name(key), length, missing)
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

    def store(self, value: Any) -> Sequence[Stored]:
        array = self.convert(value)
        numbers = self._stored(self._numbers.raw(array))
        if isinstance(self.shape_key, str):
            return numbers, array.shape
        axes = stored_axes(self.shape_key or ())
        return numbers, *((array.shape[axis],) for axis in axes)

    @property
    def checks(self) -> Checks:
        return (
            Check(
                "SG530",
                "stored sizes do not match the shape",
                f"a tensor of shape {self._wanted}",
                lambda values, *sizes: self._are_right(self._sizes_of(sizes)),
                by_row=True,
                numbers=lambda values, *sizes: self._sizes_of(sizes),
                found=f"the sizes {_places(len(self.shape))}",
                structural=True,
            ),
            of_sizes(self.parts[0], self.dtype, len(self.shape), self._sizes_of),
            *self.checks_of_numbers(),
        )

    _stand_in_fails = True

    def cells(self, source: Source) -> tuple[Any, ...]:
        part, *size_parts = self.parts
        if part.encoding == "raw":
            values = source.read(part, f"the bytes of a {self.dtype} tensor")
        else:
            text = f"{replace(part, count=None).text} ({self.dtype})"
            values = source.read(part, text)
        sizes = (
            source.read(each, _sizes_text(each), needed_by=values)
            for each in size_parts
        )
        return source.aligned(values, *sizes)

    def unpack(self, *cells: Any) -> Any:
        values, *stored = cells
        sizes = self._sizes_of(stored)
        return values.tensors(self.dtype, self.shape, sizes, self.delivered.filler)

    def _sizes_of(self, stored: Sequence[Any]) -> list[Any]:
        """Return the size of each axis: int64 [rows], or one for all rows."""
        if isinstance(self.shape_key, str):
            rank = len(self.shape)
            table = stored[0].dense("int64", (rank,))
            return [table[:, axis] for axis in range(rank)]
        sizes = iter(stored)
        return [
            size if key is None else next(sizes).values
            for key, size in zip(self.shape_key or (), self.shape, strict=True)
        ]


class MeasuredTensor(Tensor):
    """A tensor whose one size that varies follows from the number of its raw bytes."""

    @property
    def _each(self) -> int:
        """How many bytes a step of the size that varies takes."""
        return prod(size or 1 for size in self.shape) * DTYPES[self.dtype].size

    @property
    def checks(self) -> Checks:
        text = f"a multiple of {self._each} bytes ({self.dtype} {self._wanted})"
        size = of_size(None, self._each, text, self.dtype)
        return (size, *self.checks_of_numbers())

    def unpack(self, *cells: Any) -> Any:
        (values,) = cells
        varying = values.sizes // self._each
        sizes = [varying if size is None else size for size in self.shape]
        return values.tensors(self.dtype, self.shape, sizes, self.delivered.filler)


class SerializedTensor(Tensor):
    """A tensor of any shape, as tf.io.serialize_tensor writes it."""

    @property
    def features(self) -> tuple[Part, ...]:
        return self.parts

    def bind(self) -> None:
        super().bind()
        self._type = b"\x08" + varint(DATA_TYPES[self.dtype])

    def make_parts(self) -> tuple[Part, ...]:
        part = values_part(
            self.key, self.dtype, 1, raw=True, transfer_encoding=self.transfer_encoding
        )
        missing = b"" if self.optional else None
        return (replace(part, encoding="proto", missing=missing),)

    def store(self, value: Any) -> Sequence[Stored]:
        message = self._message(self.convert(value))
        return ((base64_text.encoded(message) if self._base64 else message,),)

    def _message(self, array: NDArray[Any]) -> bytes:
        """Return the TensorProto of an array."""
        sizes = b"".join(map(_dimension, array.shape))
        numbers = buffer_of(self._numbers.raw(array))
        head = self._type + b"\x12" + varint(len(sizes)) + sizes
        if len(numbers):
            head += b"\x22" + varint(len(numbers))
        return b"".join((head, numbers))

    @property
    def checks(self) -> Checks:
        return self.checks_of_numbers()

    def cells(self, source: Source) -> tuple[Any, ...]:
        (part,) = self.parts
        expected = f"a serialized tensor of {self.dtype}, shape {self._wanted}"
        found = source.read(part, expected)
        numbers, sizes = found.deserialized(self.dtype, self.shape, expected)
        return (numbers, *sizes)

    def unpack(self, *cells: Any) -> Any:
        values, *stored = cells
        sizes = [size.values for size in stored]
        return values.tensors(self.dtype, self.shape, sizes, self.delivered.filler)


def of_sizes(
    part: Part,
    dtype: str,
    rank: int,
    sizes_of: Callable[[Sequence[Any]], list[Any]],
    least: int = 0,
) -> Check:
    """Return the check that there are as many values as the sizes ask for.

    Args:
        part: where raw bytes, or lists of numbers, are stored.
        dtype: of the numbers.
        rank: how many sizes there are.
        sizes_of: from the cells of stored sizes to the size of each axis: int64 [rows],
            or one for all rows.
        least: the smallest size.
    """
    raw = part.encoding == "raw"
    item, unit = (DTYPES[dtype].size, "bytes") if raw else (1, "numbers")

    def right(values: Any, *stored: Any) -> Any:
        sizes = sizes_of(stored)
        have = values.sizes if raw else values.lengths
        found = values.are_products(have, [*sizes, item])
        for size in sizes if least else ():
            found &= size >= least
        return found

    return Check(
        "SG530",
        f"{unit} do not match the stored sizes",
        f"the {unit} of a {dtype} tensor of the stored sizes",
        right,
        by_row=True,
        numbers=lambda values, *stored: (
            values.sizes if raw else values.lengths,
            *sizes_of(stored),
        ),
        found=f"{{}} {unit} and the sizes {_places(rank)}",
        cause=lambda wrong, at: (
            cause_of_size(wrong.bytes_at(at), dtype, None) if raw else ""
        ),
        structural=True,
    )


def _places(rank: int) -> str:
    """Return a text with a place for each size."""
    return f"[{', '.join(['{}'] * rank)}]"


def stored_axes(keys: Sequence[str | None]) -> list[int]:
    """Return the dimensions whose sizes have a key."""
    return [axis for axis, key in enumerate(keys) if key]


def _sizes_text(part: Part) -> str:
    text = f"{part.text}, the tensor's size"
    return text + "s" * ((part.count or 0) > 1)


def _size_name(key: str) -> str:
    """Say what a key of one size holds, in the word that images have for theirs."""
    last = key.rpartition("/")[2]
    return last if last in _SHARED_WORDS else "one size"


def _dimension(size: int) -> bytes:
    """Return a size as a message of its own; protobuf leaves out a zero."""
    message = b"\x08" + varint(size) if size else b""
    return b"\x12" + varint(len(message)) + message
