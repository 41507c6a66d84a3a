"""What is shown of records is what protobuf says of them, however they were written."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from .documents import document, splits_of
from .messages import (
    NO_BYTES,
    NO_FLOATS,
    Values,
    example,
    feature,
    sequence_example,
    sized,
    varint,
    write_file,
)

INT64S = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 300)
FLOATS = st.floats(width=32).map(np.float32)
FEATURES: st.SearchStrategy[Values] = st.one_of(
    st.lists(INT64S, max_size=40),
    st.lists(FLOATS, max_size=40).map(lambda values: values or NO_FLOATS),
    st.lists(st.binary(max_size=200), max_size=30).map(lambda some: some or NO_BYTES),
    st.none(),
)
KEYS = st.sampled_from(["a", "b", "image/encoded", "image/encoder", "é", "", "x" * 70])
ROWS = st.dictionaries(KEYS, FEATURES, max_size=6)
SEQUENCES = st.tuples(
    ROWS, st.dictionaries(KEYS, st.lists(FEATURES, max_size=25), max_size=4)
)
MESSAGES = ROWS.map(example) | SEQUENCES.map(lambda row: sequence_example(*row))


def inspected(path: Path, messages: Sequence[bytes]) -> dict[str, Any]:
    """Return what `inspect` says of the only split, with up to 16 records in order."""
    write_file(path, messages)
    printed = document(path, "--records", "16")
    [split] = splits_of(printed)
    samples = sorted(printed["samples"], key=lambda each: each["record"])
    return {**split, "samples": samples}


def held(found: Any) -> tuple[str, list[Any]]:
    """Return the kind of a protobuf feature and its values, as JSON has them."""
    kind = found.WhichOneof("kind")
    if not kind:
        return "", []
    values = list(getattr(found, kind).value)
    if kind == "float_list":
        names = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
        values = [names.get(str(value), value) for value in values]
    if kind == "bytes_list":
        values = [len(value) for value in values]
    return kind[:-5], values


def shown(feature: dict[str, Any]) -> tuple[str, list[Any]]:
    """Return the same of a feature that `inspect` shows."""
    values = [v["bytes"] if isinstance(v, dict) else v for v in feature["values"]]
    assert feature["length"] == len(values)
    return feature["kind"], values


def check(message: bytes, sample: dict[str, Any]) -> None:
    """Compare a record that is shown with what protobuf reads."""
    steps = {each["value"]: each["count"] for each in sample["steps"]}
    features = [each for each in sample["features"] if each["step"] is None]
    found = {each["key"]: shown(each) for each in features}
    assert len(found) == len(features)
    if not steps:
        read = tf.train.Example.FromString(message).features.feature
        assert found == {key: held(value) for key, value in read.items()}
        return
    both = tf.train.SequenceExample.FromString(message)
    context = both.context.feature
    assert found == {key: held(value) for key, value in context.items()}
    assert {
        key: [
            shown(step)
            for step in sorted(sample["features"], key=lambda each: each["step"] or 0)
            if step["key"] == key and step["step"] is not None
        ]
        for key in steps
    } == {
        key: [held(step) for step in value.feature]
        for key, value in both.feature_lists.feature_list.items()
    }


@examples(200)
@given(st.lists(MESSAGES, min_size=1, max_size=16))
def test_any_records_are_shown_as_protobuf_reads_them(
    tmp_path_factory: pytest.TempPathFactory, messages: list[bytes]
) -> None:
    """Examples and SequenceExamples in one file."""
    found = inspected(tmp_path_factory.mktemp("any") / "data", messages)
    for message, sample in zip(messages, found["samples"], strict=True):
        check(message, sample)


def entry(key: bytes, value: bytes) -> bytes:
    return sized(1, sized(1, key) + sized(2, value))


def of(*entries: bytes) -> bytes:
    return sized(1, b"".join(entries))


def int64s(*chunks: bytes) -> bytes:
    return sized(3, b"".join(chunks))


def packed(numbers: bytes) -> bytes:
    return sized(1, numbers)


USUAL = example({"a": [1, 2], "b": [b"x", b"y"]})
ONE = struct.pack("<f", 1.0)
FIVE = int64s(packed(b"\x05"))
SIX = int64s(packed(b"\x06"))
UNUSUAL = {
    "numbers that are not packed": of(entry(b"a", int64s(b"\x08\x05\x08\x06"))),
    "floats that are not packed": of(entry(b"a", sized(2, b"\x0d" + ONE))),
    "a list in two pieces": of(entry(b"a", int64s(packed(b"\x05"), packed(b"\x06")))),
    "two lists of one feature": of(entry(b"a", FIVE + SIX)),
    "a list of another kind behind": of(entry(b"a", FIVE + sized(2, packed(ONE)))),
    "a key twice": of(entry(b"a", FIVE), entry(b"a", SIX)),
    "the value before the key": of(sized(1, b"\x12\x00" + sized(1, b"a"))),
    "an entry without a key": of(sized(1, sized(2, FIVE))),
    "an entry without a value": of(sized(1, sized(1, b"a"))),
    "an unknown field": of(entry(b"a", FIVE)) + b"\x7a\x01x",
    "an unknown field of a feature": of(entry(b"a", b"\x7a\x01x")),
    "features in two pieces": of(entry(b"a", FIVE)) + of(entry(b"b", SIX)),
    "sizes longer than they need": b"\x0a\x85\x00" + b"\x0a\x82\x00\x12\x00",
    "ten bytes of varint": of(entry(b"a", int64s(packed(b"\xff" * 9 + b"\x01")))),
    "nothing at all": b"",
}
MALFORMED = {
    "text": b"name,age\n",
    "a size behind the end": b"\x0a\x7f\x0a",
    "a torn varint": of(entry(b"a", int64s(packed(b"\xff")))),
    "eleven bytes of varint": of(entry(b"a", int64s(packed(b"\xff" * 10 + b"\x01")))),
    "three bytes of float": of(entry(b"a", sized(2, packed(b"abc")))),
    "a key that is not UTF-8": of(entry(b"\xff", FIVE)),
    "a group": b"\x0b",
    "field 0": b"\x02\x00",
    "a size of 2 to the 60": b"\x0a" + varint(1 << 60),
}


@pytest.mark.parametrize("name", [*UNUSUAL, *MALFORMED])
def test_unusual_records_are_read_and_malformed_ones_are_counted(
    tmp_path: Path, name: str
) -> None:
    """As protobuf reads or refuses them, among records that are as usual."""
    message = {**UNUSUAL, **MALFORMED}[name]
    found = inspected(tmp_path / "data", [USUAL, message, USUAL])
    first, middle, last = found["samples"]
    assert found["malformed"] == (name in MALFORMED)
    for sample in (first, last):
        check(USUAL, sample)
    if name in MALFORMED:
        with pytest.raises(DecodeError):
            tf.train.Example.FromString(message)
        assert middle["features"] == []
    else:
        check(message, middle)
    assert found["repeated"] == [{"value": "a", "count": 1}] * (name == "a key twice")
    assert len(found["unknown"]) == name.startswith("an unknown field")


@examples(200)
@given(MESSAGES.filter(bool), st.data())
def test_changed_records_are_refused_or_read_as_protobuf_reads_them(
    tmp_path_factory: pytest.TempPathFactory, message: bytes, data: st.DataObject
) -> None:
    """Up to three bytes of them, and cut records."""
    changed = bytearray(message[: data.draw(st.integers(1, len(message)))])
    for _ in range(data.draw(st.integers(0, 3))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(
            st.integers(0, 255)
        )
    found = inspected(tmp_path_factory.mktemp("any") / "data", [bytes(changed)])
    [sample] = found["samples"]
    if found["malformed"]:
        assert sample["features"] == sample["steps"] == []
    elif not found["unknown"]:  # on which protobuf's own parsers do not agree
        check(bytes(changed), sample)


def test_thousands_of_keys_and_values_are_counted_whole(tmp_path: Path) -> None:
    """A key may have thousands of characters, and a list many values."""
    row: dict[str, Values] = {f"key {n}": n for n in range(1000)}
    row |= {"k" * 5000: 0.5, "é" * 5000: "x"}
    longer = {**row, "key 0": range(100_000)}
    found = inspected(tmp_path / "data", [example(row), example(longer)])
    assert {key["key"]: key["present"] for key in found["keys"]} == dict.fromkeys(
        row, 2
    )
    [kind] = next(key["by_kind"] for key in found["keys"] if key["key"] == "key 0")
    assert [each["value"] for each in kind["lengths"]["distinct"]] == [1, 100_000]
    assert kind["numbers"]["maximum"] == 99_999
    assert feature(0) == feature([0])
