"""Groups: fields that have equally many items in every record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cells.columns import Rows
from ..cells.faults import Fault, Features
from ..cells.part import Part
from ..kinds.kind import Column, Kind
from ..shared.errors import RecordError
from ..shared.requirements import lazy_tf as tf
from ..tensorflow.graph import refuse_unless
from ..tensorflow.parsed import Parsed, lists_present_in, present_in

_NOTHING = np.empty(0, np.int64)


def group_of(kind: Any) -> str | None:
    """Return the group that a kind is in; None if it is in none."""
    return getattr(kind, "group", None)


def groups_of(codecs: Iterable[Kind]) -> dict[str, list[Kind]]:
    """Return the fields of each group, in the order of their declaration."""
    found: dict[str, list[Kind]] = {}
    for codec in codecs:
        group = group_of(codec)
        if group is not None:
            found.setdefault(group, []).append(codec)
    return found


def has_length(codec: Kind) -> bool:
    """Return whether the stored number of items varies from record to record."""
    return any(part.item_size is not None for part in codec.parts)


def length_part(codec: Kind) -> Part:
    """Return the part whose length tells the number of items, which varies."""
    return next(part for part in codec.parts if part.item_size is not None)


def check_lengths(
    group: str, *fields: tuple[Kind, Any], row: int | None = None
) -> None:
    """Refuse a row whose fields of one group are not equally long.

    Args:
        group: the group's name.
        fields: pairs of a codec and its value. None does not count, nor does a
            value that is not a sequence, which its own field refuses.
        row: the row's position in its batch, for the error.

    Raises:
        RecordError: naming two fields and their lengths.
    """
    first: tuple[str, int] | None = None
    for codec, value in fields:
        length = item_count(value)
        if length is None:
            continue
        if first is None:
            first = (codec.label, length)
        elif length != first[1]:
            raise RecordError(
                codec.label,
                f"{length} items",
                f"{first[1]}, as many as {first[0]!r} has: both are in the group "
                f"{group!r}",
                row=row,
            )


def check_column_lengths(group: str, *columns: tuple[Kind, Column | None]) -> None:
    """Refuse a batch with a row that `check_lengths` refuses.

    Args:
        group: the group's name.
        columns: pairs of a codec and its column; None is a column of None.

    Raises:
        RecordError: naming the first such row, two fields and their lengths.
    """
    counted = [
        (codec, column, lengths)
        for codec, column in columns
        if column is not None and (lengths := _row_lengths(column)) is not None
    ]
    if len({len(lengths) for _, _, lengths in counted}) != 1:
        return  # columns of different lengths are an error of their own
    table = np.stack([lengths for _, _, lengths in counted])
    unequal = (table >= 0) & (table != table.max(axis=0))
    wrong = unequal.any(axis=0)
    if wrong.any():
        row = int(wrong.argmax())
        pairs = [(codec, column[row]) for codec, column, _ in counted]
        check_lengths(group, *pairs, row=row)


def item_count(value: object) -> int | None:
    """Return how many items a row's value has, or None if it is not a sequence."""
    try:
        if isinstance(value, np.ndarray):
            return len(value) if value.ndim else None
        return len(value) if isinstance(value, (list, tuple)) else None
    except Exception:  # its own, which its field refuses
        return None


def _row_lengths(column: Column) -> NDArray[np.int64] | None:
    """Return how many items each row has, -1 for none: int64 [rows]."""
    if isinstance(column, np.ndarray) and column.ndim > 1:
        return np.full(len(column), column.shape[1], np.int64)
    if isinstance(column, (str, bytes)) or not hasattr(column, "__len__"):
        return None  # no column at all, which is an error of its own
    if {*map(type, column)} <= {list, tuple}:
        return np.fromiter(map(len, column), np.int64, len(column))
    counts = map(item_count, column)
    return np.array([-1 if n is None else n for n in counts], np.int64)


def group_faults(
    group: str, codecs: Sequence[Kind], features: Features
) -> Iterable[Fault]:
    """Find the records in which the fields of a group are not equally long."""
    measured = [_measured(codec, features) for codec in codecs]
    lengths = np.stack([each[0] for each in measured], axis=1)
    there = np.stack([each[1] for each in measured], axis=1)
    optional = np.array([codec.optional for codec in codecs])
    longest = lengths.max(axis=1, keepdims=True)
    # A feature that is missing or of another type is an error of its own.
    whole = features.live & (there | optional).all(axis=1)
    unequal = (lengths != longest) & ~(optional & ~there)
    rows = np.flatnonzero(whole & unequal.any(axis=1))

    def found(at: int) -> str:
        row = int(rows[at])
        most, other = int(lengths[row].argmax()), int(unequal[row].argmax())
        return ", ".join(
            f"{codecs[each].label!r} with {lengths[row, each]}"
            for each in (most, other)
        )

    yield Fault(
        "SG529",
        f"fields of the group {group!r} differ in length",
        "equally many items of each field in a record",
        rows,
        found,
    )


