"""Single values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ..runtime.encoding.base import Feature
from ..runtime.encoding.tensor import Tensor
from ..runtime.encoding.text import Bytes
from ..runtime.shared.errors import Problem
from ..runtime.shared.values import FLOATS, INTEGERS, RAW_ONLY
from .kind import Kind, Role, choice_problems, flag_problems
from .python_types import number_types

DTYPES = ("bool", *INTEGERS, *FLOATS, "bytes")


@dataclass(frozen=True)
class Scalar(Kind):
    """One number, one bool, or one value of opaque bytes.

    Opaque bytes have the default role info: no model can take them as they are.

    Attributes:
        dtype: of the value.
        exact: refuse floats that dtype cannot hold exactly; False rounds them.
        finite: refuse NaN and infinities.
    """

    dtype: str
    exact: bool = True
    finite: bool = True

    name: ClassVar[str] = "Scalar"
    holds: ClassVar[str] = "int, float, bool or bytes, as its dtype says"
    can_be_target: ClassVar[bool] = True

    def accepts(self, python_type: Any) -> bool:
        if self.dtype == "bytes":
            return python_type in (bytes, Any)
        return python_type in (*number_types(self.dtype), Any)

    def problems(self) -> Iterator[Problem]:
        yield from flag_problems(exact=self.exact, finite=self.finite)
        if isinstance(self.dtype, str) and self.dtype in ("string", "str"):
            yield Problem(f"dtype={self.dtype!r}", "a number", "use Text() for text")
        else:
            yield from choice_problems("dtype", self.dtype, DTYPES)

    @property
    def stored_as(self) -> Literal["list", "raw"]:
        """The encoding that the dtype asks for."""
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

    def facts(self) -> dict[str, Any]:
        return {**super().facts(), "encoding": self.stored_as}

    def layers(self, role: str) -> tuple[str, ...]:
        return ("normalization",) if role == "input" else ()

    def feature(self, name: str, *, optional: bool) -> Feature:
        key = self.key or name
        if self.dtype == "bytes":
            return Bytes(name, key=key, optional=optional)
        return Tensor(
            name,
            key=key,
            shape=(),
            dtype=self.dtype,
            encoding=self.stored_as,
            optional=optional,
            exact=self.exact,
            finite=self.finite,
        )
