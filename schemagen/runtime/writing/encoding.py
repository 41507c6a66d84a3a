"""From rows to framed records: a pure function, the same in every process.

Rows come one by one and are encoded many at a time. If one of them is wrong, they are
encoded one by one to find it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import count
from time import monotonic
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ..codecs.records import TakenRow, take_row
from ..shared.errors import DatasetError, RecordError, did_you_mean, position
from ..shared.tfrecord import Framed, frame_records, joined
from ..shared.values import described
from .keys import digest_of
from .plan import Plan
from .sources import Unreadable, fields_of

CHUNK_BYTES = 1 << 20
"""A chunk ends with the record that makes it this large."""

CHUNK_ROWS = 1024
"""A chunk is of no more rows than this, written or refused."""

CHUNK_SECONDS = 1.0
"""A chunk ends with the row after which it is this old: slow rows are handed on."""

_STALE = "if the schema has changed, run `schemagen generate`"


@dataclass(frozen=True, slots=True)
class Refused:
    """A row that was left out.

    Attributes:
        row: its position in the source.
        field: the name of the field that is wrong; empty if it is the whole row.
        found: what was given, in words.
        expected: what the schema asks for, in words.
        advice: what to do about it; may be empty.
        part: the part of the source that `row` counts in; None where there is one.
    """

    row: int
    field: str
    found: str
    expected: str
    advice: str
    part: int | None


@dataclass(frozen=True, slots=True)
class Chunk:
    """The records of some consecutive rows.

    Attributes:
        part: the part of the source that the rows are from; None where there is one.
        framed: the records with their framing.
        rows: int64 [records], the position of each record's row in its source.
        keys: uint64 [records, 2], the digest of each row's key; None without keys.
        refused: the rows that were left out, in order.
        next_row: the position after the last row, written or refused.
    """

    part: int | None
    framed: Framed
    rows: NDArray[np.int64]
    keys: NDArray[np.uint64] | None
    refused: tuple[Refused, ...]
    next_row: int


@dataclass(frozen=True)
class Encoding:
    """How rows become records.

    Args:
        serialize: from keywords to the bytes of a record.
        skip: leave refused rows out and report them, instead of raising.
        key_field: the field that tells records from each other, if any.
        seed: for the digests of keys.

    Raises:
        DatasetError: `key_field` is not a field of the record.
    """

    serialize: Callable[..., bytes]
    skip: bool = False
    key_field: str | None = None
    seed: int = 0
    _required: tuple[str, ...] = field(init=False, repr=False)
    _known: tuple[str, ...] | None = field(init=False, repr=False)  # None: any

    def __post_init__(self) -> None:
        """Look at the signature once."""
        required, known, any_name = [], [], False
        for name, parameter in inspect.signature(self.serialize).parameters.items():
            if parameter.kind is parameter.VAR_KEYWORD:
                any_name = True
            else:
                known.append(name)
                if parameter.default is parameter.empty:
                    required.append(name)
        object.__setattr__(self, "_required", tuple(required))
        object.__setattr__(self, "_known", None if any_name else tuple(known))
        if self.key_field is not None and not any_name and self.key_field not in known:
            raise DatasetError(
                f"key_field={self.key_field!r}: expected one of the fields "
                f"{', '.join(known)}; {did_you_mean(self.key_field, known)}".rstrip(
                    "; "
                )
            )

    def misfit(self, fields: Mapping[str, Any], row: object) -> RecordError | None:
        """Return what is wrong with the names of a row's fields, or None.

        Args:
            fields: the row's values by name.
            row: what they were taken from.
        """
        # An instance has the fields of its schema, as that is now.
        stale = _STALE if is_record(row) else ""
        for name in fields:
            if self._known is not None and name not in self._known:
                return RecordError(
                    str(name),
                    "an unknown field",
                    f"one of {', '.join(self._known)}",
                    stale or did_you_mean(name, self._known) or _STALE,
                )
        for name in self._required:
            if name not in fields:
                return RecordError(name, "no value", "one, since it is required", stale)
        return None

    def key_of(self, fields: Mapping[str, Any]) -> tuple[int, int]:
        """Return the digest of a row's key; errors are those of `key_value`."""
        return digest_of(self.key_value(fields), self.seed)

    def key_value(self, fields: Mapping[str, Any]) -> int | str | bytes:
        """Return a row's key.

        Raises:
            RecordError: the key is missing, or of a type that makes no good key.
        """
        name = self.key_field
        assert name is not None
        value = fields.get(name)
        if isinstance(value, Enum):
            value = value.value
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        # A timedelta64 derives from integers, and is none.
        if isinstance(value, np.generic) and value.dtype.kind in "iu":
            value = value.item()
        too_large = isinstance(value, int) and value.bit_length() > 64  # for any field
        if (
            isinstance(value, bool)
            or too_large
            or not isinstance(value, (int, str, bytes))
        ):
            raise RecordError(
                name,
                "no value" if name not in fields else described(value),
                "an int, str or bytes, since it is the key of the records",
            )
        return value


