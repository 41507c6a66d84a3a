"""Tensors of a fixed shape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

from ..runtime.shared.errors import Problem
from ..runtime.shared.values import (
    FLOATS,
    INTEGERS,
    RAW_ONLY,
)
from .kind import Kind
from .parameters import (
    TransferEncoding,
    choice_problems,
    flag_problems,
    is_finite,
    is_shape,
    seldom,
    shape_problem,
    transfer_problems,
)
from .python_types import is_array, is_list_of, number_types

DTYPES = ("bool", *INTEGERS, *FLOATS)


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

    shape: tuple[int, ...]
    dtype: str = "float32"
    encoding: Literal["list", "raw"] = "list"
    exact: bool = False
    finite: bool = True
    dequantize: tuple[float, float] | None = seldom(None)
    transfer_encoding: TransferEncoding = seldom(None)

    name: ClassVar[str] = "Vector"
    holds: ClassVar[str] = "np.ndarray or a list of its dtype"
    can_be_target: ClassVar[bool] = True

    def accepts(self, python_type: Any) -> bool:
        return is_array(python_type) or is_list_of(
            python_type, *number_types(self.dtype)
        )

    def problems(self) -> Iterator[Problem]:
        yield from flag_problems(exact=self.exact, finite=self.finite)
        if not is_shape(self.shape):
            varies = isinstance(self.shape, tuple) and None in self.shape
            yield shape_problem(
                "shape", self.shape, "use Tensor for sizes that vary" if varies else ""
            )
        yield from choice_problems("dtype", self.dtype, DTYPES)
        yield from choice_problems("encoding", self.encoding, ("list", "raw"))
        listed = self.encoding == "list" and self.dtype not in RAW_ONLY
        instead = "encoding='raw'" if listed else ""
        yield from transfer_problems(self.transfer_encoding, instead)
        if self.dequantize is None:
            return
        if not _is_scale_and_offset(self.dequantize):
            yield Problem(
                f"dequantize={self.dequantize!r}",
                "(scale, offset): two finite numbers, the first not 0",
            )
        elif self.dtype not in INTEGERS:
            yield Problem(
                f"dequantize with dtype {self.dtype!r}",
                "the integers that are stored, such as dtype='uint8'",
            )

    def settled(self, name: str) -> Self:
        scale = self.dequantize
        return replace(
            super().settled(name),
            encoding="raw" if self.dtype in RAW_ONLY else self.encoding,
            dequantize=scale and (float(scale[0]), float(scale[1])),
        )

    def layers(self, role: str) -> tuple[str, ...]:
        return {"input": ("normalization",), "target": ("flat",)}.get(role, ())


def _is_scale_and_offset(value: object) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) == 2
        and all(map(is_finite, value))
        and value[0] != 0
    )
