"""Records that this schema did not write are refused when read, never misread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from .fields import RecordCase
from .generated_records import Generated, importable, project_record, write_project
from .test_wrong_rows import JPEG, PNG, encoded

SOURCE = '''\
from typing import Annotated

import numpy as np

from schemagen import Image, Label, Record, Scalar, Text, VarLen, Vector


class Required(Record):
    """A record with a field of every way of storing it, all of them required."""

    pixels: Annotated[np.ndarray, Image(shape=(2, 3, 1), key="image/raw")]
    photo: Annotated[bytes, Image(shape=(4, 5, 3), encoding="jpeg")]
    resized: Annotated[
        bytes, Image(shape=(None, 5, 3), encoding="jpeg", resize=(2, 2))
    ]
    drawing: Annotated[bytes, Image(shape=(4, 5, 3), encoding="png")]
    breed: Annotated[int, Label(num_classes=3)]
    ids: Annotated[list[int], VarLen("int64", max_length=3)]
    few: Annotated[list[int], VarLen("uint8", key="few/{{ key }}")]
    flags: Annotated[list[bool], VarLen("bool", ragged=True)]
    pairs: Annotated[np.ndarray, VarLen("float32", item_shape=(2,))]
    doubles: Annotated[list[float], VarLen("float64")]
    words: Annotated[list[str], VarLen("string", max_length=2)]
    sizes: Annotated[np.ndarray, Vector(shape=(2, 2))]
    codes: Annotated[np.ndarray, Vector(shape=(2,), dtype="uint16")]
    wide: Annotated[np.ndarray, Vector(shape=(2,), dtype="float64")]
    count: Annotated[int, Scalar("int64")]
    small: Annotated[int, Scalar("int8")]
    large: Annotated[int, Scalar("uint32")]
    huge: Annotated[int, Scalar("uint64")]
    ratio: float
    is_good: bool
    text: str
    raw: bytes


class Loose(Record):
    """A record of which no field has to be there."""

    count: int | None = None
    words: list[str] | None = None
    text: str = "none"
'''

ROW: dict[str, Any] = {
    "pixels": np.zeros((2, 3, 1), np.uint8),
    "photo": JPEG,
    "resized": JPEG,
    "drawing": PNG,
    "breed": 2,
    "ids": [1, 2],
    "few": [1],
    "flags": [True],
    "pairs": [[1.0, 2.0]],
    "doubles": [0.5],
    "words": ["a"],
    "sizes": [[1.0, 2.0], [3.0, 4.0]],
    "codes": [1, 2],
    "wide": [1.0, 2.0],
    "count": 3,
    "small": 4,
    "large": 5,
    "huge": 6,
    "ratio": 0.5,
    "is_good": True,
    "text": "text",
    "raw": b"raw",
}
KEYS = {name: name for name in ROW} | {"pixels": "image/raw", "few": "few/{{ key }}"}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Generated]]:
    """The record of which all fields are required, and that of which none is."""
    root = tmp_path_factory.mktemp("reading") / "project"
    write_project(root, SOURCE, "contract_reading")
    with importable(root):
        yield {
            name: project_record(root, "contract_reading", RecordCase(name, ()))
            for name in ("Required", "Loose")
        }


@pytest.fixture
def required(package: dict[str, Generated]) -> Generated:
    """The record of which all fields are required."""
    return package["Required"]


@pytest.fixture
def loose(package: dict[str, Generated]) -> Generated:
    """The record of which no field is required."""
    return package["Loose"]


def changed(good: bytes, change: Callable[[Any], object]) -> bytes:
    """Return a record whose map of features was changed."""
    example = tf.train.Example.FromString(good)
    change(example.features.feature)
    data: bytes = example.SerializeToString()
    return data


def refusal(generated: Generated, wrong: bytes, good: bytes | None = None) -> str:
    """Return the error of a batch with a wrong record in it, and of that record alone."""
    with pytest.raises(tf.errors.InvalidArgumentError) as alone:
        generated.parse_example(tf.constant(wrong))
    serialized = [wrong] if good is None else [good, wrong, good]
    with pytest.raises(tf.errors.InvalidArgumentError) as batch:
        generated.parse_batch(tf.constant(serialized))
    with pytest.raises(tf.errors.InvalidArgumentError):
        generated.parser.parse_batch(tf.constant(serialized))
    assert alone.value.message
    return str(batch.value.message).replace("\\'", "'")  # tensorflow escapes quotes


def test_the_good_record_is_good(required: Generated) -> None:
    """What the tests below change is all that is wrong with their records."""
    good = required.serializer.serialize(**ROW)
    required.parse_batch(tf.constant([good, good]))
    required.parse_example(tf.constant(good))


@pytest.mark.parametrize("name", ROW)
def test_a_missing_feature_is_an_error_that_names_its_key(
    required: Generated, name: str
) -> None:
    """A required feature that is not there never reads as an empty value."""
    good = required.serializer.serialize(**ROW)
    wrong = changed(good, lambda features: features.pop(KEYS[name]))
    assert KEYS[name] in refusal(required, wrong, good)


@pytest.mark.parametrize("name", ROW)
def test_a_feature_without_a_list_is_missing_too(
    required: Generated, name: str
) -> None:
    """A feature that is there but holds no list of any type is not an empty list."""
    good = required.serializer.serialize(**ROW)
    wrong = changed(good, lambda features: features[KEYS[name]].Clear())
    assert KEYS[name] in refusal(required, wrong, good)


@pytest.mark.parametrize("name", ROW)
def test_a_list_of_another_type_is_an_error_that_names_its_key(
    required: Generated, name: str
) -> None:
    """Bytes are not read as numbers, nor integers as floats."""
    good = required.serializer.serialize(**ROW)

    def other_list(features: Any) -> None:
        feature = features[KEYS[name]]
        if feature.WhichOneof("kind") == "float_list":
            feature.int64_list.value[:] = list(map(int, feature.float_list.value))
        else:
            feature.float_list.value[:] = [1.0]

    assert KEYS[name] in refusal(required, changed(good, other_list), good)


SINGLE = [name for name in ROW if name not in ("ids", "few", "flags", "pairs", "words")]


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.parametrize("items", [0, 2])
def test_another_number_of_values_is_an_error_that_names_the_key(
    required: Generated, name: str, items: int
) -> None:
    """A field of fixed shape holds as many values as its shape says."""
    good = required.serializer.serialize(**ROW)

    def resize(features: Any) -> None:
        feature = features[KEYS[name]]
        stored = getattr(feature, feature.WhichOneof("kind")).value
        stored[:] = list(stored) * items

    assert KEYS[name] in refusal(required, changed(good, resize), good)


def empty_sequences(required: Generated) -> bytes:
    """Return a record whose sequences are there and hold nothing."""
    names = ("ids", "few", "flags", "pairs", "doubles", "words")
    none: dict[str, Any] = {name: [] for name in names}
    data: bytes = required.serializer.serialize(**{**ROW, **none})
    return data


def test_empty_is_a_value_of_its_own(required: Generated) -> None:
    """Sequences that are there and empty read as empty, next to ones that are not."""
    good, empty = required.serializer.serialize(**ROW), empty_sequences(required)
    batch = required.parse_batch(tf.constant([empty, good]))
    assert batch["ids"].numpy().tolist() == [[0, 0], [1, 2]]
    assert batch["flags"].to_list() == [[], [True]]
    alone = required.parse_batch(tf.constant([empty]))
    assert alone["pairs"].shape == (1, 0, 2)
    assert alone["words"].shape == (1, 0)
    wrong = changed(empty, lambda features: features.pop("ids"))
    assert "'ids'" in refusal(required, wrong, empty)


def ints(*values: int) -> Callable[[Any], None]:
    """Store these integers."""

    def change(feature: Any) -> None:
        feature.int64_list.value[:] = values

    return change


def floats(*values: float) -> Callable[[Any], None]:
    """Store these floats."""

    def change(feature: Any) -> None:
        feature.float_list.value[:] = values

    return change


def blobs(*values: bytes) -> Callable[[Any], None]:
    """Store these bytes."""

    def change(feature: Any) -> None:
        feature.bytes_list.value[:] = values

    return change


# field, what is stored, what the message says after the field's name
WRONG: tuple[tuple[str, Callable[[Any], None], str], ...] = (
    ("pixels", blobs(b"12345"), "expected 6 bytes (uint8 [2, 3, 1]), found sizes"),
    ("pixels", blobs(b"1234567"), "expected 6 bytes"),
    ("pixels", blobs(b""), "expected 6 bytes"),
    ("wide", blobs(b"\x00" * 15), "expected 16 bytes (float64 [2]), found sizes"),
    ("wide", blobs(b"\x00" * 24), "expected 16 bytes"),
    ("huge", blobs(b"\x00" * 4), "expected 8 bytes (uint64 []), found sizes"),
    ("doubles", blobs(b"\x00" * 9), "expected whole float64 numbers of 8 bytes"),
    ("breed", ints(3), "expected class ids from 0 to 2, found"),
    ("breed", ints(-1), "expected class ids from 0 to 2, found"),
    ("ids", ints(1, 2, 3, 4), "expected at most 3 items, found lengths"),
    ("words", blobs(b"", b"", b""), "expected at most 2 items, found lengths"),
    ("few", ints(0, 256), "expected uint8, 0 to 255, found"),
    ("few", ints(-1), "expected uint8, 0 to 255, found"),
    ("codes", ints(1, 65536), "expected uint16, 0 to 65535, found"),
    ("small", ints(128), "expected int8, -128 to 127, found"),
    ("small", ints(-(2**63)), "expected int8, -128 to 127, found"),
    ("large", ints(2**32), "expected uint32, 0 to 4294967295, found"),
    ("is_good", ints(2), "expected 0 or 1 for a bool, found"),
    ("is_good", ints(-1), "expected 0 or 1 for a bool, found"),
    ("flags", ints(1, 0, 2), "expected 0 or 1 for a bool, found"),
    ("pairs", floats(1, 2, 3), "expected items of 2 numbers (shape [2]), found len"),
    ("photo", blobs(PNG), "expected a jpeg, found data that begins with the bytes"),
    ("photo", blobs(b""), "expected a jpeg, found data that begins with the bytes"),
    ("photo", blobs(encoded("JPEG", (6, 4))), "expected an image of 4 x 5, found"),
    ("resized", blobs(encoded("JPEG", (6, 4))), "expected an image of None x 5, found"),
    (
        "resized",
        blobs(b"GIF89a"),
        "expected a jpeg, found data that begins with the bytes",
    ),
    ("drawing", blobs(JPEG), "expected a png, found data that begins with the bytes"),
    ("drawing", blobs(encoded("PNG", (4, 5))), "expected an image of 4 x 5, found"),
)


@pytest.mark.parametrize(
    ("name", "store", "message"),
    WRONG,
    ids=[f"{number}-{row[0]}" for number, row in enumerate(WRONG)],
)
def test_a_wrong_value_is_an_error_that_names_its_field(
    required: Generated, name: str, store: Callable[[Any], None], message: str
) -> None:
    """What the schema does not allow is refused with the field's name."""
    good = required.serializer.serialize(**ROW)
    wrong = changed(good, lambda features: store(features[KEYS[name]]))
    assert f"field '{name}': {message}" in refusal(required, wrong, good)