def encoding_of(serialize: Callable[..., bytes], plan: Plan) -> Encoding:
    """Return how the rows of a plan become records.

    Raises:
        DatasetError: the plan's `key_field` is not a field of the record.
    """
    skips = plan.on_error == "skip"
    return Encoding(serialize, skips, plan.key_field, plan.shuffle_seed or 0)


def is_record(row: object) -> bool:
    """Tell whether a row is an instance of a schema's class."""
    return hasattr(type(row), "model_fields")


def encode_rows(
    rows: Iterable[object],
    encoding: Encoding,
    *,
    part: int | None = None,
    first: int = 0,
    positions: Iterable[int] | None = None,
) -> Iterator[Chunk]:
    """Encode rows, holding about 1 MiB of records at a time, or those of a second.

    Args:
        rows: dicts of fields, or what dict() makes one of, such as an instance of
            the schema's class; `Unreadable` marks a row that cannot be read.
        encoding: how rows become records.
        part: the part of the source that the rows are counted in; None where there is
            one.
        first: the position of the first row.
        positions: of all rows, where they do not follow on one another.

    Yields:
        At least one chunk. The last one may be without records.

    Raises:
        RecordError: a row that the schema refuses, by its position, unless such rows
            are left out.
        TypeError: a row with a field too many or too few, likewise; or one that has
            no fields at all.
        Exception: whatever else a row's own code raises, with the position as note.
    """
    pending = _Pending(encoding, part, first)
    numbers = count(first) if positions is None else positions
    numbered = zip(numbers, rows, strict=False)
    try:
        for number, row in numbered:
            pending.add(number, row)
            if pending.full:
                pending.encode()
                yield pending.chunk()
                pending = _Pending(encoding, part, number + 1)
        pending.encode()
    except Exception:
        # What came before is as good as if nothing had happened, unless a row is wrong.
        wrong: Exception | None = None
        try:
            pending.encode()
        except Exception as error:
            wrong = error
        if not pending.empty:
            yield pending.chunk()
        if wrong is not None:
            raise wrong from None
        raise
    yield pending.chunk()


def _refusal(
    error: Exception,
    row: object,
    fields: Mapping[str, Any] | None,
    encoding: Encoding,
    number: int,
    part: int | None,
) -> RecordError:
    """Return what a row is left out for, by its position.

    Raises:
        Exception: as `encode_rows`, if no row is to be left out, or this one is not
            what is wrong.
    """
    where = position(number, part)
    if isinstance(error, _NoRow):
        raise TypeError(f"{where}: {error}") from error.__cause__
    if isinstance(error, RecordError):
        refused = error.at_row(number, part)
        if encoding.skip:
            return refused
        raise refused from None
    misfit = None
    if isinstance(error, TypeError) and fields is not None:
        # The row's names tell a wrong row from a mistake in anyone's code.
        misfit = encoding.misfit(fields, row)
    if misfit is None:
        error.add_note(f"while encoding {where}")
        raise error
    refused = misfit.at_row(number, part)
    if encoding.skip:
        return refused
    raise TypeError(str(refused)) from None


class _NoRow(Exception):
    """What has no fields at all."""


def _fields_of(row: Any) -> dict[str, Any]:
    if isinstance(row, Unreadable):
        raise row.error
    try:
        return fields_of(row)
    except (TypeError, ValueError) as error:
        if hasattr(row, "keys") or is_record(row):
            raise
        raise _NoRow(
            f"found {described(row)}, expected a dict of the record's fields, a "
            "named tuple, or an instance of its schema's class"
        ) from error


class _Waiting(NamedTuple):
    """A row that has yet to become a record.

    Attributes:
        number: its position.
        row: the row.
        fields: its values by keyword.
        taken: its values by field; or its record.
        key: the digest of its key, if rows have one.
    """

    number: int
    row: object
    fields: Mapping[str, Any]
    taken: TakenRow | bytes
    key: tuple[int, int] | None


