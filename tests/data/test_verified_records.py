"""What `verify` finds in records: each kind of wrong value, and good ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
import schemagen
from pictures import encoded
from schemagen import (
    Image,
    Images,
    Label,
    Mask,
    MultiLabel,
    Ragged,
    Record,
    Scalar,
    SequenceRecord,
    Sparse,
    Steps,
    Tensor,
    VarLen,
    Vector,
)

from .messages import NO_BYTES, example, record, sequence_example, sized, write_data


def verified(directory: Path, written: type[Record], *messages: bytes) -> Any:
    """Return what `verify` says about records that a class wrote."""
    return schemagen.verify(write_data(directory, written, {"train": messages}))


COLOURS = encoded(np.zeros((4, 5, 3), np.uint8))
GREY = encoded(np.zeros((4, 5, 1), np.uint8))
SMALL = encoded(np.zeros((3, 5, 3), np.uint8))

RAW = Annotated[np.ndarray, Vector((4,), dtype="uint8", encoding="raw")]
RAGGED = Annotated[list[list[int]], Ragged("int64", row_lengths_key="lengths")]
SPARSE = Annotated[dict[int, float], Sparse((9,), index_key="at")]
TENSOR = Annotated[
    np.ndarray, Tensor((None, 2), dtype="uint16", shape_key=("rows", None))
]
PROTO = Annotated[np.ndarray, Tensor((None,), encoding="proto")]
PNG = Annotated[
    np.ndarray,
    Image((4, 5, 3), encoding="png", height_key="height", format_key="format"),
]
TILE = Annotated[np.ndarray, Image((None, 2, 1), height_key="height")]
MASK = Annotated[np.ndarray, Mask((4, 5), num_classes=3, role="info")]
RAW_MASK = Annotated[
    np.ndarray, Mask((2, 2), num_classes=3, encoding="raw", ignore=9, role="info")
]
ALBUM = Annotated[list[bytes], Images((4, 5, 3), encoding="png", max_count=2)]
NAMED = Annotated[str, Label(classes=("pug", "tabby"), stored="text")]
NUMBER = Annotated[int, Scalar("int64")]
PAIRS = Annotated[np.ndarray, VarLen("float32", item_shape=(2,))]
DOUBLE = b"\x08\x02\x12\x04\x12\x02\x08\x00"
SINGLE = b"\x08\x01\x12\x04\x12\x02\x08\x00"
X = "x"

# The field x, its value or features; the rule, and what of the data is in "found".
WRONG: list[tuple[Any, Any, str, str]] = [
    (NUMBER, None, "SG521", "'other', 'x'"),
    (NUMBER, 1.5, "SG523", "float"),
    (NUMBER, b"12", "SG523", "bytes"),
    (Annotated[np.ndarray, Vector((2, 2))], [1.0, 2.0], "SG524", "2 "),
    (RAW, bytes(16), "SG525", "16 bytes"),
    (RAW, b"\xff\xd8\xff\xe0 a jpeg", "SG525", "11 bytes"),
    (Annotated[list[float], VarLen("float64")], bytes(9), "SG525", "9 bytes"),
    (Annotated[int, Scalar("uint8")], 300, "SG526", "300"),
    (bool, 2, "SG526", "2"),
    (Annotated[int, Label(num_classes=3)], 3, "SG527", "3"),
    (Annotated[int, Label(num_classes=3, offset=1)], 0, "SG527", "0"),
    (Annotated[list[int], MultiLabel(num_classes=3)], [0, 7], "SG527", "7 at [1]"),
    (NAMED, b"tabbi\x1b", "SG527", r"'tabbi\x1b'"),
    (str, "zwölf".encode("latin-1"), "SG531", "7a 77 f6 6c 66"),
    (
        Annotated[list[str], VarLen("string", max_length=2)],
        ["a", "b", "c"],
        "SG524",
        "3 ",
    ),
    (PAIRS, [1.0, 2.0, 3.0], "SG524", "3 "),
    (
        Annotated[list[int], VarLen("int64", max_length=3, pad_on_disk=True)],
        [1, 2],
        "SG524",
        "2 ",
    ),
    (float, float("nan"), "SG532", "nan"),
    (
        Annotated[np.ndarray, Vector((2,), dtype="float64", encoding="raw")],
        np.array([1, np.inf]).tobytes(),
        "SG532",
        "inf at [1]",
    ),
    (RAGGED, {X: [1, 2, 3], "lengths": [1, 1]}, "SG529", "2, and 3"),
    (SPARSE, {X: [1.0, 2.0], "at": [3, 3]}, "SG529", "[3]"),
    (SPARSE, {X: 1.0, "at": 9}, "SG529", "9"),
    (SPARSE, {X: 1.0, "at": [1, 2]}, "SG529", "2 "),
    (TENSOR, {X: bytes(24), "rows": 3}, "SG530", "[3, 2]"),
    (PROTO, DOUBLE, "SG528", "float64"),
    (PNG, {X: COLOURS, "height": 5, "format": "PNG"}, "SG530", "4"),
    (PNG, {X: COLOURS, "height": 4, "format": "jpeg"}, "SG530", "'jpeg'"),
    (PNG, {X: COLOURS[:-20], "height": 4, "format": "PNG"}, "SG528", "png"),
    (PNG, {X: "<svg onload='x'>", "height": 4, "format": "PNG"}, "SG528", "'<svg onl'"),
    (ALBUM, [COLOURS, SMALL], "SG528", "[3, 5, 3] at [1]"),
    (TILE, {X: bytes(6), "height": 4}, "SG530", "[4, 2, 1]"),
    (MASK, COLOURS, "SG528", "RGB"),
    (RAW_MASK, bytes([0, 2, 9, 3]), "SG527", "3"),
]
# What is next to the wrong values above.
GOOD: list[tuple[Any, Any]] = [
    (RAW, bytes(4)),
    (PAIRS, [1.0, 2.0]),
    (NAMED, "pug"),
    (RAGGED, {X: [1, 2, 3], "lengths": [1, 0, 2]}),
    (SPARSE, {X: [1.0, 2.0], "at": [3, 0]}),
    (TENSOR, {X: bytes(12), "rows": 3}),
    (PROTO, SINGLE),
    (PNG, {X: COLOURS, "height": 4, "format": "PNG"}),
    (PNG, {X: GREY, "height": 4, "format": "PNG"}),
    (TILE, {X: bytes(6), "height": 3}),
    (MASK, GREY),
    (RAW_MASK, bytes([0, 2, 9, 1])),
]
VALUES = [*WRONG, *((*each, "", "") for each in GOOD)]


@pytest.mark.parametrize(
    ("field", "features", "rule", "text"), VALUES, ids=range(len(VALUES))
)
def test_each_wrong_value_has_its_finding(
    tmp_path: Path, field: Any, features: Any, rule: str, text: str
) -> None:
    """One finding, with what was found and what should be there; good ones have none."""
    held = features if isinstance(features, dict) else {X: features}
    message = example({**held, "other": 1})
    found = verified(tmp_path, record("Found", {X: field}), message).findings
    if not rule:
        assert found == ()
        return
    [finding] = found
    place = (finding.rule, finding.field, finding.examples[0].record)
    assert place == (rule, "" if rule == "SG521" else X, 0)
    assert finding.expected
    assert text in finding.examples[0].found


LIST = Annotated[list[float], VarLen("float32")]
CAPTION = record("Found", {X: Annotated[int, Label(num_classes=3)], "caption": str})
LISTS = record("Found", {"xa": LIST, "ya": LIST})
OPTIONAL = record(
    "Found", {X: Annotated[int | None, Label(num_classes=3)], "y": str}, x=None
)
BOXES = record(
    "Found",
    {
        "left": Annotated[list[float], VarLen("float32", group="boxes")],
        "size": Annotated[np.ndarray, VarLen("int64", item_shape=(2,), group="boxes")],
        "word": Annotated[list[str] | None, VarLen("string", group="boxes")],
    },
    word=None,
)
ONE = record("Found", {X: NUMBER})


def steps(**options: Any) -> type[Record]:
    """Return a record with a number in each step."""
    field = Annotated[list[int], Steps(Scalar("uint8"), **options)]
    return record("Found", {X: field}, SequenceRecord)


STEPS = steps()

# The class, a record, and of its finding: rule, field, and what of the data is in
# "found" and in the advice; or none.
RECORDS: list[tuple[type[Record], bytes, tuple[str, str, str, str] | None]] = [
    (CAPTION, example({X: 1, "captoin": "a"}), ("SG522", "caption", X, "'captoin'")),
    (CAPTION, example({X: 1, "caption": None}), ("SG522", "caption", "", "")),
    # A key of another field is not what was meant.
    (LISTS, example({"ya": 0.5}), ("SG522", "xa", "'ya'", "")),
    (LISTS, example({"ya": 0.5, "xaa": 0.5}), ("SG522", "xa", "'xaa'", "'xaa'")),
    (OPTIONAL, example({"y": ""}), None),
    (OPTIONAL, example({X: -1, "y": ""}), None),
    (OPTIONAL, example({X: -2, "y": ""}), ("SG527", X, "-2", "")),
    (BOXES, example({"left": 0.5, "size": [1, 2]}), None),
    (
        BOXES,
        example({"left": [0.5, 1.0], "size": [1, 2]}),
        ("SG529", "", "'left' with 2, 'size' with 1", ""),
    ),
    (
        BOXES,
        example({"left": 0.5, "size": [1, 2], "word": ["a", "b"]}),
        ("SG529", "", "'word' with 2, 'left' with 1", ""),
    ),
    (STEPS, sequence_example({}, {X: [1, 2]}), None),
    (STEPS, sequence_example({}, {X: []}), None),
    (
        STEPS,
        sequence_example({}, {X: [1, 300, 301]}),
        ("SG526", X, "300 in step 1", ""),
    ),
    (
        STEPS,
        sequence_example({}, {X: [1, None]}),
        ("SG522", X, "no value in step 1", ""),
    ),
    (steps(max_length=1), sequence_example({}, {X: [1, 2]}), ("SG524", X, "2", "")),
    (STEPS, sequence_example({}, {"y": [1]}), ("SG521", "", "", "")),
    (STEPS, example({X: 1}), ("SG521", "", "Example", "Record")),
    (
        ONE,
        sequence_example({}, {X: [1]}),
        ("SG521", "", "SequenceExample", "SequenceRecord"),
    ),
    (ONE, b'{"x": 1}', ("SG521", "", "", '{"x": 1}')),
    (record("Found", {X: LIST}), example({X: NO_BYTES}), ("SG523", X, "bytes", "")),
]


@pytest.mark.parametrize(
    ("written", "message", "expected"), RECORDS, ids=range(len(RECORDS))
)
def test_each_wrong_record_has_its_finding(
    tmp_path: Path,
    written: type[Record],
    message: bytes,
    expected: tuple[str, str, str, str] | None,
) -> None:
    """Missing features, groups, steps, and messages of another sort."""
    found = verified(tmp_path, written, message).findings
    if expected is None:
        assert found == ()
        return
    rule, field, text, cause = expected
    [own] = [each for each in found if each.rule != "SG513"]
    assert (own.rule, own.field, own.records) == (rule, field, 1)
    assert text in own.examples[0].found
    assert cause in own.examples[0].cause


def test_kinds_of_findings_are_summed_up(tmp_path: Path) -> None:
    """However many records have it: their number, and the first three."""
    messages = [example({X: number, "caption": ""}) for number in range(1000)]
    [finding] = verified(tmp_path, CAPTION, *messages).findings
    assert (finding.records, finding.of, finding.files) == (997, 1000, 1)
    places = [(each.record, each.found) for each in finding.examples]
    assert places == [(3, "3"), (4, "4"), (5, "5")]


def test_what_readers_pass_over_is_noted_and_no_finding(tmp_path: Path) -> None:
    """Keys that no field has, keys that stand twice, and unknown fields."""
    one = example({X: 1})
    messages = (example({X: 1, "y": 1}), one * 2, one + sized(9, b"?"))
    found = verified(tmp_path, ONE, *messages)
    assert found.clean
    [split] = found.splits
    assert (split.wrong, split.records) == (0, 3)
    notes = [(note.key.split()[:2], note.records) for note in split.notes]
    assert sorted(notes) == [(["field", "9"], 1), ([X], 1), (["y"], 1)]


def test_hostile_keys_are_shown_in_part(tmp_path: Path) -> None:
    """Neither their length nor their number is that of what is kept."""
    written = record("Found", {X: NUMBER, "y" * 30: str})
    keys = {f"{number}" + "k" * 100_000: 1 for number in range(30)}
    more = {f"{number}": 1 for number in range(3000)}
    messages = (example({X: 1, **keys}), example({X: 1, **more}))
    found = verified(tmp_path, written, *messages)
    [finding] = found.findings
    assert len(finding.examples[0].found) < 2000
    [split] = found.splits
    assert max(len(note.key) for note in split.notes) < 300
    assert len(split.notes) == 1001
