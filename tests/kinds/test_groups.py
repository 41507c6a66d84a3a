"""Groups: fields with equally many items, when writing, when reading, in findings."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from command_line import make_project, place, refusals
from stored_features import changed, floats, said

if TYPE_CHECKING:
    from conftest import Workspace

SCHEMA = """
from typing import Annotated
import numpy as np
from pydantic import BaseModel
from schemagen import Ragged, Record, VarLen

class Corners(BaseModel):
    low: Annotated[list[int], VarLen("int64", group="boxes")]
    high: Annotated[list[int], VarLen("int64", group="boxes")]

class Detection(Record):
    xmin: Annotated[list[float], VarLen("float32", group="boxes", key="bbox/xmin")]
    xmax: Annotated[list[float], VarLen("float32", group="boxes", ragged=True)]
    outline: Annotated[list[list[int]], Ragged("int64", group="boxes")]
    weight: Annotated[list[float] | None, VarLen("float32", group="boxes")] = None
    crowd: Annotated[list[bool] | None, VarLen("bool", group="boxes")] = None
    size: Annotated[np.ndarray | None,
        VarLen("float64", group="boxes", item_shape=(2,), presence=True)] = None
    text: Annotated[list[str] | None, VarLen("string", group="boxes")] = None
    score: Annotated[list[int] | None, VarLen("uint8", group="boxes")] = None
    tokens: Annotated[list[int], VarLen("int64", max_length=3, too_long="keep_head", group="t")]
    parts: Annotated[list[int], VarLen("int64", max_length=3, too_long="keep_head", group="t")]
    before: Corners
    after: Corners
