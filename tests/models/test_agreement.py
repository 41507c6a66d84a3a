"""Whether a dataset fits a model: what `check_dataset` says where it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
import tensorflow as tf

if TYPE_CHECKING:
    from conftest import Workspace

SCHEMA = """
from typing import Annotated
import numpy as np
from schemagen import Image, Label, Record, Scalar, Sparse, Text, VarLen, Vector

class One(Record):
    image: Annotated[np.ndarray, Image(shape=(4, 4, 1))]
    place: Annotated[np.ndarray, Vector(shape=(3,))]
    tokens: list[int]
    loose: Annotated[np.ndarray, VarLen("float32", ragged=True)]
    height: float | None = None
    count: int | None = None
    thin: Annotated[dict[int, float], Sparse(shape=(9,), index_key="at", key="value")]
    answer: Annotated[int, Label(num_classes=2)]
    note: Annotated[str, Text(role="info")]

class Two(Record):
    place: Annotated[np.ndarray, Vector(shape=(3,))]
    answer: Annotated[int, Label(num_classes=2)]
    size: Annotated[np.ndarray, Vector(shape=(2,), role="target")]
    weight: Annotated[float, Scalar("float32", role="weight")]

class Bare(Record):
    place: Annotated[np.ndarray, Vector(shape=(3,))]
"""

Change = Callable[..., Any]


def _spec(dtype: Any, *shape: int | None) -> tf.TensorSpec:
    return tf.TensorSpec((None, *shape), dtype)


_FEATURES = {
    "image": _spec(tf.uint8, 4, 4, 1),
    "place": _spec(tf.float32, 3),
    "tokens": _spec(tf.int64, None),
    "loose": tf.RaggedTensorSpec((None, None), tf.float32),
    "height": _spec(tf.float32),
    "count": _spec(tf.int64),
    "count_present": _spec(tf.bool),
    "thin": tf.SparseTensorSpec((None, 9), tf.float32),
}
_ANSWER = _spec(tf.int64)
_PLACE = {"place": _spec(tf.float32, 3)}
_TWO = {"answer": _spec(tf.int64), "size": _spec(tf.float32, 2)}
_WEIGHT = _spec(tf.float32)


class _Dataset:
    """As much of a dataset as a check looks at."""

    def __init__(self, element_spec: Any) -> None:
        self.element_spec = element_spec


@pytest.fixture(scope="module")
def models(package: Workspace) -> dict[str, Any]:
    """A model of each record."""
    names = ("one", "two", "bare")
    return {name: package.module(name, "model").build_model() for name in names}


def _check(
    package: Workspace, models: dict[str, Any], record: str, element: Any
) -> str:
    """Return what is said of a dataset; "" if nothing is."""
    try:
        check = package.module(record, "model").check_dataset
        check(models[record], _Dataset(element))
    except ValueError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("record", "element"),
    [
        ("one", (_FEATURES, _ANSWER)),
        ("one", ({**_FEATURES, "image": _spec(tf.uint8, None, None, 1)}, _ANSWER)),
        ("one", ({**_FEATURES, "place": tf.TensorSpec((8, 3), tf.float32)}, _ANSWER)),
        ("two", (_PLACE, _TWO, _WEIGHT)),
        ("bare", _PLACE),
    ],
)
def test_what_fits_is_not_refused(
    package: Workspace, models: dict[str, Any], record: str, element: Any
) -> None:
    """Also where a size is not known, or the batch's size is."""
    assert _check(package, models, record, element) == ""


def test_the_pipelines_own_datasets_fit(
    package: Workspace, models: dict[str, Any], tmp_path: Any
) -> None:
    """What `make_dataset` delivers is what the model takes."""
    rows = [{"place": [0, 1, 2], "answer": 1, "size": [1, 2], "weight": 1.0}] * 3
    package.module("two", "serializer").write_dataset(rows, tmp_path, "train")
    dataset = package.module("two", "pipeline").make_dataset(tmp_path, batch_size=2)
    package.module("two", "model").check_dataset(models["two"], dataset)


def _with(**changed: Any) -> Any:
    return {**_FEATURES, **changed}, _ANSWER


def _without(name: str) -> Any:
    return {key: spec for key, spec in _FEATURES.items() if key != name}, _ANSWER


_B3 = "float32 [B, 3]"

