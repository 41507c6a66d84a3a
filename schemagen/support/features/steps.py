"""Steps: one value of a field in each step of a tf.train.SequenceExample."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, cast

import numpy as np

from ..errors import Problem, RecordError
from ..tfrecord import Framed, frame_pieces
from ..values import check_shape, described
from ..wire import ListEntry, Pieces, sequence_pieces
from .base import Feature
from .columns import Strands, rows_of, strands_of
from .examples import ColumnOf, count_rows, merged_columns, merged_entries
from .limit import Limit
from .tensor import Tensor

# From here on the steps of one row are worth the calls that numpy takes.
_LONG_ROW = 64


class Steps(Feature):
    """A feature list: the steps of a sequence, each with one value.

    Args:
        name: the field's name.
        step: stores the value of one step; it has no key.
        key: the feature list's key.
        max_length: the most steps a row may have, or None.
        too_long: what becomes of more: "error", "keep_head" or "keep_tail".
        optional: whether None is allowed; no steps always are.
    """

    def __init__(
        self,
        name: str,
        step: Feature,
        *,
        key: str,
        max_length: int | None = None,
        too_long: str = "error",
        optional: bool = False,
    ) -> None:
        self.name = name
        self.key = key
        self.optional = optional
        self.step = step
        self._head = ListEntry(key).head
        self._limit = Limit(max_length, too_long)

    def convert(self, value: Any) -> Any:
        """Return all steps as they will be stored: an array of numbers, or a list."""
        steps = self._checked(value)
        if not len(steps):
            return self._no_steps(steps)
        converted = self._each(self.step.convert, steps)
        if isinstance(converted[0], np.ndarray):
            alike = {np.shape(step) for step in converted}
            return np.stack(converted) if len(alike) == 1 else converted
        return converted

    def _no_steps(self, steps: Sequence[Any]) -> Any:
        """Return an empty sequence in the form of others."""
        if not isinstance(self.step, Tensor):
            return []
        array = self.step._numbers.convert(steps)
        if array.ndim == 1:  # [] has no step to tell a shape
            array = array.reshape((0, *self.step._shape))
        check_shape(array, (0, *self.step._shape))
        return array

    def _each(self, function: Callable[[Any], Any], steps: Sequence[Any]) -> list[Any]:
        """Return a function's results, with a Problem's step named in it."""
        found = []
        for at, step in enumerate(steps):
            try:
                found.append(function(step))
            except Problem as problem:
                where = f"{problem.found} in step {at}"
                raise Problem(where, problem.expected, problem.advice) from None
        return found

    def _checked(self, value: Any) -> Sequence[Any]:
        """Return the steps of a row, once they are seen to be a sequence.

        Raises:
            Problem: they are none, or too many.
        """
        is_array = isinstance(value, np.ndarray) and value.ndim > 0
        if isinstance(value, np.ma.MaskedArray):
            raise Problem("a masked array", "an array without mask")
        if not is_array and not isinstance(value, (list, tuple)):
            raise Problem(described(value), "a list or an array with an item a step")
        self._limit.check(len(value))
        steps: Sequence[Any] = value
        return steps

    def _pieces(self, value: Any) -> Pieces:
        steps = self._checked(value)
        kept = self._limit.cut(steps)
        if kept is not steps or not len(steps):
            self.convert(steps)  # what is not written has to be right as well
        return self._entry_of(self._encoded(kept))

    def _encoded(self, steps: Sequence[Any]) -> Iterable[Pieces]:
        if not len(steps):
            return []
        try:
            return rows_of(self.step._column(steps, len(steps)), len(steps))
        except (Problem, TypeError, ValueError):
            return self._each(self.step._pieces, steps)

    def _entry_of(self, steps: Iterable[Pieces]) -> Pieces:
        pieces = tuple(chain.from_iterable(steps))
        return self._head(sum(map(len, pieces))), *pieces

    def _column(self, values: Any, rows: int) -> Strands:
        """Encode the steps of all rows as one column, where they are of one kind."""
        given = [v for v in values if v is not None or not self.optional]
        there = [self._checked(steps) for steps in given]
        steps = _joined(there)
        cut = any(self._limit.cut(row) is not row for row in there)
        if steps is None or not len(steps) or cut:
            return strands_of(() if v is None else self._pieces(v) for v in values)
        encoded = iter(rows_of(self.step._column(steps, len(steps)), len(steps)))
        return strands_of(
            () if row is None else self._entry_of(islice(encoded, len(row)))
            for row in values
        )


def _joined(rows: list[Sequence[Any]]) -> Sequence[Any] | None:
    """Return the steps of all rows in one sequence.

    None if they are not alike, or so many that each row is better off alone.
    """
    if sum(map(len, rows)) > _LONG_ROW * len(rows):
        return None
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


def encode_sequence_example(
    *fields: tuple[Feature, Any], row: int | None = None
) -> bytes:
    """Encode one row, given as pairs of a feature and its value, sorted by key.

    Raises:
        RecordError: a value that cannot be held, or no field is there.
    """
    others = [pair for pair in fields if not isinstance(pair[0], Steps)]
    lists = [f._row(value, row) for f, value in fields if isinstance(f, Steps)]
    context = merged_entries(*others, row=row)
    return b"".join(
        _sequence(
            tuple(chain.from_iterable(context)), tuple(chain.from_iterable(lists)), row
        )
    )


def encode_sequence_examples(*columns: ColumnOf) -> list[bytes]:
    """Encode a batch, given as pairs of a feature and its column, sorted by key.

    Raises:
        RecordError: columns of different lengths, or a value that cannot be held.
    """
    return [b"".join(pieces) for pieces in _sequences(columns)]


def frame_sequence_examples(*columns: ColumnOf) -> Iterator[Framed]:
    """Encode and frame a batch, as `frame_examples` does."""
    return frame_pieces(_sequences(columns))


def _sequences(columns: tuple[ColumnOf, ...]) -> list[Pieces]:
    rows = count_rows(columns)
    steps = [f.encode_column(c, rows) for f, c in columns if isinstance(f, Steps)]
    lists = rows_of(list(chain.from_iterable(steps)), rows)
    others = [pair for pair in columns if not isinstance(pair[0], Steps)]
    context = rows_of(merged_columns(others, rows), rows)
    return [
        _sequence(features, steps, row)
        for row, (features, steps) in enumerate(zip(context, lists, strict=True))
    ]


def _sequence(context: Pieces, lists: Pieces, row: int | None) -> Pieces:
    """Return the pieces of a SequenceExample, made of those of its entries.

    Raises:
        RecordError: there are none.
    """
    if not any(context) and not any(lists):
        raise RecordError(
            "", "no field at all", "at least one that is not None", row=row
        )
    return sequence_pieces(context, lists)
