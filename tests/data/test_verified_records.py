"""What `verify` finds in records: each kind of wrong value, and good ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run
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
from schemagen.kinds.field import FieldSpec
from schemagen.runtime.shared.images import encode_png
from schemagen.spec.model import RecordSpec

from .messages import Values, common, example, feature, record_of, sized
from .report.scenes import write_dataset


def verified(directory: Path, spec: RecordSpec, *messages: bytes) -> dict[str, Any]:
    """Return what `schemagen verify` prints about records that a spec wrote."""
    write_dataset(directory, spec, {"train": messages})
    result = run("verify", directory, "--format", "json")
    document: dict[str, Any] = json.loads(result.stdout)
    assert result.exit_code == (1 if document["findings"] else 0)
    return document


def found_in(
    directory: Path, spec: RecordSpec, *messages: bytes
) -> list[dict[str, Any]]:
    """Return what is wrong with some records."""
    found: list[dict[str, Any]] = verified(directory, spec, *messages)["findings"]
    return found


def keyed(features: dict[str, Values | None]) -> dict[str, Values | None]:
    """Return features by their keys, which have slashes."""
    return {key.replace("__", "/"): values for key, values in features.items()}


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

# The field, its features, the rule, and what is in "found" and in "likely".
CASES: list[tuple[FieldSpec, dict[str, Values | None], str, str, str]] = [
    (NUMBER, {"x": None}, "SG521", "'other', 'x'", "another schema"),
    (NUMBER, {"x": [1.5]}, "SG523", "1 float value", "dtype"),
    (NUMBER, {"x": [b"12"]}, "SG523", "1 bytes value", "text"),
    (VECTOR, {"x": [1.0, 2.0]}, "SG524", "2 float values", ""),
    (RAW, {"x": [bytes(16)]}, "SG525", "16 bytes", "float32 or int32"),
    (RAW, {"x": [b"\xff\xd8\xff\xe0 a jpeg"]}, "SG525", "11 bytes", "JPEG"),
    (RAW_LIST, {"x": [bytes(9)]}, "SG525", "9 bytes", ""),
    (BYTE, {"x": [300]}, "SG526", "300", "int32"),
    (BOOL, {"x": [2]}, "SG526", "2", "declare an integer"),
    (LABEL, {"x": [3]}, "SG527", "3", "offset=1"),
    (FROM_ONE, {"x": [0]}, "SG527", "0", "offset=0"),
    (TAGS, {"x": [0, 7]}, "SG527", "7 at [1]", ""),
    (NAMED, {"x": [b"tabbi\x1b"]}, "SG527", r"'tabbi\x1b'", "'tabby'"),
    (TEXT, {"x": ["zwölf".encode("latin-1")]}, "SG531", "7a 77 f6 6c 66", "'zwölf'"),
    (WORDS, {"x": [b"a", b"b", b"c"]}, "SG524", "3 items", ""),
    (PAIRS, {"x": [1.0, 2.0, 3.0]}, "SG524", "3 values", ""),
    (PADDED, {"x": [1, 2]}, "SG524", "2 int64 values", ""),
    (FLOAT, {"x": [float("nan")]}, "SG532", "nan", ""),
    (DOUBLES, {"x": [np.array([1, np.inf]).tobytes()]}, "SG532", "float64", ""),
    (RAGGED, {"x": [1, 2, 3], "x__lengths": [1, 1]}, "SG529", "2, and 3", ""),
    (SPARSE, {"x": [1.0, 2.0], "x__at": [3, 3]}, "SG529", "[3] twice", ""),
    (SPARSE, {"x": [1.0], "x__at": [9]}, "SG529", "9", ""),
    (SPARSE, {"x": [1.0], "x__at": [1, 2]}, "SG529", "2 indices and 1 values", ""),
    (TENSOR, {"x": [bytes(24)], "x__rows": [3]}, "SG530", "[3, 2]", "int32"),
    (PROTO, {"x": [b"\x08\x02\x12\x04\x12\x02\x08\x00"]}, "SG528", "float64", ""),
    (
        PNG,
        {"x": [COLOURS], "x__height": [5], "x__format": [b"PNG"]},
        "SG530",
        "5, and the picture has 4",
        "height and width",
    ),
    (PNG, {"x": [COLOURS], "x__format": [b"jpeg"]}, "SG530", "'jpeg'", ""),
    (PNG, {"x": [COLOURS[:-20]]}, "SG528", "truncated png", ""),
    (PNG, {"x": [b"<svg onload='x'>"]}, "SG528", "'<svg onl'", "SVG"),
    (
        ALBUM,
        {"x": [COLOURS, encode_png(np.zeros((3, 5, 3), np.uint8))]},
        "SG528",
        "[3, 5, 3] at [1]",
        "",
    ),
    (TILE, {"x": [bytes(6)], "x__height": [4]}, "SG530", "[4, 2, 1]", ""),
    (MASK, {"x": [COLOURS]}, "SG528", "RGB PNG of 8 bits", "array"),
    (RAW_MASK, {"x": [bytes([0, 2, 9, 3])]}, "SG527", "class id 3", ""),
]


@pytest.mark.parametrize(
    ("field", "features", "rule", "found", "likely"),
    CASES,
    ids=[f"{at}-{case[0].kind}" for at, case in enumerate(CASES)],
)
def test_each_wrong_value_has_its_finding(
    tmp_path: Path,
    field: FieldSpec,
    features: dict[str, Values | None],
    rule: str,
    found: str,
    likely: str,
) -> None:
    """One finding, with what was found, what should be there, and the likely cause."""
    [finding] = found_in(
        tmp_path, record_of(field), example({**keyed(features), "other": [1]})
    )
    assert finding["rule"] == rule
    assert finding["data"]["field"] == ("x" if rule != "SG521" else "")
    assert finding["data"]["record"] == 0
    assert finding["expected"]
    assert found in finding["found"]
    assert likely in finding["advice"]
    assert bool(likely) == bool(finding["advice"])


GOOD: list[tuple[FieldSpec, dict[str, Values | None]]] = [
    (RAW, {"x": [bytes(4)]}),
    (PAIRS, {"x": [1.0, 2.0]}),
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
    tmp_path: Path, field: FieldSpec, features: dict[str, Values | None]
) -> None:
    """What is next to the wrong values above."""
    assert found_in(tmp_path, record_of(field), example(keyed(features))) == []


LEFT_RIGHT = [FieldSpec.of(VarLen, **common(n), dtype="float32") for n in ("xa", "ya")]
LABEL_AND_TEXT = record_of(LABEL, FieldSpec.of(Text, **common("caption")))
OPTIONAL = record_of(
    FieldSpec.of(Label, **common("x", optional=True), num_classes=3),
    FieldSpec.of(Text, **common("y")),
)
BOXES = record_of(
    FieldSpec.of(VarLen, **common("left"), dtype="float32", group="boxes"),
    FieldSpec.of(
        VarLen, **common("size"), dtype="int64", item_shape=(2,), group="boxes"
    ),
    FieldSpec.of(
        VarLen, **common("word", optional=True), dtype="string", group="boxes"
    ),
)


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


STEPS = steps_spec()

# The spec, a record, and of its finding: rule, field, what is found and likely; or none.
RECORDS: list[tuple[RecordSpec, bytes, tuple[str, str, str, str] | None]] = [
    (
        LABEL_AND_TEXT,
        example({"x": [1], "captoin": [b"a"]}),
        ("SG522", "caption", "there are: 'captoin', 'x'", "'captoin'"),
    ),
    (
        LABEL_AND_TEXT,
        example({"x": [1], "caption": None}),
        ("SG522", "caption", "without a list", "empty tf.train.Feature"),
    ),
    # A key of another field is not what was meant.
    (record_of(*LEFT_RIGHT), example({"ya": [0.5]}), ("SG522", "xa", "'ya'", "")),
    (
        record_of(*LEFT_RIGHT),
        example({"ya": [0.5], "xaa": [0.5]}),
        ("SG522", "xa", "'xaa'", "'xaa'"),
    ),
    (OPTIONAL, example({"y": [b""]}), None),
    (OPTIONAL, example({"x": [-1], "y": [b""]}), None),
    (OPTIONAL, example({"x": [-2], "y": [b""]}), ("SG527", "x", "-2", "")),
    (BOXES, example({"left": [0.5], "size": [1, 2]}), None),
    (
        BOXES,
        example({"left": [0.5, 1.0], "size": [1, 2]}),
        ("SG529", "", "'left' with 2, 'size' with 1", ""),
    ),
    (
        BOXES,
        example({"left": [0.5], "size": [1, 2], "word": [b"a", b"b"]}),
        ("SG529", "", "'word' with 2, 'left' with 1", ""),
    ),
    (STEPS, sequence(b"", x=[[1], [2]]), None),
    (STEPS, sequence(b"", x=[]), None),
    (STEPS, sequence(b"", x=[[1], [300], [301]]), ("SG526", "x", "step 1: 300", "")),
    (STEPS, sequence(b"", x=[[1], None]), ("SG522", "x", "step 1", "")),
    (
        steps_spec(max_length=1),
        sequence(b"", x=[[1], [2]]),
        ("SG524", "x", "2 steps", ""),
    ),
    (STEPS, sequence(b"", y=[[1]]), ("SG521", "", "none", "another schema")),
    (STEPS, example({"x": [1]}), ("SG521", "", "a tf.train.Example", "from Record")),
    (
        record_of(NUMBER),
        sequence(b"", x=[[1]]),
        ("SG521", "", "a tf.train.SequenceExample", "from SequenceRecord"),
    ),
    (record_of(NUMBER), b'{"x": 1}', ("SG521", "", "bytes into the record", "text: ")),
]


@pytest.mark.parametrize(
    ("spec", "message", "expected"), RECORDS, ids=range(len(RECORDS))
)
def test_each_wrong_record_has_its_finding(
    tmp_path: Path,
    spec: RecordSpec,
    message: bytes,
    expected: tuple[str, str, str, str] | None,
) -> None:
    """Missing features, groups, steps, and messages of another sort."""
    found = found_in(tmp_path, spec, message)
    if expected is None:
        assert found == []
        return
    rule, field, text, likely = expected
    own = [each for each in found if each["rule"] != "SG513"]
    assert [(each["rule"], each["data"]["field"]) for each in own] == [(rule, field)]
    assert text in own[0]["found"]
    assert likely in own[0]["advice"]
    assert own[0]["data"]["records"] == 1


def test_kinds_of_findings_are_summed_up(tmp_path: Path) -> None:
    """However many records have it: their number, and the first three."""
    messages = [example({"x": [number]}) for number in range(1000)]
    [finding] = found_in(tmp_path, record_of(LABEL), *messages)
    data = finding["data"]
    assert (data["records"], data["of"], data["files"]) == (997, 1000, 1)
    assert [each["record"] for each in data["examples"]] == [3, 4, 5]
    assert [each["found"] for each in data["examples"]] == ["3", "4", "5"]


def test_what_readers_pass_over_is_noted_and_no_finding(tmp_path: Path) -> None:
    """Keys that no field has, keys that stand twice, and unknown fields."""
    once = example({"x": [1], "y": [1]})
    unknown = example({"x": [1]}) + sized(9, b"?")
    messages = (once, example({"x": [1]}) * 2, unknown)
    document = verified(tmp_path, record_of(NUMBER), *messages)
    assert document["findings"] == []
    [split] = document["splits"]
    assert (split["wrong"], split["records"]) == (0, 3)
    notes = [(note["key"], note["records"]) for note in split["notes"]]
    assert notes == [("x", 1), ("y", 1), ("field 9 of the record", 1)]


def test_hostile_keys_are_shown_in_part(tmp_path: Path) -> None:
    """Neither their length nor their number is that of what is kept."""
    spec = record_of(NUMBER, FieldSpec.of(Text, **common("y" * 30)))
    keys = {f"{number}" + "k" * 100_000: [1] for number in range(30)}
    more: dict[str, Values | None] = {f"{number}": [1] for number in range(3000)}
    document = verified(
        tmp_path, spec, example({"x": [1], **keys}), example({"x": [1], **more})
    )
    [finding] = document["findings"]
    assert len(finding["found"]) < 2000
    [split] = document["splits"]
    assert max(len(note["key"]) for note in split["notes"]) < 300
    assert len(split["notes"]) == 1001