class _Pending:
    """What will be a chunk: rows that wait, and the records of those before.

    Args:
        encoding: how rows become records.
        part: as for `encode_rows`.
        next_row: the position of the first row.
    """

    def __init__(self, encoding: Encoding, part: int | None, next_row: int) -> None:
        self._encoding = encoding
        self._part = part
        self._next_row = next_row
        self._waiting: list[_Waiting] = []
        self._keys: list[tuple[int, int]] = []
        self._framed: list[Framed] = []
        self._rows: list[int] = []
        self._bytes = 0
        self._refused: list[Refused] = []
        self._until = monotonic() + CHUNK_SECONDS

    def add(self, number: int, row: object) -> None:
        """Take a row; errors are those of `encode_rows`, for rows before it as well."""
        fields = None
        try:
            fields = row if type(row) is dict else _fields_of(row)
            serialize, keyed = self._encoding.serialize, self._encoding.key_field
            taken = take_row(serialize, fields)
            size = len(taken) if isinstance(taken, bytes) else _keep(taken.values)
            if size is None:
                taken = serialize(**fields)
                size = len(taken)
            key = self._encoding.key_of(fields) if keyed is not None else None
            self._waiting.append(_Waiting(number, row, fields, taken, key))
            self._bytes += size
        except Exception as error:
            self.encode()
            self._refuse(error, number, row, fields)

    def encode(self) -> None:
        """Encode the rows that wait; errors are those of `encode_rows`."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        try:
            self._framed += _framed([each.taken for each in waiting])
        except Exception:  # of some row, which is found here
            for each in waiting:
                self._encode_one(each)
            return
        self._rows += [each.number for each in waiting]
        self._keys += [each.key for each in waiting if each.key is not None]
        self._next_row = waiting[-1].number + 1

    def _encode_one(self, each: _Waiting) -> None:
        record = each.taken
        try:
            if not isinstance(record, bytes):
                record = record.codec.encode(**record.values)
        except Exception as error:
            self._refuse(error, each.number, each.row, each.fields)
            return
        self._framed.append(frame_records([record]))
        self._rows.append(each.number)
        self._keys += [] if each.key is None else [each.key]
        self._next_row = each.number + 1

    def _refuse(
        self,
        error: Exception,
        number: int,
        row: object,
        fields: Mapping[str, Any] | None,
    ) -> None:
        refused = _refusal(error, row, fields, self._encoding, number, self._part)
        assert refused.row is not None
        self._refused.append(
            Refused(
                refused.row,
                refused.field,
                refused.found,
                refused.expected,
                refused.advice,
                refused.shard,
            )
        )
        self._next_row = number + 1

    @property
    def empty(self) -> bool:
        return not self._rows and not self._refused

    @property
    def full(self) -> bool:
        rows = len(self._waiting) + len(self._rows) + len(self._refused)
        return (
            self._bytes >= CHUNK_BYTES
            or rows >= CHUNK_ROWS
            or monotonic() >= self._until
        )

    def chunk(self) -> Chunk:
        """Return the records so far, without the rows that wait."""
        keyed = self._encoding.key_field is not None
        return Chunk(
            self._part,
            joined(self._framed),
            np.array(self._rows, np.int64),
            np.array(self._keys, np.uint64).reshape(-1, 2) if keyed else None,
            tuple(self._refused),
            self._next_row,
        )


# What no one can change.
_PLAIN = frozenset({bool, int, float, str, bytes, type(None)})


def _keep(values: dict[str, Any]) -> int | None:
    """Copy what the source of a row may change once it gives the next row.

    Returns:
        About how many bytes the values take in a record; None for values of which it is
        not known how to copy them.
    """
    size = 0
    try:
        for name, value in values.items():
            values[name] = kept = _copied(value)
            if type(kept) is np.ndarray:
                size += kept.nbytes
            elif type(kept) is bytes or type(kept) is str:
                size += len(kept)
            else:
                size += 8 * (len(kept) if isinstance(kept, (list, tuple, dict)) else 1)
    except Exception:  # such as of a list that holds itself
        return None
    return size


class _UncopiedError(Exception):
    """A value of which it is not known how to copy it."""


def _copied(value: Any) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is np.ndarray:
        return value.copy()
    if kind is list or kind is tuple:
        plain = _PLAIN.issuperset(map(type, value))
        return kind(value if plain else map(_copied, value))
    if kind is dict:
        return {key: _copied(each) for key, each in value.items()}
    if isinstance(value, (np.generic, Enum)):
        return value
    raise _UncopiedError


def _framed(rows: Sequence[TakenRow | bytes]) -> list[Framed]:
    """Encode rows as columns.

    Raises:
        Exception: not all of them can be.
    """
    if all(isinstance(row, bytes) for row in rows):
        return [frame_records(cast("Sequence[bytes]", rows))]
    taken = cast("Sequence[TakenRow]", rows)
    codec = taken[0].codec
    columns = {name: [row.values[name] for row in taken] for name in codec.fields}
    return list(codec.frame_columns(**columns))
