"""Steps: a value of a field in each step of a tf.train.SequenceExample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, ClassVar, cast

import numpy as np

from ..shared.dtypes import DTYPES
from ..shared.errors import Problem
from ..shared.values import Numbers, check_shape, described
from .base import Codec
from .changes import GROUP, LIMIT, PADDING, TOO_LONG, parameter
from .decoded import (
    Form,
    Shape,
    UndecodableError,
    Values,
    convert_each,
    split_rows,
)
from .limits import Limit, Listed
from .parsed import Parsed
from .part import BYTES, Part
from .stored import Read, Source
from .tensorflow import tf
from .written import Stored, Written


@dataclass(eq=False, kw_only=True)
class Steps(Listed):
    """A feature list: the steps of a sequence, each with one value.

    Attributes:
        step: the codec of the value of one step; it has no key.
        max_length: the most steps a row may have, or None.
        too_long: what becomes of more: "error", "keep_head" or "keep_tail".
        padding_value: what fills a batch up to its longest row.
        ragged: deliver a RaggedTensor in place of a padded batch.
        group: the group of fields that are equally long.
    """

    step: Codec = field(kw_only=False)
    max_length: int | None = parameter(*LIMIT, default=None)
    too_long: str = parameter(*TOO_LONG, default="error")
    padding_value: Any = parameter(*PADDING, default=0)
    ragged: bool = parameter(default=False)
    group: str | None = parameter(*GROUP, default=None)

    in_list: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.dtype = self.step.dtype
        super().__post_init__()
        self._limit = Limit(self.max_length, self.too_long, noun="steps")

    def make_parts(self) -> tuple[Part, ...]:
        return tuple(replace(part, key=self.key) for part in self.step.parts)

    features = ()  # TensorFlow parses feature lists apart

    @property
    def list_shape(self) -> tuple[int, ...]:
        """The shape of what is stored in one step, as TensorFlow parses it."""
        (part,) = self.step.parts
        return () if part.stored == BYTES else part.shape

    def list_feature(self) -> Any:
        """Return the description for `tf.io.parse_sequence_example`."""
        stored = self.step.parts[0].stored
        dtype = tf.string if stored == BYTES else tf.as_dtype(stored)
        return tf.io.FixedLenSequenceFeature(
            self.list_shape, dtype, allow_missing=self.optional
        )

    @property
    def delivered_dtype(self) -> str:
        return self.step.delivered_dtype

    @property
    def delivered_shape(self) -> Shape:
        return (None, *self.step.delivered_shape)

    @property
    def decoded_as(self) -> tuple[str, Shape]:
        dtype, shape = self.step.decoded_as
        return dtype, (None, *shape)

    item_size = 1

    def convert(self, value: Any) -> Any:
        """Return all steps as they will be stored: an array of numbers, or a list."""
        steps = self._checked(value)
        if not len(steps):
            return self._no_steps(steps)
        converted = convert_each(self.step.convert, steps, "{} in step {}")
        if isinstance(converted[0], np.ndarray):
            alike = {np.shape(step) for step in converted}
            return np.stack(converted) if len(alike) == 1 else converted
        return converted

    def _no_steps(self, steps: Sequence[Any]) -> Any:
        """Return an empty sequence in the form of others."""
        (part,), (_, sizes) = self.step.parts, self.step.decoded_as
        if self.step.of_classes or part.dtype not in DTYPES or part.is_image:
            return []
        array = Numbers(part.dtype).convert(steps)
        shape = (0, *(size or 0 for size in sizes))
        if array.ndim == 1:  # [] has no step to tell a shape
            array = array.reshape(shape)
        check_shape(array, shape)
        return array

    def _checked(self, value: Any) -> Sequence[Any]:
        """Return the steps of a row.

        Raises:
            Problem: they are not steps, or too many.
        """
        is_array = isinstance(value, np.ndarray) and value.ndim > 0
        if isinstance(value, np.ma.MaskedArray):
            raise Problem("a masked array", "an array without mask")
        if not is_array and not isinstance(value, (list, tuple)):
            raise Problem(described(value), "a list or an array with an item a step")
        self._limit.check(len(value))
        steps: Sequence[Any] = value
        return steps

    def store(self, value: Any) -> Sequence[Stored]:
        """Return what each part holds of a row: what each of its steps holds."""
        steps = self._checked(value)
        if not len(steps):
            self._no_steps(steps)
        # What is cut off has to be right as well.
        stored = convert_each(self.step.store, steps, "{} in step {}")
        return (self._limit.cut(stored),)

    def store_column(self, values: Any, rows: int) -> Sequence[Written]:
        checked = [self._checked(value) for value in values]
        steps = _joined(checked)
        if steps is None or any(self._limit.cut(row) is not row for row in checked):
            return super().store_column(values, rows)
        written = self.step.store_column(steps, len(steps))
        lengths = np.fromiter(map(len, checked), np.int64, rows)
        return [replace(each, steps=lengths) for each in written]

    def join(self, rows: Sequence[Sequence[Stored]]) -> Sequence[Written]:
        lengths = np.fromiter((len(steps) for (steps,) in rows), np.int64, len(rows))
        steps = [step for (row,) in rows for step in row]
        return [replace(each, steps=lengths) for each in self.step.join(steps)]

    def read(self, source: Source) -> Read:
        steps, inside = source.steps(self.key, self._limit)
        found, values = self.step.read(inside)
        steps = source.complete(steps, inside)
        steps = self._limit.checked(steps, lambda: steps.lengths)

        def lists() -> Any:
            kept = self._limit.kept(steps.of_steps(found, values()))
            return kept if self.ragged else steps.padded(kept, self.filler)

        return steps, lists

    def delivered(self, values: Values, form: Form) -> Values:
        if not len(values) or type(self.step).delivered is Codec.delivered:
            return values
        lengths = np.fromiter(map(len, values), np.int64, len(values))
        if isinstance(values[0], np.ndarray):
            steps: Values = np.concatenate(values)
        else:
            steps = list(chain.from_iterable(values))
        try:
            return split_rows(self.step.delivered(steps, form), lengths)
        except UndecodableError as error:
            raise error.in_rows(lengths) from None

    def present(self, parsed: Parsed, tensor: Any) -> Any:
        return parsed.list_present(self.key)


def _joined(rows: list[Sequence[Any]]) -> Sequence[Any] | None:
    """Return the steps of all rows in one sequence; None if they are not alike."""
    kinds = set(map(type, rows))
    if kinds <= {list, tuple}:
        return list(chain.from_iterable(rows))
    # An array without steps may still be of a wrong shape: it is looked at alone.
    if kinds != {np.ndarray} or not all(map(len, rows)):
        return None
    arrays: list[Any] = list(rows)
    if len({(array.dtype, array.shape[1:]) for array in arrays}) > 1:
        return None
    return cast("Sequence[Any]", np.concatenate(arrays))
