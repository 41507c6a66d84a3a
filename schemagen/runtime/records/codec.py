"""The codec of a whole record: from the fields of rows and columns to bytes, and back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..cells.part import Part
from ..cells.written import (
    EXAMPLE,
    SEQUENCE_EXAMPLE,
    Stored,
    Written,
    WrittenRecords,
    joined,
)
from ..kinds.classes import names_of
from ..kinds.images import size_name
from ..kinds.kind import Column, Kind
from ..kinds.numbers import time_of
from ..shared.dtypes import INTEGERS
from ..shared.errors import Problem, RecordError
from ..shared.frame_columns import plain_column
from ..shared.tensors import as_arrays, is_tensor
from ..shared.tfrecord import MOST_RECORD_BYTES, RECORD_LIMIT, Framed
from ..shared.times import is_nat, without_nat
from ..shared.values import raising, shortened
from ..shared.wire import Buffer, Pieces, example_head
from .groups import (
    check_column_lengths,
    check_groups,
    check_lengths,
    groups_of,
    has_length,
)
from .packed import first_fault, row_writer
from .relations import features_of, refuse_faults, relations_of, scale_boxes

if TYPE_CHECKING:
    from ..cells.selection import Selection
    from .selecting import Select

ColumnOf = tuple[Kind, Column | None]
_ALL: Mapping[str, Selection] = {}
_Store = Callable[[Any], Sequence[Stored]]


class RecordCodec:
    """Encodes and parses the records of a schema.

    Args:
        kinds: of all fields, by label, in the order of their declaration.
        message: "Example", or "SequenceExample" for records with feature lists.
        select: the items that are read of some fields, by name.

    Attributes:
        fields: the kind of each field, by name.
        keys: the key of each field, by name.
        groups: the fields that are equally long, by the group's name.
        relations: what else fields have to be to each other.
        select: the items that are read of some fields, by name.
    """

    def __init__(
        self,
        kinds: Mapping[str, Kind],
        *,
        message: str = "Example",
        select: Mapping[str, Selection] = _ALL,
    ) -> None:
        codecs = [kind.bound(label) for label, kind in kinds.items()]
        self._times = [c.name for c in codecs if c.optional and time_of(c) is not None]
        self.fields = {codec.name: codec for codec in codecs}
        self.keys = {codec.name: codec.key for codec in codecs}
        self.message = message
        self.select = select
        if select:
            from .selecting import deliver_selected

            for name, selection in select.items():
                deliver_selected(self.fields[name], selection)
        self.groups = groups_of(codecs)
        self.relations = relations_of(codecs)
        scale_boxes(codecs)
        by_key = sorted(codecs, key=lambda codec: codec.key.encode())
        self._by_key = [(codec.name, codec) for codec in by_key]
        self._is_sequence = message == "SequenceExample"
        keys = {part.key for codec in codecs for part in codec.parts}
        count = sum(len(codec.parts) for codec in codecs)
        self._single = count == len(codecs)
        self._needs_columns = bool(
            self._is_sequence or len(keys) < count or self.relations
        )
        self._places = {key: at for at, key in enumerate(sorted(keys, key=str.encode))}
        entries = {
            codec.name: [
                (self._places[part.key], part.entry().pieces) for part in codec.parts
            ]
            for codec in codecs
        }
        self._writers = [
            (name, codec, row_writer(codec), entries[name])
            for name, codec in self._by_key
        ]

    @property
    def max_lengths(self) -> dict[str, int]:
        """The largest length of each padded field that has a limit, by name."""
        return {
            name: each.limit
            for name, each in ((n, codec.delivered) for n, codec in self.fields.items())
            if each.padded and each.limit and None not in each.shape[1:]
        }

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the kinds of the fields alone."""
        kinds = {kind.label: kind for kind in self.fields.values()}
        made = partial(RecordCodec, message=self.message, select=self.select)
        return made, (kinds,)

    def selecting(self, select: Select | None) -> RecordCodec:
        """Return the record of readers that read some items of lists; None for all.

        Raises:
            ValueError: a name that is not a field.
            DatasetError: a field that is not a list, or another value than there may be.
        """
        if select is None:
            return self
        from .selecting import selections_of

        kinds = {kind.label: kind for kind in self.fields.values()}
        found = selections_of(self.fields, select)
        return RecordCodec(kinds, message=self.message, select=found)

    def __getitem__(self, name: str) -> Kind:
        """Return the codec of a field."""
        return self.fields[name]

    @cached_property
    def sizes(self) -> dict[str, str]:
        """The image that each stored size is of which readers deliver, by its name."""
        named = {size_name(codec): name for name, codec in self.fields.items()}
        return {size: name for size, name in named.items() if size}

    @property
    def classes(self) -> dict[str, tuple[str, ...]]:
        """The names of the classes of each field that has them, by its name."""
        named = {name: names_of(codec) for name, codec in self.fields.items()}
        return {name: names for name, names in named.items() if names}

    def encode(self, /, **values: Any) -> bytes:
        """Encode one row, given as the value of each field by name.

        Raises:
            RecordError: a value that cannot be held, fields of a group that are not
                equally long, no field is there, so that readers could not tell whose
                record it is, or the record has more than MOST_RECORD_BYTES.
        """
        for name in self._times:
            if is_nat(values[name]):
                values[name] = None
        for group, members in self.groups.items() if self.groups else ():
            given = [(codec, values[codec.name]) for codec in members]
            check_lengths(group, *given)
        if self._needs_columns:
            columns = {name: [value] for name, value in values.items()}
            return self._records(columns, (None,)).unframed()[0]
        flat = self._in_order(values) if self._single else self._by_place(values)
        size = sum(map(len, flat))
        if not size:
            raise _nothing_there(None)
        head = example_head(size)
        if len(head) + size > MOST_RECORD_BYTES:
            raise self._too_long(len(head) + size, values)
        return b"".join((head, *flat))

    def _in_order(self, values: Mapping[str, Any]) -> list[Buffer]:
        """Encode a row of fields with one key each: they come in the order of the keys."""
        flat: list[Buffer] = []
        for name, codec, write, ((_, pieces),) in self._writers:
            value = values[name]
            if value is None and codec.optional:
                continue
            try:
                stored = write(value)
            except Exception as error:
                stored = _stored_again(codec, write, value, None, error)
            flat += pieces(stored[0])
        return flat

    def _by_place(self, values: Mapping[str, Any]) -> list[Buffer]:
        """Encode a row of fields with several keys, none of which is that of another."""
        found: list[Pieces] = [()] * len(self._places)
        for name, codec, write, entries in self._writers:
            value = values[name]
            if value is None and codec.optional:
                continue
            stored = _stored_row(codec, write, value, None)
            for (place, pieces), held in zip(entries, stored, strict=True):
                found[place] = pieces(held)
        return [*chain.from_iterable(found)]

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

    def refused_rows(self, columns: Mapping[str, Column]) -> list[int]:
        """Return the positions of rows with a value that its field refuses, in order.

        The values of a field are looked at one by one only if it refuses their column.
        What fields have to be to each other is not looked at.
        """
        refused = set[int]()
        for name, codec in self._by_key:
            column = columns[name]
            if name in self._times:
                column = without_nat(column)
            rows = range(len(column))
            if not _is_stored(codec, column, rows):
                refused.update(
                    row for row in rows if not _is_stored(codec, [column[row]], (row,))
                )
        return sorted(refused)

    def _measured(self, columns: Mapping[str, Column | None]) -> WrittenRecords:
        """Check the rows of a batch, and return their records."""
        columns = {name: plain_column(column) for name, column in columns.items()}
        if self._times:
            times = {name: without_nat(columns[name]) for name in self._times}
            columns = {**columns, **times}
        for group, members in self.groups.items():
            given = [(codec, columns[codec.name]) for codec in members]
            check_column_lengths(group, *given)
        rows = _count_rows([(codec, columns[name]) for name, codec in self._by_key])
        return self._records(columns, range(rows))

    def _records(
        self, columns: Mapping[str, Column | None], rows: Sequence[int | None]
    ) -> WrittenRecords:
        """Return the records of some rows.

        Args:
            columns: by field; None is a column of None.
            rows: their positions, for errors; (None,) for one row.

        Raises:
            RecordError: a row that cannot be stored.
        """
        found: dict[str, _Stored] = {}
        for name, codec in self._by_key:
            written = _stored(codec, columns[name], rows)
            for part, each in zip(codec.parts, written, strict=False):
                stored = _Stored(codec, part, each)
                known = found.get(part.key)
                found[part.key] = _agreed(known, stored, rows) if known else stored
        self._check_relations(found, rows)
        in_order = [found[key] for key in self._places if key in found]
        message = SEQUENCE_EXAMPLE if self._is_sequence else EXAMPLE
        parts = [(part, written) for _, part, written in in_order]
        records = WrittenRecords(parts, len(rows), message)
        nothing = records.entry_sizes == 0
        if nothing.any():
            raise _nothing_there(rows[int(np.argmax(nothing))])
        if not len(rows) or records.ends[-1] <= MOST_RECORD_BYTES:
            return records  # as nearly always
        sizes = records.sizes
        at = int(np.argmax(sizes > MOST_RECORD_BYTES))
        if sizes[at] <= MOST_RECORD_BYTES:
            return records
        values = {
            name: None if column is None else _at(column, at)
            for name, column in columns.items()
        }
        raise self._too_long(int(sizes[at]), values, rows[at])

    def _check_relations(
        self, stored: Mapping[str, _Stored], rows: Sequence[int | None]
    ) -> None:
        """Compare fields with each other, of what rows hold by key.

        Raises:
            RecordError: the first row that is wrong.
        """
        if not self.relations:
            return
        parts = [(each.part, each.written) for each in stored.values()]
        refuse_faults(self.relations, features_of(parts, len(rows)), rows)

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
            codec: _size_of(codec, values[name], row) for name, codec in self._by_key
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
            group: [codec for codec in members if has_length(codec)]
            for group, members in self.groups.items()
        }
        check_groups(parsed, counted)
        for relation in self.relations:
            asked = all(codec.name in parsed.fields for codec in relation.fields)
            if relation.when_reading and asked:
                relation.check_parsed(parsed)
        return parsed


