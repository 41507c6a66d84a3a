"""From rows to framed records: a pure function, the same in every process.

Rows come one by one and are encoded many at a time, as columns. If one of them is wrong,
they are encoded one by one to find it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import count
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..records.codec import RecordCodec
from ..shared.errors import (
    DatasetError,
    RecordError,
    did_you_mean,
    position,
    with_suggestion,
)
from ..shared.tfrecord import Framed, frame_records, joined
from ..shared.values import described, raising
from .columns import (
    CHUNK_BYTES,
    CHUNK_ROWS,
    KeptRows,
    Members,
    UnkeptError,
    WrongNamesError,
)
from .keys import digest_of
from .plan import Plan
from .sources import Unreadable, fields_of

CHUNK_SECONDS = 1.0
"""A chunk ends with the row after which it is this old: slow rows are handed on."""

_Place = tuple[int, tuple[int, int] | None]
"""The position of a row, and the digest of its key, if rows have one."""

_KEY = "an int, str or bytes, since it is the key of the records"

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
    """

    part: int | None
    framed: Framed
    rows: NDArray[np.int64]
    keys: NDArray[np.uint64] | None
    refused: tuple[Refused, ...]


@dataclass(frozen=True)
class Encoding:
    """How rows become records.

    Args:
        record: the codec of the records.
        skip: leave refused rows out and report them, instead of raising.
        key_field: the field that tells records from each other, if any.
        seed: for the digests of keys.

    Attributes:
        members: the names in a row.

    Raises:
        DatasetError: `key_field` is not a field of the record.
    """

    record: RecordCodec
    skip: bool = False
    key_field: str | None = None
    seed: int = 0
    members: Members = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Look at the names of the fields once."""
        object.__setattr__(self, "members", Members(self.record.fields.values()))
        names = self.members.names
        if self.key_field is not None and self.key_field not in names:
            words = f"expected one of the fields {', '.join(names)}"
            raise DatasetError(
                with_suggestion(
                    f"key_field={self.key_field!r}: {words}", self.key_field, names
                )
            )

    def misfit(self, fields: Mapping[str, Any], row: object) -> RecordError:
        """Return what is wrong with the names of a row's fields, which are not right.

        Args:
            fields: the row's values by name.
            row: what they were taken from.
        """
        # An instance has the fields of its schema, as that is now.
        stale = _STALE if is_record(row) else ""
        for name in fields:
            if name not in self.members.names and name not in self.members.sizes:
                return RecordError(
                    str(name),
                    "an unknown field",
                    f"one of {', '.join(self.members.names)}",
                    stale or did_you_mean(name, self.members.names) or _STALE,
                )
        name = next(name for name in self.members.required if name not in fields)
        return RecordError(name, "no value", "one, since it is required", stale)

    def key_of(self, fields: Mapping[str, Any]) -> tuple[int, int]:
        """Return the digest of a row's key; errors are those of `key_value`."""
        try:
            return digest_of(self.key_value(fields), self.seed)
        except RecordError:
            raise
        except Exception as error:  # the value's own
            name = self.key_field or ""
            problem = raising(fields.get(name), error, _KEY)
            raise RecordError.of(problem, name) from error

    def key_value(self, fields: Mapping[str, Any]) -> int | str | bytes:
        """Return a row's key.

        Raises:
            RecordError: the key is missing, or of a type that makes no good key.
        """
        name = self.key_field
        assert name is not None
        value = fields.get(name)
        value = _plain_key(value)
        too_large = isinstance(value, int) and value.bit_length() > 64  # for any field
        if (
            isinstance(value, bool)
            or too_large
            or not isinstance(value, (int, str, bytes))
        ):
            raise RecordError(
                name,
                "no value" if name not in fields else described(value),
                _KEY,
            )
        return value


def _plain_key(value: Any) -> Any:
    """Return the value of an Enum, and the integer of an array or a number of numpy."""
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    # A timedelta64 derives from integers, and is none.
    if isinstance(value, np.generic) and value.dtype.kind in "iu":
        value = value.item()
    return value


def encoding_of(record: RecordCodec, plan: Plan) -> Encoding:
    """Return how the rows of a plan become records.

    Raises:
        DatasetError: the plan's `key_field` is not a field of the record.
    """
    skips = plan.on_error == "skip"
    return Encoding(record, skips, plan.key_field, plan.shuffle_seed or 0)


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
    waiting = KeptRows(encoding.members.fields)
    pending = _Pending(encoding, part, waiting)
    numbers = count(first) if positions is None else positions
    numbered = zip(numbers, rows, strict=False)
    try:
        for number, row in numbered:
            pending.add(number, row)
            if pending.full:
                pending.encode()
                yield pending.chunk()
                pending = _Pending(encoding, part, waiting)
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
    error: Exception, encoding: Encoding, number: int, part: int | None
) -> RecordError:
    """Return what a row is left out for, by its position.

    Raises:
        Exception: as `encode_rows`, if no row is to be left out, or this one is not
            what is wrong.
    """
    where = position(number, part)
    if isinstance(error, _NoRow):
        raise TypeError(f"{where}: {error}") from error.__cause__
    if isinstance(error, _Misfit):
        refused = error.refused.at_row(number, part)
        if encoding.skip:
            return refused
        raise TypeError(str(refused)) from None
    if isinstance(error, RecordError):
        refused = error.at_row(number, part)
        if encoding.skip:
            return refused
        raise refused from None
    error.add_note(f"while encoding {where}")
    raise error


