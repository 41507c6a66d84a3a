"""What differs in few records is a doubt with their number, and not a wider type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import schemagen
from data.messages import example, sequence_example, write_file
from pictures import picture

from .inference import found_in, infer, many
from .test_what_is_doubtful import proto

RECORDS, ODD = 200, (5, 70)
Value = Callable[[int], Any]

JPEG = picture(5, 6, form="jpeg")
NUMBERS = np.arange(12, dtype="<f4") / 7


def but(usual: Value, odd: Any) -> Value:
    """Return what two records have, and what the others have."""
    return lambda at: odd if at in ODD else usual(at)


# What a key holds, its kind, what it is declared as, and what two records have.
CASES: dict[str, tuple[Value, str, Mapping[str, Any], str]] = {
    "lengths": (
        but(lambda i: [0.5] * 6, [0.5] * 7),
        "Vector",
        {"shape": (6,)},
        "7 values",
    ),
    "no value": (
        but(lambda i: [i, 1], np.empty(0, np.int64)),
        "Vector",
        {"shape": (2,)},
        "0 values",
    ),
    "several values": (but(lambda i: i, [1, 2]), "Scalar", {}, "2 values"),
    "kinds": (but(lambda i: i, 0.5), "Scalar", {"dtype": "int64"}, "float values"),
    "texts": (but(lambda i: f"text {i}", b"\xff"), "Text", {}, "not text"),
    "NaN": (
        but(lambda i: i / 7, float("nan")),
        "Scalar",
        {"finite": True},
        "NaN or infinities",
    ),
    "NaN in raw numbers": (
        but(lambda i: (NUMBERS + i).tobytes(), np.full(12, np.inf, "<f4").tobytes()),
        "Vector",
        {"finite": True, "dtype": "float32"},
        "NaN or infinities",
    ),
    "sizes of raw numbers": (
        but(lambda i: (NUMBERS + i).tobytes(), NUMBERS[:9].tobytes()),
        "Vector",
        {"shape": (12,), "dtype": "float32"},
        "36 bytes",
    ),
    "tensors": (
        but(lambda i: proto(1, NUMBERS[:2].tobytes(), 2), proto(4, b"\1\1\1", 3)),
        "Tensor",
        {"shape": (2,), "dtype": "float32"},
        "tensor of uint8",
    ),
    "formats": (
        but(lambda i: JPEG, picture(5, 6)),
        "Image",
        {"shape": (5, 6, 3), "encoding": "jpeg"},
        "a PNG",
    ),
    "broken images": (
        but(lambda i: JPEG, JPEG[:20]),
        "Image",
        {"shape": (5, 6, 3), "encoding": "jpeg"},
        "a broken JPEG",
    ),
    "sizes of images": (
        but(lambda i: JPEG, picture(5, 7, form="jpeg")),
        "Image",
        {"shape": (5, 6, 3), "encoding": "jpeg"},
        "an image of 5x7",
    ),
    "one of several images": (
        but(lambda i: [JPEG] * 2, [JPEG, JPEG[:20]]),
        "Images",
        {"count": 2, "encoding": "jpeg"},
        "a JPEG and a broken JPEG",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_two_records_of_two_hundred_are_a_doubt(tmp_path: Path, case: str) -> None:
    """The field is declared as the others have it, and `verify` names the two."""
    value, kind, facts, said = CASES[case]
    messages = many(lambda i: {"x": value(i), "z": i / 7}, RECORDS)
    fields, comments = found_in(tmp_path, messages)
    found = fields["x"].kind
    assert found.kind == kind
    assert {name: getattr(found, name) for name in facts} == facts
    assert f"doubt: 2 of {RECORDS} records have" in comments["x"]
    assert said in comments["x"]
    spec = infer(tmp_path / "records", tmp_path / "again.py").spec
    findings = schemagen.verify(tmp_path / "records", record=spec).findings
    assert {each.record for one in findings for each in one.examples} == set(ODD)


@pytest.mark.parametrize("case", CASES)
def test_two_records_of_fifty_are_not_few(tmp_path: Path, case: str) -> None:
    """Every record that was read can be read, or the key is left out."""
    at = (5, 30)
    value = CASES[case][0]
    rows = [value(ODD[0]) if i in at else value(6) for i in range(50)]
    data = write_file(
        tmp_path / "records", [example({"x": row, "z": 0.5}) for row in rows]
    )
    spec = infer(data, tmp_path / "found.py").spec
    findings = schemagen.verify(data, record=spec).findings
    assert [one.field for one in findings if one.field] == []


def test_a_list_without_a_usual_length_has_no_odd_ones(tmp_path: Path) -> None:
    """Lists that are empty nearly everywhere, objects, and what many records lack."""
    messages = many(
        lambda i: {
            **{"rare": [1, 2] if i in ODD else np.empty(0, np.int64)},
            **{"image/object/bbox/xmin": [0.5] * (1 + (i in ODD))},
            **({"some": 1} if i in ODD else {}),
            **{"image": b"" if i in ODD else picture(4, 5)},
        },
        RECORDS,
    )
    fields, comments = found_in(tmp_path, messages)
    kinds = {key: field.kind.kind for key, field in fields.items()}
    assert kinds == {
        **{"rare": "VarLen", "image/object/bbox/xmin": "VarLen"},
        **{"some": "Scalar", "image": "Image"},
    }
    assert fields["image"].optional
    assert "of 200 records" not in " ".join(comments.values())


def test_steps_of_few_records_are_a_doubt(tmp_path: Path) -> None:
    """Counted in records."""
    messages = [
        sequence_example(
            {"z": 0.5},
            {"x": [[0.5] * (3 if (i, at) == (5, 1) else 2) for at in range(4)]},
        )
        for i in range(RECORDS)
    ]
    fields, comments = found_in(tmp_path, messages)
    assert fields["x"].kind.step.shape == (2,)
    assert "1 of 200 records has 3 values" in comments["x"]


def test_a_key_of_few_records_that_differ_is_named(tmp_path: Path) -> None:
    """Above the class, as it is in no field."""
    messages = many(
        lambda i: {"x": i, "z": 0.5} if i not in ODD else {"x": "a", "y": 1}, RECORDS
    )
    fields, comments = found_in(tmp_path, messages)
    assert "y" not in fields
    assert "'y': 2 of 200 records have the key" in comments[""]


def test_malformed_records_do_not_shift_the_others(tmp_path: Path) -> None:
    """The odd ones are left out, and those beside them are not."""
    messages = many(lambda i: {"x": i if i not in ODD else "a"}, RECORDS)
    messages[3:3] = [b"\xff\xff"]
    fields, comments = found_in(tmp_path, messages)
    assert fields["x"].kind.kind == "Scalar"
    assert "2 of 200 records have bytes values" in comments["x"]


@pytest.mark.parametrize("few", [True, False])
def test_kinds_that_differ_name_their_files(tmp_path: Path, few: bool) -> None:
    """As a doubt, or as the reason for which a key is left out."""
    for name, value, number in (("a", 1, RECORDS), ("b", 0.5, 2 if few else 50)):
        rows = [example({"x": value, "z": 0.5})] * number
        write_file(tmp_path / "data" / name, rows)
    found = infer(tmp_path / "data" / "*", tmp_path / "found.py")
    assert "float in 'b', int64 in 'a'" in found.prose
    assert ("left out 'x'" in found.output) is not few
