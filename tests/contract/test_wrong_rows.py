"""Every wrong row is refused, in words that name the field, what was found and expected."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from pydantic import ValidationError

from .fields import RecordCase
from .generated_records import Generated, importable, project_record, write_project

SOURCE = '''\
from typing import Annotated, Literal

import numpy as np

from schemagen import Image, Label, Record, Scalar, Text, VarLen, Vector


class Strict(Record):
    """A record with a field of every kind, all of them required."""

    pixels: Annotated[np.ndarray, Image(shape=(2, 3, 1))]
    photo: Annotated[np.ndarray | bytes, Image(shape=(4, 5, 3), encoding="jpeg")]
    drawing: Annotated[np.ndarray | bytes, Image(shape=(4, 5, 3), encoding="png")]
    breed: Annotated[int | str, Label(classes=("beagle", "pug", "tabby"))]
    number: Annotated[int, Label(num_classes=3)]
    mood: Literal["calm", "wild"]
    note: Annotated[list[int], VarLen("int64", max_length=3)]
    pairs: Annotated[np.ndarray, VarLen("float32", item_shape=(2,))]
    words: Annotated[list[str], VarLen("string", max_length=2)]
    blobs: Annotated[list[bytes], VarLen("bytes")]
    flags: Annotated[list[bool], VarLen("bool")]
    sizes: Annotated[np.ndarray, Vector(shape=(2, 2))]
    codes: Annotated[np.ndarray, Vector(shape=(2,), dtype="uint8")]
    wide: Annotated[np.ndarray, Vector(shape=(2,), dtype="float64")]
    half: Annotated[np.ndarray, Vector(shape=(2,), dtype="bfloat16")]
    count: Annotated[int, Scalar("int64")]
    small: Annotated[int, Scalar("int8")]
    ratio: Annotated[float, Scalar("float32")]
    rough: float
    is_good: bool
    text: str
    raw: bytes
'''


def encoded(encoding: str, size: tuple[int, int] = (5, 4), mode: str = "RGB") -> bytes:
    """Return a picture of this width and height."""
    out = io.BytesIO()
    Image.new(mode, size).save(out, format=encoding)
    return out.getvalue()


JPEG, PNG = encoded("JPEG"), encoded("PNG")

GOOD: dict[str, Any] = {
    "pixels": np.zeros((2, 3, 1), np.uint8),
    "photo": JPEG,
    "drawing": PNG,
    "breed": "pug",
    "number": 2,
    "mood": "calm",
    "note": [1, 2, 3],
    "pairs": [[1.0, 2.0]],
    "words": ["a", ""],
    "blobs": [b"a"],
    "flags": [True],
    "sizes": [[1.0, 2.0], [3.0, 4.0]],
    "codes": [1, 2],
    "wide": [0.1, 0.2],
    "half": [1.0, 2.0],
    "count": 3,
    "small": 4,
    "ratio": 0.5,
    "rough": 0.1,
    "is_good": True,
    "text": "text",
    "raw": b"raw",
}

nan, inf = float("nan"), float("inf")
_CLASSES = "a class id from 0 to 2 or one of 'beagle', 'pug', 'tabby'"
_FLOAT32 = "a number that float32 holds exactly"

# field, value, found, expected
REFUSALS: tuple[tuple[str, Any, str, str], ...] = (
    # shape and rank
    ("pixels", np.zeros((3, 2, 1), np.uint8), "shape [3, 2, 1]", "shape [2, 3, 1]"),
    ("pixels", np.zeros((2, 3), np.uint8), "shape [2, 3]", "shape [2, 3, 1]"),
    ("photo", np.zeros((4, 5), np.uint8), "shape [4, 5]", "shape [4, 5, 3]"),
    ("drawing", np.zeros((4, 5, 4), np.uint8), "shape [4, 5, 4]", "shape [4, 5, 3]"),
    ("sizes", [1.0, 2.0], "shape [2]", "shape [2, 2]"),
    ("sizes", np.zeros((2, 2, 1)), "shape [2, 2, 1]", "shape [2, 2]"),
    ("sizes", [[1.0], [2.0]], "shape [2, 1]", "shape [2, 2]"),
    ("sizes", 1.0, "shape []", "shape [2, 2]"),
    ("pairs", [1.0, 2.0], "shape [2]", "shape [?, 2]"),
    ("pairs", [[1.0, 2.0, 3.0]], "shape [1, 3]", "shape [?, 2]"),
    ("note", [[1], [2]], "shape [2, 1]", "shape [?]"),
    ("note", 1, "shape []", "shape [?]"),
    ("count", [1], "shape [1]", "shape []"),
    ("ratio", np.zeros(2), "shape [2]", "shape []"),
    # ragged lists
    (
        "sizes",
        [[1.0, 2.0], [3.0]],
        "lists of different lengths (1 to 2)",
        "lists of equal length",
    ),
    ("sizes", [[1.0, 2.0], 3.0], "a list among numbers", "lists of equal depth"),
    ("sizes", [1.0, [2.0, 3.0]], "a list", "float32 numbers"),
    # dtype
    ("pixels", np.zeros((2, 3, 1)), "float64 values", "uint8 values"),
    ("pixels", np.zeros((2, 3, 1), bool), "bool values", "uint8 values"),
    ("pixels", b"123456", "bytes b'123456'", "uint8 numbers"),
    ("note", [1.0, 2.0], "float64 values", "int64 values"),
    ("note", np.array(["1"]), "values", "int64 values"),
    ("note", "123", "str '123'", "int64 numbers"),
    ("note", {1: 2}, "a dict", "int64 numbers"),
    ("note", ["1"], "str '1'", "int64 numbers"),
    ("count", 3.7, "3.7 (float64)", "int64 values"),
    ("count", 3.0, "3.0 (float64)", "int64 values"),
    ("count", "3", "str '3'", "an int64 number"),
    ("count", nan, "nan (float64)", "int64 values"),
    ("count", 1j, "complex", "int64"),
    ("wide", np.array([1, 2j]), "complex128 values", "float64 values"),
    ("wide", np.array(["2020", "2021"], "M8[Y]"), "datetime64[Y] values", "float64"),
    # bool and numbers
    ("count", True, "True (bool)", "int64 values"),
    ("ratio", True, "True (bool)", "float32 values"),
    ("note", [True, False], "bool values", "int64 values"),
    ("note", [True, 2], "a bool among numbers", "int64 numbers"),
    ("number", True, "bool True", "a class id from 0 to 2"),
    ("number", np.True_, "bool", "a class id from 0 to 2"),
    ("is_good", 1, "1 (int64)", "bool values"),
    ("is_good", 0.0, "0.0 (float64)", "bool values"),
    ("is_good", "true", "str 'true'", "a bool"),
    ("flags", [1, 0], "int64 values", "bool values"),
    # range
    ("codes", [1, 256], "the integer 256", "uint8, from 0 to 255"),
    ("codes", [-1, 1], "the integer -1", "uint8, from 0 to 255"),
    ("small", 128, "the integer 128", "int8, from -128 to 127"),
    ("count", 2**63, "the integer 9223372036854775808", "int64, from -92233720368547"),
    ("note", [2**64], "the integer 18446744073709551616", "int64"),
    (
        "note",
        np.array([2**64 - 1], np.uint64),
        "the integer 18446744073709551615",
        "int64, from -9223372036854775808 to 9223372036854775807",
    ),
    ("ratio", 1e40, "1e+40 (float64)", "a number in the range of float32"),
    ("rough", 1e40, "1e+40 (float64)", "a number in the range of float32"),
    ("half", [1.0, 3.4e38], "3.4e+38 at [1] (float64)", "bfloat16"),
    # exactness
    ("ratio", np.float64(0.1), "0.1 (float64)", _FLOAT32),
    ("ratio", np.array(0.1), "0.1 (float64)", _FLOAT32),
    ("ratio", 16777217, "16777217 (int64)", _FLOAT32),
    ("ratio", np.float64(16777217.0), "16777217.0 (float64)", _FLOAT32),
    ("ratio", np.float64(1e-50), "1e-50 (float64)", _FLOAT32),
    ("rough", 16777217, "16777217 (int64)", _FLOAT32),
    (
        "sizes",
        np.array([[1.0, 2.0], [3.0, 0.1]]),
        "0.1 at [1, 1] (float64)",
        _FLOAT32,
    ),
    ("sizes", [[1.0, 0.1], [3.0, np.float64(0.1)]], "the number 0.1", "exact float32"),
    ("sizes", [[1.0, 0.1], [3.0, 1e40]], "1e+40 at [1, 1] (float64)", "float32"),
    ("sizes", [[1.5, 2], [3, 2**24 + 1]], "the integer 16777217", "an exact float32"),
    ("wide", [0.5, 2**53 + 1], "the integer 9007199254740993", "an exact float64"),
    (
        "wide",
        [np.float64(0.5), np.int64(2**53 + 1)],
        "the integer 9007199254740993",
        "an exact float64",
    ),
    ("half", [1.0, 1.001], "1.001 at [1] (float64)", "bfloat16 holds exactly"),
    # finiteness
    ("ratio", nan, "nan (float64)", "a finite number"),
    ("rough", -inf, "-inf (float64)", "a finite number"),
    ("wide", [1.0, inf], "inf at [1] (float64)", "a finite number"),
    ("pairs", [[1.0, nan]], "nan at [0, 1] (float64)", "a finite number"),
    # masks
    (
        "sizes",
        np.ma.masked_array(np.zeros((2, 2)), mask=False),
        "a masked array",
        "an array without mask",
    ),
    ("count", np.ma.masked, "a masked array", "an array without mask"),
    ("number", np.ma.masked, "a masked array", "a class id from 0 to 2"),
    ("codes", [1, np.ma.masked], "a masked array", "an array without mask"),
    # length
    ("note", [1, 2, 3, 4], "4 items", "at most 3"),
    ("words", ["a", "b", "c"], "3 items", "at most 2"),
    # classes
    ("breed", "pugg", "the class 'pugg'", _CLASSES),
    ("breed", "Pug", "the class 'Pug'", _CLASSES),
    ("breed", 3, "class id 3", _CLASSES),
    ("breed", -1, "class id -1", _CLASSES),
    ("breed", 1.0, "float 1.0", _CLASSES),
    ("breed", b"pug", "bytes b'pug'", _CLASSES),
    ("number", "pug", "the class 'pug'", "a class id from 0 to 2"),
    ("number", 2**64, "class id 18446744073709551616", "a class id from 0 to 2"),
    ("number", np.array([1]), "int64 [1]", "a class id from 0 to 2"),
    ("mood", "clam", "the class 'clam'", "one of 'calm', 'wild'"),
    # text and bytes
    ("text", b"text", "bytes b'text'", "a str"),
    ("text", 3, "int 3", "a str"),
    ("text", ["text"], "a list", "a str"),
    (
        "text",
        "half \ud800",
        "the lone surrogate '\\ud800' at [5]",
        "that UTF-8 can hold",
    ),
    ("words", ["a", "\udfff"], "the lone surrogate '\\udfff' at [0]", "UTF-8"),
    ("words", [b"a"], "bytes b'a' at [0]", "a list of str"),
    ("words", ["a", None], "None at [1]", "a list of str"),
    ("words", "ab", "str 'ab'", "a list of str"),
    ("blobs", ["a"], "str 'a' at [0]", "a list of bytes"),
    ("blobs", b"ab", "bytes b'ab'", "a list of bytes"),
    ("raw", "raw", "str 'raw'", "bytes"),
    ("raw", bytearray(b"raw"), "a bytearray", "bytes"),
    # encoded images
    ("photo", JPEG[:-2], "a truncated jpeg image", "a whole jpeg image"),
    ("photo", JPEG[:40], "a truncated jpeg image", "a whole jpeg image"),
    ("photo", JPEG[:3], "a truncated jpeg image", "a whole jpeg image"),
    ("photo", PNG, "a png image", "a jpeg image"),
    ("photo", b"GIF89a..", "a gif image", "a jpeg image"),
    ("photo", b"GIF88a..", "bytes that begin with 'GIF88a..'", "a jpeg"),
    ("photo", b"", "no bytes", "a jpeg image"),
    ("photo", encoded("JPEG", (6, 4)), "an image of shape [4, 6, 3]", "[4, 5, 3]"),
    ("photo", encoded("JPEG", mode="CMYK"), "an image of shape [4, 5, 4]", "[4, 5, 3]"),
    ("photo", "photo.jpg", "str 'photo.jpg'", "the bytes of a jpeg image or an array"),
    ("drawing", PNG[:-12], "a truncated png image", "a whole png image"),
    ("drawing", PNG[:30], "a truncated png image", "a whole png image"),
    ("drawing", JPEG, "a jpeg image", "a png image"),
    ("drawing", encoded("PNG", (4, 5)), "an image of shape [5, 4, 3]", "[4, 5, 3]"),
    ("drawing", encoded("PNG", mode="RGBA"), "shape [4, 5, 4]", "shape [4, 5, 3]"),
    ("drawing", encoded("PNG", mode="LA"), "shape [4, 5, 2]", "shape [4, 5, 3]"),
    ("drawing", encoded("PNG", mode="I;16"), "16 bits a channel", "8 bits a channel"),
    ("drawing", np.zeros((4, 5, 3)), "float64 values", "uint8 values"),
    # None for what is required
    *((name, None, "None", "") for name in GOOD),
)


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Generated]:
    """The record with a required field of every kind."""
    root = tmp_path_factory.mktemp("strict") / "project"
    write_project(root, SOURCE, "contract_strict")
    with importable(root):
        yield project_record(root, "contract_strict", RecordCase("Strict", ()))


def test_the_good_row_is_good(strict: Generated) -> None:
    """What the table changes is all that is wrong with its rows."""
    strict.record(**GOOD)
    columns = {name: [value, value] for name, value in GOOD.items()}
    serialized = strict.serializer.serialize(**GOOD)
    assert strict.serializer.serialize_batch(**columns) == [serialized] * 2


@pytest.mark.parametrize(
    ("field", "value", "found", "expected"),
    REFUSALS,
    ids=[f"{number}-{row[0]}" for number, row in enumerate(REFUSALS)],
)
def test_a_wrong_value_is_refused(
    strict: Generated, field: str, value: Any, found: str, expected: str
) -> None:
    """The row, the batch and the schema refuse it, with the same words."""
    row = {**GOOD, field: value}
    with pytest.raises(ValueError, match="expected") as alone:
        strict.serializer.serialize(**row)
    error: Any = alone.value
    assert type(error).__name__ == "RecordError"
    assert (error.field, error.row) == (field, None)
    assert found in error.found
    assert expected in error.expected
    assert str(error).startswith(f"field {field!r}: found {error.found}, expected")

    columns = {name: [good, good, row[name]] for name, good in GOOD.items()}
    with pytest.raises(ValueError, match=r"^row 2: field") as batch:
        strict.serializer.serialize_batch(**columns)
    assert str(batch.value) == f"row 2: {error}"

    with pytest.raises(ValidationError) as invalid:
        strict.record(**row)
    (problem,) = invalid.value.errors()
    assert problem["loc"] == (field,)
    assert str(error).endswith(problem["msg"])


def test_a_near_miss_is_helped(strict: Generated) -> None:
    """A class that is nearly one of the names comes with that name."""
    with pytest.raises(ValueError, match=r"; did you mean 'tabby'\?$"):
        strict.serializer.serialize(**{**GOOD, "breed": "taby"})
    with pytest.raises(ValidationError, match=r"; did you mean 'tabby'\?"):
        strict.record(**{**GOOD, "breed": "taby"})
    with pytest.raises(ValueError, match=r"round it with np.float32\(value\), or"):
        strict.serializer.serialize(**{**GOOD, "ratio": np.float64(0.1)})


_OPTIONAL = (
    "the field is not optional: leave such rows out, or declare it as "
    "`... | None = None`"
)
_PANDAS = "NaN is pandas' missing value: pass None if the field is optional"


@pytest.mark.parametrize(
    ("field", "value", "advice"),
    [
        *((name, None, _OPTIONAL) for name in GOOD),
        ("text", nan, _PANDAS),
        ("breed", np.float64("nan"), _PANDAS),
        ("words", nan, _PANDAS),
        ("photo", "photo.jpg", "pass Path(...).read_bytes() of a file"),
        (
            "photo",
            Image.new("RGB", (5, 4)),
            "pass np.asarray(image), or the bytes of its file",
        ),
        ("photo", PNG, "give such an image, or declare encoding='any'"),
        ("photo", b"<html>", ""),
        (
            "drawing",
            np.zeros((4, 5, 3)),
            "of pixels x from 0 to 1 give (x * 255).round().astype('uint8'), and of "
            "others x.round().astype('uint8')",
        ),
    ],
)
def test_common_mistakes_come_with_advice(
    strict: Generated, field: str, value: Any, advice: str
) -> None:
    """The row and the schema say what to do about them."""
    row = {**GOOD, field: value}
    with pytest.raises(ValueError, match="expected") as caught:
        strict.serializer.serialize(**row)
    error: Any = caught.value
    assert (error.field, error.advice) == (field, advice)
    with pytest.raises(ValidationError) as invalid:
        strict.record(**row)
    assert invalid.value.errors()[0]["msg"].endswith(advice)


def test_one_number_is_asked_for_where_there_is_one(strict: Generated) -> None:
    """A scalar's error does not ask for several."""
    with pytest.raises(ValueError, match="found None, expected an int64 number; "):
        strict.serializer.serialize(**{**GOOD, "count": None})
    with pytest.raises(ValueError, match=r"NoneType, .*; the field is not optional"):
        strict.serializer.serialize_batch(**dict.fromkeys(GOOD))