@pytest.mark.parametrize(
    "data", [JPEG[: len(JPEG) // 2], JPEG[:20], b"\xff\xd8\xff" + b"x" * 50]
)
def test_an_image_that_cannot_be_decoded_is_an_error(
    required: Generated, data: bytes
) -> None:
    """A damaged image never reads as a grey one."""
    good = required.serializer.serialize(**ROW)
    wrong = changed(good, lambda features: blobs(data)(features["photo"]))
    assert refusal(required, wrong, good)


@pytest.mark.parametrize("data", [PNG[: len(PNG) // 2], PNG[:20], PNG[:8]])
def test_a_png_that_cannot_be_decoded_is_an_error(
    required: Generated, data: bytes
) -> None:
    """A damaged PNG is not decoded as far as it goes."""
    good = required.serializer.serialize(**ROW)
    wrong = changed(good, lambda features: blobs(data)(features["drawing"]))
    assert refusal(required, wrong, good)


@pytest.mark.parametrize("data", [b"not an example", b"\x0a\xff", b"\xff"])
def test_bytes_that_are_no_message_are_refused(
    required: Generated, data: bytes
) -> None:
    """What is not a protobuf at all does not parse."""
    # tensorflow shows such bytes in its message, as text if they can be that.
    with pytest.raises((tf.errors.InvalidArgumentError, UnicodeDecodeError)):
        required.parse_batch(tf.constant([data]))


def foreign_messages() -> dict[str, bytes]:
    """Return bytes of other protobuf messages, all of them well-formed."""
    other = tf.train.Example()
    other.features.feature["other"].int64_list.value.append(1)
    sequence = tf.train.SequenceExample()
    sequence.feature_lists.feature_list["count"].feature.add().int64_list.value.append(
        1
    )
    unset = tf.train.Example()
    unset.features.feature["count"].SetInParent()
    case_twin = tf.train.Example()
    case_twin.features.feature["Count"].int64_list.value.append(1)
    return {
        "nothing": b"",
        "an example without features": tf.train.Example().SerializeToString(),
        "other features": other.SerializeToString(),
        "a sequence example": sequence.SerializeToString(),
        "unknown fields": b"\x1a\x03abc",
        "a number": b"\x08\x01",
        "a feature without a list": unset.SerializeToString(),
        "a key in capitals": case_twin.SerializeToString(),
    }


@pytest.mark.parametrize("name", foreign_messages())
def test_a_foreign_message_is_no_record_of_missing_fields(
    loose: Generated, name: str
) -> None:
    """A record of which nothing is required still has to have something of its own."""
    good = loose.serializer.serialize(count=1)
    message = refusal(loose, foreign_messages()[name], good)
    steps = "found a tf.train.SequenceExample: declare the record as a SequenceRecord"
    expected = {"a sequence example": steps}
    assert expected.get(name, "no field of this record is there") in message


def test_each_field_alone_makes_a_record(loose: Generated) -> None:
    """One field of its own is enough, be it empty; the others are missing."""
    rows: list[dict[str, Any]] = [{"count": 0}, {"words": []}, {"text": ""}]
    serialized = [loose.serializer.serialize(**row) for row in rows]
    batch = loose.parse_batch(tf.constant(serialized))
    assert batch["count_present"].numpy().tolist() == [True, False, False]
    assert batch["words_present"].numpy().tolist() == [False, True, False]
    assert batch["text"].numpy().tolist() == [b"none", b"none", b""]
    with pytest.raises(ValueError, match="found no field at all, expected at least"):
        loose.serializer.serialize()
    with pytest.raises(ValueError, match="row 1: found no field at all"):
        loose.serializer.serialize_batch(count=[1, None])


def test_images_of_any_size_do_not_make_a_batch_of_two(
    records: dict[str, Generated],
) -> None:
    """Images that cannot be stacked are refused with what to do about it."""
    case = next(r for r in records.values() if r.case.one_image_batches)
    name = next(f.name for f in case.case.fields if f.one_image_batches)
    key = next(f.wire_key for f in case.case.fields if f.one_image_batches)
    example = tf.train.Example()
    example.features.feature[key].bytes_list.value.append(JPEG)
    data = tf.constant([example.SerializeToString()] * 2)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="cannot be batched"
    ) as two:
        case.parser.parse_batch(data, [name])
    assert f"field '{name}'" in two.value.message
    assert case.parser.parse_batch(data[:1], [name])[name].shape[0] == 1
