"""What `verify` says of records: each kind of finding, with its words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from schemagen import (
    Image,
    Images,
    Label,
    Mask,
    MultiLabel,
    Ragged,
    Scalar,
    Sparse,
    Steps,
    Tensor,
    Text,
    VarLen,
    Vector,
)
from schemagen.data.decoding import decode
from schemagen.data.records import records_of
from schemagen.data.verify.model import DataFinding
from schemagen.data.verify.record import CHECKS, RecordCheck
from schemagen.data.verify.tally import Tally
from schemagen.kinds.field import FieldSpec
from schemagen.kinds.registry import KINDS
from schemagen.runtime.shared.images import encode_png
from schemagen.spec.model import RecordSpec

from .messages import Values, common, example, feature, record_of, sized


def found_in(spec: RecordSpec, *messages: bytes) -> list[DataFinding]:
    """Return what is wrong with some records."""
    tally = Tally(most=3)
    tally.add_records(RecordCheck(spec), decode(records_of(list(messages))))
    return tally.findings("train", [field.name for field in spec.fields])


def only_finding(field: FieldSpec, **features: Values | None) -> DataFinding:
    """Return the one thing that is wrong with a record of one field."""
    keys = {key.replace("__", "/"): values for key, values in features.items()}
    [finding] = found_in(record_of(field), example({**keys, "other": [1]}))
    return finding


def words(finding: DataFinding) -> tuple[str, str, str, str, str]:
    """Return a finding's rule, what, expected, found and cause."""
    first = finding.examples[0]
    return finding.rule, finding.what, finding.expected, first.found, first.cause


COLOURS = encode_png(np.zeros((4, 5, 3), np.uint8))
GREY = encode_png(np.zeros((4, 5, 1), np.uint8))

NUMBER = FieldSpec.of(Scalar, **common("x"), dtype="int64")
BYTE = FieldSpec.of(Scalar, **common("x"), dtype="uint8")
BOOL = FieldSpec.of(Scalar, **common("x"), dtype="bool")
FLOAT = FieldSpec.of(Scalar, **common("x"), dtype="float32")
VECTOR = FieldSpec.of(Vector, **common("x"), shape=(2, 2), dtype="float32")
RAW = FieldSpec.of(Vector, **common("x"), shape=(4,), dtype="uint8", encoding="raw")
DOUBLES = FieldSpec.of(
    Vector, **common("x"), shape=(2,), dtype="float64", encoding="raw"
)
LABEL = FieldSpec.of(Label, **common("x"), num_classes=3)
FROM_ONE = FieldSpec.of(Label, **common("x"), num_classes=3, offset=1)
NAMED = FieldSpec.of(
    Label, **common("x"), num_classes=2, classes=("pug", "tabby"), stored="text"
)
TAGS = FieldSpec.of(MultiLabel, **common("x"), num_classes=3)
TEXT = FieldSpec.of(Text, **common("x"))
WORDS = FieldSpec.of(VarLen, **common("x"), dtype="string", max_length=2)
PAIRS = FieldSpec.of(VarLen, **common("x"), dtype="float32", item_shape=(2,))
RAW_LIST = FieldSpec.of(VarLen, **common("x"), dtype="float64")
PADDED = FieldSpec.of(
    VarLen, **common("x"), dtype="int64", max_length=3, pad_on_disk=True
)
RAGGED = FieldSpec.of(Ragged, **common("x"), dtype="int64", row_lengths_key="x/lengths")
SPARSE = FieldSpec.of(Sparse, **common("x"), shape=(9,), index_key=("x/at",))
TENSOR = FieldSpec.of(
    Tensor, **common("x"), shape=(None, 2), dtype="uint16", shape_key=("x/rows", None)
)
PROTO = FieldSpec.of(
    Tensor, **common("x"), shape=(None,), dtype="float32", encoding="proto"
)
PNG = FieldSpec.of(
    Image,
    **common("x"),
    shape=(4, 5, 3),
    encoding="png",
    dtype="uint8",
    height_key="x/height",
    format_key="x/format",
)
TILE = FieldSpec.of(
    Image,
    **common("x"),
    shape=(None, 2, 1),
    encoding="raw",
    dtype="uint8",
    height_key="x/height",
)
MASK = FieldSpec.of(
    Mask, **common("x"), shape=(4, 5), num_classes=3, encoding="png", dtype="uint8"
)
RAW_MASK = FieldSpec.of(
    Mask,
    **common("x"),
    shape=(2, 2),
    num_classes=3,
    encoding="raw",
    dtype="uint8",
    ignore=9,
)
ALBUM = FieldSpec.of(
    Images, **common("x"), shape=(4, 5, 3), encoding="png", max_count=2
)