@pytest.mark.parametrize("option", ["overwrite", "resume"])
def test_text_is_no_flag(strict: Generated, tmp_path: Path, option: str) -> None:
    """Python takes "no" for true, which would replace a split."""
    message = f"^{option}='no': expected True or False$"
    with pytest.raises(Exception, match=message):
        strict.serializer.write_dataset([GOOD], tmp_path, "train", **{option: "no"})
    with pytest.raises(Exception, match=r"^overwrite='no': expected True or False$"):
        strict.serializer.plan_dataset(tmp_path, "train", shards=1, overwrite="no")
    plan = strict.serializer.plan_dataset(
        tmp_path, "train", shards=1, overwrite=np.True_
    )
    assert '"overwrite": true' in plan.to_json()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("method", ["write", "write_batch"])
def test_an_error_that_leaves_a_writer_says_how_many_records_were_good(
    strict: Generated, tmp_path: Path, method: str
) -> None:
    """A refused row ends the `with` block: what comes before it is counted."""
    good: dict[str, Any] = {**GOOD, "count": "3"}
    row = {n: [v] for n, v in good.items()} if method == "write_batch" else good

    def write() -> None:
        with strict.serializer.Writer(tmp_path, "train") as writer:
            writer.write(**GOOD)
            writer.write(**GOOD)
            getattr(writer, method)(**row)

    with pytest.raises(ValueError, match="count") as caught:
        write()
    [note] = caught.value.__notes__
    assert note.startswith("2 records were written to split 'train'")


