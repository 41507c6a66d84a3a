"""Where `verify`, protobuf and tensorflow's parser read a record differently.

Each cause that mutated records have shown, as bytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pytest
import schemagen
import tensorflow as tf
from schemagen import VarLen

from .messages import record, sized, write_file

Numbers = record("Numbers", {"x": Annotated[list[int], VarLen("int64")]})

ONE = b"\x1a\x03\n\x01\x01"
TWO = b"\x1a\x04\n\x02\x01\x02"
UNKNOWN = b"\x48\x05"
X = b"\n\x01x"
Y = b"\n\x01y"


def entries(*each: bytes, behind: bytes = b"", after: bytes = b"") -> bytes:
    """Return a record of entries: what is in the map behind them, and after the map."""
    return sized(1, b"".join(sized(1, one) for one in each) + behind) + after


def x(*feature: bytes) -> bytes:
    """Return an entry of the key x."""
    return X + sized(2, b"".join(feature))


# The values that tensorflow reads, or None if it refuses; the rule of verify.
CASES: dict[str, tuple[bytes, list[int] | None, str | None]] = {
    "as writers write it": (entries(x(TWO)), [1, 2], None),
    "not packed": (entries(x(b"\x1a\x04\x08\x01\x08\x02")), [1, 2], None),
    "two chunks": (
        entries(x(b"\x1a\x07\n\x02\x01\x02\n\x01\x03")),
        [1, 2],
        "SG521",
    ),
    "a chunk, then one not packed": (
        entries(x(b"\x1a\x05\n\x01\x01\x08\x02")),
        [1],
        "SG521",
    ),
    "one not packed, then a chunk": (
        entries(x(b"\x1a\x05\x08\x02\n\x01\x01")),
        None,
        "SG521",
    ),
    "unknown in front of a chunk": (
        entries(x(b"\x1a\x05\x48\x05\n\x01\x01")),
        None,
        "SG521",
    ),
    "unknown behind one not packed": (
        entries(x(b"\x1a\x04\x08\x01\x48\x05")),
        None,
        "SG521",
    ),
    "unknown behind a chunk": (
        entries(x(b"\x1a\x05\n\x01\x01\x48\x05")),
        [1],
        "SG521",
    ),
    "two lists": (entries(x(TWO, b"\x1a\x03\n\x01\x03")), [1, 2], "SG521"),
    "two lists of two types": (entries(x(b"\x0a\x03\n\x01a", ONE)), None, "SG521"),
    "unknown in front of the list": (entries(x(UNKNOWN, ONE)), None, "SG521"),
    "unknown in the map": (entries(x(ONE), behind=UNKNOWN), None, "SG521"),
    "unknown in an entry": (entries(x(ONE) + UNKNOWN), None, "SG521"),
    "an entry without a key": (entries(x(ONE), sized(2, ONE)), None, "SG521"),
    "an entry without a value": (entries(x(ONE), Y), None, "SG521"),
    "unknown in a feature that no field has": (
        entries(x(ONE), Y + sized(2, UNKNOWN)),
        [1],
        None,
    ),
    "damage in a feature that no field has": (
        entries(x(ONE), Y + sized(2, b"\x1a\x09")),
        [1],
        "SG521",
    ),
    "a key that is not UTF-8": (
        entries(x(ONE), b"\n\x01\xff" + sized(2, b"")),
        [1],
        "SG521",
    ),
    "damage behind the list": (entries(x(ONE, b"\xff")), [1], "SG521"),
    "a number as field 1 of the record": (
        entries(x(ONE), after=b"\x08\x05"),
        [1],
        "SG521",
    ),
    "a key twice, the last time empty": (entries(x(ONE), x()), [], "SG521"),
}


def tensorflow_values(data: bytes) -> list[int] | None:
    """Return what tensorflow's parser reads, or None if it refuses the record."""
    description = {"x": tf.io.RaggedFeature(tf.int64)}
    try:
        (values,) = tf.io.parse_example([data], description)["x"].to_list()
    except tf.errors.InvalidArgumentError:
        return None
    return list(values)


@pytest.mark.parametrize("case", CASES)
def test_each_difference_is_as_documented(tmp_path: Path, case: str) -> None:
    """What tensorflow reads of a record, and what `verify` says of it."""
    data, values, rule = CASES[case]
    assert tensorflow_values(data) == values
    usual, *_ = CASES["as writers write it"]
    path = write_file(tmp_path / "train.tfrecord", [usual, data])
    found = schemagen.verify(path, record=Numbers).findings
    places = [(each.rule, [e.record for e in each.examples]) for each in found]
    assert places == ([(rule, [1])] if rule else [])


def test_a_fixed_list_that_stands_twice_is_read_where_it_is_not_empty() -> None:
    """Tensorflow takes the one before; `verify` the last one, as protobuf does."""
    data, *_ = CASES["a key twice, the last time empty"]
    found = tf.io.parse_single_example(data, {"x": tf.io.FixedLenFeature((), "int64")})
    assert int(found["x"]) == 1
    read = tf.train.Example.FromString(data).features.feature["x"]
    assert read.WhichOneof("kind") is None
