"""From serialized records to parsed features, and what is missing from what is empty.

Field 1 of an Example and of a SequenceExample is a map of features, so that each's
parser would read the other's bytes silently: as a record without steps, or as
one that has lost them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from ..kinds.box_sides import images_of
from ..kinds.kind import Kind
from ..shared.errors import with_suggestion
from ..shared.requirements import lazy_tf as tf
from ..shared.tfrecord import MOST_RECORD_BYTES, RECORD_LIMIT
from ..tensorflow.graph import refuse_unless, shown_errors
from ..tensorflow.parsed import Parsed, lists_present_in, present_in

_FEATURES = 0x0A  # the tag of field 1, a message
_FEATURE_LISTS = b"\x12"  # that of field 2
_LONGEST_VARINT = 5  # messages end at 2 GiB


def parse(
    serialized: Any,
    description: Mapping[str, Any],
    lists: Mapping[str, Any] | None,
    codecs: Sequence[Kind],
    fields: Collection[str],
) -> Parsed:
    """Parse records, and tell what is missing from what is empty.

    The context of a SequenceExample is parsed as the Example that it is:
    tf.io.parse_sequence_example refuses a feature with no value in it where a default
    should stand for it.

    Args:
        serialized: string [B].
        description: of the features, by key.
        lists: of the feature lists, by key; None of Examples.
        codecs: of all fields.
        fields: the names of those to parse.

    Raises:
        ValueError: a name that is not a field, or a single record.
        tf.errors.InvalidArgumentError: a feature is missing or of another type.
    """
    chosen = _chosen(codecs, fields)
    serialized = _as_vector(serialized)
    with tf.control_dependencies(_check_sizes(serialized)):
        serialized = tf.identity(serialized)
    checks = _check_message(serialized, codecs, lists)
    with tf.control_dependencies(checks):
        records = tf.identity(serialized)
    keys = [part.key for codec in chosen for part in codec.features]
    context = {key: description[key] for key in dict.fromkeys(keys)}
    of_steps = {
        codec.key: lists[codec.key]
        for codec in chosen
        if lists and codec.parts[0].in_list
    }
    stored: dict[str, Any] = {}
    if context or not of_steps:
        with shown_errors():
            stored = dict(tf.io.parse_example(records, context))
        required = [key for codec in chosen for key in _required(codec)]
        _check_present(stored, records, required)
    if of_steps:
        with shown_errors():
            _, found, lengths = tf.io.parse_sequence_example(
                records, sequence_features=of_steps
            )
        for key, values in found.items():
            ragged = isinstance(values, tf.RaggedTensor)
            stored[key] = (
                values if ragged else tf.RaggedTensor.from_tensor(values, lengths[key])
            )
        required = [
            codec.key
            for codec in chosen
            if codec.key in of_steps
            and codec.parts[0].count is None
            and not codec.optional
        ]
        _check_present(stored, records, required, "feature list", lists_present_in)
    return Parsed(stored, serialized, fields)


def _required(codec: Kind) -> Iterator[str]:
    """Yield the keys of lists that TensorFlow reads as empty where they are missing."""
    for part in codec.features:
        if part.count is None and part.holds != "index" and not codec.optional:
            yield part.key


def _chosen(codecs: Sequence[Kind], fields: Collection[str]) -> list[Kind]:
    """Return the codecs of some fields, and of the images that they are scaled with.

    Raises:
        ValueError: no name at all, or one that is not a field.
        TypeError: one name in place of several.
    """
    names = [codec.name for codec in codecs]
    if isinstance(fields, str):
        raise TypeError(f"fields={fields!r}: expected a collection of names")
    if not fields:
        raise ValueError(f"fields={fields!r}: expected names out of {', '.join(names)}")
    for name in fields:
        if name not in names:
            words = f"no field {name!r}: expected names out of {', '.join(names)}"
            raise ValueError(with_suggestion(words, name, names))
    images = images_of(codec for codec in codecs if codec.name in fields)
    return [codec for codec in codecs if codec.name in fields or codec in images]


def _as_vector(serialized: Any) -> tf.Tensor:
    """Return serialized records as a tensor, string [B].

    Raises:
        ValueError: it is a single one.
    """
    tensor = tf.convert_to_tensor(serialized)
    if tensor.shape.rank == 0:
        raise ValueError(
            "expected serialized records, string [B], found a single one; put it into a "
            "list, as [serialized]"
        )
    return tensor


def _check_sizes(serialized: tf.Tensor) -> list[tf.Operation]:
    """Refuse records that are too long: tensorflow's parsers take them for empty ones.

    `tf.strings.length` has 32 bits. The length of a longer record is negative, or too
    small, so that the record goes on behind it.
    """
    lengths = tf.minimum(tf.strings.length(serialized), MOST_RECORD_BYTES)
    rest = tf.strings.substr(serialized, tf.maximum(lengths, 0), tf.ones_like(lengths))
    found = "found a record of more; write its values into several records"
    return refuse_unless(tf.reduce_all(rest == ""), f"expected {RECORD_LIMIT}, {found}")


def _check_message(
    serialized: tf.Tensor, codecs: Sequence[Kind], lists: Mapping[str, Any] | None
) -> list[tf.Operation]:
    """Refuse messages of the other type, and those without any field of the record."""
    has_lists = _has_feature_lists(serialized)
    if lists is None:
        right = ~tf.reduce_any(has_lists)
        words = (
            "expected a tf.train.Example, found a tf.train.SequenceExample: declare the "
            "record as a SequenceRecord to read its feature lists"
        )
    else:
        right = tf.reduce_all(has_lists)
        words = (
            "expected a tf.train.SequenceExample, found a message without feature "
            "lists: a tf.train.Example, or written by other code"
        )
    checks = refuse_unless(right, words)
    if not all(codec.optional for codec in codecs):
        return checks
    keys = [part.key for codec in codecs for part in codec.features]
    owned = tf.reduce_any(present_in(serialized, keys), axis=1) if keys else False
    if lists:
        owned |= tf.reduce_any(lists_present_in(serialized, list(lists)), axis=1)
    message = "Example" if lists is None else "SequenceExample"
    return checks + refuse_unless(
        tf.reduce_all(owned),
        "no field of this record is there: written by other code, or not a "
        f"tf.train.{message}",
    )


def _check_present(
    stored: dict[str, Any],
    serialized: tf.Tensor,
    keys: Sequence[str],
    noun: str = "feature",
    present: Callable[[tf.Tensor, Sequence[str]], tf.Tensor] = present_in,
) -> None:
    """Refuse records without one of some lists. Only rows that look empty are searched.

    There are usually none, and then the search costs little. A tf.cond around it would
    cost more: each takes 5 ms when an iterator is made, which is once an epoch.
    """
    if not keys:
        return
    empty = tf.stack([stored[key].row_lengths() == 0 for key in keys], axis=1)
    rows = tf.where(tf.reduce_any(empty, axis=1))[:, 0]
    found = present(tf.gather(serialized, rows), keys) | ~tf.gather(empty, rows)
    in_all = tf.unstack(tf.reduce_all(found, axis=0), len(keys))
    checks = [
        check
        for key, right in zip(keys, in_all, strict=True)
        for check in refuse_unless(
            right, f"{noun} {key!r} is required, and a record does not have it"
        )
    ]
    with tf.control_dependencies(checks):
        for key in keys:
            flat = tf.identity(stored[key].flat_values)
            stored[key] = stored[key].with_flat_values(flat)


def _has_feature_lists(serialized: tf.Tensor) -> tf.Tensor:
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
