"""Every wrong row is refused, with the field, what was found and what is expected."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from pydantic import ValidationError
from tfrecord_files import read_records

from .generated_records import Generated
from .strict import DEEP_PNG, FRAME, GOOD, JPEG, MASK, PNG, ROWS, columns_of, encoded

Records = dict[str, Generated]

nan, inf = float("nan"), float("inf")
NOON = datetime(2026, 1, 1, 12)
U8 = np.uint8
PALETTE = encoded("PNG", mode="P")

# field, value, what of it the error shows
REFUSALS: tuple[tuple[str, Any, str], ...] = (
    # shape and rank
    ("pixels", np.zeros((3, 2, 1), U8), "[3, 2, 1]"),
    ("photo", np.zeros((4, 5), U8), "[4, 5]"),
    ("drawing", np.zeros((4, 5, 4), U8), "[4, 5, 4]"),
    ("any_photo", np.zeros((5, 6, 1), U8), "[5, 6, 1]"),
    ("scan", np.zeros((4, 4, 1), np.uint16), "[4, 4, 1]"),
    ("scan", np.zeros((0, 3, 1), np.uint16), ""),
    ("frames", np.zeros((2, 3, 3), U8), "[2, 3, 3]"),
    ("frames", [FRAME, np.zeros((2, 2, 3), U8)], "[2, 2, 3] at [1]"),
    ("mask", MASK.T, "[5, 4]"),
    ("mask", np.stack([MASK] * 3, 2), "[4, 5, 3]"),
    ("free_mask", MASK[:0], ""),
    ("sizes", [1.0, 2.0], "[2]"),
    ("sizes", 1.0, "[]"),
    ("pairs", [1.0, 2.0], "[2]"),
    ("note", [[1], [2]], "[2, 1]"),
    ("tags", np.zeros((1, 2), int), "[1, 2]"),
    ("edges", np.zeros((1, 1, 1), int), "[1, 1] at [0]"),
    ("depth", np.zeros((2, 3), np.uint16), "[2, 3]"),
    ("points", [[1.0, 2.0]], "[1, 2]"),
    ("bag", ([[1, 2]], [1.0]), "[1, 2]"),
    ("bag", ([1], [[1.0]]), "[1, 1]"),
    ("grid", ([0, 1], [1, 2]), "[2]"),
    ("count", [1], "[1]"),
    # lists of different lengths and depths
    ("sizes", [[1.0, 2.0], [3.0]], "1 to 2"),
    ("sizes", [[1.0, 2.0], 3.0], ""),
    ("sizes", [1.0, [2.0, 3.0]], ""),
    ("sentences", ["to", "be"], "'to' at [0]"),
    ("sentences", [["to", 3]], "[0] int 3 at [1]"),
    ("edges", [1, 2], "1 at [0]"),
    # dtype
    ("pixels", np.zeros((2, 3, 1)), "float64"),
    ("pixels", np.zeros((2, 3, 1), bool), "bool"),
    ("photo", "photo.jpg", "'photo.jpg'"),
    ("photo", Image.new("RGB", (5, 4)), ""),
    ("drawing", np.zeros((4, 5, 3)), "float64"),
    ("deep", np.zeros((4, 5, 3)), "float64"),
    ("scan", FRAME, ""),
    ("frames", FRAME, ""),
    ("mask", np.zeros((4, 5)), "float64"),
    ("mask", [[0]], "list"),
    ("raw_mask", b"abc", "b'abc'"),
    ("note", [1.0, 2.0], "float64"),
    ("note", np.array([]), "float64"),
    ("note", np.array([1, None]), "None"),
    ("note", "123", "'123'"),
    ("note", ["1"], "'1'"),
    ("head", [1, 2, 3, 4, 5.5], "float64"),
    ("edges", [[1], [0.5]], "[1] float64"),
    ("depth", np.zeros((2, 3, 1), np.float32), "float32"),
    ("rgb", np.zeros(5, np.float32), "float32"),
    ("bag", ([1.5], [1.0]), "float64"),
    ("bag", ([1], ["a"]), "'a'"),
    ("bag", [1.0, 2.0, 3.0], "3"),
    ("grid", {(0, 1): 1.5}, "float64"),
    ("count", 3.7, "3.7"),
    ("count", 3.0, "3.0"),
    ("count", "3", "'3'"),
    ("count", nan, "nan"),
    ("count", NOON, "2026-01-01 12:00:00"),
    ("count", np.datetime64(NOON, "s"), "2026-01-01T12:00:00"),
    ("ratio", Decimal("0.5"), "Decimal"),
    ("wide", np.array([1, 2j]), "complex128"),
    ("wide", np.array([1.0, Decimal(1)]), "Decimal"),
    ("wide", np.array([0.5, 0.5], object), "0.5"),
    # bool and numbers
    ("count", True, "True"),
    ("ratio", True, "True"),
    ("note", [True, False], "bool"),
    ("note", [True, 2], "bool"),
    ("number", True, "True"),
    ("tags", [True], "True"),
    ("tags", np.array([0.0, 1.0]), "float64"),
    ("tags", np.array([False, True]), "bool"),
    ("is_good", 1, "1"),
    ("is_good", "true", "'true'"),
    ("flags", [1, 0], "int64"),
    # range
    ("codes", [1, 256], "256"),
    ("small", 128, "128"),
    ("count", 2**63, "9223372036854775808"),
    ("huge", -1, "-1"),
    ("note", [2**64], "18446744073709551616"),
    ("note", np.array([2**64 - 1], np.uint64), "18446744073709551615"),
    ("ratio", 1e40, "1e+40"),
    ("tiny", 70_000.0, "70000.0"),
    ("half", [1.0, 3.4e38], "3.4e+38 at [1]"),
    ("scan", np.full((1, 3, 1), 70_000), "70000"),
    ("frames", np.full((1, 2, 3, 3), 256), "256"),
    ("mask", np.full((4, 5), 300), "300"),
    ("deep", np.full((4, 5, 3), 65536), "65536"),
    ("cells", {(0, 1): 300}, "300"),
    ("bag", {9: 1.0}, "9"),
    ("grid", ([[0, 4]], [1]), "4"),
    # exactness
    ("ratio", np.float64(0.1), "0.1"),
    ("ratio", 16777217, "16777217"),
    ("ratio", np.float64(1e-50), "1e-50"),
    ("rough", 16777217, "16777217"),
    ("tiny", 0.1, "0.1"),
    ("sizes", np.array([[1.0, 2.0], [3.0, 0.1]]), "0.1 at [1, 1]"),
    ("sizes", [[1.0, 0.1], [3.0, np.float64(0.1)]], "0.1"),
    ("sizes", [[1.0, 0.1], [3.0, 1e40]], "1e+40 at [1, 1]"),
    ("sizes", [[1.5, 2], [3, 2**24 + 1]], "16777217"),
    ("wide", [0.5, 2**53 + 1], "9007199254740993"),
    ("wide", [np.float64(0.5), np.int64(2**53 + 1)], "9007199254740993"),
    ("half", [1.0, 1.001], "1.001 at [1]"),
    ("lists", [np.array([0.1])], "0.1 at [0]"),
    ("matrix", np.full((2, 3), 0.1), "0.1 at [0, 0]"),
    # finiteness
    ("ratio", nan, "nan"),
    ("wide", [1.0, inf], "inf at [1]"),
    ("pairs", [[1.0, nan]], "nan at [1]"),
    ("embedding", np.array([nan]), "nan"),
    ("bag", {1: nan}, "nan"),
    # masked arrays
    ("sizes", np.ma.masked_array(np.zeros((2, 2)), mask=False), ""),
    ("count", np.ma.masked, ""),
    ("number", np.ma.masked, ""),
    ("codes", [1, np.ma.masked], ""),
    ("tags", np.ma.array([1], mask=[True]), ""),
    ("mask", np.ma.masked_equal(MASK, 0), ""),
    ("sizes", [[1.0, np.ma.masked], [3.0, 4.0]], "a masked array"),
    ("sizes", [np.zeros(2), [3.0, np.ma.masked]], "a masked array"),
    # arrays in lists of numbers
    ("sizes", [[1.0, np.array([2.0])], [3.0, 4.0]], "arrays of different shapes"),
    ("sizes", [[1.0, np.array(2)], [3.0, 4.0]], "arrays of different dtypes"),
    ("codes", [np.array(1), True], "arrays of different dtypes"),
    # number of items
    ("note", [1, 2, 3, 4], "4"),
    ("full", [1, 2, 3, 4, 5], "5"),
    ("words", ["a", "b", "c"], "3"),
    ("lists", [[1.0]] * 3, "3"),
    ("frames", [FRAME] * 3, "3"),
    ("views", [JPEG], "1"),
    ("high", [1, 2], "2"),
    ("bag", ([1, 2], [1.0]), "2 indices and 1"),
    # classes
    ("breed", "pugg", "'pugg'"),
    ("breed", 3, "3"),
    ("breed", 1.0, "1.0"),
    ("breed", b"pug", "b'pug'"),
    ("number", "pug", "'pug'"),
    ("number", 2**64, "18446744073709551616"),
    ("number", np.array([1]), "[1]"),
    ("counted", 1000, "1000"),
    ("named", "g", "'g'"),
    ("mood", "clam", "'clam'"),
    ("tags", 3, "3"),
    ("tags", {1, 2}, "set"),
    ("tags", [4], "4"),
    ("tags", [1, 2, 1], "1 twice, at [0] and at [2]"),
    ("terms", ["a", 0], "0 twice, at [0] and at [1]"),
    ("terms", "a", "'a'"),
    ("terms", ["blu"], "'blu'"),
    ("bag", ([1, 1], [1.0, 2.0]), "[1] twice"),
    ("grid", ([[1, 2], [1, 2]], [1, 2]), "[1, 2] twice"),
    ("mask", np.full((4, 5), 21, U8), "21 at [0, 0]"),
    ("mask", np.where(np.arange(20).reshape(4, 5) == 13, 254, 255), "254 at [2, 3]"),
    ("raw_mask", -np.eye(4, 5, dtype=np.int32), "-1 at [0, 0]"),
    # text and bytes
    ("text", b"text", "b'text'"),
    ("text", nan, "nan"),
    ("text", ["text"], "list"),
    ("text", "half \ud800", "'\\ud800' at [5]"),
    ("words", ["a", "\udfff"], "'\\udfff' at [0]"),
    ("words", [b"a"], "b'a' at [0]"),
    ("words", ["a", None], "None at [1]"),
    ("words", "ab", "'ab'"),
    ("blobs", ["a"], "'a' at [0]"),
    ("blobs", b"ab", "b'ab'"),
    ("raw", "raw", "'raw'"),
    ("raw", bytearray(b"raw"), "bytearray"),
    # encoded images
    ("photo", JPEG[:-2], "jpeg"),
    ("photo", JPEG[:3], "jpeg"),
    ("photo", PNG, "png"),
    ("photo", b"GIF89a..", "gif"),
    ("photo", b"GIF88a..", "GIF88a.."),
    ("photo", b"", ""),
    ("photo", encoded("JPEG", (6, 4)), "[4, 6, 3]"),
    ("drawing", PNG[:-12], "png"),
    ("drawing", JPEG, "jpeg"),
    ("drawing", encoded("PNG", (4, 5)), "[5, 4, 3]"),
    ("drawing", encoded("PNG", mode="RGBA"), "[4, 5, 4]"),
    ("drawing", encoded("PNG", mode="LA"), "[4, 5, 2]"),
    ("drawing", encoded("PNG", mode="I;16"), "16"),
    ("drawing", DEEP_PNG, "16"),
    ("deep", PNG, "8"),
    ("any_photo", b"text", "text"),
    ("frames", [FRAME, b""], "at [1]"),
    ("views", [FRAME, JPEG], "png image at [0]"),
    # masks
    ("mask", b"abc", "abc"),
    ("mask", PALETTE[:-20], "png"),
    ("mask", encoded("PNG"), "RGB"),
    ("mask", encoded("PNG", mode="1"), "1"),
    ("mask", encoded("PNG", mode="I;16"), "16"),
    ("mask", encoded("PNG", (4, 5), "P"), "[5, 4]"),
    ("deep_mask", encoded("PNG", mode="L"), "8"),
    ("deep_mask", PALETTE, "palette"),
    ("free_mask", encoded("PNG", (4, 5), "P"), "[5, 4]"),
    # nested models
    ("place.x", {"x": 0.5, "spot": [1.0, 2.0]}, "0.5"),
    ("place.spot", {"x": 1, "spot": [1.0]}, "[1]"),
    # None for what is required
    *((name, None, "None") for name in GOOD if name != "place"),
)

STEPS: tuple[tuple[str, Any, str], ...] = (
    ("rgb", None, "None"),
    ("rgb", b"12", "b'12'"),
    ("rgb", np.zeros((2, 3), U8), "[3] in step 0"),
    ("rgb", [[1, 2], [3, 300]], "300 in step 1"),
    ("rgb", [[1, 2], None], "None in step 1"),
    ("rgb", np.ma.zeros((2, 2), U8), ""),
    ("frames", [b"GIF89a", b""], "gif image in step 0"),
    ("words", "xy", "'xy'"),
    ("words", ["x", 5], "5 in step 1"),
    ("times", [1, 2, 3, 4], "4"),
    ("times", [1, True], "True (bool) in step 1"),
    ("times", {1, 2}, "set"),
    ("frames", [PNG], "1"),
)
WRONG = [("Strict", *row) for row in REFUSALS] + [("Clip", *row) for row in STEPS]


def refused(call: Callable[..., object], *args: object, **row: object) -> Any:
    """Return the RecordError with which a writer refuses something."""
    with pytest.raises(ValueError, match=r".") as caught:
        call(*args, **row)
    assert type(caught.value).__name__ == "RecordError"
    return caught.value


def test_the_good_rows_are_good(strict: Records) -> None:
    """What the tables change is all that is wrong with their rows."""
    for name, row in ROWS.items():
        strict[name].record(**row)
        serialized = strict[name].serializer.serialize(**row)
        batch = strict[name].serializer.serialize_batch(**columns_of(row, row))
        assert batch == [serialized] * 2


@pytest.mark.parametrize(
    ("record", "field", "value", "shown"),
    WRONG,
    ids=[f"{number}-{row[1]}" for number, row in enumerate(WRONG)],
)
def test_a_wrong_value_is_refused(
    strict: Records, record: str, field: str, value: Any, shown: str
) -> None:
    """The row, the batch and the schema refuse it, with the same words."""
    good, modules = ROWS[record], strict[record]
    name = field.partition(".")[0]
    row = {**good, name: value}
    alone = refused(modules.serializer.serialize, **row)
    assert (alone.field, alone.row) == (field, None)
    assert shown in alone.found
    assert alone.expected
    assert all(part in str(alone) for part in (repr(field), alone.found))

    batch = refused(modules.serializer.serialize_batch, **columns_of(good, good, row))
    assert (batch.field, batch.row) == (field, 2)
    assert (batch.found, batch.expected) == (alone.found, alone.expected)

    with pytest.raises(ValidationError) as invalid:
        modules.record(**row)
    (problem,) = invalid.value.errors()
    assert problem["loc"] in ((name,), ())
    assert alone.found in problem["msg"]


@pytest.mark.parametrize(
    ("field", "value", "advice"),
    [
        ("breed", "taby", "'tabby'"),
        ("ratio", np.float64(0.1), "np.float32(value)"),
        ("sizes", np.full((2, 2), 0.1), ".astype('float32')"),
        ("half", np.full(2, 0.1), ".astype('bfloat16')"),
        ("note", np.array([]), "np.array([], 'int64')"),
        ("tags", np.array([False, True]), "np.flatnonzero(row)"),
        ("tags", {1, 2}, "sorted(...)"),
        ("count", NOON, "unit='s'"),
        ("count", np.datetime64(NOON), "unit='s'"),
        ("count", None, "| None = None"),
        ("text", nan, "None"),
        ("words", nan, "None"),
        ("breed", np.float64("nan"), "None"),
        ("photo", "photo.jpg", ".read_bytes()"),
        ("photo", Image.new("RGB", (5, 4)), "np.asarray(image)"),
        ("photo", PNG, "encoding='any'"),
        ("photo", b"<html>", ""),
        ("small", NOON, "Scalar('int64', unit='s')"),
        ("drawing", np.zeros((4, 5, 3)), ".astype('uint8')"),
    ],
)
def test_common_mistakes_come_with_advice(
    strict: Records, field: str, value: Any, advice: str
) -> None:
    """The code that helps is in what the row and the schema say; "" for no advice."""
    row = {**GOOD, field: value}
    error = refused(strict["Strict"].serializer.serialize, **row)
    assert error.field == field
    assert advice in error.advice
    assert bool(error.advice) == bool(advice)
    with pytest.raises(ValidationError) as invalid:
        strict["Strict"].record(**row)
    assert invalid.value.errors()[0]["msg"].endswith(error.advice)


def test_all_wrong_fields_of_a_row_are_named_by_the_schema(strict: Records) -> None:
    """`Record(**row)` reports every wrong field of a row at once, and of its models."""
    place = {"x": 0.5, "spot": [1.0]}
    wrong = {"breed": "x", "count": 1.5, "text": b"", "place": place}
    with pytest.raises(ValidationError) as invalid:
        strict["Strict"].record(**{**GOOD, **wrong})
    errors = {problem["loc"][0]: problem["msg"] for problem in invalid.value.errors()}
    assert set(errors) == set(wrong)
    assert all(f"'{name}'" in errors["place"] for name in place)


@pytest.mark.parametrize(
    ("field", "column"),
    [
        ("count", [1]),
        ("count", 3),
        ("text", "ab"),
        ("raw", b"ab"),
        ("note", iter([[1], [2]])),
        ("count", None),
        ("high", 3),
        ("high", [[2]]),
    ],
)
def test_a_column_that_is_none_is_refused(
    strict: Records, field: str, column: Any
) -> None:
    """Columns are sequences with one value for each row."""
    columns = {**columns_of(GOOD, GOOD), field: column}
    error = refused(strict["Strict"].serializer.serialize_batch, **columns)
    assert error.field in (field, "low")  # the first of a group may be the odd one out
    assert error.row is None


def test_a_writer_that_caught_an_error_publishes_the_good_rows(
    strict: Records, tmp_path: Path
) -> None:
    """After a refused row that was caught, exactly the good rows are there."""
    serializer, wrong = strict["Strict"].serializer, {**GOOD, "count": 1.5}
    with serializer.Writer(tmp_path, "train") as writer:
        writer.write(**GOOD)
        assert refused(writer.write, **wrong).field == "count"
        error = refused(writer.write_batch, **columns_of(GOOD, wrong))
        assert (error.field, error.row) == ("count", 1)
        writer.write(**{**GOOD, "count": 4})
    assert writer.records == 2
    (shard,) = tmp_path.glob("*.tfrecord")
    assert read_records(shard) == [
        serializer.serialize(**GOOD),
        serializer.serialize(**{**GOOD, "count": 4}),
    ]


@pytest.mark.parametrize("method", ["write", "write_batch"])
def test_a_writer_that_fails_publishes_nothing(
    strict: Records, tmp_path: Path, method: str
) -> None:
    """An error that leaves it names the field, and leaves no data."""
    serializer, wrong = strict["Strict"].serializer, {**GOOD, "count": "3"}

    def write() -> None:
        with serializer.Writer(tmp_path, "train") as writer:
            writer.write(**GOOD)
            writer.write(**GOOD)
            row = columns_of(wrong) if method == "write_batch" else wrong
            getattr(writer, method)(**row)

    assert refused(write).field == "count"
    error = refused(serializer.write_dataset, [GOOD, wrong], tmp_path, "test")
    assert (error.field, error.row) == ("count", 1)
    assert not list(tmp_path.glob("*.tfrecord"))
    assert not (tmp_path / "manifest.json").exists()