# The field, its features, and: rule, what, expected, found, cause.
CASES: list[tuple[FieldSpec, dict[str, Values | None], tuple[str, str, str, str, str]]]
CASES = [
    (
        NUMBER,
        {"x": None},
        (
            "SG521",
            "record has no field of this schema",
            "the keys 'x'",
            "the keys 'other', 'x'",
            "records of another schema, or an empty message",
        ),
    ),
    (
        NUMBER,
        {"x": [1.5]},
        (
            "SG523",
            "wrong feature type",
            "1 int64 value (int64 [])",
            "1 float value",
            "written as another type of number: declare the dtype it has",
        ),
    ),
    (
        NUMBER,
        {"x": [b"12"]},
        (
            "SG523",
            "wrong feature type",
            "1 int64 value (int64 [])",
            "1 bytes value",
            "numbers written as text",
        ),
    ),
    (
        VECTOR,
        {"x": [1.0, 2.0]},
        (
            "SG524",
            "wrong number of values",
            "4 float values (float32 [2, 2])",
            "2 float values",
            "",
        ),
    ),
    (
        RAW,
        {"x": [bytes(16)]},
        (
            "SG525",
            "wrong size of raw bytes",
            "4 bytes (uint8 [4])",
            "16 bytes",
            "that is the size of as many float32 or int32 numbers: stored as such, "
            "read as uint8?",
        ),
    ),
    (
        RAW,
        {"x": [b"\xff\xd8\xff\xe0 a jpeg"]},
        (
            "SG525",
            "wrong size of raw bytes",
            "4 bytes (uint8 [4])",
            "11 bytes",
            "they begin like a JPEG: declare that encoding in the schema",
        ),
    ),
    (
        RAW_LIST,
        {"x": [bytes(9)]},
        (
            "SG525",
            "wrong size of raw bytes",
            "raw float64 numbers of 8 bytes",
            "9 bytes",
            "",
        ),
    ),
    (
        BYTE,
        {"x": [300]},
        (
            "SG526",
            "number out of the dtype's range",
            "uint8, 0 to 255",
            "300",
            "written as int32?",
        ),
    ),
    (
        BOOL,
        {"x": [2]},
        (
            "SG526",
            "number out of the dtype's range",
            "0 or 1 for a bool",
            "2",
            "a number, or a bool that was written as one: declare an integer",
        ),
    ),
    (
        LABEL,
        {"x": [3]},
        (
            "SG527",
            "class id out of range",
            "class ids from 0 to 2",
            "3",
            "ids that count from 1? then declare offset=1",
        ),
    ),
    (
        FROM_ONE,
        {"x": [0]},
        (
            "SG527",
            "class id out of range",
            "class ids from 1 to 3",
            "0",
            "ids that count from 0? then declare offset=0",
        ),
    ),
    (
        TAGS,
        {"x": [0, 7]},
        ("SG527", "class id out of range", "class ids from 0 to 2", "7 at [1]", ""),
    ),
    (
        NAMED,
        {"x": [b"tabbi\x1b"]},
        (
            "SG527",
            "class id out of range",
            "one of 2 classes, 'pug', 'tabby'",
            r"'tabbi\x1b'",
            "did you mean 'tabby'?",
        ),
    ),
    (
        TEXT,
        {"x": ["zwölf".encode("latin-1")]},
        (
            "SG531",
            "text is not UTF-8",
            "UTF-8",
            "the bytes 7a 77 f6 6c 66",
            "text in Latin-1 or the like: 'zwölf'?",
        ),
    ),
    (
        WORDS,
        {"x": [b"a", b"b", b"c"]},
        ("SG524", "list is too long", "at most 2 items", "3 items", ""),
    ),
    (
        PAIRS,
        {"x": [1.0, 2.0, 3.0]},
        (
            "SG524",
            "values are not a whole number of items",
            "items of 2 values (shape [2])",
            "3 values",
            "",
        ),
    ),
    (
        PADDED,
        {"x": [1, 2]},
        (
            "SG524",
            "wrong number of values",
            "3 int64 values (int64 [3])",
            "2 int64 values",
            "",
        ),
    ),
    (
        FLOAT,
        {"x": [float("nan")]},
        ("SG532", "number is not finite", "finite numbers", "nan", ""),
    ),
    (
        DOUBLES,
        {"x": [np.array([1, np.inf]).tobytes()]},
        (
            "SG532",
            "number is not finite",
            "finite numbers",
            "NaN or infinity among float64 numbers",
            "",
        ),
    ),
    (
        RAGGED,
        {"x": [1, 2, 3], "x__lengths": [1, 1]},
        (
            "SG529",
            "row lengths do not add up",
            "row lengths that add up to the number of values",
            "row lengths that add up to 2, and 3 values",
            "",
        ),
    ),
    (
        SPARSE,
        {"x": [1.0, 2.0], "x__at": [3, 3]},
        ("SG529", "duplicate index", "each index once", "[3] twice", ""),
    ),
    (
        SPARSE,
        {"x": [1.0], "x__at": [9]},
        (
            "SG529",
            "index out of range",
            "indices from 0 to 8",
            "9",
            "",
        ),
    ),
    (
        SPARSE,
        {"x": [1.0], "x__at": [1, 2]},
        (
            "SG529",
            "different numbers of indices and values",
            "as many indices as values",
            "2 indices and 1 values",
            "",
        ),
    ),
    (
        TENSOR,
        {"x": [bytes(24)], "x__rows": [3]},
        (
            "SG530",
            "bytes do not match the stored sizes",
            "the bytes of a uint16 tensor of the stored sizes",
            "24 bytes and the sizes [3, 2]",
            "that is the size of as many float32 or int32 numbers: stored as such, "
            "read as uint16?",
        ),
    ),
    (
        PROTO,
        {"x": [b"\x08\x02\x12\x04\x12\x02\x08\x00"]},
        (
            "SG528",
            "serialized tensor does not match the schema",
            "a serialized tensor of float32, shape [?]",
            "a serialized tensor of float64",
            "",
        ),
    ),
    (
        PNG,
        {"x": [COLOURS], "x__height": [5], "x__format": [b"PNG"]},
        (
            "SG530",
            "stored height does not match the image",
            "the height of the picture",
            "5, and the picture has 4",
            "height and width in each other's place?",
        ),
    ),
    (
        PNG,
        {"x": [COLOURS], "x__format": [b"jpeg"]},
        (
            "SG530",
            "stored format does not match the image",
            "the format of the picture",
            "'jpeg', and the picture is png",
            "",
        ),
    ),
    (
        PNG,
        {"x": [COLOURS[:-20]]},
        (
            "SG528",
            "image does not match the schema",
            "a whole png image",
            "a truncated png image",
            "",
        ),
    ),
    (
        PNG,
        {"x": [b"<svg onload='x'>"]},
        (
            "SG528",
            "image does not match the schema",
            "a png image",
            "bytes that begin with '<svg onl'",
            "an SVG, which tensorflow does not decode",
        ),
    ),
    (
        ALBUM,
        {"x": [COLOURS, encode_png(np.zeros((3, 5, 3), np.uint8))]},
        (
            "SG528",
            "image does not match the schema",
            "shape [4, 5, 3]",
            "an image of shape [3, 5, 3] at [1]",
            "",
        ),
    ),
    (
        TILE,
        {"x": [bytes(6)], "x__height": [4]},
        (
            "SG530",
            "bytes do not match the stored size",
            "height x width x channels x 1 bytes (uint8)",
            "6 bytes and the size [4, 2, 1]",
            "",
        ),
    ),
    (
        MASK,
        {"x": [COLOURS]},
        (
            "SG528",
            "image does not match the schema",
            "a grey PNG of 8 bits, or one with a palette",
            "a RGB PNG of 8 bits",
            "colours are no class ids; give these as an array",
        ),
    ),
    (
        RAW_MASK,
        {"x": [bytes([0, 2, 9, 3])]},
        (
            "SG527",
            "class id out of range",
            "class ids from 0 to 2, or 9 to be ignored",
            "class id 3",
            "",
        ),
    ),
]


