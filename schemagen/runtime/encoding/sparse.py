"""Sparse tensors: one list of values, and one of indices for each dimension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import Problem
from ..shared.values import Numbers, described
from .base import Compound
from .sequence import VarLen

_INDICES = Numbers("int64")
_EXPECTED = "a pair (indices, values) or a dict from index to value"

Parts = tuple[NDArray[np.int64], NDArray[Any]]


@dataclass(eq=False, kw_only=True)
class Sparse(Compound):
    """A tensor of a fixed shape of which only some values are stored.

    Attributes:
        index_keys: the keys of the indices, one for each dimension.
        shape: the shape of one row's tensor.
        dtype: of the values, by its TensorFlow name.
        exact: refuse floats that `dtype` cannot hold exactly.
        finite: refuse NaN and infinities.
    """

    index_keys: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: str = "float32"
    exact: bool = False
    finite: bool = True

    def __post_init__(self) -> None:
        self._numbers = Numbers(self.dtype, self.exact, self.finite)
        values = VarLen(
            self.name,
            key=self.key,
            dtype=self.dtype,
            exact=self.exact,
            finite=self.finite,
        )
        indices = [VarLen(self.name, key=k, dtype="int64") for k in self.index_keys]
        self.parts = (values, *indices)

    def convert(self, value: Any) -> Parts:
        """Return the indices, int64 [N, rank], and the values [N], as given in order."""
        if isinstance(value, Mapping):
            value = (list(value), list(value.values()))
        if not isinstance(value, (tuple, list)):
            raise Problem(described(value), _EXPECTED)
        if len(value) != 2:
            raise Problem(f"a {type(value).__name__} of {len(value)}", _EXPECTED)
        indices, values = value
        found = self._values(values)
        return self._indices(indices, len(found)), found

    def _values(self, values: Any) -> NDArray[Any]:
        found = self._numbers.convert(values)
        if found.ndim != 1:
            raise Problem(f"values of shape {list(found.shape)}", "shape [N]")
        return found

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

    def split(self, value: Any) -> Sequence[Any]:
        indices, values = value
        return (values, *(np.ascontiguousarray(column) for column in indices.T))


def _shown(index: NDArray[np.int64]) -> str:
    return str(index.tolist() if len(index) > 1 else int(index[0]))
