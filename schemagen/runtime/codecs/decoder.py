"""From the bytes of records to rows and batches of values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..reading.decoding import decode
from ..reading.records import Records
from .between import FieldFault
from .checking import RecordCheck
from .columns import Collator, ListForm
from .decoded import Decoded, Form, UndecodableError
from .kind import Kind
from .nesting import nested
from .records import RecordCodec

Row = dict[str, Any]
Batch = dict[str, Any]


class CorruptError(Exception):
    """Records that are not of the schema.

    Attributes:
        problems: what is wrong first with each, by its row.
    """

    def __init__(self, problems: dict[int, str]) -> None:
        self.problems = problems
        super().__init__(problems)


@dataclass(frozen=True)
class Decoder:
    """Decodes records, and checks them as `schemagen verify` does.

    Attributes:
        record: the codecs of all fields.
        fields: the names of those to decode.
        form: how values are delivered.
        lists: what becomes of lists in batches.
    """

    record: RecordCodec
    fields: tuple[str, ...]
    form: Form
    lists: ListForm

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is made of the attributes."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def _check(self) -> RecordCheck:
        return RecordCheck(self.record, self.fields)

    @cached_property
    def _collators(self) -> dict[str, Collator]:
        return {
            name: Collator(self.record[name], self.form, self.lists)
            for name in self.fields
        }

    @cached_property
    def collators(self) -> dict[str, Collator]:
        """What makes columns of its fields, by their labels."""
        return {each.codec.label: each for each in self._collators.values()}

    @cached_property
    def _paths(self) -> dict[str, tuple[str, ...]]:
        """Where the values of nested fields stand, masks included."""
        found: dict[str, tuple[str, ...]] = {}
        for collator in self._collators.values():
            codec = collator.codec
            *outer, last = codec.label.split(".")
            if outer:
                found[codec.name] = (*outer, last)
                found[f"{codec.name}_present"] = (*outer, f"{last}_present")
        return found

    def run(self, records: Records) -> Run:
        """Check records, whose values batches can then be made of.

        Raises:
            CorruptError: some are not of the schema.
        """
        return Run(self, records, self._decoded(records))

    def batch(self, records: Records) -> Batch:
        """Return records as columns, by name.

        Raises:
            CorruptError: some are not of the schema.
        """
        return self.run(records).batch(0, len(records))

    def columns(self, decoded: Mapping[str, Decoded], count: int) -> Batch:
        """Return decoded values as columns, by name.

        Raises:
            CorruptError: an image cannot be decoded.
        """
        batch: Batch = {}
        for name, collator in self._collators.items():
            values = decoded[name]
            try:
                batch |= collator.columns(values, count)
            except UndecodableError as error:
                raise self._corrupt(collator.codec, values, error) from None
        return nested(batch, self._paths) if self._paths else batch

    def rows(self, decoded: Mapping[str, Decoded], count: int) -> list[Row]:
        """Return decoded values as dicts by name, None for what is missing.

        Raises:
            CorruptError: an image cannot be decoded.
        """
        columns = {}
        for name, collator in self._collators.items():
            values = decoded[name]
            try:
                columns[name] = collator.values(values, count)
            except UndecodableError as error:
                raise self._corrupt(collator.codec, values, error) from None
        rows = (
            dict(zip(columns, row, strict=True))
            for row in zip(*columns.values(), strict=True)
        )
        return [nested(row, self._paths) if self._paths else row for row in rows]

    def _corrupt(
        self, codec: Kind, decoded: Decoded, first: UndecodableError
    ) -> CorruptError:
        """Return the error of all records whose images cannot be decoded."""
        label, rows, values = codec.label, decoded.rows.tolist(), decoded.values()
        problems = {rows[first.at]: f"field {label!r}: {first}"}
        for at in range(first.at + 1, len(rows)):
            try:
                codec.delivered(values[at : at + 1], self.form)
            except UndecodableError as error:
                problems[rows[at]] = f"field {label!r}: {error}"
        return CorruptError(problems)

    def _decoded(self, records: Records) -> dict[str, Decoded]:
        checking = self._check.faults(decode(records, self._check.plan))
        problems: dict[int, str] = {}
        while True:
            try:
                found = next(checking)
            except StopIteration as stop:
                if problems:
                    raise CorruptError(problems) from None
                decoded: dict[str, Decoded] = stop.value
                return decoded
            for at, row in enumerate(found.fault.rows.tolist()):
                problems.setdefault(row, _problem(found, at))


class Run:
    """Records that were read and checked together.

    Args:
        decoder: what has decoded them.
        records: the records.
        decoded: their values, by field.
    """

    def __init__(
        self, decoder: Decoder, records: Records, decoded: Mapping[str, Decoded]
    ) -> None:
        self.decoder = decoder
        self.records = records
        self._decoded = decoded
        self._values = {name: each.values() for name, each in decoded.items()}

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The numbers of the records: int64 [N]."""
        return self.records.numbers

    def fields(self) -> Iterator[tuple[str, Kind, Decoded]]:
        """Yield the name, the codec and the values of each field."""
        for name in self.decoder.fields:
            yield name, self.decoder.record[name], self.values(name)

    def batch(self, start: int, stop: int) -> Batch:
        """Return some of the records as columns, by name.

        Raises:
            CorruptError: an image cannot be decoded; rows are counted from `start`.
        """
        return self.decoder.columns(
            {name: self._some(name, start, stop) for name in self._decoded},
            stop - start,
        )

    def rows(self) -> list[Row]:
        """Return the records as dicts by name, None for what is missing.

        Raises:
            CorruptError: an image cannot be decoded.
        """
        decoded = {name: self.values(name) for name in self._decoded}
        return self.decoder.rows(decoded, len(self.numbers))

    def values(self, name: str) -> Decoded:
        """Return the decoded values of a field."""
        return self._some(name, 0, len(self.numbers))

    def _some(self, name: str, start: int, stop: int) -> Decoded:
        rows, values = self._decoded[name].rows, self._values[name]
        first, last = start, stop
        if len(rows) < len(self.records):
            first, last = np.searchsorted(rows, (start, stop))
        return Decoded(rows[first:last] - start, lambda: values[first:last])


def _problem(found: FieldFault, at: int) -> str:
    """Say what is wrong with one of the rows of a fault."""
    fault = found.fault
    field = f"field {found.field!r}: " if found.field else ""
    cause = fault.cause(at)
    return (
        f"{field}{fault.what}: found {fault.found(at)}, expected {fault.expected}"
        + (f" ({cause})" if cause else "")
    )
