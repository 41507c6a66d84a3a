"""From the bytes of records to rows and batches of values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import chain
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from ..cells.columns import Rows
from ..cells.decoded import Decoded, Form, RaggedRows, Shape, Values
from ..cells.decoding import decode
from ..cells.serialized import Records
from ..images.pixels import UndecodableError
from ..kinds.classes import names_of
from ..kinds.images import Image, size_name
from ..kinds.kind import Kind
from ..native import padded
from ..shared.dtypes import DTYPES
from ..shared.values import shape_text
from .checking import RecordCheck
from .codec import RecordCodec
from .nesting import nested
from .relations import FieldFault

ListForm = Literal["padded", "list"]
"""Whether lists are padded to the longest of their batch, or stay as long as they are."""

Row = dict[str, Any]
Batch = dict[str, Any]


class Collator:
    """What the values of a field become: columns of batches, and values of rows.

    Args:
        codec: of the field.
        form: how values are delivered.
        lists: what becomes of lists in batches.

    Attributes:
        codec: of the field.
        form: how values are delivered.
        dtype: of the values in memory.
        filler: the value that fills up lists.
        absent: the value of a missing one, or of each of its items.
        masked: whether batches tell which records have a value.
        listed: whether values of different lengths stay as they are, in a list.
    """

    def __init__(self, codec: Kind, form: Form, lists: ListForm) -> None:
        self.codec = codec
        self.form = form
        self._name = codec.name
        self._size_name = size_name(codec) if form.images else ""
        delivered = codec.delivered
        self.masked = delivered.absence.masked
        bytes_stay = not form.images and delivered.decoded[0] == "bytes"
        encoded = bytes_stay and delivered.dtype != "string"
        names = names_of(codec) if form.names and codec.of_step.of_classes else ()
        self.dtype: np.dtype[Any] = np.dtype(object)
        self._shape: Shape = delivered.shape
        self.filler: Any = delivered.filler
        if encoded or names:
            self._shape = delivered.decoded[1]
            self.filler = b"" if encoded else ""
        elif delivered.dtype != "string":
            self.dtype = DTYPES[codec.dtype_in(form)].numpy
        elif codec.dtype == "bytes":
            self.filler = delivered.filler.encode()
        self.listed = bool(self._shape) and (
            delivered.layout != "dense"
            or not delivered.batchable
            or (lists == "list" and None in self._shape)
        )
        self.absent = delivered.absence.value
        if self.dtype.kind == "O":
            given = codec.default not in (None, ())
            self.absent = codec.default if given else self.filler
            if names and given:
                self.absent = names[codec.default]

    def described(self, rows: int | None = None) -> dict[str, str]:
        """Return the dtype and the shape of the columns of the field, by label.

        Args:
            rows: of so many records; None for the value of one record.
        """
        label, batch = self.codec.label, () if rows is None else (rows,)
        found = {label: self._described(batch)}
        if batch and self.masked:
            found[f"{label}_present"] = f"bool {shape_text(batch)}"
        if batch and self._size_name:
            found[f"{label}_size"] = f"int64 {shape_text((*batch, 2))}"
        return found

    def _described(self, batch: tuple[int, ...]) -> str:
        dtype = self.dtype.name
        if self.dtype.kind == "O":
            dtype = "bytes" if isinstance(self.filler, bytes) else "str"
        if self.codec.delivered.layout == "sparse":
            dtype = f"sparse {dtype}"
        if batch and self.listed:
            return f"list of {batch[0]:,} {dtype} {shape_text(self._shape)}"
        shape = (*batch, *self._shape)
        return f"{dtype} {shape_text(shape)}" if shape else dtype

    def columns(self, decoded: Decoded, rows: int) -> dict[str, Any]:
        """Return the columns of the field: its values, and a mask if batches have one.

        Args:
            decoded: the values of the rows that have one.
            rows: how many there are.

        Raises:
            UndecodableError: a value is a damaged image.
        """
        values = decoded.values()
        formed = self.codec.in_form(values, self.form)
        found = {self._name: self.filled(decoded.rows, formed, rows)}
        if self.masked:
            valid = self.codec.validity(values)
            mask = np.zeros(rows, np.bool_)
            mask[decoded.rows] = True if valid is None else valid
            found[f"{self._name}_present"] = mask
        return found | self.sizes(decoded, rows)

    def sizes(self, decoded: Decoded, rows: int) -> dict[str, NDArray[np.int64]]:
        """Return the stored sizes of images, if they are delivered: int64 [rows, 2].

        Images that stay encoded have the size that is stored.

        Args:
            decoded: the images of the records that have one.
            rows: how many records there are.
        """
        if not self._size_name:
            return {}
        assert isinstance(self.codec, Image)
        sizes = np.zeros((rows, 2), np.int64)
        sizes[decoded.rows] = self.codec.sizes_of(decoded.values())
        return {self._size_name: sizes}

    def values(self, decoded: Decoded, rows: int) -> list[Any]:
        """Return the value of the field in each record: None where it is missing.

        Args:
            decoded: the values of the records that have one.
            rows: how many records there are.

        Raises:
            UndecodableError: a value is a damaged image.
        """
        codec, values = self.codec, decoded.values()
        valid = codec.validity(values)
        formed = codec.in_form(values, self.form)
        found = [None] * rows
        if codec.default is not None and len(decoded.rows) < rows:
            found = [self._default] * rows
        known = [True] * len(values) if valid is None else valid.tolist()
        for row, value, is_valid in zip(
            decoded.rows.tolist(), formed, known, strict=True
        ):
            if is_valid:
                found[row] = value
        return found

    def missing(self, rows: int) -> Values:
        """Return the column of as many missing values."""
        shape: Any = self._shape
        none: Values = [] if None in shape else np.empty((0, *shape), self.dtype)
        return self.filled(np.empty(0, np.int64), none, rows)

    @property
    def _default(self) -> Any:
        """The value of a missing field in a single record."""
        if None in self._shape:
            return self.nothing()
        if self.dtype.kind == "O" and not self._shape:
            return self.absent
        return np.full(cast("Any", self._shape), self.absent, self.dtype)[()]

    def filled(self, rows: Rows, values: Values, count: int) -> Values:
        """Return a value for each of `count` rows.

        Args:
            rows: those that have one.
            values: theirs.
            count: how many there are.
        """
        if isinstance(values, np.ndarray) or not self._shape:
            if isinstance(values, np.ndarray) and len(rows) == count:
                return values
            shape = np.shape(values)[1:] if isinstance(values, np.ndarray) else ()
            dense = np.empty((count, *shape), self.dtype)
            dense[:] = self.absent
            dense[rows] = values
            return dense
        if self.listed:
            if len(rows) == count:
                return list(values)
            found = [self.nothing() for _ in range(count)]
            for row, value in zip(rows.tolist(), values, strict=True):
                found[row] = value
            return found
        return self._padded(rows, values, count)

    def nothing(self) -> Any:
        """Return the value of a missing list, tensor or image."""
        delivered = self.codec.delivered
        if delivered.layout == "sparse":
            rank = len(self._shape)
            return np.empty((0, rank), np.int64), np.empty(0, self.dtype)
        if not delivered.batchable:
            return np.zeros([size or 1 for size in self._shape], self.dtype)
        if self.dtype.kind == "O" or None in self._shape[1:]:
            return []
        return np.empty([size or 0 for size in self._shape], self.dtype)

    def _padded(self, rows: Rows, values: Values, count: int) -> NDArray[Any]:
        """Pad lists, or tensors, to the largest."""
        if isinstance(values, RaggedRows):
            lengths = values.lengths
            if len(rows) < count:
                lengths = np.zeros(count, np.int64)
                lengths[rows] = values.lengths
            longest = int(lengths.max(initial=0))
            return padded(values.flat, lengths, longest, self.filler)
        deep = None in self._shape[1:]
        if deep:
            found = [_sizes(value, len(self._shape)) for value in values]
            most = np.max([[0] * len(self._shape), *found], axis=0).tolist()
        else:
            most = [max(map(len, values), default=0), *self._shape[1:]]
        pairs = zip(self._shape, most, strict=True)
        shape = [largest if size is None else size for size, largest in pairs]
        table = np.full((count, *shape), self.filler, self.dtype)
        if deep:
            for row, value in zip(rows.tolist(), values, strict=True):
                _fill(table[row], value)
        elif len(values):
            lengths = np.zeros(count, np.int64)
            lengths[rows] = list(map(len, values))
            valid = np.arange(shape[0]) < lengths[:, np.newaxis]
            table[valid] = (
                np.concatenate(values)
                if isinstance(values[0], np.ndarray)
                else np.array([*chain.from_iterable(values)], self.dtype)
            )
        return table


def _sizes(value: Any, rank: int) -> list[int]:
    """Return the largest size of each dimension of lists in lists, or of an array."""
    if isinstance(value, np.ndarray):
        return list(value.shape)
    inner = [_sizes(each, rank - 1) for each in value] if rank > 1 else []
    return [len(value), *np.max([[0] * (rank - 1), *inner], axis=0).tolist()]


def _fill(target: NDArray[Any], value: Any) -> None:
    """Put an array, or lists of lists, into the beginning of a larger array."""
    if isinstance(value, np.ndarray):
        target[tuple(map(slice, value.shape))] = value
        return
    for at, each in enumerate(value):
        if target.ndim > 1:
            _fill(target[at], each)
        else:
            target[at] = each


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
        """Where the values of nested fields stand, masks and sizes included."""
        found: dict[str, tuple[str, ...]] = {}
        for collator in self._collators.values():
            codec = collator.codec
            *outer, last = codec.label.split(".")
            if outer:
                found[codec.name] = (*outer, last)
                for added in ("present", "size"):
                    found[f"{codec.name}_{added}"] = (*outer, f"{last}_{added}")
        return found

    def run(self, records: Records) -> DecodedRun:
        """Check records, whose values batches can then be made of.

        Raises:
            CorruptError: some are not of the schema.
        """
        return DecodedRun(self, records, self._decoded(records))

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
        columns: dict[str, list[Any]] = {}
        for name, collator in self._collators.items():
            values = decoded[name]
            try:
                columns[name] = collator.values(values, count)
                columns |= {
                    n: [*each] for n, each in collator.sizes(values, count).items()
                }
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
                codec.in_form(values[at : at + 1], self.form)
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


class DecodedRun:
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

    def only(self, fields: tuple[str, ...]) -> DecodedRun:
        """Return the records with some of their fields."""
        some = {name: self._decoded[name] for name in fields}
        return DecodedRun(replace(self.decoder, fields=fields), self.records, some)

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
