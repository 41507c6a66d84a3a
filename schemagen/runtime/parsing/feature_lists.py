"""From bytes to the context and the feature lists of SequenceExamples."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..shared.requirements import tf
from .checks import as_vector, refuse_unless, shown_errors
from .examples import has_feature_lists, map_entries, parse_features, present_in


def parse_sequences(
    serialized: tf.Tensor,
    context: Mapping[str, Any],
    lists: Mapping[str, Any],
    keys: Collection[str],
    required: Sequence[str] = (),
    *,
    all_optional: bool = False,
) -> dict[str, Any]:
    """Parse SequenceExamples, and tell what is missing from what is empty.

    The context is parsed as the Example that it is: tf.io.parse_sequence_example
    refuses a feature with no value in it where a default should stand for it.

    Args:
        serialized: string [B].
        context: descriptions of the context's features, by key.
        lists: descriptions of the feature lists, by key.
        keys: which of them to parse.
        required: keys of the context's lists that have to be there.
        all_optional: whether nothing in a record has to be there; then each message
            must have at least one of the keys, or it is another program's.

    Returns:
        By key: tensors of the context as tf.io.parse_example returns them, and for
        each feature list a ragged [B, (T), ...].
    """
    serialized = as_vector(serialized)
    checks = refuse_unless(
        tf.reduce_all(has_feature_lists(serialized)),
        "expected a tf.train.SequenceExample, found a message without feature lists: "
        "a tf.train.Example, or written by other code",
    )
    if all_optional:
        owned = present_in(serialized, list(context))
        steps = lists_present_in(serialized, list(lists))
        checks += refuse_unless(
            tf.reduce_all(tf.reduce_any(owned, axis=1) | tf.reduce_any(steps, axis=1)),
            "no field of this record is there: written by other code, or not a "
            "tf.train.SequenceExample",
        )
    with tf.control_dependencies(checks):
        serialized = tf.identity(serialized)
    features = {key: context[key] for key in keys if key in context}
    of_steps = {key: lists[key] for key in keys if key in lists}
    stored = {}
    if features or not of_steps:
        stored = parse_features(serialized, features, required)
    if of_steps:
        with shown_errors():
            _, dense, lengths = tf.io.parse_sequence_example(
                serialized, sequence_features=of_steps
            )
        for key, values in dense.items():
            stored[key] = tf.RaggedTensor.from_tensor(values, lengths[key])
    return stored


def list_present(serialized: tf.Tensor, key: str) -> tf.Tensor:
    """Return which SequenceExamples have a feature list, be it empty: bool [B]."""
    return lists_present_in(serialized, [key])[:, 0]


def lists_present_in(serialized: tf.Tensor, keys: Sequence[str]) -> tf.Tensor:
    """Return which messages [B] have which of some feature lists: bool [B, keys]."""
    there, _ = map_entries(
        serialized, "SequenceExample.feature_lists", "FeatureLists.feature_list"
    )
    return tf.reduce_any(there[:, :, tf.newaxis] == list(keys), axis=1)
