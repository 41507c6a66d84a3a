"""Columns say of each record what protobuf says of it, however it was written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st
from schemagen.data.columns import Column, Columns
from schemagen.data.decoding import decode
from schemagen.data.message import MalformedError, parse_message
from schemagen.data.records import records_of
from schemagen.runtime.shared.wire import sized, varint
from tiers import examples

Value = tuple[str, list[Any]]

INT64S = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 300)
FEATURES = st.one_of(
    st.tuples(st.just("int64"), st.lists(INT64S, max_size=40)),
    st.tuples(st.just("float"), st.lists(st.floats(width=32, allow_nan=False))),
    st.tuples(st.just("bytes"), st.lists(st.binary(max_size=200), max_size=30)),
    st.just(("", [])),
)
KEYS = st.sampled_from(["a", "b", "image/encoded", "image/encoder", "é", "", "x" * 70])
EXAMPLES = st.dictionaries(KEYS, FEATURES, max_size=6)


def feature(value: Value) -> tf.train.Feature:
    kind, values = value
    lists = {
        "int64": tf.train.Int64List,
        "float": tf.train.FloatList,
        "bytes": tf.train.BytesList,
    }
    if not kind:
        return tf.train.Feature()
    return tf.train.Feature(**{f"{kind}_list": lists[kind](value=values)})


def features(held: dict[str, Value]) -> tf.train.Features:
    return tf.train.Features(feature={key: feature(v) for key, v in held.items()})


def example(held: dict[str, Value]) -> bytes:
    return tf.train.Example(features=features(held)).SerializeToString()


def of_feature(found: Any) -> Value:
    kind = found.WhichOneof("kind")
    return (kind[:-5], list(getattr(found, kind).value)) if kind else ("", [])


def protobufs_word(message: bytes) -> dict[str, Value]:
    found = tf.train.Example.FromString(message).features.feature
    return {key: of_feature(value) for key, value in found.items()}


def rows_of(column: Column) -> Iterator[tuple[int, Value]]:
    for index, row in enumerate(column.rows.tolist()):
        values = column.row_values(index)
        found = values if isinstance(values, list) else values.tolist()
        yield row, (column.kind, found)


def by_row(columns: Columns) -> list[dict[str, Value]]:
    """Return columns as rows; a key is in one column of a row only."""
    found: list[dict[str, Value]] = [{} for _ in range(len(columns.records))]
    for key, some in columns.by_key.items():
        for column in some:
            assert (np.diff(column.rows) > 0).all()
            for row, value in rows_of(column):
                assert key not in found[row]
                found[row][key] = value
    return found


@examples(200)
@given(st.lists(EXAMPLES, max_size=40))
def test_examples(rows: list[dict[str, Value]]) -> None:
    """What protobuf's own writer writes, keys in any order."""
    messages = [example(row) for row in rows]
    columns = decode(records_of(messages))
    assert by_row(columns) == [protobufs_word(message) for message in messages]
    assert not columns.malformed
    assert not columns.sequences.any()


@pytest.mark.slow
@examples(100)
@given(
    st.lists(
        st.tuples(
            EXAMPLES, st.dictionaries(KEYS, st.lists(FEATURES, max_size=25), max_size=4)
        ),
        max_size=25,
    )
)
def test_sequence_examples(
    rows: list[tuple[dict[str, Value], dict[str, list[Value]]]],
) -> None:
    """Contexts are columns, and feature lists columns of steps."""
    messages = [
        tf.train.SequenceExample(
            context=features(context),
            feature_lists=tf.train.FeatureLists(
                feature_list={
                    key: tf.train.FeatureList(feature=map(feature, steps))
                    for key, steps in lists.items()
                }
            ),
        ).SerializeToString()
        for context, lists in rows
    ]
    columns = decode(records_of(messages))
    assert by_row(columns) == [context for context, _ in rows]
    assert columns.sequences.all()
    found: list[dict[str, list[Value]]] = [{} for _ in rows]
    for key, held in columns.steps.items():
        steps: dict[int, Value] = {}
        for column in held.columns:
            steps.update(rows_of(column))
        values = iter([steps[number] for number in range(int(held.steps.sum()))])
        for row, count in zip(held.rows.tolist(), held.steps.tolist(), strict=True):
            found[row][key] = [next(values) for _ in range(count)]
    assert found == [lists for _, lists in rows]


def entry(key: bytes, value: bytes) -> bytes:
    return sized(sized(key) + b"\x12" + varint(len(value)) + value)


def record(*entries: bytes) -> bytes:
    return sized(b"".join(entries))


def int64s(contents: bytes) -> bytes:
    return b"\x1a" + varint(len(contents)) + contents


def floats(contents: bytes) -> bytes:
    return b"\x12" + varint(len(contents)) + contents


