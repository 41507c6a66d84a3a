"""Stored values in a TensorFlow graph: a check is an assertion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import prod
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..shared.dtypes import FLOATS
from ..shared.requirements import lazy_tf as tf
from ..shared.values import inside
from . import graph, graph_tensors
from .decoded import Shape
from .faults import shown_bytes
from .graph import raw_numbers, refuse_unless
from .parsed import Parsed
from .part import Part
from .stored import Rule, Source, Stored

# How many wrong values an error shows.
_SHOWN = 10


@dataclass(frozen=True)
class StoredTensors(Stored):
    """The values under one key, as `tf.io.parse_example` returns them.

    Attributes:
        label: the field's name in messages.
        tensor: [B, ...], or ragged [B, (N)].
    """

    label: str
    tensor: Any

    @property
    def xp(self) -> Any:
        return tf

    @property
    def _is_ragged(self) -> bool:
        return isinstance(self.tensor, tf.RaggedTensor)

    @property
    def values(self) -> Any:
        return self.tensor.flat_values if self._is_ragged else self.tensor

    @property
    def lengths(self) -> Any:
        return self.tensor.row_lengths()

    @property
    def sizes(self) -> Any:
        return tf.cast(tf.strings.length(self.values), tf.int64)

    @property
    def owners(self) -> Any:
        return self.tensor.value_rowids()

    def with_values(self, values: Any) -> StoredTensors:
        """Return other values of the same rows."""
        tensor = self.tensor.with_flat_values(values) if self._is_ragged else values
        return replace(self, tensor=tensor)

    # Checks.

    def check(
        self,
        test: Callable[[Any], Any],
        rule: Rule,
        *,
        shown: StoredTensors | None = None,
        found: Callable[[Any], str] | None = None,
        cause: Callable[[Any], str] | None = None,
    ) -> StoredTensors:
        right, values = test(self.values), (shown or self).values
        if tf.executing_eagerly():
            if not tf.reduce_all(right):
                at, place = self._first_wrong(right.numpy())
                value = values.numpy()[at]
                default = shown_bytes if isinstance(value, bytes) else str
                self._raise(rule, found(value) if found else default(value) + place)
            return self
        if values.dtype == tf.string:  # others may not be text that can be shown
            values = tf.boolean_mask(values, ~right)[:_SHOWN]
        return self._after(right, f"{rule.expected}, found", values)

    def check_rows(
        self,
        test: Callable[[], tuple[Any, ...]],
        rule: Rule,
        words: str,
        *,
        cause: Callable[[Any, int], str] | None = None,
    ) -> StoredTensors:
        right, *numbers = test()
        if tf.executing_eagerly():
            if not tf.reduce_all(right):
                at = int(np.argmin(right.numpy()))
                shown = (int(each[at]) if np.ndim(each) else each for each in numbers)
                self._raise(rule, words.format(*shown))
            return self
        text = words.format(*["..."] * len(numbers))
        return self._after(right, f"{rule.expected}, found {text}:", *numbers)

    def _first_wrong(self, right: NDArray[np.bool_]) -> tuple[tuple[int, ...], str]:
        """Return the position of the first wrong value, and its place in its row."""
        at = tuple(np.argwhere(~right)[0].tolist())
        if self._is_ragged:
            row = int(self.owners[at[0]])
            count = int(self.lengths[row])
            place = at[0] - int(self.tensor.row_starts()[row])
        else:
            count = right[0].size
            place = int(np.argmin(right[at[0]])) if count > 1 else 0
        return at, f" at [{place}]" if count > 1 else ""

    def _raise(self, rule: Rule, found: str) -> NoReturn:
        """Raise what a graph would, with the words that numpy has for a row."""
        message = f"field {self.label!r}: expected {rule.expected}, found {found}"
        raise tf.errors.InvalidArgumentError(None, None, message)

    def _after(self, right: Any, text: str, *found: Any) -> StoredTensors:
        message = f"field {self.label!r}: expected {text}"
        shown = [*map(tf.convert_to_tensor, found)]
        checks = refuse_unless(tf.reduce_all(right), message, *shown)
        with tf.control_dependencies(checks):
            return self.with_values(tf.identity(self.values))

    def finite(self, dtype: str) -> StoredTensors:
        return self  # `verify` and `open_split` look for them

    def in_range(
        self, dtype: str, range: tuple[Any, Any], rule: Rule, absent: Any
    ) -> StoredTensors:
        values = self.values
        if values.dtype == tf.string:
            numbers = self.raw(dtype).in_range(dtype, range, rule, absent)
            with tf.control_dependencies([numbers.values]):
                return self.with_values(tf.identity(values))
        if absent is not False:
            absent = tf.reshape(absent, (-1, *[1] * (len(values.shape) - 1)))

        def right(numbers: Any) -> Any:
            if dtype in FLOATS:
                return inside(numbers, range, tf.math.is_nan) | absent
            return inside(numbers, range, lambda _: absent)

        return self.check(right, rule)

    def text(self) -> StoredTensors:
        return self  # likewise

    # Values.

    def raw(self, dtype: str, count: int | None = None) -> StoredTensors:
        wanted = tf.as_dtype(dtype)
        if count is not None:
            numbers = tf.reshape(raw_numbers(self.tensor, wanted), (-1, count))
            numbers.set_shape((self.tensor.shape[0], count))
            return replace(self, tensor=numbers)
        numbers = raw_numbers(tf.strings.reduce_join(self.tensor, axis=0), wanted)
        lengths = self.sizes // wanted.size
        return replace(self, tensor=tf.RaggedTensor.from_row_lengths(numbers, lengths))

    def ids_of(self, names: Sequence[bytes]) -> StoredTensors:
        ids = graph.positions_of(self.values, names)
        return self.with_values(ids)

    def classes(self, count: int) -> Any:
        ids = self.values
        hot = tf.tensor_scatter_nd_max(
            tf.zeros((self.tensor.nrows(), count)),
            tf.stack([self.owners, ids], axis=1),
            tf.ones_like(ids, tf.float32),
        )
        return tf.ensure_shape(hot, (self.tensor.shape[0], count))

    def _cast(self, dtype: str) -> Any:
        values = self.values
        if values.dtype == tf.string or values.dtype.name == dtype:
            return self.tensor
        return self.with_values(tf.cast(values, dtype)).tensor

    def dense(self, dtype: str, shape: Shape) -> Any:
        tensor = self._cast(dtype)
        if tensor.shape[1:] == shape:
            return tensor
        dense = tf.reshape(tensor, (-1, *shape))
        dense.set_shape((tensor.shape[0], *shape))
        return dense

    def lists(self, dtype: str, item_shape: tuple[int, ...] = ()) -> Any:
        items = self._cast(dtype)
        if not item_shape:
            return items
        values = tf.reshape(items.values, (-1, *item_shape))
        lengths = items.row_lengths() // prod(item_shape)
        return tf.RaggedTensor.from_row_lengths(values, lengths)

    def of_steps(self, found: StoredTensors, values: Any) -> Any:
        return self.tensor.with_values(values)

    def padded(self, lists: Any, filler: Any) -> Any:
        return graph.padded(lists, filler)

    def lists_of_lists(self, dtype: str, lengths: StoredTensors) -> Any:
        return tf.RaggedTensor.from_nested_row_lengths(
            self._cast(dtype).flat_values,
            [lengths.lengths, lengths.values],
            validate=False,
        )

    def scaled(self, numbers: Any, scale: float, offset: float, absent: Any) -> Any:
        found = tf.cast(numbers, tf.float32) * scale + offset
        if absent is False:
            return found
        absent = tf.reshape(absent, (-1, *[1] * (len(found.shape) - 1)))
        return tf.where(absent, float("nan"), found)

    def are_products(self, counts: Any, sizes: Sequence[Any]) -> Any:
        wanted = reduce(
            lambda product, size: product * tf.cast(size, tf.float64), sizes, 1.0
        )
        return tf.cast(counts, tf.float64) == wanted

    def deserialized(
        self, dtype: str, shape: Shape, expected: str, absent: Any
    ) -> tuple[StoredTensors, Sequence[StoredTensors]]:
        contents, sizes = graph_tensors.deserialized(
            self.tensor, self.label, tf.as_dtype(dtype), shape, absent
        )
        return replace(self, tensor=contents), [
            replace(self, tensor=sizes[:, axis]) for axis in range(len(shape))
        ]

    def sums(self) -> Any:
        return tf.reduce_sum(self.tensor, axis=1)

    def tensors(
        self, dtype: str, shape: Shape, sizes: Sequence[Any], filler: Any, absent: Any
    ) -> Any:
        data = self.tensor
        data = data if data.dtype == tf.string else self._cast(dtype)
        return graph_tensors.shaped(
            data, self.label, tf.as_dtype(dtype), shape, sizes, filler, absent
        )

    def distinct(self, axes: Sequence[StoredTensors], rule: Rule) -> StoredTensors:
        return self

    def sparse(
        self,
        dtype: str,
        shape: tuple[int, ...],
        axes: Sequence[StoredTensors],
        *,
        dense: bool,
    ) -> Any:
        where = tf.stack([self.owners, *(axis.values for axis in axes)], axis=1)
        size = tf.stack([self.tensor.nrows(), *shape])
        values = self._cast(dtype).flat_values
        found = tf.sparse.reorder(tf.SparseTensor(where, values, size))
        again = tf.reduce_all(found.indices[1:] == found.indices[:-1], axis=1)
        once = graph.checked(
            found.values,
            ~again,
            f"field {self.label!r}: expected each index once, found twice",
            tf.boolean_mask(found.indices[1:, 1:], again),
        )
        found = found.with_values(once)
        found.set_shape((self.tensor.shape[0], *shape))
        if not dense:
            return found
        return tf.ensure_shape(tf.sparse.to_dense(found), found.shape)


@dataclass(frozen=True)
class TensorSource(Source):
    """The parsed features of a batch, of which one field is read.

    Attributes:
        label: the field's name in messages.
        parsed: the features.
        optional: whether the field may be missing.
    """

    label: str
    parsed: Parsed
    optional: bool = False

    def read(
        self,
        part: Part,
        expected: str,
        *,
        needed_by: Any = None,
        fill: bool = False,
    ) -> StoredTensors:
        # TensorFlow has seen type and count, and parses missing lists as empty ones.
        return StoredTensors(self.label, part.tensor(self.parsed, self.label))

    def steps(self, key: str, limit: Any) -> tuple[StoredTensors, TensorSource]:
        kept = limit.kept(self.parsed[key])
        inside = replace(self, parsed=self.parsed.of_step(kept.values), optional=False)
        return StoredTensors(self.label, kept), inside

    def complete(self, steps: StoredTensors, inside: Source) -> StoredTensors:
        return steps

    def aligned(self, *some: Any) -> Sequence[Any]:
        return some

    def present(self, some: Any, *parts: Part) -> Any:
        return some

    def absent(self, part: Part) -> Any:
        return ~self.parsed.present(part.key) if self.optional else False
