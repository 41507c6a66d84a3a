"""Single values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from ..runtime.codecs.base import Shape
from ..runtime.shared.errors import Problem
from ..runtime.shared.values import FLOATS, INTEGERS, RAW_ONLY
from .kind import Kind
from .parameters import OneOf, TransferEncoding, base64_of_numbers, seldom
from .python_types import number_types, text_of

DTYPES = ("bool", *INTEGERS, *FLOATS, "bytes")


@dataclass(frozen=True)
class Scalar(Kind):
    """One number, one bool, or one value of opaque bytes.

    Opaque bytes have the default role info: no model can take them as they are.

    Attributes:
        dtype: of the value.
        exact: refuse floats that dtype cannot hold exactly, instead of rounding them.
        finite: refuse NaN and infinities.
        transfer_encoding: "base64" stores opaque bytes, or a number that is stored as
            raw bytes, as base64 text.
    """

    dtype: Annotated[str, OneOf(DTYPES)]
    exact: bool = False
    finite: bool = True
    transfer_encoding: TransferEncoding = seldom(None)

    name: ClassVar[str] = "Scalar"
    holds: ClassVar[str] = "int, float, bool or bytes, as its dtype says"
    input_layers: ClassVar[tuple[str, ...]] = ("normalization",)
    can_be_target: ClassVar[bool] = True
    derived: ClassVar[Mapping[str, Any]] = {"encoding": "list"}

    def predicted_shape(self, shape: Shape) -> Shape:
        return (1,)

    def accepts(self, python_type: Any) -> bool:
        if self.dtype == "bytes":
            return python_type in (bytes, Any)
        return python_type in (*number_types(self.dtype), Any)

    def misfit(self, python_type: Any) -> Problem:
        usual = bytes if self.dtype == "bytes" else number_types(self.dtype)[0]
        expected = f"{usual.__name__}, because dtype={self.dtype!r}"
        return Problem(
            text_of(python_type), expected, super().misfit(python_type).advice
        )

    def rules(self) -> Iterator[Problem]:
        if self.transfer_encoding and self.dtype not in (*RAW_ONLY, "bytes"):
            yield base64_of_numbers("Vector((1,), encoding='raw', ...)")

    @property
    def encoding(self) -> str:
        """The encoding, which follows from the dtype."""
        return "raw" if self.dtype in RAW_ONLY else "list"

    @property
    def opaque(self) -> str:
        return "opaque bytes" if self.dtype == "bytes" else ""

    @property
    def can_be_weight(self) -> bool:
        return self.dtype in ("float32", "float64")
