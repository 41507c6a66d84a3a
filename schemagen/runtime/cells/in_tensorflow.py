"""Stored values in a TensorFlow graph: a check is an assertion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from math import prod
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..shared.dtypes import DTYPES
from ..shared.requirements import lazy_tf as tf
from ..tensorflow import graph, graph_tensors
from ..tensorflow.graph import raw_numbers, refuse_unless
from ..tensorflow.parsed import Parsed
from .cells import Cells, Source
from .checks import BytesCheck, Check
from .decoded import Shape
from .faults import shown_bytes
from .part import Part

# How many wrong values an error shows.
_SHOWN = 10


@dataclass(frozen=True)
class TensorCells(Cells):
    """The values under one key, as `tf.io.parse_example` returns them.

    Attributes:
        label: the field's name in messages.
        tensor: [B, ...], or ragged [B, (N)].
        absence: returns which rows have no value of their own, bool [B]; None if all do.
        shown: the values that messages show, if not these.
        passes_over: whether checks pass over rows that have none.
        select: returns the items that are read of ragged ones; None for all.
    """

    label: str
    tensor: Any
    absence: Callable[[], Any] | None = None
    shown: Any = None
    passes_over: bool = False
    select: Callable[[Any], Any] | None = None

    @property
    def xp(self) -> Any:
        return tf

    @property
    def is_ragged(self) -> bool:
        """Whether rows may have any number of values."""
        return isinstance(self.tensor, tf.RaggedTensor)

    @property
    def values(self) -> Any:
        return self.tensor.flat_values if self.is_ragged else self.tensor

    @property
    def lengths(self) -> Any:
        return self.tensor.row_lengths()

    @property
    def sizes(self) -> Any:
        return tf.cast(tf.strings.length(self.values), tf.int64)

    @property
    def owners(self) -> Any:
        return self.tensor.value_rowids()

    def with_values(self, values: Any) -> TensorCells:
        """Return other values of the same rows."""
        tensor = self.tensor.with_flat_values(values) if self.is_ragged else values
        return replace(self, tensor=tensor)

    @property
    def absent(self) -> Any:
        return self.absence() if self.absence else False

    def are_nan(self, numbers: Any) -> Any:
        if numbers.dtype.is_floating:
            return tf.math.is_nan(numbers)
        return False

    # Checks.

    def refuse_values(self, check: Check, right: Any) -> TensorCells:
        """Refuse a batch with a wrong value, given which are right."""
        values = self.values if self.shown is None else self.shown
        if tf.executing_eagerly():
            if not tf.reduce_all(right):
                at, place = self._first_wrong(right.numpy())
                value = values.numpy()[at]
                default = shown_bytes if isinstance(value, bytes) else str
                words = check.found(value) if callable(check.found) else ""
                self._raise(check, words or default(value) + place)
            return self
        if values.dtype == tf.string:  # others may not be text that can be shown
            values = tf.boolean_mask(values, ~right)[:_SHOWN]
        return self.after(right, f"{check.expected}, found", values)

    def refuse_rows(
        self, check: Check, right: Any, numbers: Sequence[Any] | None
    ) -> TensorCells:
        """Refuse a batch with a wrong row, given which are right, and what is shown."""
        words = str(check.found)
        if numbers is None:
            numbers, words = [self.tensor], "{}"
        if tf.executing_eagerly():
            if not tf.reduce_all(right):
                at = int(np.argmin(right.numpy()))
                shown = [
                    n[at].numpy().tolist() if np.ndim(n) else int(n) for n in numbers
                ]
                self._raise(check, words.format(*shown))
            return self
        text = words.format(*["..."] * len(numbers))
        flat = [n.flat_values if isinstance(n, tf.RaggedTensor) else n for n in numbers]
        return self.after(right, f"{check.expected}, found {text}:", *flat)

    def _first_wrong(self, right: NDArray[np.bool_]) -> tuple[tuple[int, ...], str]:
        """Return the position of the first wrong value, and its place in its row."""
        at = tuple(np.argwhere(~right)[0].tolist())
        if self.is_ragged:
            row = int(self.owners[at[0]])
            count = int(self.lengths[row])
            place = at[0] - int(self.tensor.row_starts()[row])
        else:
            count = right[0].size
            place = int(np.argmin(right[at[0]])) if count > 1 else 0
        return at, f" at [{place}]" if count > 1 else ""

    def _raise(self, check: Check, found: str) -> NoReturn:
        """Raise what a graph would, with the words that numpy has for a row."""
        message = f"field {self.label!r}: expected {check.expected}, found {found}"
        raise tf.errors.InvalidArgumentError(None, None, message)

    def after(self, right: Any, text: str, *found: Any) -> TensorCells:
        """Return the same values, once all of `right` is seen to be true."""
        message = f"field {self.label!r}: expected {text}"
        shown = [*map(tf.convert_to_tensor, found)]
        checks = refuse_unless(tf.reduce_all(right), message, *shown)
        with tf.control_dependencies(checks):
            return self.with_values(tf.identity(self.values))

    # Values.

    def raw(self, dtype: str, count: int | None = None) -> TensorCells:
        wanted = tf.as_dtype(dtype)
        if count is not None:
            numbers = tf.reshape(raw_numbers(self.tensor, wanted), (-1, count))
            numbers.set_shape((self.tensor.shape[0], count))
            return replace(self, tensor=numbers)
        numbers = raw_numbers(tf.strings.reduce_join(self.tensor, axis=0), wanted)
        lengths = self.sizes // wanted.size
        return replace(self, tensor=tf.RaggedTensor.from_row_lengths(numbers, lengths))

    def ids_of(
        self, known: Sequence[bytes] | Sequence[int], none: bytes | int
    ) -> TensorCells:
        ids = graph.positions_of(self.values, known, none)
        return replace(self.with_values(ids), shown=self.values)

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
        if item_shape:
            values = tf.reshape(items.values, (-1, *item_shape))
            lengths = items.row_lengths() // prod(item_shape)
            items = tf.RaggedTensor.from_row_lengths(values, lengths)
        return items if self.select is None else self.select(items)

    def of_steps(self, found: TensorCells, values: Any) -> Any:
        return self.tensor.with_values(values)

    def padded(self, lists: Any, filler: Any) -> Any:
        return graph.padded(lists, filler)

    def lists_of_lists(self, dtype: str, lengths: TensorCells) -> Any:
        return tf.RaggedTensor.from_nested_row_lengths(
            self._cast(dtype).flat_values,
            [lengths.lengths, lengths.values],
            validate=False,
        )

    def scaled(self, numbers: Any, scale: float, offset: float) -> Any:
        found = tf.cast(numbers, tf.float32) * scale + offset
        absent = self.absent
        if absent is False:
            return found
        absent = tf.reshape(absent, (-1, *[1] * (len(found.shape) - 1)))
        return tf.where(absent, float("nan"), found)

    def rescaled(self, before: Any, after: Sequence[int]) -> TensorCells:
        """Return numbers times new sizes by old ones, as float32.

        They are calculated in float64, so that their order makes no difference.

        Args:
            before: int64 [rows, N], the size that each number of an item is divided by.
            after: the N sizes that these are multiplied by.
        """
        stored, each = self.values, len(after)
        items = tf.cast(tf.reshape(stored, (-1, each)), tf.float64)
        counts = (
            self.lengths // each if self.is_ragged else prod(stored.shape[1:]) // each
        )
        old = tf.repeat(tf.cast(before, tf.float64), counts, axis=0)
        scaled = items * tf.constant(after, tf.float64) / old
        found = tf.reshape(tf.cast(scaled, tf.float32), tf.shape(stored))
        return self.with_values(tf.ensure_shape(found, stored.shape))

    def are_products(self, counts: Any, sizes: Sequence[Any]) -> Any:
        wanted = reduce(
            lambda product, size: product * tf.cast(size, tf.float64), sizes, 1.0
        )
        return tf.cast(counts, tf.float64) == wanted

    def deserialized(
        self, dtype: str, shape: Shape, expected: str
    ) -> tuple[TensorCells, Sequence[TensorCells]]:
        contents, sizes = graph_tensors.deserialized(
            self.tensor, self.label, tf.as_dtype(dtype), shape, self.absent
        )
        return replace(self, tensor=contents), [
            replace(self, tensor=sizes[:, axis]) for axis in range(len(shape))
        ]

    def sums(self) -> Any:
        return tf.reduce_sum(self.tensor, axis=1)

    def tensors(
        self, dtype: str, shape: Shape, sizes: Sequence[Any], filler: Any
    ) -> Any:
        data = self.tensor
        data = data if data.dtype == tf.string else self._cast(dtype)
        return graph_tensors.shaped(
            data, self.label, tf.as_dtype(dtype), shape, sizes, filler, self.absent
        )

    def sparse(
        self,
        dtype: str,
        shape: tuple[int, ...],
        axes: Sequence[TensorCells],
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


def checked(
    cells: tuple[TensorCells, ...], *checks: Check | BytesCheck
) -> tuple[TensorCells, ...]:
    """Return cells once those checks hold that the parser runs.

    Args:
        cells: of all parts of a field.
        checks: what has to be right of them.
    """
    for check in checks:
        if isinstance(check, Check) and check.parsed:
            found = [*cells]
            found[check.part] = _checked(check, cells)
            cells = tuple(found)
    return cells


def _checked(check: Check, cells: tuple[TensorCells, ...]) -> TensorCells:
    stored = own = cells[check.part]
    if check.dtype in DTYPES and own.values.dtype == tf.string:
        own = own.raw(check.dtype)
    right = check.right(*cells[: check.part], own, *cells[check.part + 1 :])
    if own.passes_over and (check.by_row or not own.is_ragged):
        right |= tf.reshape(own.absent, (-1, *[1] * (len(right.shape) - 1)))
    if check.by_row:
        numbers = None if check.numbers is None else check.numbers(*cells)
        refused = own.refuse_rows(check, right, numbers)
    else:
        refused = own.refuse_values(check, right)
    if own is stored:
        return refused
    with tf.control_dependencies([refused.values]):
        return stored.with_values(tf.identity(stored.values))


@dataclass(frozen=True)
class TensorSource(Source):
    """The parsed features of a batch, of which one field is read.

    Attributes:
        label: the field's name in messages.
        parsed: the features.
        optional: whether the field may be missing.
        passes_over: whether checks pass over rows that have no value.
    """

    label: str
    parsed: Parsed
    optional: bool = False
    passes_over: bool = False

    def read(
        self,
        part: Part,
        expected: str,
        *,
        needed_by: Any = None,
        fill: bool = False,
    ) -> TensorCells:
        # TensorFlow has seen type and count, and parses missing lists as empty ones.
        absence = partial(self._absent, part.key) if self.optional else None
        tensor = part.tensor(self.parsed, self.label)
        select = self.parsed.selecting(self.label)
        return TensorCells(self.label, tensor, absence, None, self.passes_over, select)

    def _absent(self, key: str) -> Any:
        return ~self.parsed.present(key)

    def steps(self, part: Part, limit: Any) -> tuple[TensorCells, TensorSource]:
        stored = TensorCells(self.label, self.parsed[part.key])
        if (select := self.parsed.selecting(self.label)) is not None:
            (stored,) = checked((stored,), *limit.checks())
            stored = replace(stored, tensor=select(stored.tensor))
        kept = limit.kept(stored.tensor)
        parsed = self.parsed.of_step(kept.values)
        inside = TensorSource(self.label, parsed)
        return TensorCells(self.label, kept), inside

    def complete(self, steps: TensorCells, inside: Source) -> TensorCells:
        return steps

    def aligned(self, *some: TensorCells) -> tuple[TensorCells, ...]:
        return some

    def sized(self, cells: TensorCells, image: Any) -> tuple[TensorCells, Any]:
        return cells, image.stored_sizes(self.parsed)

    checked = staticmethod(checked)

    def present(
        self, cells: tuple[TensorCells, ...], *parts: Part
    ) -> tuple[TensorCells, ...]:
        return cells