class _NoRow(Exception):
    """What has no fields at all."""


class _Misfit(Exception):
    """A row with a name too few or too many.

    Args:
        refused: which one.
    """

    def __init__(self, refused: RecordError) -> None:
        self.refused = refused
        super().__init__(refused)


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


class _Pending:
    """What will be a chunk: rows that wait, and the records of those before.

    Args:
        encoding: how rows become records.
        part: as for `encode_rows`.
        waiting: keeps the values of rows that wait; there are none yet.
    """

    def __init__(self, encoding: Encoding, part: int | None, waiting: KeptRows) -> None:
        self._encoding = encoding
        self._part = part
        self._waiting = waiting
        self._places: list[_Place] = []  # of the rows that wait
        self._records: list[bytes] = []  # not framed yet
        self._framed: list[Framed] = []
        self._written: list[_Place] = []
        self._bytes = 0
        self._refused: list[Refused] = []
        self._until = monotonic() + CHUNK_SECONDS

    def add(self, number: int, row: object) -> None:
        """Take a row; errors are those of `encode_rows`, for rows before it as well."""
        encoding = self._encoding
        try:
            fields = row if type(row) is dict else _fields_of(row)
            try:
                values = encoding.members.values(fields)
            except WrongNamesError:
                raise _Misfit(encoding.misfit(fields, row)) from None
            key = None if encoding.key_field is None else encoding.key_of(fields)
        except Exception as error:
            self.encode()
            self._refuse(error, number)
            return
        place = number, key
        try:
            self._bytes += self._waiting.add(values)
        except UnkeptError:
            self.encode()
            named = dict(zip(encoding.members.fields, values, strict=True))
            self._bytes += self._encode_one(place, named)
            return
        self._places.append(place)

    def encode(self) -> None:
        """Encode the rows that wait; errors are those of `encode_rows`."""
        places, self._places = self._places, []
        try:
            if places and not self._encode_together(places, range(len(places))):
                self._encode_apart(places)
        finally:
            self._waiting.clear()

    def _encode_together(self, places: list[_Place], rows: Sequence[int]) -> bool:
        """Encode some of the rows that wait as columns; tell whether none is wrong."""
        if not rows:
            return True
        try:
            columns = self._waiting.columns(rows)
            framed = [*self._encoding.record.frame_columns(**columns)]
        except Exception:  # of some row, which is then searched
            return False
        self._frame()
        self._framed += framed
        self._written += [places[row] for row in rows]
        return True

    def _encode_apart(self, places: list[_Place]) -> None:
        """Encode the rows that wait, of which some are wrong."""
        record, rows = self._encoding.record, range(len(places))
        refused = record.refused_rows(self._waiting.columns(rows))
        if refused and not self._encoding.skip:
            # The first one ends it, so that those after it need not be searched.
            rows, refused = rows[: refused[0]], [*rows[refused[0] :]]
        right = sorted({*rows} - {*refused})
        if not refused or not self._encode_together(places, right):
            # They are wrong in what fields have to be to each other.
            refused = [*range(len(places))]
        for row in refused:
            self._encode_one(places[row], self._waiting.values(row))

    def _encode_one(self, place: _Place, values: dict[str, Any]) -> int:
        """Encode a row, and return how many bytes it has; 0 if it is left out."""
        number, _ = place
        try:
            record = self._encoding.record.encode(**values)
        except Exception as error:
            self._refuse(error, number)
            return 0
        self._records.append(record)
        self._written.append(place)
        return len(record)

    def _frame(self) -> None:
        if self._records:
            self._framed.append(frame_records(self._records))
            self._records = []

    def _refuse(self, error: Exception, number: int) -> None:
        refused = _refusal(error, self._encoding, number, self._part)
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

    @property
    def empty(self) -> bool:
        return not self._written and not self._refused

    @property
    def full(self) -> bool:
        rows = len(self._places) + len(self._written) + len(self._refused)
        return (
            self._bytes >= CHUNK_BYTES
            or rows >= CHUNK_ROWS
            or monotonic() >= self._until
        )

    def chunk(self) -> Chunk:
        """Return the records so far, without the rows that wait."""
        self._frame()
        keys = None
        if self._encoding.key_field is not None:
            digests = [digest for _, digest in self._written]
            keys = np.array(digests, np.uint64).reshape(-1, 2)
        return Chunk(
            self._part,
            joined(self._framed),
            np.array([number for number, _ in self._written], np.int64),
            keys,
            tuple(self._refused),
        )
