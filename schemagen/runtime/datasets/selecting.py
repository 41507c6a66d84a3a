"""Items of lists that are read, such as frames of clips, in graphs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..cells.selection import Selection
from ..faults.calls import call_for_numbers
from ..shared.requirements import tf
from .batching import seeds

_MOST = 2**62


@dataclass(frozen=True)
class Choice:
    """What `Parsed.selecting` is given for a field.

    Attributes:
        selection: which items are read.
        seed: int64 [N], on which items that are chosen by chance depend, with the bytes of
            their record.
    """

    selection: Selection
    seed: Any

    def most(self, length: int | None) -> int | None:
        """Return how many items are read; see `Selection`."""
        return self.selection.most(length)

    def __call__(self, serialized: tf.Tensor, lengths: tf.Tensor) -> tf.RaggedTensor:
        """Return the positions that are read of each list: int64 [B, (N)]."""
        selection = self.selection
        if selection.function is not None:
            if tf.executing_eagerly():
                positions, counts = selection.of(lengths.numpy())
            else:
                positions, counts = call_for_numbers(selection.of, lengths)
            return tf.RaggedTensor.from_row_lengths(positions, counts, validate=False)
        counts = _ceiling(lengths, selection.every)
        if selection.random is not None:
            found = self._drawn(serialized, counts, selection.random)
        else:
            most = counts if selection.first is None else selection.first
            found = _counted(tf.minimum(counts, most))
        return found.with_values(found.values * selection.every)

    def _drawn(self, serialized: tf.Tensor, counts: tf.Tensor, most: int) -> Any:
        """Return so many numbers below each count: those whose hashes are the least."""
        every = _counted(counts)
        rows, numbers = every.value_rowids(), every.values
        record = tf.strings.to_hash_bucket_fast(serialized, _MOST)
        texts = [
            tf.strings.as_string(each)
            for each in (tf.gather(record, rows), numbers, *tf.unstack(self.seed))
        ]
        hashes = tf.strings.to_hash_bucket_fast(tf.strings.join(texts, " "), _MOST)
        order = tf.argsort(hashes, stable=True)
        order = tf.gather(order, tf.argsort(tf.gather(rows, order), stable=True))
        # Of each row its items follow each other in `order`, as they do in `numbers`.
        chosen = tf.sort(tf.boolean_mask(order, numbers < most))
        lengths = tf.minimum(counts, most)
        numbers = tf.gather(numbers, chosen)
        return tf.RaggedTensor.from_row_lengths(numbers, lengths, validate=False)


def _ceiling(lengths: tf.Tensor, step: int) -> tf.Tensor:
    return (lengths + step - 1) // step


def _counted(counts: tf.Tensor) -> tf.RaggedTensor:
    """Return the numbers below each count: int64 [B, (count)]."""
    every = tf.range(tf.reduce_sum(counts))
    rows = tf.RaggedTensor.from_row_lengths(every, counts, validate=False)
    return rows.with_values(every - tf.repeat(rows.row_starts(), counts))


@dataclass(frozen=True)
class SelectedItems:
    """The items that are read of the lists of a dataset.

    Attributes:
        select: by the name of the field.
        seed: the option of `make_dataset`.
        training: choose other ones by chance in each epoch.
    """

    select: Mapping[str, Selection]
    seed: int | None
    training: bool

    @property
    def _is_random(self) -> bool:
        return any(each.random for each in self.select.values())

    @cached_property
    def seeds(self) -> tuple[tf.data.Dataset, ...]:
        """A dataset of seeds for each batch, if items are others in each epoch."""
        return (seeds(self.seed),) if self.training and self._is_random else ()

    def of(
        self, fields: Collection[str], seed: tf.Tensor | None = None
    ) -> Collection[str]:
        """Return fields to parse, with what chooses the items that are read of each.

        Args:
            fields: their names.
            seed: int64 [2], of a batch; None for items that are the same in each epoch.
        """
        if not self.select:
            return fields
        seed = tf.constant([self.seed or 0], tf.int64) if seed is None else seed
        choices = {name: Choice(each, seed) for name, each in self.select.items()}
        return {name: choices.get(name) for name in fields}

    def counted(self, name: str) -> Callable[[tf.Tensor], tf.Tensor]:
        """Return what counts the items that are read, given lengths of a field."""
        choice = Choice(self.select[name], tf.constant([0], tf.int64))

        def count(lengths: tf.Tensor) -> tf.Tensor:
            records = tf.fill(tf.shape(lengths), "")
            return choice(records, lengths).row_lengths()

        return count

    def checked(
        self, parse: Callable[[tf.Tensor, Collection[str]], Any], *, whole: bool
    ) -> Callable[[tf.Tensor, Collection[str]], Any]:
        """Return a parser that also looks for what is wrong in what will be read.

        Args:
            parse: parses the fields that `of` returns.
            whole: look at all items, as those do that are chosen by chance.
        """
        if not self.select or whole or self._is_random:
            return parse

        def parse_selected(serialized: tf.Tensor, fields: Collection[str]) -> Any:
            given = fields if isinstance(fields, Mapping) else self.of(fields)
            return parse(serialized, given)

        return parse_selected
