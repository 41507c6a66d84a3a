"""Which records have a key of an Example, and what the others are."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from ..runtime.reading.columns import Columns, keyed_rows, other_rows
from ..runtime.reading.fields import MalformedError, tagged
from .formats import describe_start

NO_KEY = "no record has a key of a tf.train.Example"
"""What is wrong with a file whose records are something else."""

EXPECTED = "tf.train.Examples or SequenceExamples with at least one feature"

WITHOUT_FEATURE = "an Example without a feature"

# How much of a record is looked at: a hostile one has millions of fields.
_START_BYTES, _MOST_FIELDS, _SHOWN_FIELDS = 512, 1000, 8

_WIRE_NAMES = {0: "varint", 1: "64 bits", 2: "bytes", 5: "32 bits"}


def describe_record(data: bytes) -> str:
    """Return what a record is that has no key of an Example."""
    fields: dict[str, None] = {}
    try:
        for number, wire, _, _ in islice(tagged(data, 0, len(data)), _MOST_FIELDS):
            fields[f"{number} ({_WIRE_NAMES[wire]})"] = None
    except MalformedError:
        return describe_start(data[:_START_BYTES])
    shown = ", ".join(list(fields)[:_SHOWN_FIELDS])
    more = ", ..." if len(fields) > _SHOWN_FIELDS else ""
    noun = "field" if len(fields) == 1 else "fields"
    return f"another protobuf message, with {noun} {shown}{more}"


@dataclass(frozen=True)
class Keyed:
    """How many of some records have a key.

    Attributes:
        records: how many have one.
        other: the contents of the first record without one; empty if every record
            has one, or if those without one are Examples without a feature.
    """

    records: int = 0
    other: str = ""

    def merged(self, following: Keyed) -> Keyed:
        """Return what is true of these records and of those behind them."""
        return Keyed(self.records + following.records, self.other or following.other)


def keyed_of(columns: Columns) -> Keyed:
    """Return how many records have a key, and what the first one without is."""
    keyed = keyed_rows(columns)
    if keyed.all():
        return Keyed(len(keyed))
    malformed = [each.row for each in columns.malformed]
    rows = sorted({*other_rows(columns).tolist(), *malformed})
    other = describe_record(columns.records[rows[0]]) if rows else ""
    return Keyed(int(keyed.sum()), other)