def test_all_wrong_fields_of_a_row_are_named_by_the_schema(strict: Generated) -> None:
    """`Record(**row)` reports every wrong field of a row at once."""
    with pytest.raises(ValidationError) as invalid:
        strict.record(**{**GOOD, "breed": "x", "count": 1.5, "text": b""})
    assert {problem["loc"] for problem in invalid.value.errors()} == {
        ("breed",),
        ("count",),
        ("text",),
    }


@pytest.mark.parametrize("name", GOOD)
def test_a_missing_field_is_refused(strict: Generated, name: str) -> None:
    """No required field can be forgotten."""
    rest = {key: value for key, value in GOOD.items() if key != name}
    with pytest.raises(TypeError, match=f"missing 1 required.*'{name}'"):
        strict.serializer.serialize(**rest)
    with pytest.raises(ValidationError, match="Field required"):
        strict.record(**rest)


def test_an_unknown_field_is_refused(strict: Generated) -> None:
    """No field can be invented."""
    with pytest.raises(TypeError, match="unexpected keyword argument 'bread'"):
        strict.serializer.serialize(**GOOD, bread=1)
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        strict.record(**GOOD, bread=1)


@pytest.mark.parametrize(
    ("field", "column", "text"),
    [
        ("count", [1], "field 'count': found 1 rows, expected 2, as many as in"),
        ("count", 3, "field 'count': found a column of type int, expected a sequence"),
        ("text", "ab", "field 'text': found a column of type str, expected a sequence"),
        ("raw", b"ab", "field 'raw': found a column of type bytes, expected a seq"),
        (
            "note",
            iter([[1], [2]]),
            "field 'note': found a column of type list_iterator",
        ),
        ("count", None, "field 'count': found a column of type NoneType"),
    ],
)
def test_a_column_that_is_none_is_refused(
    strict: Generated, field: str, column: Any, text: str
) -> None:
    """Columns are sequences with one value for each row."""
    columns = {name: [value, value] for name, value in GOOD.items()}
    with pytest.raises(ValueError, match=f"^{text}"):
        strict.serializer.serialize_batch(**{**columns, field: column})


