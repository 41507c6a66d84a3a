"""Tensors of a fixed shape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from ..runtime.shared.dtypes import FLOATS, INTEGERS, RAW_ONLY
from ..runtime.shared.errors import Problem
from .kind import Kind
from .parameters import OneOf, Sizes, TransferEncoding, base64_of_numbers, seldom
from .python_types import is_numbers

DTYPES = ("bool", *INTEGERS, *FLOATS)

_Finite = Annotated[float, Field(allow_inf_nan=False)]
ScaleAndOffset = Annotated[
    tuple[_Finite, _Finite], Field(description="(scale, offset): two finite numbers")
]


@dataclass(frozen=True)
class Vector(Kind):
    """Numbers of a fixed shape.

    Attributes:
        shape: of one row's value.
        dtype: of its numbers.
        encoding: "list" stores an int64 or float list, "raw" little-endian bytes.
            float16, bfloat16, float64 and uint64 are always raw: the lists of
            tf.train.Example cannot hold them.
        exact: refuse floats that dtype cannot hold exactly, instead of rounding them.
        finite: refuse NaN and infinities.
        dequantize: (scale, offset), of integers: rows hold the integers that are
            stored, readers deliver them times scale plus offset, as float32.
        transfer_encoding: "base64" stores raw bytes as base64 text.
    """

    shape: Sizes
    dtype: Annotated[str, OneOf(DTYPES)] = "float32"
    encoding: Literal["list", "raw"] = "list"
    exact: bool = False
    finite: bool = True
    dequantize: ScaleAndOffset | None = seldom(None)
    transfer_encoding: TransferEncoding = seldom(None)

    name: ClassVar[str] = "Vector"
    holds: ClassVar[str] = "np.ndarray or a list of its dtype"
    can_be_target: ClassVar[bool] = True

    def accepts(self, python_type: Any) -> bool:
        return is_numbers(python_type, self.dtype)

    def rules(self) -> Iterator[Problem]:
        raw = self.encoding == "raw" or self.dtype in RAW_ONLY
        if self.transfer_encoding and not raw:
            yield base64_of_numbers("encoding='raw'")
        if self.dequantize and (not self.dequantize[0] or self.dtype not in INTEGERS):
            yield Problem(
                f"dequantize={self.dequantize!r} with dtype {self.dtype!r}",
                "a scale other than 0, and the dtype of the stored integers",
            )

    def settled(self, name: str) -> Self:
        encoding = "raw" if self.dtype in RAW_ONLY else self.encoding
        return replace(super().settled(name), encoding=encoding)

    def layers(self, role: str) -> tuple[str, ...]:
        return {"input": ("normalization",), "target": ("flat",)}.get(role, ())
