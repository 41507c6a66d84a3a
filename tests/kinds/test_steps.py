"""Sequence records: what is refused, what is missing, files, groups and models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import schemagen
import tensorflow as tf
from columns import columns_of
from data.messages import write_file
from pydantic import ValidationError
from stored_features import blobs, floats, ints, refusal
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

class Talk(SequenceRecord):
    tokens: Annotated[list[list[int]], Steps(VarLen("int64"), group="g")]
    words: Annotated[
        list[list[str]] | None,
        Steps(VarLen("string", max_length=2, too_long="keep_tail"), ragged=True, group="g"),
    ] = None
    tracks: Annotated[
        list[np.ndarray],
        Steps(VarLen("float32", item_shape=(2,)), max_length=2, too_long="keep_head", padding_value=-1),
    ]

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
    tokens: Annotated[list[list[int]], Steps(VarLen("int64"))]
    tags: Annotated[list[list[str]], Steps(VarLen("string"))]
    tracks: Annotated[
        list[np.ndarray], Steps(VarLen("float32", item_shape=(2,)), ragged=True)
    ]
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


def talk(**lists: list[tf.train.Feature]) -> bytes:
    """Return a SequenceExample of Talk, as another program writes it."""
    message = tf.train.SequenceExample()
    for key, steps in lists.items():
        found = message.feature_lists.feature_list[key]
        found.SetInParent()
        found.feature.extend(steps)
    return bytes(message.SerializeToString())


NO_TRACKS: list[tf.train.Feature] = []
TALKS = {
    # An empty list, and a feature without one: both are steps without items.
    talk(tokens=[ints(1, 2), ints(), tf.train.Feature(), ints(3)], tracks=NO_TRACKS): (
        {"tokens": [[1, 2], [], [], [3]], "words": None, "tracks": []}
    ),
    talk(tokens=[], words=[], tracks=[floats(1, 2), floats(), floats(3, 4)]): (
        {"tokens": [], "words": [], "tracks": [[[1, 2]], []]}
    ),
    talk(tokens=[ints(7)], words=[blobs(b"a", b"b", b"c")], tracks=NO_TRACKS): (
        {"tokens": [[7]], "words": [["b", "c"]], "tracks": []}
    ),
    talk(tokens=[tf.train.Feature()] * 2, words=[tf.train.Feature()] * 2, tracks=[]): (
        {"tokens": [[], []], "words": [[], []], "tracks": []}
    ),
}


def test_lists_in_steps_are_read_alike(package: Workspace, tmp_path: Path) -> None:
    """By both readers: padded in both dimensions, ragged, cut, empty and missing."""
    write_file(tmp_path / "talks", TALKS)
    assert schemagen.verify(tmp_path / "talks", record=package.record("Talk")).clean
    split = package.module("talk", "reader").open_split(tmp_path / "talks")
    for row, expected in zip(split, TALKS.values(), strict=True):
        found = {name: plain(value) for name, value in row.items()}
        assert found == expected
    (batch,) = split.batches(4)
    parsed = package.module("talk", "parser").parse_batch(tf.constant([*TALKS]))
    assert parsed["tokens"].numpy().tolist() == batch["tokens"].tolist()
    assert batch["tokens"].tolist() == [
        [[1, 2], [0, 0], [0, 0], [3, 0]],
        [[0, 0]] * 4,
        [[7, 0], *[[0, 0]] * 3],
        [[0, 0]] * 4,
    ]
    assert parsed["tracks"].numpy().tolist() == batch["tracks"].tolist()
    assert batch["tracks"].shape == (4, 2, 1, 2)
    assert batch["tracks"][1].tolist() == [[[1, 2]], [[-1, -1]]]
    words = [[], [], [[b"b", b"c"]], [[], []]]
    assert parsed["words"].to_list() == words
    assert [plain(row) for row in batch["words"]] == [
        [[word.decode() for word in step] for step in row] for row in words
    ]
    there = [False, True, True, True]
    assert batch["words_present"].tolist() == there
    assert parsed["words_present"].numpy().tolist() == there


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (talk(words=[], tracks=[]), "'tokens'"),
        (talk(tokens=[ints(1)], words=[], tracks=[]), "'g'"),
        (talk(tokens=[], tracks=[floats(1, 2, 3)]), "tracks"),
    ],
    ids=["missing", "of other lengths", "no whole items"],
)
def test_wrong_lists_in_steps_are_refused_by_all_readers(
    package: Workspace, tmp_path: Path, message: bytes, words: str
) -> None:
    """A list that is missing is not empty; groups count steps."""
    right = [*TALKS]
    write_file(tmp_path / "talks", [right[0], message])
    assert not schemagen.verify(tmp_path / "talks", record=package.record("Talk")).clean
    split = package.module("talk", "reader").open_split(tmp_path / "talks")
    with pytest.raises(Exception, match=words):
        split[1]
    parse = package.module("talk", "parser").parse_batch
    assert words in refusal(lambda: parse(tf.constant([right[0], message])))


def plain(value: Any) -> Any:
    """Return a row's value as lists of Python's."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [*map(plain, value)] if isinstance(value, list) else value


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
        "tokens": [[1, 2, 3][:at] for at in range(steps)],
        "tags": [["a"] * at for at in range(steps)],
        "tracks": [noise.normal(size=(at, 2)).astype("float32") for at in range(steps)],
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