def test_a_writer_that_caught_an_error_publishes_the_good_rows(
    strict: Generated, tmp_path: Path
) -> None:
    """After a refused row that was caught, exactly the good rows are there."""
    with strict.serializer.Writer(tmp_path, "train") as writer:
        writer.write(**GOOD)
        with pytest.raises(ValueError, match="field 'count'"):
            writer.write(**{**GOOD, "count": 1.5})
        columns = {name: [value, value] for name, value in GOOD.items()}
        with pytest.raises(ValueError, match="row 1: field 'count'"):
            writer.write_batch(**{**columns, "count": [1, 1.5]})
        writer.write(**{**GOOD, "count": 4})
    assert writer.records == 2
    tfrecord = strict.runtime("shared.tfrecord")
    (shard,) = tmp_path.glob("*.tfrecord")
    assert list(tfrecord.read_records(shard)) == [
        strict.serializer.serialize(**GOOD),
        strict.serializer.serialize(**{**GOOD, "count": 4}),
    ]


def test_a_writer_that_fails_publishes_nothing(
    strict: Generated, tmp_path: Path
) -> None:
    """An error that leaves the writer leaves no readable data behind."""
    rows = [GOOD, {**GOOD, "count": 1.5}]

    def write() -> None:
        with strict.serializer.Writer(tmp_path, "train") as writer:
            for row in rows:
                writer.write(**row)

    with pytest.raises(ValueError, match="field 'count'"):
        write()
    with pytest.raises(ValueError, match="row 1: field 'count'"):
        strict.serializer.write_dataset(rows, tmp_path, "test")
    assert not list(tmp_path.glob("*.tfrecord"))
    assert not (tmp_path / "manifest.json").exists()