@pytest.mark.parametrize(
    ("field", "features", "expected"),
    CASES,
    ids=[f"{at}-{case[0].kind}" for at, case in enumerate(CASES)],
)
def test_each_wrong_value_has_its_finding(
    field: FieldSpec,
    features: dict[str, Values | None],
    expected: tuple[str, str, str, str, str],
) -> None:
    """One finding, with what was found, what should be there, and the likely cause."""
    assert words(only_finding(field, **features)) == expected


GOOD: list[tuple[FieldSpec, dict[str, Values | None]]] = [
    (RAW, {"x": [bytes(4)]}),
    (PAIRS, {"x": [1.0, 2.0]}),
    (PAIRS, {"x": []}),
    (NAMED, {"x": [b"pug"]}),
    (RAGGED, {"x": [1, 2, 3], "x__lengths": [1, 0, 2]}),
    (SPARSE, {"x": [1.0, 2.0], "x__at": [3, 0]}),
    (TENSOR, {"x": [bytes(12)], "x__rows": [3]}),
    (PROTO, {"x": [b"\x08\x01\x12\x04\x12\x02\x08\x00"]}),
    (PNG, {"x": [COLOURS], "x__height": [4], "x__format": [b"PNG"]}),
    (PNG, {"x": [GREY]}),
    (TILE, {"x": [bytes(6)], "x__height": [3]}),
    (MASK, {"x": [GREY]}),
    (RAW_MASK, {"x": [bytes([0, 2, 9, 1])]}),
]


