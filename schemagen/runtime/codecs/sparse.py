"""Sparse tensors: a list of values, and a list of indices for each dimension."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from math import prod
from typing import Annotated, Any, ClassVar, Self, get_origin

import numpy as np
from numpy.typing import NDArray

from ..shared.dtypes import LISTED
from ..shared.errors import Problem
from ..shared.values import Numbers, described
from .changes import DTYPE, FINITE, INDEX_KEYS, SHAPE
from .delivered import Delivered
from .kind import Default
from .parameters import FixedShape, Name, OneOf, declared, parameter
from .part import INT, Part, values_part
from .python_types import item_name
from .ranges import Ranged
from .stored import Read, Rule, Source
from .written import Stored

_INDICES = Numbers("int64")
_EXPECTED = "a pair (indices, values) or a dict from index to value"

Pair = tuple[NDArray[np.int64], NDArray[Any]]

IndexKey = Annotated[
    Name | tuple[Name, ...], "a key, or a tuple with one for each dimension"
]


@declared
class Sparse(Ranged):
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

    shape: FixedShape = parameter(*SHAPE)
    index_key: IndexKey = parameter(*INDEX_KEYS)
    dtype: Annotated[str, OneOf(LISTED)] = parameter(*DTYPE, default="float32")
    dense: bool = parameter(default=False)
    exact: bool = parameter(default=False)
    finite: bool = parameter(*FINITE, default=True)

    kind: ClassVar[str] = "Sparse"
    takes_default: ClassVar[Default] = "none"
    holds: ClassVar[str] = "tuple of indices and values, or dict from index to value"

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

    def bind(self) -> None:
        super().bind()
        self._numbers = Numbers(self.dtype, self.exact, self.finite, range=self.range)

    def make_parts(self) -> tuple[Part, ...]:
        indices = (
            Part(key, INT, None, None, "index", (0, n - 1), "index_key", "indices")
            for key, n in zip(self.index_keys, self.shape, strict=False)
        )
        return (values_part(self.key, self.dtype, None), *indices)

    @cached_property
    def delivered(self) -> Delivered:
        if self.dense:
            return self._delivers(self.shape)
        decoded = f"sparse {self.dtype}", ()
        return self._delivers(self.shape, decoded=decoded, layout="sparse")

    def convert(self, value: Any) -> Pair:
        """Return the indices, int64 [N, rank], and the values [N], as given in order."""
        if isinstance(value, Mapping):
            value = (list(value), list(value.values()))
        if not isinstance(value, (tuple, list)):
            raise Problem(described(value), _EXPECTED)
        if len(value) != 2:
            raise Problem(f"a {type(value).__name__} of {len(value)}", _EXPECTED)
        indices, values = value
        found = self._numbers.convert(values)
        if found.ndim != 1:
            raise Problem(f"values of shape {list(found.shape)}", "shape [N]")
        return self._indices(indices, len(found)), found

    def _indices(self, indices: Any, count: int) -> NDArray[np.int64]:
        rank = len(self.shape)
        try:
            found = _INDICES.convert(indices)
        except Problem as problem:
            raise Problem(
                f"indices: {problem.found}", problem.expected, problem.advice
            ) from None
        if rank == 1 and found.ndim == 1:
            found = found[:, np.newaxis]
        if not found.size:
            found = found.reshape(0, rank)
        if found.ndim != 2 or found.shape[1] != rank:
            wanted = f"shape [N, {rank}]" if rank > 1 else "shape [N]"
            raise Problem(f"indices of shape {list(found.shape)}", wanted)
        if len(found) != count:
            raise Problem(
                f"{len(found)} indices and {count} values", "one index for each value"
            )
        outside = ((found < 0) | (found >= self.shape)).any(axis=1)
        if outside.any():
            raise Problem(
                f"the index {_shown(found[outside][0])}",
                f"indices into shape {list(self.shape)}",
            )
        flat = np.ravel_multi_index(tuple(found.T), self.shape)
        unique, counts = np.unique(flat, return_counts=True)
        if len(unique) < len(flat):
            twice = found[flat == unique[counts > 1][0]][0]
            raise Problem(f"the index {_shown(twice)} twice", "each index once")
        return found

    def store(self, value: Any) -> Sequence[Stored]:
        indices, values = self.convert(value)
        return (values, *indices.T)

    def read(self, source: Source) -> Read:
        part, *index_parts = self.parts
        text = f"{part.text} ({self.dtype})"
        values = source.read(part, text, fill=True).numbers_of(
            self.dtype, part.bounds, finite=self.finite
        )
        values = self.in_range(values)
        axes: list[Any] = []
        for at, (index_part, size) in enumerate(
            zip(index_parts, self.shape, strict=True)
        ):
            text = "int64 values, the index of each value"
            axis = source.read(index_part, text, needed_by=values, fill=True)
            where = f" of dimension {at}" if len(self.shape) > 1 else ""
            words = f"indices{where} from 0 to {size - 1}"
            axis = axis.within(0, size - 1, Rule("SG529", "index out of range", words))
            values, axis, *axes = source.aligned(values, axis, *axes)
            as_many = partial(_as_many, axis, values)
            axis = axis.check_rows(as_many, _AS_MANY, "{} indices and {} values")
            axes.append(axis)
        values, *axes = source.aligned(values, *axes)
        rule = Rule("SG529", "duplicate index", "each index once")
        axes[0] = axes[0].distinct(axes, rule)
        values, *axes = source.aligned(source.present(values, part), *axes)
        return values, lambda: values.sparse(
            self.dtype, self.shape, axes, dense=self.dense
        )


_AS_MANY = Rule(
    "SG529", "different numbers of indices and values", "as many indices as values"
)


def _as_many(axis: Any, values: Any) -> tuple[Any, Any, Any]:
    return axis.lengths == values.lengths, axis.lengths, values.lengths


def _shown(index: NDArray[np.int64]) -> str:
    return str(index.tolist() if len(index) > 1 else int(index[0]))
