"""All checks of a record, made once from its spec and applied to many records."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...runtime.codecs.base import Codec, Decoded
from ...runtime.codecs.faults import Fault, Features, listed
from ...runtime.codecs.groups import group_faults, groups_of
from ...runtime.reading.columns import Columns
from ...spec.model import RecordSpec
from ..keyed import WRITE_EXAMPLES, describe_record, other_rows

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


class RecordCheck:
    """Compares records with a spec.

    Args:
        spec: what they should be; None to see only whether they are Examples.
    """

    def __init__(self, spec: RecordSpec | None) -> None:
        self._spec = spec
        self._fields = () if spec is None else spec.fields
        self._codecs = [field.codec for field in self._fields]
        self._known = {part.key for field in self._fields for part in field.parts}
        self._lists = {codec.key for codec in self._codecs if codec.in_list}
        # What is filled up on disk has one length there.
        self._groups = groups_of(c for c in self._codecs if c.item_size is not None)

    def faults(
        self, columns: Columns
    ) -> Generator[FieldFault, None, dict[str, Decoded]]:
        """Yield what is wrong with some records; return the values of their fields."""
        live = np.ones(len(columns.records), np.bool_)
        for fault in self._of_records(columns, live):
            if len(fault.rows):
                yield FieldFault("", fault)
        decoded: dict[str, Decoded] = {}
        if self._spec is None or not live.any():
            return decoded
        by_key = columns.by_key
        if not live.all():
            by_key = {
                key: tuple(column.only(live[column.rows]) for column in some)
                for key, some in by_key.items()
            }
        features = Features(live, by_key, columns.steps, self._known)
        for codec in self._codecs:
            own = replace(features, optional=codec.optional)
            decoded[codec.name] = yield from _of_field(codec, own)
        for group, codecs in self._groups.items():
            if len(codecs) < 2:
                continue
            for fault in group_faults(group, codecs, features):
                if len(fault.rows):
                    yield FieldFault("", fault)
        return decoded

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


def _of_field(codec: Codec, features: Features) -> Generator[FieldFault, None, Decoded]:
    """Yield what is wrong with a field; return its values."""
    decoding = codec.decode(features)
    while True:
        try:
            fault = next(decoding)
        except StopIteration as stop:
            decoded: Decoded = stop.value
            return decoded
        if len(fault.rows):
            yield FieldFault(codec.label, fault)


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
    features = Features(np.ones(len(columns.records), np.bool_), columns.by_key)
    others = set(other_rows(columns).tolist())

    def found(at: int) -> str:
        row = int(rows[at])
        if row in others:
            return describe_record(columns.records[row])
        return f"the keys {listed(features.keys_of(row))}"

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