@pytest.mark.parametrize(("field", "features"), GOOD, ids=lambda each: str(each)[:20])
def test_good_values_have_none(
    field: FieldSpec, features: dict[str, Values | None]
) -> None:
    """What is next to the wrong values above."""
    if isinstance(features.get("x"), list) and features["x"] == []:
        return  # an empty list has no type here
    keys = {key.replace("__", "/"): values for key, values in features.items()}
    assert found_in(record_of(field), example(keys)) == []


def test_a_missing_feature_names_what_is_there() -> None:
    """And the key that it may have been meant to be."""
    spec = record_of(LABEL, FieldSpec.of(Text, **common("caption")))
    [finding] = found_in(spec, example({"x": [1], "captoin": [b"a"]}))
    assert words(finding) == (
        "SG522",
        "required feature is missing",
        "1 bytes value",
        "no feature 'caption'; there are: 'captoin', 'x'",
        "did you mean 'captoin'?",
    )
    assert (finding.field, finding.key, finding.records) == ("caption", "caption", 1)
    [bare] = found_in(spec, example({"x": [1], "caption": None}))
    assert bare.examples[0].found == "a feature without a list of any type"
    assert bare.examples[0].cause == (
        "written as an empty tf.train.Feature: readers take it for none"
    )


def test_a_key_of_another_field_is_not_what_was_meant() -> None:
    """Neither of the record nor, for a feature list, of the others."""
    spec = record_of(
        *(
            FieldSpec.of(VarLen, **common(name), dtype="float32")
            for name in ("xmin", "ymin")
        )
    )
    [finding] = found_in(spec, example({"ymin": [0.5]}))
    assert finding.examples[0].found == "no feature 'xmin'; there are: 'ymin'"
    assert finding.examples[0].cause == ""
    [other] = found_in(spec, example({"ymin": [0.5], "xmn": [0.5]}))
    assert other.examples[0].cause == "did you mean 'xmn'?"


def test_optional_features_may_be_missing_and_no_more() -> None:
    """A class of -1 counts as missing where the default is None; another does not."""
    label = FieldSpec.of(Label, **common("x", optional=True), num_classes=3)
    spec = record_of(label, FieldSpec.of(Text, **common("y")))
    good = [example({"y": [b""]}), example({"x": [-1], "y": [b""]})]
    assert found_in(spec, *good) == []
    [finding] = found_in(spec, example({"x": [-2], "y": [b""]}))
    assert finding.expected == "class ids from 0 to 2, or -1 for none"


def test_kinds_of_findings_are_summed_up() -> None:
    """However many records have it: their number, and the first three."""
    messages = [example({"x": [number]}) for number in range(1000)]
    [finding] = found_in(record_of(LABEL), *messages)
    assert (finding.records, finding.of, finding.files) == (997, 1000, 1)
    assert [each.record for each in finding.examples] == [3, 4, 5]
    assert [each.found for each in finding.examples] == ["3", "4", "5"]


