"""Records that this schema did not write are refused when read, never misread."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from stored_features import blobs, changed, floats, ints

from .generated_records import Generated
from .strict import DEEP_PNG, FRAME, GOOD, GOOD_CLIP, JPEG, PNG, encoded

Records = dict[str, Generated]
Features = Mapping[str, tf.train.Feature | None]

REFUSED = (tf.errors.InvalidArgumentError, tf.errors.DataLossError)
KEYS = {name: name for name in GOOD} | {
    "pixels": "image/raw",
    "few": "few/{{ key }}",
    "place": "place/x",
}
# Fields whose own key holds a list of any length.
LISTS = (
    *("tags", "terms", "note", "head", "few", "pairs", "words", "blobs", "flags"),
    *("low", "high", "sentences", "lists", "edges", "points", "frames"),
    *("bag", "grid", "cells"),
)
SINGLE = [name for name in GOOD if name not in LISTS]


@pytest.fixture(scope="module")
def required(strict: Records) -> Generated:
    """The record of which all fields are required."""
    return strict["Strict"]


@pytest.fixture(scope="module")
def good(required: Generated) -> bytes:
    """Its good record."""
    data: bytes = required.serializer.serialize(**GOOD)
    return data


def refusal(
    generated: Generated,
    wrong: bytes,
    good: bytes | None = None,
    *,
    eager: bool = False,
) -> str:
    """Return the error of a batch with a wrong record in it, and of that record alone.

    Args:
        generated: the code of the record.
        wrong: the wrong record.
        good: is before and behind it in the batch.
        eager: parse it without a graph, too, which takes long.
    """
    with pytest.raises(REFUSED) as alone:
        generated.parse_example(tf.constant(wrong))
    serialized = tf.constant([wrong] if good is None else [good, wrong, good])
    with pytest.raises(REFUSED) as batch:
        generated.parse_batch(serialized)
    if eager:
        with pytest.raises(REFUSED):
            generated.parser.parse_batch(serialized)
    assert alone.value.message
    return str(batch.value.message).replace("\\'", "'")  # tensorflow escapes quotes


def test_the_good_records_are_good(strict: Records, good: bytes) -> None:
    """What the tests below change is all that is wrong with their records."""
    clip = strict["Clip"].serializer.serialize(**GOOD_CLIP)
    for name, data in (("Strict", good), ("Clip", clip)):
        strict[name].parse_batch(tf.constant([data, data]))
        strict[name].parse_example(tf.constant(data))


def another_type(feature: tf.train.Feature) -> tf.train.Feature:
    """Return a list of another type: bytes are no numbers, nor integers floats."""
    if feature.WhichOneof("kind") == "float_list":
        return ints(*map(int, feature.float_list.value))
    return floats(1.0)


def times(feature: tf.train.Feature, number: int) -> tf.train.Feature:
    """Return a feature with its values so many times."""
    found = tf.train.Feature.FromString(feature.SerializeToString())
    stored = getattr(found, found.WhichOneof("kind")).value
    stored[:] = list(stored) * number
    return found


CHANGES = {
    "missing": lambda _: None,
    "without a list": lambda _: tf.train.Feature(),
    "of another type": another_type,
    "empty": lambda feature: times(feature, 0),
    "twice": lambda feature: times(feature, 2),
}


@pytest.mark.parametrize(
    ("name", "change"),
    [
        (name, change)
        for change in CHANGES
        for name in (SINGLE if change in ("empty", "twice") else GOOD)
    ],
)
def test_a_wrong_feature_is_an_error_that_names_its_key(
    required: Generated, good: bytes, name: str, change: str
) -> None:
    """A required feature never reads as an empty value, nor bytes as numbers."""
    key = KEYS[name]
    feature = tf.train.Example.FromString(good).features.feature[key]
    wrong = changed(good, **{key: CHANGES[change](feature)})
    assert key in refusal(required, wrong, good)


def test_empty_is_a_value_of_its_own(required: Generated, good: bytes) -> None:
    """Sequences that are there and empty read as empty, next to ones that are not."""
    names = ("note", "head", "few", "flags", "pairs", "doubles", "words")
    none: dict[str, Any] = {name: [] for name in names}
    empty = required.serializer.serialize(**{**GOOD, **none})
    batch = required.parse_batch(tf.constant([empty, good]))
    assert batch["note"].numpy().tolist() == [[0, 0, 0], [1, 2, 3]]
    assert batch["flags"].to_list() == [[], [True]]
    alone = required.parse_batch(tf.constant([empty]))
    assert alone["pairs"].shape == (1, 0, 2)
    assert alone["words"].shape == (1, 0)


def proto(*shape: int, dtype: str = "float32") -> tf.train.Feature:
    """Return a serialized tensor of zeros."""
    return blobs(tf.io.serialize_tensor(np.zeros(shape, dtype)).numpy())


_TEXT = base64.b64encode(bytes(range(250, 256)))
_PALETTE = encoded("PNG", mode="P")

# field, what is stored, what of that the message shows
WRONG: tuple[tuple[str, Features, str], ...] = (
    ("pixels", {"image/raw": blobs(b"12345")}, "5"),
    ("pixels", {"image/raw": blobs(b"1234567")}, "7"),
    ("pixels", {"image/raw": blobs(b"")}, "0"),
    ("wide", {"wide": blobs(b"\x00" * 15)}, "15"),
    ("wide", {"wide": blobs(b"\x00" * 24)}, "24"),
    ("huge", {"huge": blobs(b"\x00" * 4)}, "4"),
    ("doubles", {"doubles": blobs(b"\x00" * 9)}, "9"),
    ("rgb", {"rgb": blobs(bytes(4))}, "4"),
    ("breed", {"breed": ints(3)}, "3"),
    ("breed", {"breed": ints(-1)}, "-1"),
    ("counted", {"counted": ints(0)}, "0"),
    ("counted", {"counted": ints(1001)}, "1001"),
    ("counted", {"counted": ints(2**62)}, f"{2**62}"),
    ("named", {"named": blobs(b"g")}, "g"),
    ("named", {"named": blobs(b"")}, ""),
    ("named", {"named": blobs(b"A")}, "A"),
    ("tags", {"tags": ints(1, 5)}, "5"),
    ("tags", {"tags": ints(0)}, "0"),
    ("terms", {"terms": blobs(b"a", b"x")}, "x"),
    ("note", {"note": ints(1, 2, 3, 4)}, "4"),
    ("words", {"words": blobs(b"", b"", b"")}, "3"),
    ("few", {"few/{{ key }}": ints(0, 256)}, "256"),
    ("few", {"few/{{ key }}": ints(-1)}, "-1"),
    ("codes", {"codes": ints(1, 256)}, "256"),
    ("small", {"small": ints(128)}, "128"),
    ("small", {"small": ints(-(2**63))}, f"{-(2**63)}"),
    ("large", {"large": ints(2**32)}, f"{2**32}"),
    ("is_good", {"is_good": ints(2)}, "2"),
    ("is_good", {"is_good": ints(-1)}, "-1"),
    ("flags", {"flags": ints(1, 0, 2)}, "2"),
    ("pairs", {"pairs": floats(1, 2, 3)}, "3"),
    # lists of lists, and groups
    ("sentences", {"sentences/row_lengths": ints(2, 0)}, "2 3"),
    ("sentences", {"sentences/row_lengths": ints(4, -1)}, "-1"),
    ("lists", {"lists/row_lengths": ints(1, 1, 1)}, "3"),
    ("high", {"high": ints(1, 2)}, "2"),
    ("low", {"low": ints()}, "0"),
    # sparse tensors
    ("bag", {"bag": floats(1, 2), "bag/index": ints(1)}, "2"),
    ("bag", {"bag": floats(), "bag/index": ints(3)}, "1"),
    ("bag", {"bag": floats(1), "bag/index": ints(9)}, "9"),
    ("bag", {"bag": floats(1), "bag/index": ints(-1)}, "-1"),
    ("bag", {"bag": floats(1, 2), "bag/index": ints(4, 4)}, "4"),
    ("grid", {"column": ints(3, 4)}, "4"),
    ("grid", {"row": ints(3, 0)}, "3"),
    ("cells", {"cells": ints(200, 1)}, "200"),
    # tensors
    ("depth", {"h": ints(-2)}, "-2"),
    ("depth", {"w": ints(2**62)}, f"{2**62}"),
    ("depth", {"h": ints(2**31 - 1), "w": ints(2**31 - 1)}, f"{2**31 - 1}"),
    ("depth", {"h": ints(1)}, "12"),
    ("depth", {"depth": blobs(bytes(11))}, "11"),
    ("points", {"points/shape": ints(5, 3)}, "5"),
    ("points", {"points/shape": ints(3, 4)}, "4"),
    ("embedding", {"embedding": proto(4)}, "1"),
    ("matrix", {"matrix": proto(6)}, "1"),
    ("matrix", {"matrix": proto(3, 2)}, "3"),
    ("matrix", {"matrix": blobs(b"")}, ""),
    # images
    ("photo", {"photo": blobs(PNG)}, ""),
    ("photo", {"photo": blobs(b"")}, ""),
    ("photo", {"photo": blobs(encoded("JPEG", (6, 4)))}, "6"),
    ("resized", {"resized": blobs(encoded("JPEG", (6, 4)))}, "6"),
    ("resized", {"resized": blobs(b"GIF89a")}, ""),
    ("drawing", {"drawing": blobs(JPEG)}, ""),
    ("drawing", {"drawing": blobs(encoded("PNG", (4, 5)))}, "5 4"),
    ("drawing", {"drawing": blobs(DEEP_PNG)}, "16"),
    ("deep", {"deep": blobs(PNG)}, "8"),
    ("any_photo", {"any_photo": blobs(b"II*\0")}, ""),
    ("scan", {"scan/height": ints(5)}, "5 3 1 24"),
    ("scan", {"scan/height": ints(-4)}, "-4 3 1 24"),
    ("scan", {"scan/height": ints(2**63 - 2**61 + 4)}, f"{2**63 - 2**61 + 4}"),
    ("frames", {"frames": blobs(FRAME, b"GIF89a")}, ""),
    ("frames", {"frames": blobs(FRAME, FRAME, FRAME)}, "3"),
    ("frames", {"frames": blobs(encoded("PNG", (3, 3)))}, "3 3"),
    # masks
    ("mask", {"mask": blobs(encoded("PNG"))}, "8 2"),
    ("mask", {"mask": blobs(encoded("PNG", mode="1"))}, "1 0"),
    ("mask", {"mask": blobs(encoded("PNG", mode="I;16"))}, "16 0"),
    ("mask", {"mask": blobs(b"GIF89a")}, ""),
    ("mask", {"mask": blobs(_PALETTE[:30])}, ""),
    ("mask", {"mask": blobs(_PALETTE[:50])}, ""),
    ("mask", {"mask": blobs(tf.io.encode_png(np.full((4, 5, 1), 21, np.uint8)).numpy())}, "21"),
    ("deep_mask", {"deep_mask": blobs(encoded("PNG", mode="L"))}, "8 0"),
    ("deep_mask", {"deep_mask": blobs(_PALETTE)}, ""),
    ("raw_mask", {"raw_mask": blobs(bytes(10))}, "10"),
    ("raw_mask", {"raw_mask": blobs(bytes([2, 0, 0, 0]) * 20)}, "2"),
    ("free_mask", {"free_mask": blobs(encoded("PNG", (4, 5), "P"))}, "5 4"),
    # base64
    ("shot", {"shot": blobs(_TEXT[:-3])}, ""),
    ("shot", {"shot": blobs(_TEXT + b"A")}, ""),
    ("shot", {"shot": blobs(b"!" + _TEXT[1:])}, ""),
    ("shot", {"shot": blobs(_TEXT + b"=")}, ""),
    ("shot", {"shot": blobs(b" \n")}, ""),
    ("shot", {"shot": blobs(b"====")}, ""),
    ("shot", {"shot": blobs(_TEXT[:4] + b"=" + _TEXT[5:])}, ""),
    ("shot", {"shot": blobs(b"\xff\xfe" + _TEXT[2:])}, ""),
    ("shot", {"shot": blobs(_TEXT[:4] + b"\0" + _TEXT[5:])}, ""),
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "features", "shown"),
    WRONG,
    ids=[f"{number}-{row[0]}" for number, row in enumerate(WRONG)],
)
def test_a_wrong_value_is_an_error_that_names_its_field(
    required: Generated, good: bytes, name: str, features: Features, shown: str
) -> None:
    """What the schema does not allow is refused with the field's name, and shown."""
    message = refusal(required, changed(good, **features), good)
    assert f"'{name}'" in message
    numbers = re.sub(r"[^-A-Za-z0-9]+", " ", message)
    assert f" {shown} " in f"{numbers} " if shown else True


