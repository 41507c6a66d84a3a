"""From rows to framed bytes: a pure function, the same in every process."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from itertools import count
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import DatasetError, RecordError, did_you_mean, position
from ..shared.tfrecord import Framed, frame_records
from ..shared.values import described
from .keys import digest_of
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
        part: the index of the source that `row` counts in, one for each shard; None
            where there is one source.
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
        part: the index of the source or block that the rows are from.
        framed: the records with their framing.
        rows: int64 [records], the position of each record's row in its source.
        keys: uint64 [records, 2], the digest of each row's key; None without keys.
        refused: the rows that were left out, in order.
        next_row: the position after the last row, written or refused.
    """

    part: int
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
        stale = _STALE if _is_record(row) else ""
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
        if isinstance(value, np.integer):
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, (int, str, bytes)):
            raise RecordError(
                name,
                "no value" if name not in fields else described(value),
                "an int, str or bytes, since it is the key of the records",
            )
        return value


def encode_rows(
    rows: Iterable[object],
    encoding: Encoding,
    *,
    part: int = 0,
    shard: int | None = None,
    first: int = 0,
    positions: Iterable[int] | None = None,
) -> Iterator[Chunk]:
    """Encode rows, holding about 1 MiB of records at a time, or those of a second.

    Args:
        rows: dicts of fields, or what dict() makes one of, such as an instance of
            the schema's class; `Unreadable` marks a row that cannot be read.
        encoding: how rows become records.
        part: the index of the source or block.
        shard: what errors call the source that the rows are counted in, where there
            is one source for each shard.
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
    serialize, keyed = encoding.serialize, encoding.key_field is not None
    pending = _Pending(part, keyed)
    reached = first
    numbers = count(first) if positions is None else positions
    numbered = zip(numbers, rows, strict=False)
    try:
        for number, row in numbered:
            fields = None
            try:
                fields = row if type(row) is dict else _fields_of(row)
                record = serialize(**fields)
                if keyed:
                    pending.keys.append(encoding.key_of(fields))
                pending.add(number, record)
            except Exception as error:
                pending.refuse(_refusal(error, row, fields, encoding, number, shard))
            if pending.full:
                yield pending.chunk(number + 1)
                pending = _Pending(part, keyed)
            reached = number + 1
    except Exception:
        # What came before is as good as if nothing had happened.
        if not pending.empty:
            yield pending.chunk(reached)
        raise
    yield pending.chunk(reached)


def _refusal(
    error: Exception,
    row: object,
    fields: Mapping[str, Any] | None,
    encoding: Encoding,
    number: int,
    shard: int | None,
) -> RecordError:
    """Return what a row is left out for, by its position.

    Raises:
        Exception: as `encode_rows`, if no row is to be left out, or this one is not
            what is wrong.
    """
    where = position(number, shard)
    if isinstance(error, _NoRow):
        raise TypeError(f"{where}: {error}") from error.__cause__
    if isinstance(error, RecordError):
        refused = error.at_row(number, shard)
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
    refused = misfit.at_row(number, shard)
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
        if hasattr(row, "keys") or _is_record(row):
            raise
        raise _NoRow(
            f"found {described(row)}, expected a dict of the record's fields, a "
            "named tuple, or an instance of its schema's class"
        ) from error


def _is_record(row: object) -> bool:
    """Tell whether a row is an instance of a schema's class."""
    return hasattr(type(row), "model_fields")


class _Pending:
    """What will be a chunk."""

    def __init__(self, part: int, keyed: bool) -> None:
        self.keys: list[tuple[int, int]] = []
        self._part = part
        self._keyed = keyed
        self._records: list[bytes] = []
        self._rows: list[int] = []
        self._bytes = 0
        self._refused: list[Refused] = []
        self._until = monotonic() + CHUNK_SECONDS

    def add(self, row: int, record: bytes) -> None:
        self._records.append(record)
        self._rows.append(row)
        self._bytes += len(record)

    def refuse(self, error: RecordError) -> None:
        assert error.row is not None
        self._refused.append(
            Refused(
                error.row,
                error.field,
                error.found,
                error.expected,
                error.advice,
                error.shard,
            )
        )

    @property
    def empty(self) -> bool:
        return not self._rows and not self._refused

    @property
    def full(self) -> bool:
        rows = len(self._rows) + len(self._refused)
        return (
            self._bytes >= CHUNK_BYTES
            or rows >= CHUNK_ROWS
            or monotonic() >= self._until
        )

    def chunk(self, next_row: int) -> Chunk:
        keys = np.array(self.keys, np.uint64).reshape(-1, 2) if self._keyed else None
        return Chunk(
            self._part,
            frame_records(self._records),
            np.array(self._rows, np.int64),
            keys,
            tuple(self._refused),
            next_row,
        )
