"""The codec of a whole record: from the fields of rows and columns to bytes, and back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ..shared.errors import Problem, RecordError
from ..shared.tfrecord import (
    MOST_RECORD_BYTES,
    RECORD_LIMIT,
    Framed,
)
from ..shared.wire import Buffer, Pieces, context_head, example_head, lists_head
from .base import Codec, Column
from .entry_columns import (
    EXAMPLE,
    SEQUENCE_EXAMPLE,
    EntryColumn,
    Records,
    entries_column,
    entries_of,
)
from .groups import check_column_lengths, check_groups, check_lengths, groups_of

ColumnOf = tuple[Codec, Column | None]

_taken: ContextVar[list[TakenRow] | None] = ContextVar("taken", default=None)
_TAKEN = b"the values of a row that was taken"


class TakenRow(NamedTuple):
    """A row of which no more was checked than that its fields have the right names.

    Attributes:
        codec: of its record.
        values: of each field, by name.
    """

    codec: RecordCodec
    values: dict[str, Any]


def take_row(
    serialize: Callable[..., bytes], fields: Mapping[str, Any]
) -> TakenRow | bytes:
    """Take a row in place of encoding it, so that many can be encoded as columns.

    Args:
        serialize: of generated code, which calls `RecordCodec.encode`; or another function.
        fields: its keywords.

    Returns:
        The row; or what the function returns, if that is something else.
    """
    rows: list[TakenRow] = []
    token = _taken.set(rows)
    try:
        record = serialize(**fields)
    finally:
        _taken.reset(token)
    if not rows:
        return record
    return rows[0] if record is _TAKEN else serialize(**fields)


class RecordCodec:
    """The codecs of all fields of a record.

    Args:
        codecs: in the order of their declaration.
        message: "Example", or "SequenceExample" for records with feature lists.

    Attributes:
        fields: the codec of each field, by name.
        keys: the key of each field, by name.
        groups: the fields that are equally long, by the group's name.
    """

    def __init__(self, *codecs: Codec, message: str = "Example") -> None:
        self.fields = {codec.name: codec for codec in codecs}
        self.keys = {codec.name: codec.key for codec in codecs}
        self.message = message
        self.groups = groups_of(codecs)
        by_key = sorted(codecs, key=lambda codec: codec.key.encode())
        self._by_key = [(codec.name, codec) for codec in by_key]
        self._encoders = [(name, codec.encode) for name, codec in self._by_key]
        self._is_sequence = message == "SequenceExample"
        # Fields of one key each are written in the order of the keys as they come.
        single = all(len(codec.parts) == 1 for codec in codecs)
        self._simple = single and not self.groups and not self._is_sequence

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the codecs of the fields alone."""
        return partial(RecordCodec, message=self.message), (*self.fields.values(),)

    def __getitem__(self, name: str) -> Codec:
        """Return the codec of a field."""
        return self.fields[name]

    @property
    def classes(self) -> dict[str, tuple[str, ...]]:
        """The names of the classes of each field that has them, by its name."""
        found = {}
        for name, codec in self.fields.items():
            classes = getattr(getattr(codec, "step", codec), "classes", ())
            if classes:
                found[name] = classes
        return found

    def encode(self, /, **values: Any) -> bytes:
        """Encode one row, given as the value of each field by name.

        Raises:
            RecordError: a value that cannot be held, fields of a group that are not
                equally long, no field is there, so that readers could not tell whose
                record it is, or the record has more than MOST_RECORD_BYTES.
        """
        taken = _taken.get()
        if taken is not None:
            taken.append(TakenRow(self, values))
            return _TAKEN
        if self._simple:
            pieces: list[Buffer] = [b""]
            for name, encode in self._encoders:
                pieces += encode(values[name])
            size = sum(map(len, pieces))
            if size:
                pieces[0] = head = example_head(size)
                if len(head) + size > MOST_RECORD_BYTES:
                    raise self._too_long(len(head) + size, values)
                return b"".join(pieces)
        pairs = [(codec, values[name]) for name, codec in self._by_key]
        for group, members in self.groups.items():
            given = [(codec, values[codec.name]) for codec in members]
            check_lengths(group, *given)
        if self._is_sequence:
            parts = _sequence_pieces(pairs)
        else:
            parts = _example_pieces(_merged_entries(pairs, None))
        size = sum(map(len, parts))
        if size > MOST_RECORD_BYTES:
            raise self._too_long(size, values)
        return b"".join(parts)

    def encode_columns(self, /, **columns: Column | None) -> list[bytes]:
        """Encode a batch, given as the column of each field by name.

        Raises:
            RecordError: columns of different lengths, a value that cannot be held, or a
                record of more than MOST_RECORD_BYTES.
        """
        return self._measured(columns).unframed()

    def frame_columns(self, /, **columns: Column | None) -> Iterator[Framed]:
        """Encode and frame a batch; arguments and errors are those of `encode_columns`.

        All rows are checked at once. Their records are written as they are asked for, about
        a megabyte at a time. Until then the columns must stay as they are.
        """
        return self._measured(columns).framed()

    def _measured(self, columns: Mapping[str, Column | None]) -> Records:
        """Check the rows of a batch, and return their records."""
        for group, members in self.groups.items():
            given = [(codec, columns[codec.name]) for codec in members]
            check_column_lengths(group, *given)
        pairs = tuple((codec, columns[name]) for name, codec in self._by_key)
        rows = _count_rows(pairs)
        found = _merged_columns([pair for pair in pairs if not pair[0].in_list], rows)
        found += [
            replace(codec.encode_column(column, rows), of_lists=True)
            for codec, column in pairs
            if codec.in_list
        ]
        message = SEQUENCE_EXAMPLE if self._is_sequence else EXAMPLE
        records = Records(found, rows, message)
        if records.is_empty.any():
            raise _nothing_there(int(np.argmax(records.is_empty)))
        sizes = records.sizes
        if sizes.max(initial=0) > MOST_RECORD_BYTES:
            row = int(np.argmax(sizes > MOST_RECORD_BYTES))
            values = {
                name: None if column is None else column[row]
                for name, column in columns.items()
            }
            raise self._too_long(int(sizes[row]), values, row)
        return records

    def _too_long(
        self, size: int, values: Mapping[str, Any], row: int | None = None
    ) -> RecordError:
        """Return the error of a row whose record is too long, with its largest field.

        Args:
            size: of the record, in bytes.
            values: the row's values by field.
            row: its position; None if there is only one.
        """
        sizes = {
            codec: sum(map(len, _stored_pieces(codec, values[name])))
            for name, codec in self._by_key
        }
        largest = max(sizes, key=sizes.__getitem__)
        return RecordError(
            largest.label,
            f"a record of {size} bytes, {sizes[largest]} of them in this field",
            RECORD_LIMIT,
            "split the value into several records, or store it in a file of its own",
            row,
        )

    def description(self) -> dict[str, Any]:
        """Return the TensorFlow description of each feature, by key."""
        codecs = self.fields.values()
        return {p.key: p.feature() for codec in codecs for p in codec.features}

    def parse(
        self,
        serialized: Any,
        description: Mapping[str, Any],
        fields: Collection[str],
        lists: Mapping[str, Any] | None = None,
    ) -> Any:
        """Parse a batch of serialized records: string [B].

        Args:
            serialized: the records.
            description: of the features, by key.
            fields: the names of the fields to parse.
            lists: of the feature lists, by key.

        Returns:
            The parsed features, from which each codec makes its tensor.
        """
        from .parsing import parse

        codecs = list(self.fields.values())
        parsed = parse(serialized, description, lists, codecs, fields)
        counted = {
            group: [codec for codec in members if codec.item_size is not None]
            for group, members in self.groups.items()
        }
        check_groups(parsed, counted)
        return parsed


