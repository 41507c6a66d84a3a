"""All checks of records: what they are, and then each of their fields."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..cells.columns import WRITE_EXAMPLES, Columns, OnDemand, Rows, other_rows
from ..cells.decoded import Decoded
from ..cells.decoding import CheckPlan
from ..cells.faults import Fault, Features, listed, shown_bytes
from ..cells.in_numpy import ColumnSource, Notes
from ..kinds.box_sides import images_of
from ..kinds.images import Resized
from ..kinds.kind import Kind
from ..shared.tfrecord import MOST_RECORD_BYTES, RECORD_LIMIT
from .groups import group_faults, groups_of, has_length
from .relations import FieldFault

if TYPE_CHECKING:
    from ..cells.selection import Choose
    from .codec import RecordCodec

_NO_EXAMPLE = "not a tf.train.Example"
_AN_EXAMPLE = "the bytes of a tf.train.Example or SequenceExample"


class RecordCheck:
    """Compares records with what a schema declares.

    Args:
        record: the codecs of the schema; None to see only whether records are Examples.
        fields: the names of the fields to decode, with the images that their boxes are
            scaled with; None for all, and also to compare them in ways that readers do
            not.
        describe: says what a record is that has no key of an Example.

    Attributes:
        known: the keys of all fields.
        lists: those of feature lists.
        kept: those of images whose EXIF orientation is kept.
        plan: what is expected of records, with which they are read.
    """

    def __init__(
        self,
        record: RecordCodec | None,
        fields: Collection[str] | None = None,
        describe: Callable[[bytes], str] = shown_bytes,
    ) -> None:
        self._record = record
        self._describe = describe
        every = [] if record is None else list(record.fields.values())
        self._thorough = fields is None
        self._keys = [codec.key for codec in every]
        asked = [c for c in every if fields is None or c.name in fields]
        self._asked = {codec.name for codec in asked}
        read = self._asked | {image.name for image in images_of(asked)}
        self._codecs = [codec for codec in every if codec.name in read]
        parts = [part for codec in every for part in codec.parts]
        self.known = {part.key for part in parts}
        self.lists = {part.key for part in parts if part.in_list}
        self.kept = {
            part.key
            for codec in every
            if isinstance(codec, Resized)
            and codec.orientation == "keep"
            and codec.encoding in ("jpeg", "any")
            for part in codec.parts
            if part.is_media
        }
        expected = {codec.key: codec.expected for codec in self._codecs}
        self.plan = CheckPlan([each for each in expected.values() if each])
        # A record that has one of these is one of the schema.
        self._sure = {
            key for key, each in expected.items() if each and not each.optional
        }
        # What is filled up on disk has one length there.
        self._groups = groups_of(filter(has_length, self._codecs))
        self._relations = [
            each
            for each in (() if record is None else record.relations)
            if fields is None
            or (
                each.when_reading and {codec.name for codec in each.fields} <= {*fields}
            )
        ]

    def faults(
        self, columns: Columns
    ) -> Generator[FieldFault, None, dict[str, Decoded]]:
        """Yield what is wrong with some records; return the values of their fields."""
        live = np.ones(len(columns.records), np.bool_)
        usual = self._are_usual(columns)
        if not usual:
            for fault in self._of_records(columns, live):
                if len(fault.rows):
                    yield FieldFault("", fault)
        decoded: dict[str, Decoded] = {}
        if self._record is None:
            return decoded
        by_key = columns.by_key
        if not live.all():
            by_key = OnDemand(
                by_key,
                lambda _, some: tuple(
                    column.only(live[column.rows]) for column in some
                ),
            )
        features = Features(live, by_key, columns.steps, self.known)
        optional = replace(features, optional=True)
        for codec in self._codecs:
            trusted = usual and codec.key in columns.expected
            choose = self._choose(codec, columns)
            notes = Notes(codec.label, trusted, choose=choose, thorough=self._thorough)
            own = optional if codec.optional else features
            found, values = codec.read(ColumnSource(own, notes))
            if codec.name in self._asked:
                decoded[codec.name] = Decoded(found.column.rows, values)
            yield from (FieldFault(codec.label, fault) for fault in notes.faults)
        for group, codecs in self._groups.items():
            if len(codecs) < 2:
                continue
            for fault in group_faults(group, codecs, features):
                if len(fault.rows):
                    yield FieldFault("", fault)
        for relation in self._relations:
            yield from relation.faults(features)
        return decoded

    def _choose(self, codec: Kind, columns: Columns) -> Choose | None:
        """Return what chooses the items that are read of a field; None for all."""
        selection = self._record and self._record.select.get(codec.name)
        if not selection:
            return None
        from ..cells.selection import SelectionError

        records = columns.records

        def choose(rows: Rows, lengths: Rows) -> tuple[Rows, Rows]:
            try:
                if records.random is None:
                    return selection.of(lengths)
                random, numbers = records.random(), records.numbers[rows]
                return selection.of(lengths, lambda at: random(int(numbers[at])))
            except SelectionError as error:
                row = int(rows[error.row])
                raise SelectionError(row, str(error)) from error.__cause__

        return choose

    def _are_usual(self, columns: Columns) -> bool:
        """Return whether nothing is wrong with any record as a whole."""
        sizes = columns.records.stops - columns.records.starts
        return (
            not columns.malformed
            and not columns.unusual
            and not columns.sequences.any()
            and not self._sure.isdisjoint(columns.expected)
            and int(sizes.max(initial=0)) <= MOST_RECORD_BYTES
        )

    def _of_records(self, columns: Columns, live: NDArray[np.bool_]) -> Iterator[Fault]:
        """Yield what is wrong with whole records, and clear these in `live`."""
        live[[each.row for each in columns.malformed]] = False
        yield self._malformed(columns)
        sizes = columns.records.stops - columns.records.starts
        long = np.flatnonzero(live & (sizes > MOST_RECORD_BYTES))
        yield _too_long(long, sizes)
        live[long] = False
        if self._record is None:
            rows = other_rows(columns)
            yield self._foreign(columns, rows[live[rows]])
            return
        yield from self._unusual(columns)
        is_sequence = self._record.message == "SequenceExample"
        other = np.flatnonzero(live & (columns.sequences != is_sequence))
        yield _other_message(other, is_sequence)
        live[other] = False
        foreign = np.flatnonzero(live & ~self._own(columns))
        yield self._foreign(columns, foreign)
        live[foreign] = False

    def _unusual(self, columns: Columns) -> Iterator[Fault]:
        """Yield what parsers read differently, but for features that no field has."""
        for key, rows in columns.unusual.items():
            if not key or key in self.known:
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
        for key in self.known - self.lists:
            for column in columns.by_key.get(key, ()):
                if column.kind:
                    found[column.rows] = True
                if found.all():
                    return found
        for key in self.lists & columns.steps.keys():
            found[columns.steps[key].rows] = True
        return found

    def _malformed(self, columns: Columns) -> Fault:
        some = sorted(columns.malformed, key=lambda each: each.row)

        def found(at: int) -> str:
            return f"{some[at].reason}, {some[at].at} bytes into the record"

        def cause(at: int) -> str:
            return f"the record is {self._describe(columns.records[some[at].row])}"

        return Fault(
            "SG521",
            _NO_EXAMPLE,
            _AN_EXAMPLE,
            np.array([each.row for each in some], np.int64),
            found,
            cause,
        )

    def _foreign(self, columns: Columns, rows: NDArray[np.int64]) -> Fault:
        """Return the fault of records that have no key of the schema, or none at all."""
        features = Features(np.ones(len(columns.records), np.bool_), columns.by_key)
        others = set(other_rows(columns).tolist())

        def found(at: int) -> str:
            row = int(rows[at])
            if row in others:
                return self._describe(columns.records[row])
            return f"the keys {listed(features.keys_of(row))}"

        def cause(at: int) -> str:
            if int(rows[at]) in others:
                return WRITE_EXAMPLES
            return "records of another schema, or an empty message"

        return Fault(
            "SG521",
            "record has no field of this schema"
            if self._record
            else "record has no key",
            f"the keys {listed(self._keys)}"
            if self._record
            else "the features of a tf.train.Example",
            rows,
            found,
            cause,
        )


def _too_long(rows: NDArray[np.int64], sizes: NDArray[np.int64]) -> Fault:
    return Fault(
        "SG512",
        "record is over the limit",
        RECORD_LIMIT,
        rows,
        lambda at: f"a record of {sizes[rows[at]]} bytes",
        lambda at: "TensorFlow cannot read it: write its values into several records",
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
