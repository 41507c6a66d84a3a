"""Groups: fields that have equally many items in every Example."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..shared.requirements import tf
from .checks import refuse_unless
from .examples import present_in
from .feature_lists import lists_present_in


@dataclass(frozen=True)
class Member:
    """A field of a group, as it is stored.

    Attributes:
        key: of the feature whose length tells how many items there are.
        size: how much of it one item takes: numbers, or bytes of a raw value.
        optional: whether it does not count where it is absent.
        in_list: whether the key is that of a feature list.
    """

    key: str
    size: int = 1
    optional: bool = False
    in_list: bool = False


Members = Mapping[str, Member]


def check_groups(
    stored: Mapping[str, Any], serialized: tf.Tensor, groups: Mapping[str, Members]
) -> dict[str, Any]:
    """Refuse Examples whose fields of one group are not equally long.

    Lengths are those on disk, before anything is padded or cut off. Fields that were
    not parsed do not count.

    Args:
        stored: what `parse` returned: ragged [B, (T)], or string [B] of raw numbers.
        serialized: string [B], the Examples.
        groups: the members of each group by field name, by the group's name.

    Returns:
        `stored`, in a graph after the checks.
    """
    found = dict(stored)
    for group, members in groups.items():
        parsed = {name: m for name, m in members.items() if m.key in stored}
        if len(parsed) > 1:
            found.update(_checked_group(found, serialized, group, parsed))
    return found


def _checked_group(
    stored: Mapping[str, Any], serialized: tf.Tensor, group: str, members: Members
) -> dict[str, Any]:
    columns = {name: stored[member.key] for name, member in members.items()}
    # A feature that is missing altogether is an error of its own, and comes first.
    with tf.control_dependencies([_flat(column) for column in columns.values()]):
        lengths = tf.stack(
            [_row_lengths(columns[name]) // m.size for name, m in members.items()],
            axis=1,
        )
    longest = tf.reduce_max(lengths, axis=1, keepdims=True)
    absent = _absent(lengths, longest, serialized, list(members.values()))
    unequal = (lengths != longest) & ~absent
    checks = refuse_unless(
        ~tf.reduce_any(unequal),
        f"group {group!r}: expected equally many items of each field in a record, found",
        _shown(lengths, unequal, list(members)),
    )
    with tf.control_dependencies(checks):
        return {m.key: _after(columns[name]) for name, m in members.items()}


def row_lengths(serialized: tf.Tensor, member: Member, description: Any) -> tf.Tensor:
    """Return how many items a field has in each record, without parsing more than that.

    Args:
        serialized: string [B].
        member: where the field's length stands.
        description: of its key.

    Returns:
        int64 [B].
    """
    described = {member.key: description}
    if member.in_list:
        lengths = tf.io.parse_sequence_example(serialized, sequence_features=described)
        return lengths[2][member.key]
    stored = tf.io.parse_example(serialized, described)
    return _row_lengths(stored[member.key]) // member.size


def _flat(column: Any) -> tf.Tensor:
    return column.flat_values if isinstance(column, tf.RaggedTensor) else column


def _row_lengths(column: Any) -> tf.Tensor:
    """Return how many numbers, strings or raw bytes each row has: int64 [B]."""
    if isinstance(column, tf.RaggedTensor):
        return tf.cast(column.row_lengths(), tf.int64)
    return tf.cast(tf.strings.length(column), tf.int64)


def _absent(
    lengths: tf.Tensor,
    longest: tf.Tensor,
    serialized: tf.Tensor,
    members: list[Member],
) -> tf.Tensor:
    """Return which optional members are not there, where others are: bool [B, N].

    Only Examples in which one looks empty are searched for its key.
    """
    optional = tf.constant([member.optional for member in members])
    empty = (lengths == 0) & (longest > 0) & optional
    if not any(member.optional for member in members):
        return empty

    def search() -> tf.Tensor:
        rows = tf.where(tf.reduce_any(empty, axis=1))
        suspects = tf.gather_nd(serialized, rows)
        keys = [member.key for member in members]
        there = present_in(suspects, keys)
        if any(member.in_list for member in members):
            there |= lists_present_in(suspects, keys)
        missing = tf.gather_nd(empty, rows) & ~there
        return tf.tensor_scatter_nd_update(empty, rows, missing)

    return tf.cond(tf.reduce_any(empty), search, lambda: empty)


def _shown(lengths: tf.Tensor, unequal: tf.Tensor, names: list[str]) -> tf.Tensor:
    """Say of the first wrong row how long two fields are: string [0 or 1]."""
    row = tf.where(tf.reduce_any(unequal, axis=1))[:1]
    lengths, unequal = tf.gather_nd(lengths, row), tf.gather_nd(unequal, row)
    most = tf.argmax(lengths, axis=1)
    other = tf.argmax(tf.cast(unequal, tf.int32), axis=1)

    def words(at: tf.Tensor) -> list[Any]:
        count = tf.gather(lengths, at, axis=1, batch_dims=1)
        return ["'", tf.gather(names, at), "' with ", tf.strings.as_string(count)]

    return tf.strings.join([*words(most), ", ", *words(other)])


def _after(column: Any) -> Any:
    """Return a column that is computed after what it depends on now."""
    if isinstance(column, tf.RaggedTensor):
        return column.with_flat_values(tf.identity(column.flat_values))
    return tf.identity(column)