def _stored_pieces(codec: Codec, value: Any) -> Pieces:
    """Return the bytes that a field's value takes in a record, in pieces."""
    if codec.in_list:
        return codec._row(value, None)
    entries = [pieces for _, pieces in codec.entries(value, None)]
    return tuple(chain.from_iterable(entries))


def _example_pieces(entries: Iterable[Pieces]) -> Pieces:
    pieces = [*chain.from_iterable(entries)]
    size = sum(map(len, pieces))
    if not size:
        raise _nothing_there(None)
    return (example_head(size), *pieces)


def _nothing_there(row: int | None) -> RecordError:
    """Return the error of a row without any field."""
    return RecordError("", "no field at all", "at least one that is not None", row=row)


def _sequence_pieces(fields: list[tuple[Codec, Any]]) -> Pieces:
    """Encode one row as a SequenceExample."""
    others = [pair for pair in fields if not pair[0].in_list]
    steps = [codec._row(value, None) for codec, value in fields if codec.in_list]
    lists = [*chain.from_iterable(steps)]
    context = [*chain.from_iterable(_merged_entries(others, None))]
    context_size, lists_size = sum(map(len, context)), sum(map(len, lists))
    if not context_size and not lists_size:
        raise _nothing_there(None)
    return (context_head(context_size), *context, lists_head(lists_size), *lists)


