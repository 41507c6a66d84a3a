"""From bytes to the features of Examples, and what is missing from what is empty."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..shared.errors import did_you_mean
from ..shared.requirements import tf
from .checks import refuse_unless, shown_errors
from .messages import map_entries, refuse_sequence_examples


def parse(
    serialized: tf.Tensor,
    description: Mapping[str, Any],
    required: Sequence[str] = (),
    own_keys: Sequence[str] = (),
) -> dict[str, Any]:
    """Parse Examples, and tell what is missing from what is empty.

    Args:
        serialized: string [B].
        description: what to parse, by key.
        required: keys of lists that have to be there; tensorflow by itself reads
            a missing list as an empty one.
        own_keys: if given, each Example must have one of these; a message of
            another type could pass for a record whose fields are all missing.

    Returns:
        What tf.io.parse_example returns.
    """
    checks = refuse_sequence_examples(serialized)
    if own_keys:
        owned = tf.reduce_any(present_in(serialized, own_keys), axis=1)
        checks += refuse_unless(
            tf.reduce_all(owned),
            "no field of this record is there: written by other code, or not a "
            "tf.train.Example",
        )
    with tf.control_dependencies(checks):
        return parse_features(tf.identity(serialized), description, required)


def parse_features(
    serialized: tf.Tensor, description: Mapping[str, Any], required: Sequence[str]
) -> dict[str, Any]:
    """Do what `parse` does with Examples that are known to be such."""
    with shown_errors():
        stored = dict(tf.io.parse_example(serialized, dict(description)))
    for key in required:
        if key in stored:
            stored[key] = _required(stored[key], serialized, key)
    return stored


def described(
    description: Mapping[str, Any], keys: Mapping[str, str], fields: Collection[str]
) -> dict[str, Any]:
    """Return the part of a description, by key, that some fields are read with.

    Raises:
        ValueError: a name that is no field.
    """
    return {key: description[key] for key in keys_of(fields, keys, {})}


def keys_of(
    fields: Collection[str],
    keys: Mapping[str, str],
    further: Mapping[str, Sequence[str]],
) -> list[str]:
    """Return the keys that some fields are read from, each once.

    Raises:
        ValueError: no name at all, or one that is no field.
        TypeError: one name in place of several.
    """
    if isinstance(fields, str):
        raise TypeError(f"fields={fields!r}: expected a collection of names")
    if not fields:
        raise ValueError(f"fields={fields!r}: expected names out of {', '.join(keys)}")
    for name in fields:
        if name not in keys:
            words = [f"no field {name!r}: expected names out of {', '.join(keys)}"]
            words += filter(None, [did_you_mean(name, keys)])
            raise ValueError("; ".join(words))
    found = [keys[name] for name in fields]
    found += [key for name in fields for key in further.get(name, ())]
    return list(dict.fromkeys(found))


def present(serialized: tf.Tensor, key: str) -> tf.Tensor:
    """Return which Examples have a feature, be it empty: bool [B]."""
    return tf.reduce_any(_present_keys(serialized) == key, axis=1)


def present_in(serialized: tf.Tensor, keys: Sequence[str]) -> tf.Tensor:
    """Return which Examples [B] have which of some features: bool [B, keys]."""
    there = _present_keys(serialized)
    return tf.reduce_any(there[:, :, tf.newaxis] == list(keys), axis=1)


def _present_keys(serialized: tf.Tensor) -> tf.Tensor:
    """Return the keys of the features that hold a list: string [B, N], "" fills."""
    keys, values = map_entries(serialized, "Example.features", "Features.feature")
    return tf.where(tf.strings.length(values) > 0, keys, "")


def _present_in_all(serialized: tf.Tensor, key: str) -> tf.Tensor:
    return tf.reduce_all(present(serialized, key))


# A function of its own, which is not set up before the first row that looks empty: in
# the graph around it, it would take as long as all the rest, in every epoch.
_searched: Any = tf.function(
    _present_in_all, autograph=False, experimental_attributes={"_noinline": True}
)


def _required(ragged: tf.RaggedTensor, serialized: tf.Tensor, key: str) -> Any:
    """Refuse Examples without a feature. Only those that look empty are searched."""
    empty = ragged.row_lengths() == 0
    found = tf.cond(
        tf.reduce_any(empty),
        lambda: _searched(tf.boolean_mask(serialized, empty), key),
        lambda: tf.constant(True),
    )
    message = f"feature {key!r} is required, and an Example does not have it"
    with tf.control_dependencies(refuse_unless(found, message)):
        return ragged.with_flat_values(tf.identity(ragged.flat_values))
