"""All checks of a record, made once from its spec and applied to many records."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...kinds.field import FieldSpec
from ...kinds.steps import Steps
from ...spec.model import RecordSpec
from ..columns import Columns
from ..keyed import WRITE_EXAMPLES, describe_record, other_rows
from . import labels, lists, pictures, tensors
from .faults import Fault, Units, listed, only
from .groups import group_faults, groups_of
from .steps import steps
from .values import by_storage

_NO_EXAMPLE = "not a tf.train.Example"
_AN_EXAMPLE = "the bytes of a tf.train.Example or SequenceExample"


class FieldFault(NamedTuple):
    """A fault and the field that it is in; "" for the whole record."""

    field: str
    fault: Fault


class Facts(NamedTuple):
    """What is to be known of records that is not wrong: what, key, and which rows."""

    what: str
    key: str
    rows: int


_Check = Callable[[Any, Units], Generator[Fault, None, Any]]

CHECKS: Mapping[str, _Check] = {
    "Image": pictures.image,
    "Images": pictures.images,
    "Label": labels.classes,
    "Mask": pictures.mask,
    "MultiLabel": labels.classes,
    "Ragged": lists.ragged,
    "Sparse": lists.sparse,
    "Tensor": tensors.tensor,
    "VarLen": lists.var_len,
}
"""The checks of kinds for which their storage does not state everything."""


class RecordCheck:
    """Compares records with a spec.

    Args:
        spec: what they should be; None to see only whether they are Examples.
    """

    def __init__(self, spec: RecordSpec | None) -> None:
        self._spec = spec
        self._fields = () if spec is None else spec.fields
        self._known = {entry.key for field in self._fields for entry in field.storage}
        self._lists = {f.key for f in self._fields if isinstance(f.kind, Steps)}
        self._groups = groups_of(self._fields)

    def faults(self, columns: Columns) -> Iterator[FieldFault]:
        """Yield what is wrong with some records."""
        live = np.ones(len(columns.records), np.bool_)
        for fault in self._of_records(columns, live):
            if len(fault.rows):
                yield FieldFault("", fault)
        if self._spec is None or not live.any():
            return
        by_key = columns.by_key
        if not live.all():
            by_key = {
                key: tuple(only(column, live[column.rows]) for column in some)
                for key, some in by_key.items()
            }
        units = Units(live, by_key, self._known)
        for field in self._fields:
            own = replace(units, optional=field.optional)
            for fault in _check(field, columns, own):
                if len(fault.rows):
                    yield FieldFault(field.label, fault)
        for group, fields in self._groups.items():
            for fault in group_faults(group, fields, columns, units):
                if len(fault.rows):
                    yield FieldFault("", fault)

    def _of_records(self, columns: Columns, live: NDArray[np.bool_]) -> Iterator[Fault]:
        """Yield what is wrong with whole records, and clear these in `live`."""
        live[[each.row for each in columns.malformed]] = False
        yield _malformed(columns)
        if self._spec is None:
            rows = other_rows(columns)
            yield _foreign(columns, rows[live[rows]], None)
            return
        yield from self._unusual(columns)
        is_sequence = self._spec.message == "SequenceExample"
        other = np.flatnonzero(live & (columns.sequences != is_sequence))
        yield _other_message(other, is_sequence)
        live[other] = False
        foreign = np.flatnonzero(live & ~self._own(columns))
        yield _foreign(columns, foreign, self._spec)
        live[foreign] = False

    def _unusual(self, columns: Columns) -> Iterator[Fault]:
        """Yield what parsers read differently, but for features that no field has."""
        for key, rows in columns.unusual.items():
            if not key or key in self._known:
                yield Fault(
                    "SG521",
                    _NO_EXAMPLE,
                    _AN_EXAMPLE,
                    np.array(rows, np.int64),
                    lambda at: "unknown fields, or a list in pieces: parsers differ",
                    key=key,
                )

    def _own(self, columns: Columns) -> NDArray[np.bool_]:
        """Tell which records have a key of the spec: bool [N]."""
        found = np.zeros(len(columns.records), np.bool_)
        for key in self._known - self._lists:
            for column in columns.by_key.get(key, ()):
                if column.kind:
                    found[column.rows] = True
                if found.all():
                    return found
        for key in self._lists & columns.steps.keys():
            found[columns.steps[key].rows] = True
        return found

    def facts(self, columns: Columns) -> Iterator[Facts]:
        """Yield what readers pass over silently."""
        if self._spec is not None:
            for key, some in columns.by_key.items():
                if key not in self._known or key in self._lists:
                    rows = sum(len(column) for column in some)
                    yield Facts("a key that the schema does not have", key, rows)
            for key, lists_ in columns.steps.items():
                if key not in self._lists:
                    what = "a feature list that the schema does not have"
                    yield Facts(what, key, len(lists_.rows))
        for key, repeated in columns.repeated.items():
            yield Facts(
                "a key that stands twice; the last one counts", key, len(repeated)
            )
        for what, unknown in columns.unknown.items():
            yield Facts("what no tf.train.Example has", what, len(unknown))


def _check(
    field: FieldSpec, columns: Columns, units: Units
) -> Generator[Fault, None, Any]:
    if isinstance(field.kind, Steps):
        check: _Check = CHECKS.get(field.step.kind.name, by_storage)
        return steps(field, partial(check, field.step), columns, units)
    check = CHECKS.get(field.kind.name, by_storage)
    return check(field, units)


def _malformed(columns: Columns) -> Fault:
    some = sorted(columns.malformed, key=lambda each: each.row)

    def found(at: int) -> str:
        return f"{some[at].reason}, {some[at].at} bytes into the record"

    def cause(at: int) -> str:
        return f"the record is {describe_record(columns.records[some[at].row])}"

    return Fault(
        "SG521",
        _NO_EXAMPLE,
        _AN_EXAMPLE,
        np.array([each.row for each in some], np.int64),
        found,
        cause,
    )


def _other_message(rows: NDArray[np.int64], is_sequence: bool) -> Fault:
    names = ("a tf.train.Example", "a tf.train.SequenceExample")
    expected, found = (names[1], names[0]) if is_sequence else names
    base = "Record" if is_sequence else "SequenceRecord"
    return Fault(
        "SG521",
        "wrong message type",
        expected,
        rows,
        lambda at: found,
        lambda at: f"declared as another one: derive the class from {base}",
    )


def _foreign(
    columns: Columns, rows: NDArray[np.int64], spec: RecordSpec | None
) -> Fault:
    """Return the fault of records that have no key of a spec, or none at all."""
    units = Units(np.ones(len(columns.records), np.bool_), columns.by_key)
    others = set(other_rows(columns).tolist())

    def found(at: int) -> str:
        row = int(rows[at])
        if row in others:
            return describe_record(columns.records[row])
        return f"the keys {listed(units.keys_of(row))}"

    def cause(at: int) -> str:
        if int(rows[at]) in others:
            return WRITE_EXAMPLES
        return "records of another schema, or an empty message"

    keys = [] if spec is None else [field.key for field in spec.fields]
    return Fault(
        "SG521",
        "record has no field of this schema" if spec else "record has no key",
        f"the keys {listed(keys)}" if spec else "the features of a tf.train.Example",
        rows,
        found,
        cause,
    )
