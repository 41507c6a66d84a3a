"""Nested models: their keys have the path before them, and batches are nested again."""

from __future__ import annotations

import runpy
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from columns import columns_of
from command_line import make_project, place, refusals
from pydantic import ValidationError
from trained_models import train

if TYPE_CHECKING:
    from conftest import PackageOf


EPISODE = """
from typing import Annotated

import numpy as np
from pydantic import BaseModel, model_validator

from schemagen import *


class Arm(BaseModel):
    joints: Annotated[np.ndarray, Vector((2,))]
    gripper: float | None = None


class Observation(BaseModel):
    \"\"\"What the robot sees.\"\"\"

    image: Annotated[np.ndarray | bytes,
        Image((2, 2, 1), encoding="png", height_key="height")]
    arm: Arm
    words: list[str] = []


class Steps(BaseModel):
    observation: Observation
    action: Annotated[np.ndarray, VarLen("float32", item_shape=(3,))]
    reward: int | None = None

    @model_validator(mode="after")
    def action_is_there(self) -> "Steps":
        if len(self.action) > 4:
            raise ValueError("more actions than the robot takes")
        return self


class Episode(Record):
    \"\"\"A robot's episode.\"\"\"

    id: str
    steps: Steps
    scene: Annotated[Arm, Nested(key="meta/scene arm")]
    success: Annotated[bool, Scalar("bool", role="target")]
"""


def row(**changes: Any) -> dict[str, Any]:
    """Return a row with every field."""
    arm = {"joints": np.float32([1, 2]), "gripper": 0.5}
    observation = {
        "image": np.uint8([[[1], [2]], [[3], [4]]]),
        "arm": arm,
        "words": ["pick", "up"],
    }
    action = np.arange(6, dtype=np.float32).reshape(2, 3)
    steps = {"observation": observation, "action": action, "reward": 7}
    scene = {"joints": np.float32([3, 4])}
    return {"id": "a", "steps": steps, "scene": scene, "success": True} | changes


@pytest.fixture(scope="module")
def episode(package_of: PackageOf) -> SimpleNamespace:
    """The generated modules."""
    package = package_of(EPISODE)
    parts = ("serializer", "parser")
    return SimpleNamespace(
        root=package.root,
        **{part: package.module("episode", part) for part in parts},
    )


@pytest.fixture(scope="module")
def schema(episode: SimpleNamespace) -> SimpleNamespace:
    """What the schema file defines."""
    path = episode.root / "schemas" / "records.py"
    return SimpleNamespace(**runpy.run_path(str(path)))


