"""Tensors of any shape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from ..runtime.shared.dtypes import FLOATS, INTEGERS, RAW_ONLY
from ..runtime.shared.errors import Problem
from .kind import Default, Kind
from .parameters import (
    Name,
    Number,
    OneOf,
    Size,
    TransferEncoding,
    base64_of_numbers,
    seldom,
)
from .python_types import is_numbers
from .varlen import padding_of, padding_problems

DTYPES = ("bool", *INTEGERS, *FLOATS)

TensorShape = Annotated[
    tuple[Size | None, ...],
    Field(description="a tuple of positive ints and None, such as (None, 3)"),
]
ShapeKey = Annotated[
    Name | tuple[Name | None, ...],
    Field(description="a key of all sizes, or a tuple with one for each dimension"),
]


@dataclass(frozen=True)
class Tensor(Kind):
    """Numbers of a shape some sizes of which may vary from row to row.

    Attributes:
        shape: of one row's value; None for a size that may vary.
        dtype: of its numbers.
        encoding: "raw" stores little-endian bytes and "list" an int64 or float list,
            both with the sizes under `shape_key`. "proto" stores what
            tf.io.serialize_tensor returns, with its sizes.
        shape_key: where the sizes are stored: the key of a list of all of them, or
            one key for each dimension, with None for a fixed one that is not stored.
        padding_value: what fills a batch up to its largest tensor.
        exact: refuse floats that dtype cannot hold exactly, instead of rounding them.
        finite: refuse NaN and infinities.
        transfer_encoding: "base64" stores raw bytes, or those of a serialized tensor,
            as base64 text.
    """

    shape: TensorShape
    dtype: Annotated[str, OneOf(DTYPES)] = "float32"
    encoding: Literal["raw", "proto", "list"] = "raw"
    shape_key: ShapeKey | None = None
    padding_value: Number = 0
    exact: bool = False
    finite: bool = True
    transfer_encoding: TransferEncoding = seldom(None)

    name: ClassVar[str] = "Tensor"
    takes_default: ClassVar[Default] = "none"
    holds: ClassVar[str] = "np.ndarray or a list of its dtype"
    input_layers: ClassVar[tuple[str, ...]] = ("dense", "normalization")

    def accepts(self, python_type: Any) -> bool:
        return is_numbers(python_type, self.dtype)

    def rules(self) -> Iterator[Problem]:
        yield from super().rules()
        if not self.shape and self.encoding != "proto":
            yield Problem("shape=()", "at least one size", "use Scalar for one number")
        elif not self._stores_sizes():
            yield Problem(
                f"shape={self.shape!r} with shape_key={self.shape_key!r}",
                "None with encoding='proto'; else one key of all sizes, or a tuple with "
                "a key for each size that varies",
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
        if self.encoding == "proto" or not isinstance(keys, tuple):
            return (self.encoding == "proto") == (keys is None)
        return (
            len(keys) == len(self.shape)
            and any(keys)
            and all(key or size for key, size in zip(keys, self.shape, strict=True))
        )

    def settled(self, name: str) -> Self:
        padding: Any = padding_of(self.dtype, self.padding_value)  # of numbers
        return replace(super().settled(name), padding_value=padding)