class _Stored(NamedTuple):
    """What rows hold under a key, and the field that says so."""

    codec: Kind
    part: Part
    written: Written


def _stored(
    codec: Kind, values: Column | None, rows: Sequence[int | None]
) -> Sequence[Written]:
    """Return what each part holds of a field's values; nothing if all are missing.

    Raises:
        RecordError: naming the first row with a value that cannot be held.
    """
    given: Sequence[int] = range(len(rows))
    if is_tensor(values):
        values = _column_of(codec, values)
    if codec.optional:
        if values is None:
            return []
        if not isinstance(values, np.ndarray) or values.dtype.kind == "O":
            given = [at for at, value in enumerate(values) if value is not None]
            if len(given) < len(rows):
                values = [value for value in values if value is not None]
    if not given:
        return []
    try:
        written = codec.pack(values, len(given))
    except Exception:  # of tensors, any of their packages'
        _check_missing(codec, values, rows)
        each = [None] * len(rows) if values is None else values
        stored = [
            _stored_row(codec, codec.store, value, rows[at])
            for at, value in zip(given, each, strict=True)
        ]
        written = codec.join(stored)
    fault = first_fault(codec, written, len(given))
    if fault is not None:
        at = int(fault.rows[0])
        problem = fault.problem.about(None if values is None else _at(values, at))
        raise RecordError.of(problem, codec.label, rows[given[at]])
    if len(given) < len(rows):
        return [each.scattered(given, len(rows)) for each in written]
    return written


