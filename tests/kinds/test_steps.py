"""Sequence records: what is refused, what is missing, files, groups and models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from columns import columns_of
from pydantic import ValidationError
from stored_features import blobs, refusal
from trained_models import train

if TYPE_CHECKING:
    from conftest import Workspace

SCHEMA = """
from typing import Annotated, Any
import numpy as np
from schemagen import *

class Clip(SequenceRecord):
    id: str
    rgb: Annotated[np.ndarray, Steps(Vector((2,), dtype="uint8", encoding="raw"), group="g")]
    frames: Annotated[list[Any], Steps(Image((4, 4, 3), encoding="png"), group="g")]
    words: Annotated[list[str] | None, Steps(Text(), group="g")] = None
    times: Annotated[list[int], Steps(Scalar("int64"), max_length=3)]

class Plain(Record):
    id: str

class Learned(SequenceRecord):
    frames: Annotated[np.ndarray, Steps(Image((8, 8, 3)))]
    ragged_frames: Annotated[np.ndarray, Steps(Image((8, 8, 1)), ragged=True, padding_value=3)]
    numbers: Annotated[np.ndarray, Steps(Vector((2, 2)), padding_value=-1)]
    ragged_numbers: Annotated[np.ndarray, Steps(Vector((3,), dtype="int8"), ragged=True)]
    quantized: Annotated[
        np.ndarray, Steps(Vector((2,), dtype="uint8", dequantize=(0.5, 1.0)))
    ]
    speed: Annotated[list[float], Steps(Scalar("float32"))]
    acts: Annotated[list[int], Steps(Label(num_classes=3), role="input")]
    words: Annotated[list[str] | None, Steps(Text())] = None
    blobs: Annotated[list[bytes], Steps(Scalar("bytes"))]
    size: float
    answer: Annotated[int, Label(num_classes=2)]
"""
RECORD = "clip"


def clip(**changes: Any) -> dict[str, Any]:
    """Return a good row of Clip with two steps, with some changes."""
    row = {
        "id": "a",
        "rgb": np.array([[1, 2], [3, 4]], np.uint8),
        "frames": [np.full((4, 4, 3), number, np.uint8) for number in (7, 8)],
        "words": ["x", "y"],
        "times": [10, 20, 30],
    }
    return {**row, **changes}


def test_steps_may_be_nested(make_package: Callable[[str], Workspace]) -> None:
    """The keys of a nested model's steps begin with its path, as others do."""
    text = (
        SCHEMA.split("class Clip")[0]
        + """
from pydantic import BaseModel

class Seen(BaseModel):
    count: int
    frames: Annotated[np.ndarray, Steps(Vector((2,)))]

class Robot(SequenceRecord):
    seen: Seen
"""
    )
    package = make_package(text)
    row = {"seen": {"count": 3, "frames": np.ones((2, 2), np.float32)}}
    data = package.module("robot", "serializer").serialize(**row)
    message = tf.train.SequenceExample.FromString(data)
    assert list(message.context.feature) == ["seen/count"]
    assert list(message.feature_lists.feature_list) == ["seen/frames"]
    found = package.module("robot", "parser").parse_example(tf.constant(data))
    assert found["seen"]["count"] == 3
    np.testing.assert_array_equal(found["seen"]["frames"], np.ones((2, 2)))


def test_no_steps_are_of_the_declared_shape_and_dtype(serializer: ModuleType) -> None:
    """An empty array of another kind is refused like a full one."""
    none: dict[str, Any] = {"frames": [], "words": []}
    for right in ([], np.zeros((0, 2), np.uint8)):
        assert serializer.serialize(**clip(rgb=right, **none))
    for wrong in (np.zeros((0, 3), np.uint8), np.zeros((0, 2), np.float32)):
        with pytest.raises(ValueError, match="field 'rgb'"):
            serializer.serialize(**clip(rgb=wrong, **none))
        columns = columns_of(clip(), clip(rgb=wrong, **none))
        with pytest.raises(ValueError, match="row 1: field 'rgb'"):
            serializer.serialize_batch(**columns)