# a record; elements of a dataset; what is wrong of them; and what else is named
_WRONG: list[tuple[str, Any, str, tuple[str, ...]]] = [
    ("one", _without("place"), "feature 'place'", (_B3,)),
    ("one", _with(note=_spec(tf.string)), "feature 'note'", ("fields=",)),
    (
        "one",
        ({**_without("place")[0], "plaice": _spec(tf.float32, 3)}, _ANSWER),
        "feature 'plaice'",
        ("feature 'place'",),
    ),
    (
        "one",
        _with(image=_spec(tf.float32, 4, 4, 1)),
        "feature 'image'",
        ("float32 [B, 4, 4, 1]", "uint8 [B, 4, 4, 1]"),
    ),
    ("one", _with(place=_spec(tf.float32, 4)), "feature 'place'", ("[B, 4]", _B3)),
    ("one", _with(height=_spec(tf.float32, 1)), "feature 'height'", ("[B, 1]",)),
    ("one", _with(loose=_spec(tf.float32, None)), "feature 'loose'", ("ragged",)),
    (
        "one",
        _with(tokens=tf.RaggedTensorSpec((None, None), tf.int64)),
        "feature 'tokens'",
        ("int64 [B, ?], ragged", "dense"),
    ),
    ("one", _with(thin=_spec(tf.float32, 9)), "feature 'thin'", ("[B, 9], sparse",)),
    ("one", _with(place={"x": _spec(tf.float32)}), "feature 'place'", ("x", _B3)),
    (
        "two",
        ({"place": tf.TensorSpec((3,), tf.float32)}, _TWO, _WEIGHT),
        "",
        ("batch_size=",),
    ),
    ("two", (_FEATURES["image"], _TWO, _WEIGHT), "features", ("uint8", "place")),
    (
        "two",
        ({"pixels": _spec(tf.uint8, 8, 8)}, _TWO, _WEIGHT),
        "features",
        ("pixels", "place"),
    ),
    ("one", _FEATURES, "targets", ("answer", "targets=False")),
    ("one", (_FEATURES, {"answer": _ANSWER}), "target 'answer'", ("int64 [B]",)),
    (
        "one",
        (_FEATURES, _spec(tf.int64, 2)),
        "target 'answer'",
        ("int64 [B, 2]", "int64 [B]"),
    ),
    ("one", (_FEATURES, _ANSWER, {"note": _spec(tf.string)}), "", ("note", "info=")),
    ("two", (_PLACE, _TWO["answer"], _WEIGHT), "targets", ("int64 [B]", "size")),
    (
        "two",
        (_PLACE, {"answer": _ANSWER, "sizes": _TWO["size"]}, _WEIGHT),
        "target 'size'",
        ("float32 [B, 2]", "target 'sizes'"),
    ),
    (
        "two",
        (_PLACE, {**_TWO, "size": _spec(tf.float64, 2)}, _WEIGHT),
        "target 'size'",
        ("float64 [B, 2]", "float32 [B, 2]"),
    ),
    ("two", (_PLACE, _TWO), "weights", ()),
    ("two", (_PLACE, _TWO, {"note": _spec(tf.string)}), "weights", ("note", "[B]")),
    ("bare", (_PLACE, _ANSWER), "", ("int64 [B]",)),
]


@pytest.mark.parametrize(("record", "element", "what", "words"), _WRONG)
def test_what_does_not_fit_is_named(
    package: Workspace,
    models: dict[str, Any],
    record: str,
    element: Any,
    what: str,
    words: tuple[str, ...],
) -> None:
    """The field, what was found, and what is expected."""
    found = _check(package, models, record, element)
    others = [word for word in words if word.startswith(("feature", "target '"))]
    assert found.count("\n  ") == 1 + len(others)
    assert f"\n  {what}" in found
    assert [word for word in words if word not in found] == []


def test_all_is_said_at_once(package: Workspace, models: dict[str, Any]) -> None:
    """One line for each thing that is wrong."""
    features, _ = _with(place=_spec(tf.float64, 3), image=_spec(tf.uint8, 4, 4, 3))
    found = _check(package, models, "one", (features, _spec(tf.string)))
    assert [line.split(":")[0] for line in found.splitlines()[1:]] == [
        "  feature 'image'",
        "  feature 'place'",
        "  target 'answer'",
    ]


def test_some_fields_fit_a_model_of_the_same(
    package: Workspace, models: dict[str, Any]
) -> None:
    """And no model of all of them, nor the other way round."""
    module = package.module("one", "model")
    model = module.build_model(fields=["place", "count"])
    names = ("place", "count", "count_present")
    some = _Dataset(({name: _FEATURES[name] for name in names}, _ANSWER))
    module.check_dataset(model, some)
    with pytest.raises(ValueError, match="feature 'image'"):
        module.check_dataset(models["one"], some)
    with pytest.raises(ValueError, match="feature 'image'"):
        module.check_dataset(model, _Dataset((_FEATURES, _ANSWER)))