def _at(column: Column, position: int) -> Any:
    """Return a value by its position, which the index of a Series may not be."""
    return next(islice(column, position, None))


def _is_stored(codec: Kind, values: Column, rows: Sequence[int]) -> bool:
    """Tell whether a field takes the values of some rows."""
    try:
        _stored(codec, values, rows)
    except Exception:  # whatever a value's own code raises
        return False
    return True


def _check_missing(
    codec: Kind, values: Column | None, rows: Sequence[int | None]
) -> None:
    """Refuse integers that a column holds as floats since one of them is missing.

    Raises:
        RecordError: naming the row of the first one that is missing, or has a fraction.
    """
    array = np.asarray(values) if hasattr(values, "dtype") else np.empty(0, object)
    if codec.dtype not in INTEGERS or array.dtype.kind != "f" or array.ndim != 1:
        return
    missing, fractions = np.isnan(array), array % 1 > 0
    if fractions.any():
        at = int(np.argmax(fractions))
        raise RecordError(
            codec.label,
            f"{array[at]} ({array.dtype.name})",
            f"{codec.dtype} values",
            "pass integers, or declare a dtype of floats",
            rows[at],
        )
    if not missing.any():
        return
    raise RecordError(
        codec.label,
        f"NaN ({array.dtype.name})",
        f"{codec.dtype} values",
        "missing values made pandas use floats for the column: pass one of dtype "
        "'object', with None for what is missing",
        rows[int(np.argmax(missing))],
    )