def test_groups_name_two_fields_and_their_lengths() -> None:
    """A missing optional member does not count; what is there does."""
    boxes = [
        FieldSpec.of(VarLen, **common("left"), dtype="float32", group="boxes"),
        FieldSpec.of(
            VarLen, **common("size"), dtype="int64", item_shape=(2,), group="boxes"
        ),
        FieldSpec.of(
            VarLen, **common("word", optional=True), dtype="string", group="boxes"
        ),
    ]
    spec = record_of(*boxes)
    assert found_in(spec, example({"left": [0.5], "size": [1, 2]})) == []
    [finding] = found_in(spec, example({"left": [0.5, 1.0], "size": [1, 2]}))
    assert words(finding)[:4] == (
        "SG529",
        "fields of the group 'boxes' differ in length",
        "equally many items of each field in a record",
        "'left' with 2, 'size' with 1",
    )
    [word] = found_in(
        spec, example({"left": [0.5], "size": [1, 2], "word": [b"a", b"b"]})
    )
    assert word.examples[0].found == "'word' with 2, 'left' with 1"


def sequence(context: bytes, **lists: list[Values | None]) -> bytes:
    """Return a SequenceExample."""
    entries = b"".join(
        sized(
            1,
            sized(1, key.encode())
            + sized(2, b"".join(sized(1, feature(step)) for step in steps)),
        )
        for key, steps in lists.items()
    )
    return context + sized(2, entries)


def steps_spec(**more: Any) -> RecordSpec:
    """Return a record with a number in each step."""
    step = Scalar("uint8")
    field = FieldSpec.of(Steps, **common("x"), step=step, padding_value=0, **more)
    return record_of(field, message="SequenceExample")


def test_steps_are_checked_one_by_one() -> None:
    """A finding names the step; a step without a value is one."""
    good = sequence(b"", x=[[1], [2]])
    assert found_in(steps_spec(), good, sequence(b"", x=[])) == []
    [finding] = found_in(steps_spec(), good, sequence(b"", x=[[1], [300], [301]]))
    assert words(finding)[1:4] == (
        "in a step: number out of the dtype's range",
        "uint8, 0 to 255",
        "step 1: 300",
    )
    assert finding.examples[0].record == 1
    [lacking] = found_in(steps_spec(), sequence(b"", x=[[1], None]))
    assert lacking.examples[0].found == "step 1: a step without a value"
    [long] = found_in(steps_spec(max_length=1), good)
    assert (long.expected, long.examples[0].found) == ("at most 1 steps", "2 steps")
    [other] = found_in(steps_spec(), sequence(b"", y=[[1]]))
    assert other.rule == "SG521"


def test_messages_of_another_sort_are_told_apart() -> None:
    """An Example is no SequenceExample, and other bytes are neither."""
    [finding] = found_in(steps_spec(), example({"x": [1]}))
    assert words(finding)[1:] == (
        "wrong message type",
        "a tf.train.SequenceExample",
        "a tf.train.Example",
        "declared as another one: derive the class from Record",
    )
    [reverse] = found_in(record_of(NUMBER), sequence(b"", x=[[1]]))
    assert reverse.examples[0].found == "a tf.train.SequenceExample"
    [foreign] = found_in(record_of(NUMBER), b'{"x": 1}')
    assert foreign.rule == "SG521"
    assert foreign.what == "not a tf.train.Example"
    assert foreign.examples[0].cause == "the record is text: JSON"


def test_what_readers_pass_over_is_noted_and_no_finding() -> None:
    """Keys that no field has, and keys that stand twice."""
    tally = Tally(most=3)
    once = example({"x": [1], "y": [1]})
    check = RecordCheck(record_of(NUMBER))
    tally.add_records(check, decode(records_of([once, example({"x": [1]}) * 2])))
    assert tally.wrong == 0
    assert [(note.what, note.key, note.records) for note in tally.notes()] == [
        ("a key that stands twice; the last one counts", "x", 1),
        ("a key that the schema does not have", "y", 1),
    ]


def test_every_kind_has_a_check() -> None:
    """The storage of the others states all that verify checks."""
    assert set(KINDS) - set(CHECKS) == {"Scalar", "Steps", "Text", "Vector"}


def test_hostile_keys_are_shown_in_part() -> None:
    """Neither their length nor their number is that of what is kept."""
    spec = record_of(NUMBER, FieldSpec.of(Text, **common("y" * 30)))
    keys = {f"{number}" + "k" * 100_000: [1] for number in range(30)}
    tally = Tally(most=3)
    message = example({"x": [1], **keys})
    tally.add_records(RecordCheck(spec), decode(records_of([message])))
    [finding] = tally.findings(None, ["x"])
    assert len(finding.examples[0].found) < 2000
    assert max(len(note.key) for note in tally.notes()) < 300
    for number in range(3000):
        tally.note("a key", f"{number}", 1)
    assert len(tally.notes()) == 1001