USUAL = example({"a": ("int64", [1, 2]), "b": ("bytes", [b"x", b"y"])})
ONE = np.array(1.0, "<f4").tobytes()
UNUSUAL = {
    "numbers that are not packed": record(entry(b"a", int64s(b"\x08\x05\x08\x06"))),
    "floats that are not packed": record(entry(b"a", floats(b"\x0d" + ONE))),
    "a list in two pieces": record(
        entry(b"a", int64s(sized(b"\x05") + sized(b"\x06")))
    ),
    "two lists of one feature": record(
        entry(b"a", int64s(sized(b"\x05")) + int64s(sized(b"\x06")))
    ),
    "a list of another kind behind": record(
        entry(b"a", int64s(sized(b"\x05")) + floats(sized(ONE)))
    ),
    "a key twice": record(
        entry(b"a", int64s(sized(b"\x05"))), entry(b"a", int64s(sized(b"\x06")))
    ),
    "the value before the key": record(sized(b"\x12\x00" + sized(b"a"))),
    "an entry without a key": record(sized(b"\x12\x05" + int64s(sized(b"\x05")))),
    "an entry without a value": record(sized(sized(b"a"))),
    "an unknown field": record(entry(b"a", int64s(sized(b"\x05")))) + b"\x7a\x01x",
    "an unknown field of a feature": record(entry(b"a", b"\x7a\x01x")),
    "features in two pieces": record(entry(b"a", int64s(sized(b"\x05"))))
    + record(entry(b"b", int64s(sized(b"\x06")))),
    "sizes longer than they need": b"\x0a\x85\x00" + b"\x0a\x82\x00\x12\x00",
    "ten bytes of varint": record(entry(b"a", int64s(sized(b"\xff" * 9 + b"\x01")))),
    "nothing at all": b"",
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_what_is_unusual(name: str) -> None:
    """It is read as protobuf reads it, among records that are as usual."""
    messages = [USUAL, UNUSUAL[name], USUAL]
    columns = decode(records_of(messages))
    assert by_row(columns) == [protobufs_word(message) for message in messages]


def test_what_is_unusual_is_told() -> None:
    """Unknown fields and repeated keys are named, with the rows that have them."""
    columns = decode(records_of([UNUSUAL["a key twice"], UNUSUAL["an unknown field"]]))
    assert columns.repeated == {"a": (0,)}
    assert columns.unknown == {"field 15 of the record": (1,)}


MALFORMED = {
    "text": b"name,age\n",
    "a size behind the end": b"\x0a\x7f\x0a",
    "a torn varint": record(entry(b"a", int64s(sized(b"\xff")))),
    "eleven bytes of varint": record(
        entry(b"a", int64s(sized(b"\xff" * 10 + b"\x01")))
    ),
    "three bytes of float": record(entry(b"a", floats(sized(b"abc")))),
    "a key that is not UTF-8": record(entry(b"\xff", int64s(sized(b"\x05")))),
    "a group": b"\x0b",
    "field 0": b"\x02\x00",
    "a size of 2 to the 60": b"\x0a" + varint(1 << 60),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_no_example(name: str) -> None:
    """Protobuf refuses it, and so do columns, silently on other records."""
    with pytest.raises(DecodeError):
        tf.train.Example.FromString(MALFORMED[name])
    columns = decode(records_of([USUAL, MALFORMED[name], USUAL]))
    assert [each.row for each in columns.malformed] == [1]
    assert columns.by_key["a"][0].rows.tolist() == [0, 2]


@examples(300)
@given(st.data())
def test_any_bytes(data: st.DataObject) -> None:
    """Changed records are read as protobuf reads them, or refused; nothing breaks."""
    messages = []
    for _ in range(data.draw(st.integers(1, 6))):
        message = bytearray(example(data.draw(EXAMPLES)))
        for _ in range(data.draw(st.integers(0, 3)) if message else 0):
            at = data.draw(st.integers(0, len(message) - 1))
            message[at] = data.draw(st.integers(0, 255))
        messages.append(bytes(message))
    columns = decode(records_of(messages))
    refused = {each.row for each in columns.malformed}
    for row, found in enumerate(by_row(columns)):
        if row in refused:
            assert not found
            continue
        message = parse_message(messages[row])
        if message.unknown or message.is_sequence:
            continue  # protobuf's parsers do not agree on an entry's unknown fields
        expected = protobufs_word(messages[row])
        assert {key: repr(value) for key, value in found.items()} == {
            key: repr(value) for key, value in expected.items()
        }


def test_many_defects_of_many_kinds() -> None:
    """Where each record has a defect of its own, all are read one by one."""
    messages = [USUAL[:cut] for cut in range(len(USUAL))] * 3
    columns = decode(records_of(messages))
    found = {each.row for each in columns.malformed}
    for row, message in enumerate(messages):
        try:
            parse_message(message)
        except MalformedError:
            assert row in found
        else:
            assert row not in found
