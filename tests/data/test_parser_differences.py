"""Where `verify`, protobuf and tensorflow's parser read a record differently.

Each cause that mutated records have shown, as bytes.
"""

from __future__ import annotations

import pytest
import tensorflow as tf
from schemagen import VarLen
from schemagen.data.decoding import decode
from schemagen.data.records import records_of
from schemagen.data.verify.record import RecordCheck
from schemagen.data.verify.tally import Tally
from schemagen.kinds.field import FieldSpec

from .messages import common, record_of

CHECK = RecordCheck(record_of(FieldSpec.of(VarLen, **common("x"), dtype="int64")))
NO_EXAMPLE = "not a tf.train.Example"
UNUSUAL = (NO_EXAMPLE, "unknown fields, or a list in pieces")

# The values that tensorflow reads, or None if it refuses; what verify says of it.
CASES: dict[str, tuple[bytes, list[int] | None, tuple[str, str] | None]] = {
    "as writers write it": (
        b"\n\x0d\n\x0b\n\x01x\x12\x06\x1a\x04\n\x02\x01\x02",
        [1, 2],
        None,
    ),
    "not packed": (
        b"\n\x0d\n\x0b\n\x01x\x12\x06\x1a\x04\x08\x01\x08\x02",
        [1, 2],
        None,
    ),
    "two chunks": (
        b"\n\x10\n\x0e\n\x01x\x12\t\x1a\x07\n\x02\x01\x02\n\x01\x03",
        [1, 2],
        UNUSUAL,
    ),
    "a chunk, then one not packed": (
        b"\n\x0e\n\x0c\n\x01x\x12\x07\x1a\x05\n\x01\x01\x08\x02",
        [1],
        UNUSUAL,
    ),
    "one not packed, then a chunk": (
        b"\n\x0e\n\x0c\n\x01x\x12\x07\x1a\x05\x08\x02\n\x01\x01",
        None,
        UNUSUAL,
    ),
    "unknown in front of a chunk": (
        b"\n\x0e\n\x0c\n\x01x\x12\x07\x1a\x05\x48\x05\n\x01\x01",
        None,
        UNUSUAL,
    ),
    "unknown behind one not packed": (
        b"\n\x0d\n\x0b\n\x01x\x12\x06\x1a\x04\x08\x01\x48\x05",
        None,
        UNUSUAL,
    ),
    "unknown behind a chunk": (
        b"\n\x0e\n\x0c\n\x01x\x12\x07\x1a\x05\n\x01\x01\x48\x05",
        [1],
        UNUSUAL,
    ),
    "two lists": (
        b"\n\x12\n\x10\n\x01x\x12\x0b\x1a\x04\n\x02\x01\x02\x1a\x03\n\x01\x03",
        [1, 2],
        UNUSUAL,
    ),
    "two lists of two types": (
        b"\n\x11\n\x0f\n\x01x\x12\x0a\x0a\x03\n\x01a\x1a\x03\n\x01\x03",
        None,
        UNUSUAL,
    ),
    "unknown in front of the list": (
        b"\n\x0e\n\x0c\n\x01x\x12\x07\x48\x05\x1a\x03\n\x01\x01",
        None,
        UNUSUAL,
    ),
    "unknown in the map": (
        b"\n\x0e\n\n\n\x01x\x12\x05\x1a\x03\n\x01\x01\x48\x05",
        None,
        UNUSUAL,
    ),
    "unknown in an entry": (
        b"\n\x0e\n\x0c\n\x01x\x12\x05\x1a\x03\n\x01\x01\x48\x05",
        None,
        UNUSUAL,
    ),
    "an entry without a key": (
        b"\n\x15\n\n\n\x01x\x12\x05\x1a\x03\n\x01\x01\n\x07\x12\x05\x1a\x03\n\x01\x01",
        None,
        UNUSUAL,
    ),
    "an entry without a value": (
        b"\n\x11\n\n\n\x01x\x12\x05\x1a\x03\n\x01\x01\n\x03\n\x01y",
        None,
        UNUSUAL,
    ),
    "unknown in a feature that no field has": (
        b"\n\x15\n\n\n\x01x\x12\x05\x1a\x03\n\x01\x01\n\x07\n\x01y\x12\x02\x48\x05",
        [1],
        None,
    ),
    "damage in a feature that no field has": (
        b"\n\x15\n\n\n\x01x\x12\x05\x1a\x03\n\x01\x01\n\x07\n\x01y\x12\x02\x1a\x09",
        [1],
        (NO_EXAMPLE, "a field that ends 9 bytes behind what holds it"),
    ),
    "a key that is not UTF-8": (
        b"\n\x13\n\n\n\x01x\x12\x05\x1a\x03\n\x01\x01\n\x05\n\x01\xff\x12\x00",
        [1],
        (NO_EXAMPLE, "a key that is not UTF-8"),
    ),
    "damage behind the list": (
        b"\n\x0d\n\x0b\n\x01x\x12\x06\x1a\x03\n\x01\x01\xff",
        [1],
        (NO_EXAMPLE, "a number that has no end"),
    ),
    "a number as field 1 of the record": (
        b"\n\x0c\n\n\n\x01x\x12\x05\x1a\x03\n\x01\x01\x08\x05",
        [1],
        (NO_EXAMPLE, "a number as field 1 of the record"),
    ),
    "a key that stands twice, the last time empty": (
        b"\n\x13\n\n\n\x01x\x12\x05\x1a\x03\n\x01\x01\n\x05\n\x01x\x12\x00",
        [],
        ("record has no field of this schema", "the keys 'x'"),
    ),
}


def tensorflow_values(record: bytes) -> list[int] | None:
    """Return what tensorflow's parser reads, or None if it refuses the record."""
    description = {"x": tf.io.RaggedFeature(tf.int64)}
    try:
        (values,) = tf.io.parse_example([record], description)["x"].to_list()
    except tf.errors.InvalidArgumentError:
        return None
    return list(values)


def test_a_fixed_list_that_stands_twice_is_read_where_it_is_not_empty() -> None:
    """Tensorflow takes the one before; `verify` the last one, as protobuf does."""
    record = CASES["a key that stands twice, the last time empty"][0]
    found = tf.io.parse_single_example(
        record, {"x": tf.io.FixedLenFeature((), "int64")}
    )
    assert int(found["x"]) == 1
    assert (
        tf.train.Example.FromString(record).features.feature["x"].WhichOneof("kind")
        is None
    )


@pytest.mark.parametrize("case", CASES)
def test_each_difference_is_as_documented(case: str) -> None:
    """What tensorflow reads of a record, and what `verify` says of it."""
    record, values, said = CASES[case]
    assert tensorflow_values(record) == values
    tally = Tally(1)
    tally.add_records(CHECK, decode(records_of([record])))
    found = [(each.what, each.examples[0].found) for each in tally.findings(None, [])]
    if said is None:
        assert found == []
        return
    (what, text), *more = found
    assert not more
    assert what == said[0]
    assert text.startswith(said[1])
