"""Sparse tensors: few values, each with the index at which it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Annotated, Any, ClassVar, Self, get_origin

from pydantic import Field

from ..runtime.encoding import base, sparse
from ..runtime.shared.errors import Problem
from ..runtime.shared.values import INTEGERS, RAW_ONLY, shape_text
from .field import FieldSpec
from .kind import Default, Kind
from .literals import Code, literal
from .parameters import Name, OneOf, Sizes
from .storage import INT, Entry, values
from .view import FieldView, Shape

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

    def storage(self, key: str) -> tuple[Entry, ...]:
        indices = (
            Entry(
                index,
                INT,
                None,
                None,
                "index",
                (0, length - 1),
                "index_key",
                "indices",
            )
            for index, length in zip(self.index_keys, self.shape, strict=False)
        )
        return (values(key, self.dtype, None), *indices)

    def feature(self, name: str, *, optional: bool) -> base.Feature:
        return sparse.Sparse(
            name,
            key=self.key or name,
            index_keys=self.index_keys,
            shape=self.shape,
            dtype=self.dtype,
            optional=optional,
            exact=self.exact,
            finite=self.finite,
        )

    def view(self, field: FieldSpec) -> FieldView:
        return SparseView(field)


class SparseView(FieldView[Sparse]):
    """A tensor that is zero but for a few values."""

    @property
    def shape(self) -> Shape:
        return self.kind.shape

    @property
    def required_sequence(self) -> bool:
        return not self.optional

    @property
    def sparse(self) -> bool:
        return not self.kind.dense

    @property
    def indices(self) -> Code:
        """The expression for the lists of indices, one for each dimension."""
        keys = [f"stored[{literal(key)}]" for key in self.kind.index_keys]
        return Code(f"({', '.join(keys)}{',' if len(keys) == 1 else ''})")

    @property
    def python_type(self) -> str:
        return "tuple[ArrayLike, ArrayLike] | Mapping[Any, Any]"

    @property
    def wanted_value(self) -> str:
        index = "[N]" if len(self.shape) == 1 else f"[N, {len(self.shape)}]"
        return (
            f"indices {index} into {shape_text(self.shape)} and the {self.dtype} values "
            "[N] there, or a dict of them"
        )

    @property
    def delivers_value(self) -> str:
        return super().delivers_value + ("" if self.kind.dense else ", sparse")

    @property
    def missing_text(self) -> str:
        return "empty" if self.sparse else "zeros"
