"""Single values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from ..runtime.codecs.decoded import Shape
from ..runtime.shared.dtypes import FLOATS, INTEGERS, RAW_ONLY
from ..runtime.shared.errors import Problem
from .kind import Kind
from .parameters import OneOf, TransferEncoding, base64_of_numbers, seldom
from .python_types import item_name, item_types

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
    input_layers: ClassVar[tuple[str, ...]] = ("normalization",)
    can_be_target: ClassVar[bool] = True
    derived: ClassVar[Mapping[str, Any]] = {"encoding": "list"}

    def predicted_shape(self, shape: Shape) -> Shape:
        return (1,)

    def accepts(self, python_type: Any) -> bool:
        return python_type in (*item_types(self.dtype), Any)

    @property
    def holds(self) -> str:  # type: ignore[override]
        return f"{self.python_type}, because dtype={self.dtype!r}"

    def rules(self) -> Iterator[Problem]:
        if self.transfer_encoding and self.dtype not in (*RAW_ONLY, "bytes"):
            yield base64_of_numbers("Vector((1,), encoding='raw', ...)")

    @property
    def python_type(self) -> str:
        return item_name(self.dtype)

    @property
    def encoding(self) -> str:
        """The encoding, which follows from the dtype."""
        return "raw" if self.dtype in RAW_ONLY else "list"

    @property
    def can_be_weight(self) -> bool:  # type: ignore[override]
        return self.dtype in ("float32", "float64")