def flat(tensors: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in tensors.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{prefix}{name}.")
        else:
            found[prefix + name] = np.asarray(value).tolist()
    return found


def test_parsed_records_are_nested_again(episode: SimpleNamespace) -> None:
    """Dicts in dicts, with masks next to what they are of; alone and in batches."""
    serialized = episode.serializer.serialize(**row())
    stored = tf.train.Example.FromString(serialized).features.feature
    assert {"steps/observation/height", "meta/scene arm/joints"} <= set(stored)
    data = tf.constant(serialized)
    parsed = episode.parser.parse_example(data)
    assert set(parsed) == {"id", "steps", "scene", "success"}
    assert set(parsed["steps"]["observation"]) == {"image", "arm", "words"}
    found = flat(parsed)
    assert found["id"] == b"a"
    assert found["steps.observation.arm.joints"] == [1, 2]
    assert found["steps.observation.arm.gripper"] == 0.5
    assert found["steps.observation.image"] == [[[1], [2]], [[3], [4]]]
    assert found["steps.observation.words"] == [b"pick", b"up"]
    assert found["steps.action"] == [[0, 1, 2], [3, 4, 5]]
    assert (found["steps.reward"], found["steps.reward_present"]) == (7, True)
    assert np.isnan(found["scene.gripper"])

    def graph(batch: tf.Tensor) -> Any:
        return episode.parser.parse_batch(batch)

    batch = tf.function(graph)(tf.stack([data, data]))
    again = flat(tf.nest.map_structure(lambda tensor: tensor[1], batch))
    np.testing.assert_equal(again, found)
    some = episode.parser.parse_batch([data], ["steps_reward", "id"])
    assert flat(some) == {
        "steps.reward": [7],
        "steps.reward_present": [True],
        "id": [b"a"],
    }


def test_rows_batches_and_instances_give_the_same_bytes(
    episode: SimpleNamespace, schema: Any
) -> None:
    """A nested value is a dict or an instance of its model; columns are nested too."""
    data = episode.serializer.serialize(**row())
    instance = schema.Episode(**row())
    assert isinstance(instance.steps.observation.arm, schema.Arm)
    assert episode.serializer.serialize(**dict(instance)) == data
    mixed = row(scene=schema.Arm(joints=np.float32([3, 4])))
    assert episode.serializer.serialize(**mixed) == data
    assert schema.Episode(**mixed).scene.gripper is None
    columns = columns_of(row(), row())
    assert episode.serializer.serialize_batch(**columns) == [data, data]


def wrong_rows() -> list[tuple[dict[str, Any], str, str]]:
    """Return rows, the field at fault, and what of it the error shows."""
    good = row()["steps"]
    seen = good["observation"]
    return [
        (row(steps=3), "steps", "3"),
        (row(steps=None), "steps", "None"),
        (row(steps={"action": good["action"]}), "steps", "'observation'"),
        (row(steps={**good, "acton": 1}), "steps", "'acton'"),
        (
            row(steps={**good, "observation": {**seen, "arm": {}}}),
            "steps.observation.arm",
            "'joints'",
        ),
    ]


@pytest.mark.parametrize(("wrong", "field", "found"), wrong_rows())
def test_what_is_wrong_inside_is_named_with_its_path(
    episode: SimpleNamespace, schema: Any, wrong: dict[str, Any], field: str, found: str
) -> None:
    """The writer and the schema's class refuse the same values."""
    with pytest.raises(ValueError, match=field) as refused:
        episode.serializer.serialize(**wrong)
    error: Any = refused.value
    assert error.field == field
    assert found in error.found
    assert error.expected
    with pytest.raises(ValidationError, match=found):
        schema.Episode(**wrong)


def test_a_field_that_is_none_is_named(episode: SimpleNamespace) -> None:
    """Where some fields are asked for, by a name that no field has."""
    with pytest.raises(ValueError, match=r"'steps\.reward'.*steps_reward"):
        episode.parser.parse_batch(tf.constant([b""]), ["steps.reward"])
    with pytest.raises(TypeError):
        episode.parser.parse_batch(tf.constant([b""]), "id")


def test_a_nested_models_own_validators_run(schema: Any) -> None:
    """A model is pydantic's: what it checks by itself is checked in a Record too."""
    long = {**row()["steps"], "action": np.zeros((5, 3), np.float32)}
    with pytest.raises(ValidationError, match="more actions than the robot takes"):
        schema.Episode(**row(steps=long))


@pytest.mark.slow
@pytest.mark.usefixtures("eager_training")
def test_nested_records_are_trained_on_and_served(
    package_of: PackageOf, episode: SimpleNamespace, tmp_path: Path
) -> None:
    """Features are by flat name, which is what Keras inputs are called."""
    rows = [row(success=bool(n % 2)) for n in range(8)]
    trained = train(package_of(EPISODE), "episode", rows, tmp_path / "data")
    features, _ = trained.dataset.element_spec
    assert "steps_observation_arm_joints" in features
    assert features.keys() == trained.module.make_inputs().keys()
    serve = trained.served(tmp_path / "served")
    answer = serve([episode.serializer.serialize(**rows[0])])["success"]
    expected = trained.model.predict(trained.dataset, verbose=0)[:1]
    np.testing.assert_allclose(answer, expected, rtol=1e-5)


HEAD = """\
from __future__ import annotations
from typing import Annotated
import numpy as np
from pydantic import BaseModel
from schemagen import Image, Nested, Record, Scalar, VarLen, Vector

class Inner(BaseModel):
    x: int

class Empty(BaseModel):
    pass

class Odd(BaseModel):
    y: Annotated[int, Scalar("flaot32")]
    _z: int = 3

class Loop(BaseModel):
    x: int
    loop: Loop

"""

# the record's fields, the rule, the line after HEAD, what of them the finding shows
WRONG_NESTING = [
    ("a: Inner | None = None", "SG111", 1, ""),
    ("a: Inner = Inner(x=1)", "SG111", 1, ""),
    ("a: Empty", "SG111", 1, "Empty"),
    ("a: Loop", "SG111", -2, "Loop"),
    ("a: list[Inner]", "SG111", 1, "list"),
    ('a: Annotated[Inner, Nested(key="b/")]', "SG111", 1, "b/"),
    ("a: Annotated[Inner, Vector((2,))]", "SG111", 1, "Vector"),
    ('a: Annotated[Inner, Nested(key="")]', "SG111", 1, ""),
    ('a: Annotated[int, Nested(key="b")]', "SG112", 1, "Nested"),
    ("a: Annotated[Inner, Nested]", "SG117", 1, "Nested"),
    ("a: Odd", "SG113", -5, "a.y: Scalar"),
    ("a: Inner\n    a_x: int", "SG115", 2, "'a.x'"),
    (
        'a: Inner\n    b: Annotated[int, Scalar("int64", key="a/x")]',
        "SG114",
        2,
        "'a/x'",
    ),
]


@pytest.mark.parametrize(("fields", "rule", "line", "shown"), WRONG_NESTING)
def test_wrong_nesting_is_a_finding_where_it_stands(
    tmp_path: Path, fields: str, rule: str, line: int, shown: str
) -> None:
    """Also where the mistake is in the nested model, whose line is shown then."""
    text = f"{HEAD}class Outer(Record):\n    {fields}\n    z: int\n"
    (found,) = refusals(make_project(tmp_path, {"outer.py": text}))
    assert found["rule"] == rule
    assert shown in f"{found['message']} {found['found']}"
    last = HEAD.count("\n")
    if line > 0:
        assert place(found) == f"schemas/outer.py:{last + 1 + line}:5"
    else:
        assert int(place(found).split(":")[1]) <= last