@pytest.mark.parametrize(
    ("key", "features"),
    [
        ("bag/index", {"bag/index": None}),
        ("edges/n", {"edges/n": None}),
        ("h", {"h": None}),
        ("points/shape", {"points/shape": None}),
        ("points/shape", {"points/shape": ints(12)}),
        ("scan/height", {"scan/height": None}),
        ("views", {"views": blobs(JPEG)}),
        ("full", {"full": ints(1, 2, 3)}),
        ("full", {"full": ints(1, 2, 3, 4, 5)}),
    ],
)
def test_a_further_key_is_required_like_the_field(
    required: Generated, good: bytes, key: str, features: Features
) -> None:
    """Sizes, indices and row lengths are named by their keys, as are fixed numbers."""
    message = refusal(required, changed(good, **features), good, eager=True)
    named = re.search(rf"(?<![\w/]){key}(?![\w/])", message)
    assert named or f"'{key.split('/')[0]}'" in message


_CUT = [JPEG[: len(JPEG) // 2], JPEG[:20], b"\xff\xd8\xff" + b"x" * 50]
_CUT += [PNG[: len(PNG) // 2], PNG[:20], PNG[:8], proto(4).bytes_list.value[0][:-8]]


@pytest.mark.parametrize("data", _CUT)
def test_what_cannot_be_decoded_is_an_error(
    required: Generated, good: bytes, data: bytes
) -> None:
    """A damaged image never reads as a grey one, nor anything as far as it goes."""
    for name in ("photo", "drawing", "any_photo", "embedding", "matrix"):
        assert refusal(required, changed(good, **{name: blobs(data)}), good)


@pytest.mark.parametrize("data", [b"not an example", b"\x0a\xff", b"\xff"])
def test_bytes_that_are_no_message_are_refused(
    required: Generated, data: bytes
) -> None:
    """What is not a protobuf at all does not parse."""
    # tensorflow shows such bytes in its message, as text if they can be that.
    with pytest.raises((tf.errors.InvalidArgumentError, UnicodeDecodeError)):
        required.parse_batch(tf.constant([data]))


ONE, TWO, NOTHING = ints(5), ints(5, 6), tf.train.Feature()

# field, its steps, what of them the message shows
WRONG_STEPS = [
    ("times", None, ""),
    ("times", [ONE, floats(5)], "Index: 1"),
    ("times", [ONE, TWO], "Index: 1"),
    ("times", [TWO, NOTHING], "Index: 0"),
    ("times", [NOTHING], "Index: 0"),
    ("times", [ONE] * 4, "4"),
    ("rgb", [blobs(b"123")] * 2, "3"),
    ("frames", [blobs(b"123")] * 2, ""),
    ("frames", [blobs(PNG)], "1"),
    ("spans", None, ""),
    ("spans", [ONE, floats(5)], "Index: 1"),
    ("spans", [TWO, ints(1, 2, 3)], "3"),
]


@pytest.mark.parametrize(("name", "steps", "shown"), WRONG_STEPS)
def test_wrong_steps_are_an_error_that_names_their_field(
    strict: Records, name: str, steps: Any, shown: str
) -> None:
    """A list that is missing, or has a step of another type, count or size."""
    clip = strict["Clip"]
    good = clip.serializer.serialize(**GOOD_CLIP)
    message = tf.train.SequenceExample.FromString(good)
    lists = message.feature_lists.feature_list
    del lists[name]
    if steps is not None:
        lists[name].CopyFrom(tf.train.FeatureList(feature=steps))
    found = refusal(clip, message.SerializeToString(), good, eager=True)
    assert name in found
    assert shown in found
    others = [other for other in clip.parser.KEYS if other != name]
    batch = tf.constant([good, message.SerializeToString()])
    if name != "frames" or len(steps) != 1:  # the steps of its group are counted then
        assert set(others) <= set(clip.parser.parse_batch(batch, others))


def foreign_messages() -> dict[str, bytes]:
    """Return bytes of other protobuf messages, all of them well-formed."""
    other, unset, case_twin = (tf.train.Example() for _ in range(3))
    other.features.feature["other"].int64_list.value.append(1)
    unset.features.feature["count"].SetInParent()
    case_twin.features.feature["Count"].int64_list.value.append(1)
    sequence, no_steps = tf.train.SequenceExample(), tf.train.SequenceExample()
    sequence.feature_lists.feature_list["count"].feature.add().CopyFrom(ONE)
    no_steps.feature_lists.feature_list["others"].SetInParent()
    return {
        "nothing": b"",
        "an example without features": tf.train.Example().SerializeToString(),
        "other features": other.SerializeToString(),
        "a sequence example": sequence.SerializeToString(),
        "a sequence example without steps": no_steps.SerializeToString(),
        "unknown fields": b"\x1a\x03abc",
        "a number": b"\x08\x01",
        "an unset feature": unset.SerializeToString(),
        "a key in capitals": case_twin.SerializeToString(),
    }


@pytest.mark.parametrize("name", foreign_messages())
@pytest.mark.parametrize(
    ("record", "row"), [("Loose", {"count": 1}), ("LooseClip", {"speeds": [0.5]})]
)
def test_a_foreign_message_is_no_record_of_missing_fields(
    strict: Records, record: str, row: dict[str, Any], name: str
) -> None:
    """A record of which nothing is required still has to have something of its own."""
    good = strict[record].serializer.serialize(**row)
    message = refusal(strict[record], foreign_messages()[name], good, eager=True)
    if record == "Loose":
        assert ("SequenceExample" in message) == ("sequence" in name)


@pytest.mark.parametrize("length", [1, 100, 127, 128, 20_000, 3_000_000])
def test_examples_and_sequence_examples_are_told_apart(
    strict: Records, length: int
) -> None:
    """Also long messages, whose sizes take several bytes."""
    loose, clip = strict["Loose"], strict["LooseClip"]
    text = "x" * length
    example = loose.serializer.serialize(text=text)
    context = clip.serializer.serialize(note=text, speeds=[0.5])
    assert loose.parse_example(tf.constant(example))["text"] == text
    assert clip.parse_example(tf.constant(context))["note"] == text
    assert "SequenceExample" in refusal(loose, context, example)
    assert "SequenceExample" in refusal(clip, example, context)


def test_each_field_alone_makes_a_record(strict: Records) -> None:
    """One field of its own is enough, be it empty; the others are missing."""
    loose, clip = strict["Loose"], strict["LooseClip"]
    rows: list[dict[str, Any]] = [{"count": 0}, {"words": []}, {"text": ""}]
    written = [loose.serializer.serialize(**row) for row in rows]
    batch = loose.parse_batch(tf.constant(written))
    assert batch["count_present"].numpy().tolist() == [True, False, False]
    assert batch["words_present"].numpy().tolist() == [False, True, False]
    assert batch["text"].numpy().tolist() == [b"none", b"none", b""]
    rows = [{"speeds": [0.5]}, {"speeds": [], "marks": [3]}, {"note": "n", "marks": []}]
    written = [clip.serializer.serialize(**row) for row in rows]
    batch = clip.parse_batch(tf.constant(written))
    assert batch["speeds_present"].numpy().tolist() == [True, True, False]
    assert batch["marks_present"].numpy().tolist() == [False, True, True]
    assert batch["note_present"].numpy().tolist() == [False, False, True]
    assert batch["speeds"].numpy().tolist() == [[0.5], [0], [0]]
    assert batch["marks"].numpy().tolist() == [[0], [3], [0]]
    for serializer, columns in (
        (loose.serializer, {"count": [1, None]}),
        (clip.serializer, {"note": ["a", None]}),
    ):
        with pytest.raises(ValueError, match=r"."):
            serializer.serialize()
        with pytest.raises(ValueError, match="row 1"):
            serializer.serialize_batch(**columns)


def test_a_context_without_values_reads_as_missing(strict: Records) -> None:
    """As in an Example, a feature with no list in it stands for its default."""
    message = tf.train.SequenceExample()
    message.context.feature["note"].SetInParent()
    message.feature_lists.feature_list["speeds"].SetInParent()
    found = strict["LooseClip"].parse_example(tf.constant(message.SerializeToString()))
    assert found["note"] == ""
    assert not found["note_present"]
    assert found["speeds_present"]
