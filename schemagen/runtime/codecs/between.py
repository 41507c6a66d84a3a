"""What the fields of one record have to be to each other, beyond the lengths of groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..reading.columns import Column, Rows
from ..shared.errors import RecordError
from .faults import Fault, Features
from .kind import Kind
from .parsed import Parsed
from .part import BYTES, Part
from .written import RawRows, Written, joined

_NO_BYTES = np.empty(0, np.uint8)


class FieldFault(NamedTuple):
    """A fault and the field that it is in; "" for the whole record."""

    field: str
    fault: Fault


class Relation:
    """A check between the fields of a record, of what is stored.

    Writers and `verify` do all checks.

    Attributes:
        fields: the fields that it compares.
        when_reading: whether readers do it too.
    """

    fields: tuple[Kind, ...]
    when_reading: ClassVar[bool] = False

    def faults(self, features: Features) -> Iterator[FieldFault]:
        """Yield what is wrong with some records."""
        raise NotImplementedError

    def check_parsed(self, parsed: Parsed) -> None:
        """Refuse a batch with a wrong record, where readers do the check."""


@dataclass(frozen=True)
class GivenFeatures(Features):
    """What rows will have under some keys, before they are written.

    Attributes:
        given: the rows that have one value of bytes under a key, and these; pictures may
            be pixels.
    """

    given: Mapping[str, tuple[Rows, Sequence[Any]]] = field(default_factory=dict)

    def contents(self, key: str) -> tuple[Rows, Iterable[Any]]:
        return self.given.get(key, (np.empty(0, np.int64), ()))


def features_of(written: Iterable[tuple[Part, Written]], count: int) -> GivenFeatures:
    """Return what some rows have in each part, given what is written there."""
    by_key: dict[str, tuple[Column, ...]] = {}
    given: dict[str, tuple[Rows, Sequence[Any]]] = {}
    for part, each in written:
        if each.steps is not None:
            continue
        counts = np.broadcast_to(each.counts, count)
        rows, values = np.flatnonzero(counts >= 0), each.values
        if part.stored == BYTES:
            given[part.key] = rows, () if isinstance(values, RawRows) else [*values]
        else:
            assert isinstance(values, np.ndarray)
            column = Column(part.key, part.kind, rows, counts[rows], values, _NO_BYTES)
            by_key[part.key] = (column,)
    return GivenFeatures(np.ones(count, np.bool_), by_key, given=given)


def features_of_row(values: Iterable[tuple[Kind, Any]]) -> GivenFeatures:
    """Return what one row will have, given the value of each field; None for none."""
    written: list[tuple[Part, Written]] = []
    for codec, value in values:
        if value is None:
            continue
        if codec.of_pixels and codec.encoding != "raw":  # pixels are not encoded for it
            written.append((codec.parts[0], Written([codec.convert(value)])))
        else:
            pairs = zip(codec.parts, codec.store(value), strict=True)
            written += [(part, joined(part, [stored])) for part, stored in pairs]
    return features_of(written, 1)


def refuse_faults(
    relations: Iterable[Relation], features: Features, rows: Sequence[int | None]
) -> None:
    """Refuse rows whose fields do not go together.

    Args:
        relations: what they have to be to each other.
        features: of the rows.
        rows: their positions, for errors.

    Raises:
        RecordError: naming the first row that is wrong in the first of the checks.
    """
    for relation in relations:
        for label, fault in relation.faults(features):
            row, advice = rows[int(fault.rows[0])], fault.cause(0)
            raise RecordError(label, fault.found(0), fault.expected, advice, row)
