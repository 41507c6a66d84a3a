"""Sparse tensors: a list of values, and a list of indices for each dimension."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from math import prod
from typing import Annotated, Any, ClassVar, Self, get_origin

import numpy as np
from numpy.typing import NDArray

from ..cells.cells import Source
from ..cells.checks import Check, Checks, integers
from ..cells.delivered import Delivered
from ..cells.part import INT, Part, values_part
from ..cells.written import Stored
from ..shared.dtypes import LISTED
from ..shared.errors import Problem
from ..shared.values import Numbers, described
from .changes import DTYPE, FINITE, INDEX_KEYS, SHAPE
from .kind import Default
from .parameters import FixedShape, Name, OneOf, declared, parameter
from .python_types import item_name
from .ranges import Ranged

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
    layers: ClassVar[tuple[str, ...]] = ("dense", "normalization")
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

    def resolved(self, name: str) -> Self:
        return replace(super().resolved(name), index_key=self.index_keys)

    def bind(self) -> None:
        super().bind()
        self._numbers = Numbers(self.dtype, self.exact)

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
        return found

    def store(self, value: Any) -> Sequence[Stored]:
        indices, values = self.convert(value)
        return (values, *indices.T)

    @property
    def checks(self) -> Checks:
        return (
            *self.checks_of_numbers(),
            *chain.from_iterable(map(self._checks_of_axis, range(len(self.shape)))),
            _ONCE,
        )

    def _checks_of_axis(self, axis: int) -> Checks:
        where = f" of dimension {axis}" if len(self.shape) > 1 else ""
        last, part = self.shape[axis] - 1, axis + 1
        words = f"indices{where} from 0 to {last}"
        return (
            integers(0, last, "SG529", "index out of range", words, part=part),
            Check(
                "SG529",
                "different numbers of indices and values",
                "as many indices as values",
                lambda *cells: cells[part].lengths == cells[0].lengths,
                by_row=True,
                part=part,
                numbers=lambda *cells: (cells[part].lengths, cells[0].lengths),
                found="{} indices and {} values",
            ),
        )

    def cells(self, source: Source) -> tuple[Any, ...]:
        part, *index_parts = self.parts
        values = source.read(part, f"{part.text} ({self.dtype})", fill=True)
        text = "int64 values, the index of each value"
        axes = (
            source.read(each, text, needed_by=values, fill=True) for each in index_parts
        )
        return source.aligned(values, *axes)

    @property
    def _marks(self) -> tuple[Part, ...]:
        return self.parts[:1]

    def unpack(self, *cells: Any) -> Any:
        values, *axes = cells
        return values.sparse(self.dtype, self.shape, axes, dense=self.dense)


def _again(values: Any, *axes: Any) -> NDArray[np.intp]:
    """Return the positions of indices that come a second time in their row."""
    if not len(values.values):
        return np.empty(0, np.intp)
    keys = (*(axis.values for axis in reversed(axes)), values.owners)
    order = np.lexsort(keys)
    same = np.logical_and.reduce([k[order][1:] == k[order][:-1] for k in keys])
    return np.sort(order[1:][same])


def _are_once(values: Any, *axes: Any) -> NDArray[np.bool_]:
    right = np.ones(len(values.lengths), np.bool_)
    right[values.owners[_again(values, *axes)]] = False
    return right


def _twice(values: Any, *axes: Any) -> list[NDArray[Any]]:
    """Return the first index of each row that comes a second time, as text."""
    again = _again(values, *axes)
    words = np.full(len(values.lengths), "", object)
    for at in reversed(again.tolist()):
        words[values.owners[at]] = str([int(axis.values[at]) for axis in axes])
    return [words]


# Graphs find them as they sort the indices.
_ONCE = Check(
    "SG529",
    "duplicate index",
    "each index once",
    _are_once,
    by_row=True,
    part=1,
    numbers=_twice,
    found="{} twice",
    parsed=False,
)
