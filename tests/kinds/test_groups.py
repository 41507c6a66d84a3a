"""Groups: fields with equally many items, when writing, when reading, in findings."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from columns import columns_of
from stored_features import blobs, changed, floats, ints, refusal

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
    graph = tf.function(parser.parse_batch, input_signature=signature, autograph=False)
    return lambda *records: graph(tf.constant(records))


# A field of another length than the first of its group, which has 2, and its length.
UNEQUAL: list[tuple[dict[str, Any], int]] = [
    ({"xmax": [1.0]}, 1),
    ({"outline": [[1]]}, 1),
    ({"weight": []}, 0),
    ({"text": ("a", "b", "c")}, 3),
    ({"size": np.zeros((1, 2))}, 1),
    ({"parts": [1, 2, 3], "tokens": [1, 2, 3, 4]}, 3),  # before anything is cut off
]


@pytest.mark.parametrize(("change", "length"), UNEQUAL)
def test_unequal_lengths_are_refused(
    package: Workspace, serializer: Any, change: dict[str, Any], length: int
) -> None:
    """By row, batch and class; the error names field, lengths and group."""
    detection = package.record("Detection")
    assert detection(**ROW).weight is None
    calls = (
        (serializer.serialize, {**ROW, **change}),
        (serializer.serialize_batch, columns_of(FULL, {**FULL, **change})),
        (detection, {**ROW, **change}),
    )
    name, other = next(iter(change)), 4 if "tokens" in change else 2
    group = "'t'" if "tokens" in change else "'boxes'"
    for call, row in calls:
        shown = rf"(?s)'{name}'?.* {length} .* {other}.*{group}"
        with pytest.raises(ValueError, match=shown) as caught:
            call(**row)
        assert call != serializer.serialize_batch or "row 1" in str(caught.value)


def test_columns_may_be_arrays(serializer: Any) -> None:
    """An array [B, T] has T items in every row."""
    columns = columns_of(ROW, ROW, ROW)
    columns["before"] = {"low": [[1]] * 3, "high": np.ones((3, 1), np.int64)}
    columns["xmin"] = np.zeros((3, 2), np.float32)
    assert len(serializer.serialize_batch(**columns)) == 3
    columns["xmin"] = np.zeros((3, 4), np.float32)
    with pytest.raises(ValueError, match=r"row 0: .*'xmax'.* 2 .* 4"):
        serializer.serialize_batch(**columns)


def test_each_nested_model_has_groups_of_its_own(serializer: Any) -> None:
    """One model in two places: its group is one group in each of them."""
    serializer.serialize(**ROW)  # before has one item, after has none
    with pytest.raises(ValueError, match="'before/boxes'"):
        serializer.serialize(**{**ROW, "before": {"low": [1], "high": []}})


# What is changed in the bytes of a full row, and which numbers of items are shown.
WRONG_BYTES: list[tuple[dict[str, tf.train.Feature], str]] = [
    ({"bbox/xmin": floats(1)}, "'xmax'.* 2.*'xmin'.* 1"),
    ({"xmax": floats(1, 2, 3)}, "'xmax'.* 3.*'xmin'.* 2"),
    ({"weight": floats()}, "'xmin'.* 2.*'weight'.* 0"),
    ({"size": blobs(bytes(16))}, "'xmin'.* 2.*'size'.* 1"),
    ({"outline": ints(), "outline/row_lengths": ints(0)}, "'xmin'.* 2.*'outline'.* 1"),
]


@pytest.mark.parametrize(("features", "shown"), WRONG_BYTES)
def test_bytes_of_unequal_lengths_are_refused(
    serializer: Any,
    parse: Callable[..., Any],
    features: dict[str, tf.train.Feature],
    shown: str,
) -> None:
    """Padded or not, cut or not: lengths are compared as they are on disk."""
    good = serializer.serialize(**FULL)
    message = refusal(parse, good, changed(good, **features))
    assert "'boxes'" in message
    assert re.search(f"(?s){shown}", message)


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


def test_only_fields_that_are_asked_for_are_checked(
    serializer: Any, parser: Any
) -> None:
    """A subset of fields parses only those: others may be wrong or missing."""
    good = serializer.serialize(**FULL)
    wrong = tf.constant([changed(good, xmax=floats(1), tokens=None)])
    only = parser.parse_batch(wrong, ["xmin", "outline"])
    assert only["xmin"].numpy().tolist() == [[0.0, 0.5]]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"'xmin'.* 2.*'xmax'"):
        parser.parse_batch(wrong, ["xmin", "xmax"])
