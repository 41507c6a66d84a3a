"""Single values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ..runtime.codecs.base import Shape
from ..runtime.shared.errors import Problem
from ..runtime.shared.values import FLOATS, INTEGERS, RAW_ONLY
from .kind import Kind, Role
from .parameters import (
    TransferEncoding,
    choice_problems,
    flag_problems,
    seldom,
    transfer_problems,
)
from .python_types import number_types, text_of

DTYPES = ("bool", *INTEGERS, *FLOATS, "bytes")

# What goes with another type, by its name.
_OTHERS = {
    "bool": "declare dtype='bool'",
    "bytes": "declare dtype='bytes'",
    "float": "declare dtype='float32'",
    "int": "declare dtype='int64'",
    "str": "declare Text()",
}


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

    dtype: str
    exact: bool = False
    finite: bool = True
    transfer_encoding: TransferEncoding = seldom(None)

    name: ClassVar[str] = "Scalar"
    holds: ClassVar[str] = "int, float, bool or bytes, as its dtype says"
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
        other = _OTHERS.get(text_of(python_type), "change the kind")
        return Problem(
            text_of(python_type),
            f"{usual.__name__}, because dtype={self.dtype!r}",
            f"annotate {usual.__name__}, or {other}",
        )

    def problems(self) -> Iterator[Problem]:
        yield from flag_problems(exact=self.exact, finite=self.finite)
        if isinstance(self.dtype, str) and self.dtype in ("string", "str"):
            yield Problem(f"dtype={self.dtype!r}", "a number", "use Text() for text")
        else:
            yield from choice_problems("dtype", self.dtype, DTYPES)
        listed = self.dtype in DTYPES and self.dtype not in (*RAW_ONLY, "bytes")
        instead = "Vector((1,), encoding='raw', ...)" if listed else ""
        yield from transfer_problems(self.transfer_encoding, instead)

    @property
    def encoding(self) -> str:
        """The encoding, which follows from the dtype."""
        return "raw" if self.dtype in RAW_ONLY else "list"

    @property
    def default_role(self) -> Role:
        return "info" if self.dtype == "bytes" else "input"

    @property
    def opaque(self) -> str:
        return "opaque bytes" if self.dtype == "bytes" else ""

    @property
    def can_be_weight(self) -> bool:
        return self.dtype in ("float32", "float64")

    def layers(self, role: str) -> tuple[str, ...]:
        return ("normalization",) if role == "input" else ()
