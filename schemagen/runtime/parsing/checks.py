"""Checks in a graph: what raises tf.errors.InvalidArgumentError, in plain words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..shared.requirements import tf

_SHOWN_BYTES = 1000


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


def as_vector(serialized: Any) -> tf.Tensor:
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
    """Raise errors of tensorflow's that show bytes which are not UTF-8.

    Its message for a message that cannot be parsed holds the message; outside of a graph,
    decoding it fails.

    Raises:
        tf.errors.InvalidArgumentError: what tensorflow says, its bytes escaped.
    """
    try:
        yield
    except UnicodeDecodeError as error:
        text = error.object[:_SHOWN_BYTES].decode(errors="backslashreplace")
        raise tf.errors.InvalidArgumentError(None, None, text) from None


def _shown(values: tf.Tensor, limit: int = 10) -> str:
    """Write what was found in an error: words as they are, numbers as a list."""
    some = values.numpy().reshape(-1)[:limit].tolist()
    if values.dtype == tf.string:
        return " ".join(word.decode(errors="backslashreplace") for word in some)
    return str(some)