"""
RECORD = "detection"

ROW: dict[str, Any] = {
    "xmin": [0.0, 0.5],
    "xmax": [1.0, 1.5],
    "outline": [[1, 2, 3], []],
    "tokens": [1, 2],
    "parts": [0, 1],
    "before": {"low": [1], "high": [2]},
    "after": {"low": [], "high": []},
}

FULL = {
    **ROW,
    "weight": [0.25, 0.75],
    "crowd": [True, True],
    "size": [[1.0, 2.0], [3.0, 4.0]],
    "text": ["a", "b"],
    "score": [8, 9],
}


@pytest.fixture(scope="module", params=["eager", "graph"])
def parse(request: pytest.FixtureRequest, parser: Any) -> Callable[..., Any]:
    """`parse_batch`, by itself and as tf.data runs it."""
    if request.param == "eager":
        return lambda *records: parser.parse_batch(tf.constant(records))
    signature = [tf.TensorSpec((None,), tf.string)]
    graph = tf.function(parser.parse_batch, input_signature=signature)
    return lambda *records: graph(tf.constant(records))


def columns_of(*rows: dict[str, Any]) -> dict[str, Any]:
    """Return rows as columns, those of nested models in dicts."""
    return {
        name: columns_of(*(row[name] for row in rows))
        if isinstance(rows[0][name], dict)
        else [row[name] for row in rows]
        for name in rows[0]
    }


# What is changed in a row, and what the error says of it.
UNEQUAL = [
    (
        {"xmax": [1.0]},
        "field 'xmax': found 1 items, expected 2, as many as 'xmin' has: both are in "
        "the group 'boxes'",
    ),
    ({"outline": [[1]]}, "field 'outline': found 1 items, expected 2"),
    ({"weight": []}, "field 'weight': found 0 items, expected 2, as many as 'xmin'"),
    ({"text": ("a", "b", "c")}, "field 'text': found 3 items, expected 2"),
    ({"size": np.zeros((1, 2))}, "field 'size': found 1 items, expected 2"),
    # Counted before anything is cut off.
    (
        {"tokens": [1, 2, 3, 4], "parts": [1, 2, 3]},
        "'parts': found 3 items, expected 4",
    ),
]


@pytest.mark.parametrize(("change", "message"), UNEQUAL)
def test_a_row_of_unequal_lengths_is_refused(
    serializer: Any, change: dict[str, Any], message: str
) -> None:
    """The error names both fields, both lengths and the group."""
    with pytest.raises(ValueError, match="field") as caught:
        serializer.serialize(**{**ROW, **change})
    assert message in str(caught.value)


@pytest.mark.parametrize(("change", "message"), UNEQUAL)
def test_a_batch_of_unequal_lengths_names_the_row(
    serializer: Any, change: dict[str, Any], message: str
) -> None:
    """All rows are looked at before one is written."""
    columns = columns_of(FULL, {**FULL, **change})
    with pytest.raises(ValueError, match="row 1: ") as caught:
        serializer.serialize_batch(**columns)
    assert message in str(caught.value)


def test_columns_may_be_arrays(serializer: Any) -> None:
    """An array [B, T] has T items in every row."""
    columns = columns_of(ROW, ROW, ROW)
    columns["before"] = {"low": [[1]] * 3, "high": np.ones((3, 1), np.int64)}
    columns["xmin"] = np.zeros((3, 2), np.float32)
    assert len(serializer.serialize_batch(**columns)) == 3
    columns["xmin"] = np.zeros((3, 4), np.float32)
    with pytest.raises(
        ValueError, match="row 0: field 'xmax': found 2 items, expected 4"
    ):
        serializer.serialize_batch(**columns)


def test_a_wrong_type_is_still_what_is_said_of_it(serializer: Any) -> None:
    """What is no sequence is not counted: its own field refuses it."""
    for wrong in ("ab", 3.5, np.float32(1.0)):
        with pytest.raises(ValueError, match=r"field 'xmax': found (?!\d items)"):
            serializer.serialize(**{**ROW, "xmax": wrong})
    columns = {**columns_of(ROW, ROW), "xmax": 3}
    with pytest.raises(ValueError, match="field 'xmax': found a column of type int"):
        serializer.serialize_batch(**columns)
    columns["xmax"] = [[1.0, 2.0]]
    with pytest.raises(ValueError, match=r"found [12] rows, expected [12], as many as"):
        serializer.serialize_batch(**columns)


@pytest.mark.parametrize(("change", "message"), UNEQUAL)
def test_an_instance_of_the_class_is_checked_too(
    package: Workspace, change: dict[str, Any], message: str
) -> None:
    """`Detection(**row)` refuses what the writer refuses, in pydantic's way."""
    spec = importlib.util.spec_from_file_location(
        "groups_schema", package.root / "schemas" / "records.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.Detection(**ROW).weight is None
    with pytest.raises(ValueError, match="record_group") as caught:
        module.Detection(**{**ROW, **change})
    assert message in str(caught.value)


def test_each_nested_model_has_groups_of_its_own(serializer: Any) -> None:
    """One model in two places: its group is one group in each of them."""
    serializer.serialize(**ROW)  # before has one item, after has none
    with pytest.raises(ValueError, match="the group 'before/boxes'"):
        serializer.serialize(**{**ROW, "before": {"low": [1], "high": []}})


@pytest.mark.quick_cases(1)
def test_what_is_missing_reads_as_empty(
    serializer: Any, parse: Callable[..., Any]
) -> None:
    """A present list is kept, and a mask tells which lists are there."""
    batch = parse(*(serializer.serialize(**row) for row in (ROW, FULL)))
    assert batch["weight"].numpy().tolist() == [[0, 0], [0.25, 0.75]]
    assert batch["crowd"].numpy().tolist() == [[False] * 2, [True] * 2]
    assert batch["size"].numpy().tolist() == [[[0, 0]] * 2, [[1, 2], [3, 4]]]
    assert batch["text"].numpy().tolist() == [[b""] * 2, [b"a", b"b"]]
    for name in ("weight", "crowd", "size", "text", "score"):
        assert batch[f"{name}_present"].numpy().tolist() == [False, True]


# What is changed in the bytes of a full row, and what the error says.
WRONG_BYTES = [
    ({"bbox/xmin": floats(1)}, "found 'xmax' with 2, 'xmin' with 1"),
    ({"xmax": floats(1, 2, 3)}, "found 'xmax' with 3, 'xmin' with 2"),
    ({"weight": floats()}, "found 'xmin' with 2, 'weight' with 0"),
    (
        {"size": tf.train.Feature(bytes_list=tf.train.BytesList(value=[bytes(16)]))},
        "found 'xmin' with 2, 'size' with 1",
    ),
    (
        {
            "outline": tf.train.Feature(int64_list=tf.train.Int64List(value=[])),
            "outline/row_lengths": tf.train.Feature(
                int64_list=tf.train.Int64List(value=[0])
            ),
        },
        "found 'xmin' with 2, 'outline' with 1",
    ),
]


@pytest.mark.parametrize(("features", "message"), WRONG_BYTES)
def test_bytes_of_unequal_lengths_are_refused(
    serializer: Any,
    parse: Callable[..., Any],
    features: dict[str, tf.train.Feature],
    message: str,
) -> None:
    """Padded or not, cut or not: lengths are compared as they are on disk."""
    good = serializer.serialize(**FULL)
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        parse(good, changed(good, **features))
    text = said(caught)
    assert "group 'boxes': expected equally many items of each field" in text
    assert message in text


@pytest.mark.parametrize("gone", [None, tf.train.Feature()])
def test_an_optional_field_that_is_absent_does_not_count(
    serializer: Any, parse: Callable[..., Any], gone: tf.train.Feature | None
) -> None:
    """Neither without its key, nor with a feature in which no kind is set."""
    good = serializer.serialize(**FULL)
    batch = parse(good, changed(good, weight=gone, score=gone))
    assert batch["weight"].numpy().tolist() == [[0.25, 0.75], [0.0, 0.0]]
    assert batch["weight_present"].numpy().tolist() == [True, False]
    assert batch["score_present"].numpy().tolist() == [True, False]


def test_a_required_field_that_is_absent_is_said_to_be(
    serializer: Any, parse: Callable[..., Any]
) -> None:
    """It is not called unequal: it is not there."""
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        parse(changed(serializer.serialize(**FULL), xmax=None))
    words = "feature 'xmax' is required, and an Example does not have it"
    assert words in said(caught)


def test_only_fields_that_are_asked_for_are_checked(
    serializer: Any, parser: Any
) -> None:
    """A subset of fields parses only those: others may be wrong or missing."""
    good = serializer.serialize(**FULL)
    wrong = tf.constant([changed(good, xmax=floats(1), tokens=None)])
    only = parser.parse_batch(wrong, ["xmin", "outline"])
    assert only["xmin"].numpy().tolist() == [[0.0, 0.5]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="'xmin' with 2, 'xmax'"):
        parser.parse_batch(wrong, ["xmin", "xmax"])


def of_fields(tmp_path: Path, *lines: str) -> list[dict[str, Any]]:
    """Return the findings of a record with these fields."""
    head = "from typing import Annotated\nfrom schemagen import *\n\nclass R(Record):\n"
    text = head + "".join(f"    {line}\n" for line in lines)
    return refusals(make_project(tmp_path, {"r.py": text}))


GROUP = "Annotated[list[int], VarLen('int64', group='g'{})]"


@pytest.mark.parametrize(
    ("lines", "at", "message", "expected"),
    [
        (
            ["a: " + GROUP.format("")],
            5,
            "R.a: the group 'g' has no other field",
            "two fields or more",
        ),
        (
            ["a: " + GROUP.format(""), "b: " + GROUP.format(", max_length=3")],
            6,
            "R.b: max_length=3 in the group 'g'",
            "max_length=None, as 'a' has",
        ),
        (
            [
                "a: " + GROUP.format(", max_length=3, too_long='keep_head'"),
                "b: " + GROUP.format(", max_length=3, too_long='keep_tail'"),
            ],
            6,
            "R.b: too_long='keep_tail' in the group 'g'",
            "too_long='keep_head', as 'a' has",
        ),
        (
            [
                "a: " + GROUP.format(", max_length=3, pad_on_disk=True"),
                "b: " + GROUP.format(", max_length=3"),
            ],
            6,
            "R.b: pad_on_disk=False in the group 'g'",
            "pad_on_disk=True, as 'a' has",
        ),
        (
            ["a: " + GROUP.format(""), "b: " + GROUP.format("") + " = []"],
            6,
            "R.b: a default in the group 'g'",
            "None: a default has one length",
        ),
    ],
)
def test_wrong_groups_are_findings(
    tmp_path: Path, lines: list[str], at: int, message: str, expected: str
) -> None:
    """Each at the field that is wrong, with what to write instead."""
    (finding,) = of_fields(tmp_path, *lines)
    assert finding["rule"] == "SG113"
    assert place(finding) == f"schemas/r.py:{at}:5"
    assert finding["message"].startswith(message)
    assert finding["expected"].startswith(expected)
    assert finding["advice"]
