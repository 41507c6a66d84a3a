"""What messages say before they are parsed: which they are, and which keys they have.

Field 1 of an Example and of a SequenceExample is a map of features, so that each's
parser would read the other's bytes silently: as a record without steps, or as
one that has lost them.
"""

from __future__ import annotations

from ..shared.requirements import tf
from .checks import refuse_unless

_FEATURES = 0x0A  # the tag of field 1, a message
_FEATURE_LISTS = b"\x12"  # that of field 2
_LONGEST_VARINT = 5  # messages end at 2 GiB


def has_feature_lists(serialized: tf.Tensor) -> tf.Tensor:
    """Tell which messages are SequenceExamples: bool [B].

    Only the tag after field 1 is looked at, so that it costs next to nothing.
    """
    head = tf.io.decode_raw(serialized, tf.uint8, fixed_length=1 + _LONGEST_VARINT)
    groups = tf.cast(head[:, 1:], tf.int64)
    goes_on = tf.cast(groups[:, :-1] >= 0x80, tf.int64)
    used = tf.pad(tf.math.cumprod(goes_on, axis=1), [[0, 0], [1, 0]], constant_values=1)
    places = tf.constant([1 << (7 * at) for at in range(_LONGEST_VARINT)], tf.int64)
    size = tf.reduce_sum(used * (groups & 0x7F) * places, axis=1)
    end = 1 + tf.reduce_sum(used, axis=1) + size
    length = tf.cast(tf.strings.length(serialized), tf.int64)
    after = tf.where(head[:, 0] == _FEATURES, tf.minimum(end, length), 0)
    return tf.strings.substr(serialized, after, tf.ones_like(after)) == _FEATURE_LISTS


def refuse_sequence_examples(serialized: tf.Tensor) -> list[tf.Operation]:
    """Refuse messages [B] with feature lists, which an Example does not have."""
    return refuse_unless(
        ~tf.reduce_any(has_feature_lists(serialized)),
        "expected a tf.train.Example, found a tf.train.SequenceExample: declare the "
        "record as a SequenceRecord to read its feature lists",
    )


def refuse_examples(serialized: tf.Tensor) -> list[tf.Operation]:
    """Refuse messages [B] without feature lists, which a SequenceExample has."""
    return refuse_unless(
        tf.reduce_all(has_feature_lists(serialized)),
        "expected a tf.train.SequenceExample, found a message without feature lists: "
        "a tf.train.Example, or written by other code",
    )


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
    merged = tf.strings.reduce_join(_field(messages, outer), axis=-1)
    entries = _field(merged, inner)
    word = "".join(part.capitalize() for part in inner.partition(".")[2].split("_"))
    entry = f"{inner.partition('.')[0]}.{word}Entry"
    return [
        tf.strings.reduce_join(_field(entries, f"{entry}.{part}"), axis=-1)[:-1]
        for part in ("key", "value")
    ]


def _field(messages: tf.Tensor, path: str) -> tf.Tensor:
    """Return the values of a field of messages: string [..., N]."""
    message, _, field = f"tensorflow.{path}".rpartition(".")
    return tf.io.decode_proto(messages, message, [field], [tf.string]).values[0]
