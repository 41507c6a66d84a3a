"""Sparse tensors: few values, each with the index at which it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Annotated, Any, ClassVar, Self, get_origin

from pydantic import Field

from ..runtime.shared.dtypes import INTEGERS, RAW_ONLY
from ..runtime.shared.errors import Problem
from .kind import Default, Kind
from .parameters import Name, OneOf, Sizes
from .python_types import item_name

DTYPES = ("bool", *(name for name in INTEGERS if name not in RAW_ONLY), "float32")

IndexKey = Annotated[
    Name | tuple[Name, ...],
    Field(description="a key, or a tuple with one for each dimension"),
]


@dataclass(frozen=True)
class Sparse(Kind):
    """A tensor that is zero but for a few values, as tf.io.SparseFeature reads it.

    The values are stored under `key`, the indices next to them.

    Attributes:
        shape: of the whole tensor.
        index_key: the key of the indices; for several dimensions a tuple with one
            key for each.
        dtype: of the values.
        dense: deliver a dense tensor in place of a tf.SparseTensor.
        exact: refuse floats that dtype cannot hold exactly, instead of rounding them.
        finite: refuse NaN and infinities.
    """

    shape: Sizes
    index_key: IndexKey
    dtype: Annotated[str, OneOf(DTYPES)] = "float32"
    dense: bool = False
    exact: bool = False
    finite: bool = True

    name: ClassVar[str] = "Sparse"
    takes_default: ClassVar[Default] = "none"
    holds: ClassVar[str] = "tuple of indices and values, or dict from index to value"
    input_layers: ClassVar[tuple[str, ...]] = ("dense", "normalization")

    @property
    def index_keys(self) -> tuple[str, ...]:
        """The keys of the indices, one for each dimension."""
        key = self.index_key
        return (key,) if isinstance(key, str) else key

    @property
    def python_type(self) -> str:
        if len(self.shape) == 1:
            return f"dict[int, {item_name(self.dtype)}]"
        return "tuple[np.ndarray, np.ndarray]"

    def accepts(self, python_type: Any) -> bool:
        origin = get_origin(python_type) or python_type
        return python_type is Any or origin in (tuple, dict, Mapping)

    def rules(self) -> Iterator[Problem]:
        yield from super().rules()
        if prod(self.shape) >= 2**63:
            yield Problem(f"shape={self.shape!r}", "fewer than 2**63 places")
        if len(self.index_keys) != len(self.shape):
            yield Problem(
                f"index_key={self.index_key!r} for {len(self.shape)} dimensions",
                "a key for each dimension",
            )

    def settled(self, name: str) -> Self:
        return replace(super().settled(name), index_key=self.index_keys)
