"""From rows to framed bytes: a pure function, the same in every process."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import DatasetError, RecordError, did_you_mean
from ..shared.tfrecord import Framed
from ..shared.values import described
from .keys import digest_of
from .plan import Plan

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
        if isinstance(value, np.integer):
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, (int, str, bytes)):
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
