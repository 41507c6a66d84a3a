"""Sparse tensors: a list of values, and a list of indices for each dimension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..reading.columns import Column, Rows
from ..shared.errors import Problem
from ..shared.values import Numbers, described, shape_text
from . import graph
from .check import Check
from .compound import Compound
from .decoded import Decoded, Decoding, Shape, split_rows
from .faults import Fault, Features
from .lists import VarLen
from .parsed import Parsed
from .part import INT, Part
from .tensorflow import tf

_INDICES = Numbers("int64")
_EXPECTED = "a pair (indices, values) or a dict from index to value"

Pair = tuple[NDArray[np.int64], NDArray[Any]]


@dataclass(eq=False, kw_only=True)
class Sparse(Compound):
    """A tensor of a fixed shape of which only some values are stored.

    Attributes:
        shape: the shape of one row's tensor.
        index_key: the keys of the indices, one for each dimension.
        dtype: of the values, by its TensorFlow name.
        dense: deliver a dense tensor in place of a tf.SparseTensor.
        exact: refuse floats that `dtype` cannot hold exactly.
        finite: refuse NaN and infinities.
    """

    shape: tuple[int, ...]
    index_key: tuple[str, ...]
    dtype: str = "float32"
    dense: bool = False
    exact: bool = False
    finite: bool = True

    def __post_init__(self) -> None:
        self._name_key()
        self._numbers = Numbers(self.dtype, self.exact, self.finite)
        self._inner = VarLen(
            self.label,
            key=self.key,
            dtype=self.dtype,
            exact=self.exact,
            finite=self.finite,
        )
        indices = [VarLen(self.label, key=k, dtype="int64") for k in self.index_key]
        self.members = (self._inner, *indices)
        super().__post_init__()

    def make_parts(self) -> tuple[Part, ...]:
        indices = (
            Part(key, INT, None, None, "index", (0, n - 1), "index_key", "indices")
            for key, n in zip(self.index_key, self.shape, strict=False)
        )
        return (*self._inner.parts, *indices)

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        """The rule for the indices of each dimension."""
        names = [f" of dimension {axis}" for axis in range(len(self.shape))]
        return tuple(
            Check(
                0,
                size - 1,
                f"indices{name if len(self.shape) > 1 else ''} from 0 to {size - 1}",
                rule="SG529",
                what="index out of range",
            )
            for name, size in zip(names, self.shape, strict=True)
        )

    @property
    def delivered_shape(self) -> Shape:
        return self.shape

    @property
    def decoded_as(self) -> tuple[str, Shape]:
        return (self.dtype, self.shape) if self.dense else (f"sparse {self.dtype}", ())

    @property
    def layout(self) -> str:
        return "dense" if self.dense else "sparse"

    annotation = "tuple[ArrayLike, ArrayLike] | Mapping[Any, Any]"

    @property
    def takes(self) -> str:
        rank = len(self.shape)
        index = "[N]" if rank == 1 else f"[N, {rank}]"
        return (
            f"indices {index} into {shape_text(self.shape)} and the {self.dtype} values "
            "[N] there, or a dict of them"
        )

    @property
    def delivers(self) -> str:
        return super().delivers + ("" if self.dense else ", sparse")

    @property
    def if_missing(self) -> str:
        return "zeros" if self.dense else "empty"

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

    def split(self, value: Any) -> Sequence[Any]:
        indices, values = value
        return (values, *(np.ascontiguousarray(column) for column in indices.T))

    def decode(self, features: Features) -> Decoding:
        column = yield from self._inner.column(features)
        whole = features.among(column.rows) | (
            ~features.present(self.key) & features.live
        )
        counts = features.spread(column.rows, column.lengths)
        axes: list[Column] = []
        # Without values there need be no indices: readers take both for empty.
        filled = replace(features, live=features.live & (counts > 0))
        for part, check in zip(self.parts[1:], self.checks, strict=True):
            text = "int64 values, the index of each value"
            indices = yield from part.column(filled, text)
            indices = yield from check.rows(indices)
            lacking = features.live & ~features.present(part.key)
            empty = lacking if self.optional else lacking & (counts == 0)
            whole &= features.among(indices.rows) | empty
            have = features.spread(indices.rows, indices.lengths)
            unequal = np.flatnonzero(whole & (have != counts))
            yield _other_numbers(part.key, unequal, have, counts)
            whole[unequal] = False
            axes.append(indices)
        yield from self._twice(axes, whole)
        whole &= features.among(column.rows)
        kept = column.only(whole[column.rows])
        return Decoded(kept.rows, lambda: self._values(kept, axes))

    def _twice(self, axes: list[Column], whole: NDArray[np.bool_]) -> Any:
        """Find the rows in which an index occurs twice, and clear them in `whole`."""
        kept = [axis.only(whole[axis.rows]) for axis in axes]
        first = kept[0]
        if not len(first.values) or any(
            len(k.values) != len(first.values) for k in kept
        ):
            return
        owners = np.repeat(first.rows, first.lengths)
        order = np.lexsort([*(axis.values for axis in reversed(kept)), owners])
        same = owners[order][1:] == owners[order][:-1]
        for axis in kept:
            same &= axis.values[order][1:] == axis.values[order][:-1]
        again = order[1:][same]
        wrong, at = np.unique(owners[again], return_index=True)
        places = [[int(axis.values[again[n]]) for axis in kept] for n in at.tolist()]
        yield Fault(
            "SG529",
            "duplicate index",
            "each index once",
            wrong,
            lambda number: f"{places[number]} twice",
            key=self.index_key[0],
        )
        whole[wrong] = False

    def _values(self, column: Column, axes: list[Column]) -> Any:
        """Return a dense array [rows, *shape], or a pair for each row as rows hold it."""
        kept = [axis.only(np.isin(axis.rows, column.rows)) for axis in axes]
        indices = np.stack([axis.values for axis in kept], axis=1)
        values = self._inner.flat(column)
        if not self.dense:
            pairs = (split_rows(each, column.lengths) for each in (indices, values))
            return list(zip(*pairs, strict=True))
        found = np.zeros((len(column), *self.shape), values.dtype)
        owners = np.repeat(np.arange(len(column)), column.lengths)
        found[(owners, *indices.T)] = values
        return found

    def parse(self, parsed: Parsed) -> Any:
        values = parsed[self.key]
        flat = graph.as_dtype(values.flat_values, self.label, tf.as_dtype(self.dtype))
        lengths = values.row_lengths()
        found = []
        for key, check in zip(self.index_key, self.checks, strict=True):
            counts = parsed[key].row_lengths()
            index = graph.checked(
                parsed[key].flat_values,
                counts == lengths,
                f"field {self.label!r}: expected as many indices as values, found "
                "numbers of",
                counts,
                lengths,
            )
            found.append(check.tensor(index, self.label))
        ordered = tf.sparse.reorder(
            tf.SparseTensor(
                tf.stack([values.value_rowids(), *found], axis=1),
                flat,
                tf.stack([values.nrows(), *self.shape]),
            )
        )
        again = tf.reduce_all(ordered.indices[1:] == ordered.indices[:-1], axis=1)
        once = graph.checked(
            ordered.values,
            ~again,
            f"field {self.label!r}: expected each index once, found twice",
            tf.boolean_mask(ordered.indices[1:, 1:], again),
        )
        ordered = ordered.with_values(once)
        ordered.set_shape((values.shape[0], *self.shape))
        if not self.dense:
            return ordered
        return tf.ensure_shape(tf.sparse.to_dense(ordered), ordered.shape)


def _other_numbers(key: str, rows: Rows, have: Rows, counts: Rows) -> Fault:
    return Fault(
        "SG529",
        "different numbers of indices and values",
        "as many indices as values",
        rows,
        lambda at: f"{have[rows[at]]} indices and {counts[rows[at]]} values",
        key=key,
    )


def _shown(index: NDArray[np.int64]) -> str:
    return str(index.tolist() if len(index) > 1 else int(index[0]))
