"""Lists of lists: values, cut into inner lists by their lengths."""

from __future__ import annotations

from ..shared.requirements import tf
from .checks import checked
from .sequences import limited


def partitioned(
    items: tf.RaggedTensor,
    row_lengths: tf.RaggedTensor,
    name: str,
    *,
    max_length: int | None = None,
) -> tf.RaggedTensor:
    """Cut the values of each row into inner lists.

    Args:
        items: ragged [B, (N)], the values of each row one after the other.
        row_lengths: ragged int64 [B, (T)], how many of them each inner list has.
        name: the field's name.
        max_length: the most inner lists a row may have.

    Returns:
        Ragged [B, (T), (N)].
    """
    sums = tf.reduce_sum(row_lengths, axis=1)
    counts = tf.cast(items.row_lengths(), tf.int64)
    shortest = tf.reduce_min(tf.concat([row_lengths.flat_values, [0]], axis=0))
    message = f"field {name!r}: expected row lengths from 0, found"
    values = checked(items.flat_values, shortest >= 0, message, shortest)
    values = checked(
        values,
        sums == counts,
        f"field {name!r}: expected row lengths that add up to the number of values; "
        "found their sum and that number",
        tf.gather_nd(tf.stack([sums, counts], axis=1), tf.where(sums != counts)[:1]),
    )
    lists = tf.RaggedTensor.from_nested_row_lengths(
        values, [row_lengths.row_lengths(), row_lengths.flat_values], validate=False
    )
    return lists if max_length is None else limited(lists, name, max_length)
