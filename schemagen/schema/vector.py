"""Tensors of a fixed shape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ..runtime.encoding.base import Feature
from ..runtime.encoding.tensor import Tensor
from ..runtime.shared.errors import Problem
from ..runtime.shared.values import COMPLEX, FLOATS, INTEGERS, RAW_ONLY, shortened
from .kind import Kind, Role, choice_problems, flag_problems, is_positive, is_shape
from .parameters import is_finite
from .python_types import is_array, is_list_of, number_types

DTYPES = ("bool", *INTEGERS, *FLOATS, *COMPLEX)


@dataclass(frozen=True)
class Vector(Kind):
    """Numbers of a fixed shape.

    Attributes:
        shape: of one row's value.
        dtype: of its numbers.
        encoding: "list" stores an int64 or float list, "raw" little-endian bytes.
            float16, bfloat16, float64, uint64 and complex numbers are always raw:
            the lists of tf.train.Example cannot hold them.
        exact: refuse floats that dtype cannot hold exactly; False rounds them.
        finite: refuse NaN and infinities.
        dequantize: (scale, offset), of integers: rows hold the integers that are
            stored, readers deliver them times scale plus offset, as float32.
    """

    shape: tuple[int, ...]
    dtype: str = "float32"
    encoding: Literal["list", "raw"] = "list"
    exact: bool = True
    finite: bool = True
    dequantize: tuple[float, float] | None = None

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
            advice = "use Tensor for sizes that vary" if varies else ""
            if is_positive(self.shape):
                advice = f"a tuple of one has a comma: ({self.shape},)"
            yield Problem(f"shape={self.shape!r}", "a tuple of positive ints", advice)
        yield from choice_problems("dtype", self.dtype, DTYPES)
        yield from choice_problems("encoding", self.encoding, ("list", "raw"))
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

    @property
    def stored_as(self) -> Literal["list", "raw"]:
        """The encoding that is used, which for some dtypes is always raw."""
        return "raw" if self.dtype in RAW_ONLY else self.encoding

    @property
    def default_role(self) -> Role:
        return "info" if self.opaque else "input"

    @property
    def opaque(self) -> str:
        return "complex numbers" if self.dtype in COMPLEX else ""

    def facts(self) -> dict[str, Any]:
        facts = {**super().facts(), "encoding": self.stored_as}
        if self.dequantize is not None:
            facts["dequantize"] = tuple(map(float, self.dequantize))
        return facts

    def check_default(self, name: str, default: Any) -> None:
        if self.opaque:
            raise Problem(shortened(default), "None")
        super().check_default(name, default)

    def layers(self, role: str) -> tuple[str, ...]:
        return {"input": ("normalization",), "target": ("flat",)}.get(role, ())

    def feature(self, name: str, *, optional: bool) -> Feature:
        return Tensor(
            name,
            key=self.key or name,
            shape=self.shape,
            dtype=self.dtype,
            encoding=self.stored_as,
            optional=optional,
            exact=self.exact,
            finite=self.finite,
        )


def _is_scale_and_offset(value: object) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) == 2
        and all(map(is_finite, value))
        and value[0] != 0
    )