def _measured(codec: Kind, features: Features) -> tuple[Rows, NDArray[np.bool_]]:
    """Return how many items each record has of a field, and whether it is there."""
    part = length_part(codec)
    if part.in_list:
        steps = features.steps.get(codec.key)
        rows, lengths = (steps.rows, steps.steps) if steps else (_NOTHING, _NOTHING)
        return features.spread(rows, lengths), features.mask_of(rows)
    column = features.column(part.key, part.kind)
    raw = part.encoding == "raw"
    lengths = column.sums(column.sizes) if raw else column.lengths
    lengths = lengths // (part.item_size or 1)
    return features.spread(column.rows, lengths), features.mask_of(column.rows)


def check_groups(parsed: Parsed, groups: dict[str, list[Kind]]) -> None:
    """Refuse records whose fields of one group are not equally long.

    Lengths are those on disk, before anything is padded or cut off. Fields that were
    not parsed do not count.
    """
    for group, codecs in groups.items():
        members = [codec for codec in codecs if length_part(codec).key in parsed]
        if len(members) > 1:
            _check_group(parsed, group, members)


def _check_group(parsed: Parsed, group: str, members: Sequence[Kind]) -> None:
    parts = [*map(length_part, members)]
    keys = [part.key for part in parts]
    columns = [parsed[key] for key in keys]
    # A feature that is missing altogether is an error of its own, and comes first.
    with tf.control_dependencies([_flat(column) for column in columns]):
        lengths = tf.stack(
            [
                row_lengths(column, part)
                for column, part in zip(columns, parts, strict=True)
            ],
            axis=1,
        )
    longest = tf.reduce_max(lengths, axis=1, keepdims=True)
    absent = _absent(lengths, longest, parsed.serialized, members)
    unequal = (lengths != longest) & ~absent
    checks = refuse_unless(
        ~tf.reduce_any(unequal),
        f"group {group!r}: expected equally many items of each field in a record, found",
        _shown(lengths, unequal, [codec.label for codec in members]),
    )
    with tf.control_dependencies(checks):
        parsed.update({key: after(parsed[key]) for key in keys})


def row_lengths(column: Any, part: Part) -> tf.Tensor:
    """Return how many items each row of a parsed feature has: int64 [B]."""
    if isinstance(column, tf.RaggedTensor):
        found = column.row_lengths()
    else:
        found = tf.strings.length(column)
    return tf.cast(found, tf.int64) // (part.item_size or 1)


def lengths_in(serialized: tf.Tensor, codec: Any) -> tf.Tensor:
    """Return how many items a field has in each record, without parsing more than that.

    Args:
        serialized: string [B].
        codec: of a field whose length varies.

    Returns:
        int64 [B].
    """
    part = length_part(codec)
    key = part.key
    if part.in_list:
        lists = {key: codec.list_feature()}
        _, found, lengths = tf.io.parse_sequence_example(
            serialized, sequence_features=lists
        )
        return lengths[key] if key in lengths else found[key].row_lengths()
    stored = tf.io.parse_example(serialized, {key: part.feature()})
    if part.is_media and part.count == 1:
        return codec.lengths(stored[key])  # files say it in their headers
    return row_lengths(stored[key], part)


def _flat(column: Any) -> tf.Tensor:
    return column.flat_values if isinstance(column, tf.RaggedTensor) else column


def _absent(
    lengths: tf.Tensor,
    longest: tf.Tensor,
    serialized: tf.Tensor,
    members: Sequence[Kind],
) -> tf.Tensor:
    """Return which optional members are missing, where others are present: bool [B, N].

    Only Examples in which one looks empty are searched for its key.
    """
    optional = tf.constant([member.optional for member in members])
    empty = (lengths == 0) & (longest > 0) & optional
    if not any(member.optional for member in members):
        return empty

    def search() -> tf.Tensor:
        rows = tf.where(tf.reduce_any(empty, axis=1))
        suspects = tf.gather_nd(serialized, rows)
        parts = [*map(length_part, members)]
        keys = [part.key for part in parts]
        there = present_in(suspects, keys)
        if any(part.in_list for part in parts):
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


def after(column: Any) -> Any:
    """Return a column that is computed after what it depends on now."""
    if isinstance(column, tf.RaggedTensor):
        return column.with_flat_values(tf.identity(column.flat_values))
    return tf.identity(column)
