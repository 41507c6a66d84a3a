"""Operations in TensorFlow graphs: checks, numbers, classes, lists and base64 text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.base64_text import PATTERN, SPACE
from ..shared.requirements import lazy_tf as tf

_SHOWN_BYTES = 1000
_SHOWN_START = 8

# tf.io.decode_raw does not know these; their bits are the same.
_DECODED_AS = {"uint32": "int32", "uint64": "int64"}

_FRAME = re.compile(r"\{\{[^}]*\}\} ?|^assertion failed: |\s*\[Op:\w+\].*$", re.DOTALL)


def checked(value: Any, right: tf.Tensor, message: str, *found: tf.Tensor) -> Any:
    """Return a tensor or ragged tensor once every element of `right` is seen to be true.

    Args:
        value: what is returned.
        right: bool, of any shape.
        message: of the error.
        found: what the error shows after it; `value` if nothing is given.
    """
    checks = refuse_unless(tf.reduce_all(right), message, *(found or (value,)))
    with tf.control_dependencies(checks):
        if isinstance(value, tf.RaggedTensor):
            return value.with_flat_values(tf.identity(value.flat_values))
        return tf.identity(value)


def refuse_unless(
    right: tf.Tensor, message: str, *found: tf.Tensor
) -> list[tf.Operation]:
    """Return what a graph has to run first; outside of one, raise in plain words."""
    if not tf.executing_eagerly():
        # tf.debugging.Assert puts a tf.cond around the op, which takes 5 ms an epoch.
        data = [tf.constant(message), *found]
        return [tf.raw_ops.Assert(condition=right, data=data, summarize=10)]
    if not right:
        shown = [_shown(values) for values in found]
        raise tf.errors.InvalidArgumentError(None, None, " ".join([message, *shown]))
    return []


@contextmanager
def shown_errors() -> Iterator[None]:
    """Raise errors of tensorflow's without what it puts around a message.

    Its message for a message that cannot be parsed holds the message; outside of a graph,
    decoding it fails.

    Raises:
        tf.errors.InvalidArgumentError: what tensorflow says, bytes that are not UTF-8
            escaped.
    """
    try:
        yield
    except tf.errors.OpError as error:
        raise type(error)(None, None, unframed(error.message)) from None
    except UnicodeDecodeError as error:
        text = error.object[:_SHOWN_BYTES].decode(errors="backslashreplace")
        raise tf.errors.InvalidArgumentError(None, None, text) from None


def unframed(message: str) -> str:
    """Return a message of tensorflow without what it puts around it."""
    return _FRAME.sub("", message).strip()


def _shown(values: tf.Tensor, limit: int = 10) -> str:
    """Write what was found in an error: words as they are, numbers as a list."""
    some = values.numpy().reshape(-1)[:limit].tolist()
    if values.dtype == tf.string:
        return " ".join(word.decode(errors="backslashreplace") for word in some)
    return str(some)


def decode_raw(
    data: tf.Tensor, name: str, dtype: tf.DType, shape: Sequence[int | None]
) -> tf.Tensor:
    """Decode raw little-endian numbers of a fixed shape.

    Args:
        data: string [B].
        name: the field's name.
        dtype: of the numbers.
        shape: of one value.

    Returns:
        dtype [B, *shape].
    """
    expected = prod(size or 0 for size in shape) * dtype.size
    sizes = tf.strings.length(data)
    data = checked(
        data,
        sizes == expected,
        f"field {name!r}: expected {expected} bytes ({dtype.name} {list(shape)}), "
        "found sizes",
        sizes,
    )
    numbers = tf.reshape(raw_numbers(data, dtype), (-1, *shape))
    return tf.ensure_shape(numbers, (data.shape[0], *shape))


def raw_numbers(data: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
    """Decode raw little-endian numbers."""
    decoded = tf.io.decode_raw(data, _DECODED_AS.get(dtype.name, dtype))
    return tf.bitcast(decoded, dtype) if dtype.name in _DECODED_AS else decoded


def positions_of(
    stored: tf.Tensor, known: Sequence[bytes] | Sequence[int], none: bytes | int
) -> tf.Tensor:
    """Look up stored names or integers [N]: int64 [N], -1 for `none`, -2 for others."""
    # A search in a constant needs no table, which a saved model would have to track.
    hashes, order = _sorted_hashes(tuple(known), stored.dtype.name)
    places = tf.searchsorted(tf.constant(hashes), _hashed(stored))
    found = tf.gather(tf.constant(order), tf.minimum(places, len(order) - 1))
    is_known = tf.gather(tf.constant(list(known), stored.dtype), found) == stored
    is_none = stored == tf.constant(none, stored.dtype)
    others = tf.where(is_none, tf.constant(-1, tf.int64), tf.constant(-2, tf.int64))
    return tf.where(is_known, found, others)


def _hashed(stored: tf.Tensor) -> tf.Tensor:
    if stored.dtype != tf.string:
        return stored
    return tf.strings.to_hash_bucket_fast(stored, 2**63 - 1)


@lru_cache(maxsize=64)
def _sorted_hashes(
    known: tuple[bytes | int, ...], dtype: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return hashes in order, and the positions of what they belong to."""
    with tf.init_scope():  # computed once, also where a graph is being traced
        hashes = _hashed(tf.constant(list(known), dtype)).numpy()
    order = np.argsort(hashes)
    return hashes[order], order


def padded(sequences: tf.RaggedTensor, value: Any) -> Any:
    """Fill sequences up to the batch's longest: [B, T, *item_shape]."""
    shape = (None, None, *sequences.shape[2:])
    filler = tf.constant(value, sequences.dtype)
    dense = sequences.to_tensor(default_value=filler, shape=shape)
    return tf.ensure_shape(dense, (sequences.shape[0], *shape[1:]))


def from_base64(data: tf.Tensor, name: str) -> tf.Tensor:
    """Decode base64 text, of either alphabet, with padding or without.

    Args:
        data: string [B]; "" means no data.
        name: the field's name.

    Returns:
        string [B], the decoded bytes.
    """
    plain = tf.strings.regex_full_match(data, PATTERN) | (data == "")

    def without_space() -> tuple[tf.Tensor, tf.Tensor]:
        text = tf.strings.regex_replace(data, f"[{SPACE}]+", "")
        return text, tf.strings.regex_full_match(text, PATTERN) | (data == "")

    # Few writers break lines, and to look for white space takes as long as to decode.
    whole = tf.reduce_all(plain)
    text, right = tf.cond(whole, lambda: (data, plain), without_space)
    wrong = tf.boolean_mask(data, ~right)
    text = checked(
        text,
        right,
        f"field {name!r}: expected base64 text, found a value of as many bytes, which "
        "begins with the bytes",
        tf.strings.length(wrong)[:1],
        # As text they could not be shown.
        tf.io.decode_raw(tf.strings.substr(wrong[:1], 0, _SHOWN_START), tf.uint8),
    )
    # tf.io.decode_base64 knows the URL-safe alphabet only.
    text = tf.strings.regex_replace(text, r"\+", "-")
    return tf.io.decode_base64(tf.strings.regex_replace(text, "/", "_"))
