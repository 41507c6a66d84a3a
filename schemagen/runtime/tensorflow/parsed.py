"""Parsed features of a batch, and which records have them.

TensorFlow parses a missing list as an empty one, so keys are looked for in the bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ..shared.requirements import lazy_tf as tf


class Parsed(dict[str, Any]):
    """The parsed features of a batch, by key.

    Attributes:
        serialized: string [B], the records.
        fields: the names of the fields that are asked for.
        choices: what chooses the items that are read, by the name of the field: from the
            records, string [B], and the lengths of their lists, int64 [B], to ragged
            positions. None reads all of them.
        images: the pixels and the stored sizes of images that were decoded, by name.
    """

    def __init__(
        self, features: Mapping[str, Any], serialized: Any, fields: Collection[str]
    ) -> None:
        super().__init__(features)
        self.serialized = serialized
        self.fields = fields
        self.choices = fields if isinstance(fields, Mapping) else {}
        self.images: dict[str, tuple[Any, Any]] = {}

    def present(self, key: str) -> Any:
        """Return which records have a feature, even an empty one: bool [B]."""
        return tf.reduce_any(_present_keys(self.serialized) == key, axis=1)

    def list_present(self, key: str) -> Any:
        """Return which records have a feature list, even an empty one: bool [B]."""
        return lists_present_in(self.serialized, [key])[:, 0]

    def of_step(self, values: Any) -> Parsed:
        """Return the values of all steps as features, which have no key."""
        return Parsed({"": values}, self.serialized, [*self.fields])

    def selecting(self, label: str) -> Callable[[Any], Any] | None:
        """Return what takes the items of ragged lists that are read; None for all.

        Args:
            label: of the field.
        """
        choose = self.choices.get(label.replace(".", "_"))
        if choose is None:
            return None

        def selected(lists: Any) -> Any:
            positions = choose(self.serialized, lists.row_lengths())
            starts = tf.repeat(lists.row_starts(), positions.row_lengths())
            values = tf.gather(lists.values, starts + positions.values)
            return positions.with_values(values)

        return selected


def present_in(serialized: tf.Tensor, keys: Sequence[str]) -> tf.Tensor:
    """Return for each Example and key whether the feature is present: bool [B, keys]."""
    there = _present_keys(serialized)
    return tf.reduce_any(there[:, :, tf.newaxis] == list(keys), axis=1)


def _present_keys(serialized: tf.Tensor) -> tf.Tensor:
    """Return the keys of the features that hold a list: string [B, N], "" fills."""
    keys, values = map_entries(serialized, "Example.features", "Features.feature")
    return tf.where(tf.strings.length(values) > 0, keys, "")


def map_entries(serialized: tf.Tensor, outer: str, inner: str) -> list[tf.Tensor]:
    """Return the keys and values of a map: string [B, N] each, "" fills.

    Args:
        serialized: string [B].
        outer: message and field that hold the map's message: "Example.features".
        inner: that message and the map's field in it: "Features.feature".
    """
    # tensorflow does not decode a batch of no messages, so that one is added.
    messages = tf.concat([serialized, [""]], axis=0)
    # A field that is given twice is merged, and merging is joining the bytes.
    merged = tf.strings.reduce_join(_fields(messages, outer)[0], axis=-1)
    message, _, field = inner.partition(".")
    entry = "".join(part.capitalize() for part in field.split("_")) + "Entry"
    (entries,) = _fields(merged, inner)
    columns = _fields(entries, f"{message}.{entry}.key", f"{message}.{entry}.value")
    return [tf.strings.reduce_join(column, axis=-1)[:-1] for column in columns]


def _fields(messages: tf.Tensor, *paths: str) -> list[tf.Tensor]:
    """Return the values of fields of messages of one type: string [..., N] each."""
    message = paths[0].rpartition(".")[0]
    fields = [path.rpartition(".")[2] for path in paths]
    types = [tf.string] * len(fields)
    found = tf.io.decode_proto(messages, f"tensorflow.{message}", fields, types)
    return list(found.values)


def lists_present_in(serialized: tf.Tensor, keys: Sequence[str]) -> tf.Tensor:
    """Return for each message and key whether the feature list is present: bool [B, keys]."""
    there, _ = map_entries(
        serialized, "SequenceExample.feature_lists", "FeatureLists.feature_list"
    )
    return tf.reduce_any(there[:, :, tf.newaxis] == list(keys), axis=1)