def _merged_entries(
    fields: Iterable[tuple[Codec, Any]], row: int | None
) -> list[Pieces]:
    """Encode the fields of one row: the entries of all keys, in their order.

    Fields may share a key if they agree on what it holds.

    Raises:
        RecordError: a value that cannot be held, or two for one key.
    """
    fields = list(fields)
    found: dict[str, tuple[Codec, Pieces]] = {}
    for codec, value in fields:
        for key, pieces in codec.entries(value, row):
            other, known = found.setdefault(key, (codec, pieces))
            if known is not pieces and b"".join(known) != b"".join(pieces):
                given = next(theirs for each, theirs in fields if each is other)
                raise RecordError(
                    codec.label,
                    f"{codec.shown(value, key)} under the key {key!r}",
                    f"{other.shown(given, key)}, which the field {other.label!r} has "
                    "there",
                    "give each field a key of its own, unless they are to be equal",
                    row,
                )
    return [found[key][1] for key in sorted(found, key=str.encode)]


def _merged_columns(columns: Sequence[ColumnOf], rows: int) -> list[EntryColumn]:
    """Encode columns: the entries of all keys, in their order.

    Raises:
        RecordError: a value that cannot be held, or two for one key.
    """
    if not rows:
        return []
    if all(len(codec.parts) == 1 for codec, _ in columns):
        return [codec.encode_column(column, rows) for codec, column in columns]
    try:
        return _by_key(columns, rows)
    except (Problem, TypeError, ValueError):
        each = [
            _merged_entries(
                ((f, None if c is None else c[row]) for f, c in columns), row
            )
            for row in range(rows)
        ]
        return [entries_column(tuple(chain.from_iterable(some)) for some in each)]


def _by_key(columns: Sequence[ColumnOf], rows: int) -> list[EntryColumn]:
    """Encode the columns of fields some of which are stored under several keys.

    Raises:
        Problem: two fields say different things under one key.
    """
    found: dict[str, EntryColumn] = {}
    for codec, column in columns:
        for key, entries in codec.entry_columns(column, rows):
            known = found.setdefault(key, entries)
            if known is not entries:
                found[key] = _agreed(known, entries, rows)
    return [found[key] for key in sorted(found, key=str.encode)]


def _agreed(first: EntryColumn, second: EntryColumn, rows: int) -> EntryColumn:
    """Return the entries of one key, where two fields have it; either may be absent.

    Raises:
        Problem: they differ in a row.
    """
    pairs = list(zip(entries_of(first, rows), entries_of(second, rows), strict=True))
    if any(a and b and a != b for a, b in pairs):
        raise Problem("two values for one key", "one")
    return entries_column((a or b,) for a, b in pairs)


def _count_rows(columns: Iterable[ColumnOf]) -> int:
    """Return the number of rows that all columns have."""
    first: tuple[str, int] | None = None
    for codec, column in columns:
        if column is None and codec.optional:
            continue
        if not hasattr(column, "__len__") or isinstance(column, (str, bytes, Mapping)):
            problem = Problem(
                f"a column of type {type(column).__name__}",
                "a sequence or an array with one value for each row",
            )
            raise RecordError.of(problem.about(column), codec.label)
        rows = len(column)  # type: ignore[arg-type]
        if first is None:
            first = (codec.label, rows)
        elif rows != first[1]:
            raise RecordError(
                codec.label, f"{rows} rows", f"{first[1]}, as many as in {first[0]!r}"
            )
    if first is None:
        raise RecordError("", "only columns of None", "at least one column")
    return first[1]