def _column_of(codec: Kind, values: Any) -> Column:
    """Return the array of a column that is a tensor."""
    try:
        found: Column = as_arrays(values, text=codec.dtype == "string")
    except Problem as problem:
        raise RecordError.of(problem, codec.label) from None
    return found


def _stored_row(
    codec: Kind, store: _Store, value: Any, row: int | None
) -> Sequence[Stored]:
    try:
        return store(value)
    except Exception as error:
        return _stored_again(codec, store, value, row, error)


def _stored_again(
    codec: Kind, store: _Store, value: Any, row: int | None, error: Exception
) -> Sequence[Stored]:
    """Store a value that was refused, if it is a tensor, as the array that it holds.

    Raises:
        RecordError: it cannot be stored, whatever its own code raises.
        ImportError, MemoryError: of no value.
    """
    try:
        plain = as_arrays(value, text=codec.dtype == "string")
        if plain is value:
            raise error
        return store(plain)
    except Problem as problem:
        raise RecordError.of(problem.about(value), codec.label, row) from None
    except (ImportError, MemoryError):
        raise
    except Exception as failure:
        raised = raising(value, failure, codec.holds)
        raise RecordError.of(raised, codec.label, row) from failure


def _agreed(first: _Stored, second: _Stored, rows: Sequence[int | None]) -> _Stored:
    """Return what rows hold under the key of two fields; either may hold nothing.

    Raises:
        RecordError: they differ in a row.
    """
    count, key = len(rows), first.part.key
    pairs = zip(first.written.lists(count), second.written.lists(count), strict=True)
    lists = []
    for row, (one, other) in zip(rows, pairs, strict=True):
        if one is not None and other is not None and one != other:
            raise RecordError(
                second.codec.label,
                f"{_shown(other)} under the key {key!r}",
                f"{_shown(one)}, which the field {first.codec.label!r} has there",
                "give each field a key of its own, unless they are to be equal",
                row,
            )
        lists.append(other if one is None else one)
    given = [at for at, each in enumerate(lists) if each is not None]
    written = joined(first.part, [lists[at] or () for at in given])
    return first._replace(written=written.scattered(given, count))


def _shown(values: list[Any]) -> str:
    plain = [v.decode() if isinstance(v, bytes) else v for v in values]
    return shortened(plain[0] if len(plain) == 1 else plain)


def _size_of(codec: Kind, value: Any, row: int | None) -> int:
    """Return how many bytes a value takes in its record."""
    written = _stored(codec, [value], (row,))
    columns = list(zip(codec.parts, written, strict=False))
    return int(WrittenRecords(columns, 1, SEQUENCE_EXAMPLE).entry_sizes[0])


def _nothing_there(row: int | None) -> RecordError:
    """Return the error of a row without any field."""
    return RecordError("", "no field at all", "at least one that is not None", row=row)


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