@pytest.mark.parametrize("words", [["x"], ["x", "y", "z"], []])
def test_fields_of_a_group_have_equally_many_steps(
    package: Workspace, serializer: ModuleType, parser: ModuleType, words: list[str]
) -> None:
    """Writers, the schema's class and readers refuse others; None does not count."""
    with pytest.raises(ValueError, match=r"'words'.*'g'"):
        serializer.serialize(**clip(words=words))
    with pytest.raises(ValidationError, match="'g'"):
        package.record("Clip")(**clip(words=words))
    message = tf.train.SequenceExample.FromString(serializer.serialize(**clip()))
    steps = tf.train.FeatureList(feature=[blobs(b"x")] * len(words))
    message.feature_lists.feature_list["words"].CopyFrom(steps)
    data = message.SerializeToString()
    assert "'g'" in refusal(lambda: parser.parse_batch(tf.constant([data])))
    missing = parser.parse_example(
        tf.constant(serializer.serialize(**clip(words=None)))
    )
    assert missing["words"].shape == (0,)
    assert not missing["words_present"]


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("compression", [None, "GZIP"])
def test_sequences_are_written_and_read_as_datasets(
    package: Workspace, tmp_path: Path, compression: str | None
) -> None:
    """Files, manifest and pipeline are those of other records."""
    rows = [clip(id=str(number)) for number in range(5)]
    write = package.module("clip", "serializer").write_dataset
    assert write(rows, tmp_path, "train", compression=compression) == 5
    make = package.module("clip", "pipeline").make_dataset
    (batch,) = make(tmp_path, batch_size=5)
    assert batch["frames"].shape == (5, 2, 4, 4, 3)
    assert batch["words"].numpy().tolist() == [[b"x", b"y"]] * 5
    with pytest.raises(Exception, match="'clip'"):
        package.module("plain", "pipeline").make_dataset(tmp_path, batch_size=1)


def learned(number: int) -> dict[str, Any]:
    """Return a row of Learned, with 1 to 3 steps in each field."""
    noise = np.random.default_rng(number)
    steps = number % 3 + 1
    return {
        "frames": noise.integers(1, 256, (steps, 8, 8, 3), np.uint8),
        "ragged_frames": noise.integers(0, 256, (steps, 8, 8, 1), np.uint8),
        "numbers": noise.normal(size=(steps, 2, 2)).astype("float32"),
        "ragged_numbers": noise.integers(-9, 9, (steps, 3), np.int8),
        "quantized": noise.integers(0, 256, (steps, 2), np.uint8),
        "speed": noise.random(steps, "float32"),
        "acts": noise.integers(0, 3, steps),
        "words": None if number % 4 == 0 else ["red", "blue", "red"][:steps],
        "blobs": [b"x"] * steps,
        "size": float(number),
        "answer": number % 2,
    }


@pytest.mark.slow
@pytest.mark.usefixtures("eager_training")
def test_models_learn_from_steps(package: Workspace, tmp_path: Path) -> None:
    """Every kind of step trains; padding changes nothing; a served model parses."""
    rows, data = map(learned, range(12)), tmp_path / "data"
    trained = train(package, "learned", rows, data, batch_size=6, epochs=2)
    assert "blobs" not in trained.module.INPUTS
    model, make = trained.model, package.module("learned", "pipeline").make_dataset
    alone = [
        model(features, training=False) for features, _ in make(data, batch_size=1)
    ]
    batched = [model(features, training=False) for features, _ in trained.dataset]
    np.testing.assert_allclose(
        np.concatenate(alone), np.concatenate(batched), atol=1e-5
    )
    serialize = package.module("learned", "serializer").serialize
    serve = trained.served(tmp_path / "served")
    found = serve(serialize(**learned(number)) for number in range(6))["answer"]
    np.testing.assert_allclose(found, batched[0], atol=1e-5)
