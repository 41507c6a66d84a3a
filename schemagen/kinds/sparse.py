"""Sparse tensors: few values, each with the index at which it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any, ClassVar, Self, get_origin

from ..runtime.shared.errors import Problem
from ..runtime.shared.values import INTEGERS, RAW_ONLY, shortened
from .kind import Kind
from .parameters import (
    choice_problems,
    flag_problems,
    is_shape,
    key_problems,
    shape_problem,
)

DTYPES = ("bool", *(name for name in INTEGERS if name not in RAW_ONLY), "float32")


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

    shape: tuple[int, ...]
    index_key: str | tuple[str, ...]
    dtype: str = "float32"
    dense: bool = False
    exact: bool = False
    finite: bool = True

    name: ClassVar[str] = "Sparse"
    holds: ClassVar[str] = "tuple of indices and values, or dict from index to value"

    @property
    def index_keys(self) -> tuple[str, ...]:
        """The keys of the indices, one for each dimension."""
        key = self.index_key
        return (key,) if isinstance(key, str) else key

    def accepts(self, python_type: Any) -> bool:
        origin = get_origin(python_type) or python_type
        return python_type is Any or origin in (tuple, dict, Mapping)

    def problems(self) -> Iterator[Problem]:
        yield from flag_problems(dense=self.dense, exact=self.exact, finite=self.finite)
        yield from choice_problems("dtype", self.dtype, DTYPES)
        known = is_shape(self.shape)
        if not known:
            yield shape_problem("shape", self.shape)
        elif prod(self.shape) >= 2**63:
            yield Problem(f"shape={self.shape!r}", "fewer than 2**63 places")
        keys = self.index_keys
        given = f"index_key={self.index_key!r}"
        if not isinstance(keys, tuple) or not keys:
            yield Problem(given, "a key, or a tuple of one for each dimension")
            return
        wrong = [problem for key in keys for problem in _index_key_problems(key)]
        yield from wrong
        if wrong:
            return
        if known and len(keys) != len(self.shape):
            yield Problem(
                f"{given} for {len(self.shape)} dimensions", "a key for each dimension"
            )
        elif len(set(keys)) < len(keys):
            yield Problem(given, "another key for each dimension")

    def settled(self, name: str) -> Self:
        return replace(super().settled(name), index_key=self.index_keys)

    def layers(self, role: str) -> tuple[str, ...]:
        return ("dense", "normalization") if role == "input" else ()

    def check_default(self, name: str, default: Any) -> None:
        raise Problem(shortened(default), "None")


def _index_key_problems(key: object) -> Iterator[Problem]:
    if key is None:
        yield Problem("index_key=None", "a non-empty str")
    else:
        yield from key_problems("index_key", key)
