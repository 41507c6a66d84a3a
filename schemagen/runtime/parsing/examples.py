"""From bytes to the features of Examples, and what is missing from what is empty.

Field 1 of an Example and of a SequenceExample is a map of features, so that each's
parser would read the other's bytes silently: as a record without steps, or as
one that has lost them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..shared.errors import with_suggestion
from ..shared.requirements import tf
from .checks import as_vector, refuse_unless, shown_errors

_FEATURES = 0x0A  # the tag of field 1, a message
_FEATURE_LISTS = b"\x12"  # that of field 2
_LONGEST_VARINT = 5  # messages end at 2 GiB


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
    serialized = as_vector(serialized)
    checks = refuse_unless(
        ~tf.reduce_any(has_feature_lists(serialized)),
        "expected a tf.train.Example, found a tf.train.SequenceExample: declare the "
        "record as a SequenceRecord to read its feature lists",
    )
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
    keys = [key for key in required if key in stored]
    if keys:
        with tf.control_dependencies(_check_present(stored, serialized, keys)):
            for key in keys:
                flat = tf.identity(stored[key].flat_values)
                stored[key] = stored[key].with_flat_values(flat)
    return stored


def _check_present(
    stored: Mapping[str, Any], serialized: tf.Tensor, keys: Sequence[str]
) -> list[tf.Operation]:
    """Refuse Examples without one of some lists. Only rows that look empty are searched.

    There are usually none, and then the search costs little. A tf.cond around it would
    cost more: each takes 5 ms when an iterator is made, which is once an epoch.
    """
    empty = tf.stack([stored[key].row_lengths() == 0 for key in keys], axis=1)
    rows = tf.where(tf.reduce_any(empty, axis=1))[:, 0]
    found = present_in(tf.gather(serialized, rows), keys) | ~tf.gather(empty, rows)
    in_all = tf.unstack(tf.reduce_all(found, axis=0), len(keys))
    return [
        check
        for key, right in zip(keys, in_all, strict=True)
        for check in refuse_unless(
            right, f"feature {key!r} is required, and an Example does not have it"
        )
    ]


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
            words = f"no field {name!r}: expected names out of {', '.join(keys)}"
            raise ValueError(with_suggestion(words, name, keys))
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


def has_feature_lists(serialized: tf.Tensor) -> tf.Tensor:
    """Tell which messages are SequenceExamples: bool [B].

    Only the tag after field 1 is looked at, so that it costs next to nothing.
    """
    head = tf.io.decode_raw(serialized, tf.uint8, fixed_length=1 + _LONGEST_VARINT)
    groups = tf.cast(head[:, 1:], tf.int64)
    goes_on = tf.cast(groups >= 0x80, tf.int64)
    used = tf.math.cumprod(goes_on, axis=1, exclusive=True)
    places = tf.constant([1 << (7 * at) for at in range(_LONGEST_VARINT)], tf.int64)
    end = 1 + tf.reduce_sum(used * (1 + (groups & 0x7F) * places), axis=1)
    length = tf.cast(tf.strings.length(serialized), tf.int64)
    after = tf.where(head[:, 0] == _FEATURES, tf.minimum(end, length), 0)
    return tf.strings.substr(serialized, after, tf.ones_like(after)) == _FEATURE_LISTS


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
