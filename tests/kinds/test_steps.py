"""Sequence records: what is refused, what is missing, files, groups and models."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from command_line import make_project, place, refusals
from pydantic import ValidationError
from schemagen.config import find_project
from schemagen.spec.serial import from_json, to_json
from schemagen.use_cases.generate import load_specs
from stored_features import refusal

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

class Late(SequenceRecord):
    note: str | None = None
    speeds: Annotated[list[float] | None, Steps(Scalar("float32"))] = None
    marks: Annotated[list[int], Steps(Scalar("int32"), key="m/k", presence=True)] = []

class Plain(Record):
    id: str

class PlainLate(Record):
    note: str | None = None

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


_CLASSES: dict[str, Any] = {}
exec(compile(SCHEMA, "schema", "exec", dont_inherit=True), _CLASSES)


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


def feature_list(*steps: tf.train.Feature) -> tf.train.FeatureList:
    """Return a feature list."""
    return tf.train.FeatureList(feature=steps)


def changed(data: bytes, key: str, steps: tf.train.FeatureList | None) -> bytes:
    """Return a SequenceExample with another feature list, or without it."""
    message = tf.train.SequenceExample.FromString(data)
    del message.feature_lists.feature_list[key]
    if steps is not None:
        message.feature_lists.feature_list[key].CopyFrom(steps)
    changed_data: bytes = message.SerializeToString()
    return changed_data


def test_a_spec_with_steps_survives_json(package: Workspace) -> None:
    """What JSON leaves out of the kind of one step is that of its field."""
    specs = {spec.class_name: spec for spec in load_specs(find_project(package.root))}
    assert all(from_json(to_json(spec)) == spec for spec in specs.values())
    assert {specs[name].message for name in ("Clip", "Late")} == {"SequenceExample"}
    assert specs["Plain"].message == "Example"
    assert '"message"' not in to_json(specs["Plain"])


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


# field, value, what the serializer says
_STEPS = "a list or an array with an item a step"
WRONG_ROWS = [
    ("rgb", None, f"found None, expected {_STEPS}"),
    ("rgb", b"12", f"found bytes b'12', expected {_STEPS}"),
    (
        "rgb",
        np.zeros((2, 3), np.uint8),
        "found shape [3] in step 0, expected shape [2]",
    ),
    ("rgb", [[1, 2], [3, 300]], "found the integer 300 in step 1, expected uint8"),
    ("rgb", [[1, 2], None], "found None in step 1, expected uint8 numbers"),
    ("rgb", np.ma.zeros((2, 2), np.uint8), "found a masked array, expected an array"),
    ("frames", [b"GIF89a", b""], "found a gif image in step 0, expected a png image"),
    ("words", "xy", f"found str 'xy', expected {_STEPS}"),
    ("words", ["x", 5], "found int 5 in step 1, expected a str"),
    ("times", [1, 2, 3, 4], "found 4 items, expected at most 3"),
    ("times", [1, True], "found True (bool) in step 1, expected int64 values"),
    ("times", {1, 2}, f"found a set, expected {_STEPS}"),
]


@pytest.mark.parametrize(("field", "value", "message"), WRONG_ROWS)
def test_wrong_steps_are_refused_by_name(
    serializer: ModuleType, field: str, value: Any, message: str
) -> None:
    """Field and step are named: by row, in a batch, and by the schema's class."""
    row = clip(**{field: value})
    refused = re.escape(f"field {field!r}: {message}")
    with pytest.raises(ValueError, match=f"^{refused}"):
        serializer.serialize(**row)
    columns = {name: [clip()[name], row[name]] for name in row}
    with pytest.raises(ValueError, match=f"^row 1: {refused}"):
        serializer.serialize_batch(**columns)
    with pytest.raises(ValidationError, match=re.escape(message)):
        _CLASSES["Clip"](**row)


def test_no_steps_are_of_the_declared_shape_and_dtype(serializer: ModuleType) -> None:
    """An empty array of another kind is refused like a full one."""
    none: dict[str, Any] = {"frames": [], "words": []}
    for right in ([], np.zeros((0, 2), np.uint8)):
        assert serializer.serialize(**clip(rgb=right, **none))
    for wrong in (np.zeros((0, 3), np.uint8), np.zeros((0, 2), np.float32)):
        with pytest.raises(ValueError, match="field 'rgb'"):
            serializer.serialize(**clip(rgb=wrong, **none))
        rows = [clip(), clip(rgb=wrong, **none)]
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        with pytest.raises(ValueError, match="row 1: field 'rgb'"):
            serializer.serialize_batch(**columns)


def test_a_row_is_handed_back_as_declared() -> None:
    """Lists stay lists, steps become what the kind makes of them."""
    instance = _CLASSES["Clip"](**clip(words=None, times=np.array([4, 5])))
    assert instance.times == [4, 5]
    assert instance.words is None
    assert instance.rgb.dtype == np.uint8
    assert isinstance(instance.frames, list)


@pytest.mark.parametrize("words", [["x"], ["x", "y", "z"], []])
def test_fields_of_a_group_have_equally_many_steps(
    serializer: ModuleType, parser: ModuleType, words: list[str]
) -> None:
    """Writers, the schema's class and readers refuse others; None does not count."""
    with pytest.raises(ValueError, match=r"field 'words'.*group 'g'"):
        serializer.serialize(**clip(words=words))
    with pytest.raises(ValidationError, match="group 'g'"):
        _CLASSES["Clip"](**clip(words=words))
    texts = [tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"x"]))] * len(words)
    data = changed(serializer.serialize(**clip()), "words", feature_list(*texts))
    assert "group 'g'" in refusal(lambda: parser.parse_batch(tf.constant([data])))
    missing = parser.parse_example(
        tf.constant(serializer.serialize(**clip(words=None)))
    )
    assert missing["words"].shape == (0,)
    assert not missing["words_present"]


INTEGERS = tf.train.Feature(int64_list=tf.train.Int64List(value=[5]))
FLOATS = tf.train.Feature(float_list=tf.train.FloatList(value=[5]))
TWO = tf.train.Feature(int64_list=tf.train.Int64List(value=[5, 6]))
NOTHING = tf.train.Feature()
BYTES = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"123"]))

# key, feature list, what the parser says
WRONG_LISTS = [
    ("times", None, "Feature list 'times' is required but could not be found"),
    ("times", feature_list(INTEGERS, FLOATS), "Feature list: times, Index: 1"),
    (
        "times",
        feature_list(INTEGERS, TWO),
        "Key: times, Index: 1",
    ),
    ("times", feature_list(TWO, NOTHING), "Key: times, Index: 0"),
    ("times", feature_list(NOTHING), "Key: times, Index: 0"),
    ("times", feature_list(*[INTEGERS] * 4), "field 'times': expected at most 3 items"),
    ("rgb", feature_list(BYTES, BYTES), "field 'rgb': expected 2 bytes (uint8 [2])"),
    ("frames", feature_list(BYTES, BYTES), "field 'frames': expected a png"),
]


@pytest.mark.parametrize(("key", "steps", "message"), WRONG_LISTS)
def test_wrong_feature_lists_are_refused_by_name(
    serializer: ModuleType, parser: ModuleType, key: str, steps: Any, message: str
) -> None:
    """A list that is missing, or has a step of another type, count or size."""
    good = serializer.serialize(**clip())
    batch = tf.constant([good, changed(good, key, steps)])
    assert message in refusal(lambda: parser.parse_batch(batch))
    others = [name for name in parser.KEYS if name != key]
    assert set(others) <= set(parser.parse_batch(batch, others))


def test_messages_of_the_other_kind_are_refused(package: Workspace) -> None:
    """An Example is no sequence without steps, and a SequenceExample no Example."""
    sequence = package.module("clip", "serializer").serialize(**clip())
    example = package.module("plain", "serializer").serialize(id="a")
    late = package.module("late", "serializer").serialize(note="a")
    no_context = package.module("late", "serializer").serialize(speeds=[])
    for record in ("clip", "late"):
        parse = package.module(record, "parser").parse_batch
        for data in (example, b"", example * 2):
            message = refusal(lambda p=parse, d=data: p(tf.constant([sequence, d])))
            assert "expected a tf.train.SequenceExample" in message
    for record in ("plain", "plain_late"):
        parse = package.module(record, "parser").parse_batch
        for data in (sequence, late, no_context):
            message = refusal(lambda p=parse, d=data: p(tf.constant([d])))
            assert "found a tf.train.SequenceExample" in message
    # Long messages, whose sizes take several bytes, are told apart as well.
    for length in (100, 127, 128, 20_000, 3_000_000):
        text = "x" * length
        plain = package.module("plain", "serializer").serialize(id=text)
        parse = package.module("plain", "parser").parse_example
        assert parse(tf.constant(plain))["id"] == text
        clip_of = package.module("clip", "serializer").serialize(**clip(id=text))
        assert package.module("clip", "parser").parse_example(tf.constant(clip_of))
        said = refusal(lambda p=parse, d=clip_of: p(tf.constant(d)))
        assert "found a tf.train" in said


def test_a_record_of_optional_steps_tells_missing_from_empty(
    package: Workspace,
) -> None:
    """Masks say which lists are there; a message with none of its keys is foreign."""
    serializer = package.module("late", "serializer")
    parser = package.module("late", "parser")
    rows = [{"speeds": [0.5]}, {"speeds": [], "marks": [3]}, {"note": "n", "marks": []}]
    written = [serializer.serialize(**row) for row in rows]
    batch = parser.parse_batch(tf.constant(written))
    assert batch["speeds_present"].numpy().tolist() == [True, True, False]
    assert batch["marks_present"].numpy().tolist() == [False, True, True]
    assert batch["note_present"].numpy().tolist() == [False, False, True]
    assert batch["speeds"].numpy().tolist() == [[0.5], [0], [0]]
    assert batch["marks"].numpy().tolist() == [[0], [3], [0]]
    with pytest.raises(ValueError, match="no field at all"):
        serializer.serialize()
    with pytest.raises(ValueError, match="row 1: found no field at all"):
        serializer.serialize_batch(note=["a", None])
    foreign = tf.train.SequenceExample()
    foreign.feature_lists.feature_list["others"].SetInParent()
    data = tf.constant([foreign.SerializeToString()])
    assert "no field of this record is there" in refusal(
        lambda: parser.parse_batch(data)
    )


def test_a_context_without_values_reads_as_missing(package: Workspace) -> None:
    """As in an Example, a feature with no list in it stands for its default."""
    message = tf.train.SequenceExample()
    message.context.feature["note"].SetInParent()
    message.feature_lists.feature_list["speeds"].SetInParent()
    parser = package.module("late", "parser")
    found = parser.parse_example(tf.constant(message.SerializeToString()))
    assert found["note"] == ""
    assert not found["note_present"]
    assert found["speeds_present"]


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("compression", [None, "GZIP"])
def test_datasets_of_sequences(
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
    with pytest.raises(Exception, match="record: written 'clip'"):
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
    serializer = package.module("learned", "serializer")
    serializer.write_dataset(map(learned, range(12)), tmp_path / "data", "train")
    make = package.module("learned", "pipeline").make_dataset
    dataset = make(tmp_path / "data", batch_size=6)
    module = package.module("learned", "model")
    assert "blobs" not in module.INPUTS
    model = module.build_model()
    module.adapt(model, dataset)
    history = model.fit(dataset, epochs=2, verbose=0)
    assert np.isfinite(history.history["loss"]).all()
    alone = [
        model(features, training=False)
        for features, _ in make(tmp_path / "data", batch_size=1)
    ]
    batched = [model(features, training=False) for features, _ in dataset]
    np.testing.assert_allclose(
        np.concatenate(alone), np.concatenate(batched), atol=1e-5
    )
    module.export_serving(model, str(tmp_path / "served"))
    served = tf.saved_model.load(str(tmp_path / "served"))
    examples = tf.constant(
        [serializer.serialize(**learned(number)) for number in range(6)]
    )
    found = served.signatures["serving_default"](examples=examples)["answer"]
    np.testing.assert_allclose(found, batched[0], atol=1e-5)


HEAD = """\
from typing import Annotated, Any
import numpy as np
from schemagen import *

"""


def test_steps_need_a_sequence_record(tmp_path: Path) -> None:
    """An Example has no feature lists: the field is the finding's place."""
    text = (
        HEAD
        + "class Pet(Record):\n    x: Annotated[list[int], Steps(Scalar('int64'))]\n"
    )
    (finding,) = refusals(make_project(tmp_path, {"pets.py": text}))
    assert finding["rule"] == "SG120"
    assert place(finding) == "schemas/pets.py:6:5"
    assert finding["message"] == "Pet.x: steps in a Record"
    assert finding["expected"] == "class Pet(SequenceRecord)"


def test_a_sequence_record_needs_steps(tmp_path: Path) -> None:
    """Without feature lists its files would be those of a Record."""
    text = HEAD + "class Pet(SequenceRecord):\n    x: int\n"
    (finding,) = refusals(make_project(tmp_path, {"pets.py": text}))
    assert finding["rule"] == "SG120"
    assert place(finding) == "schemas/pets.py:5:1"
    assert "derive the class from Record" in finding["advice"]


# annotation, found (how it begins)
MISFITS = [
    ("list[str], Steps(Scalar('int64'))", "list[str]"),
    ("int, Steps(Scalar('int64'))", "int"),
    ("np.ndarray, Steps(Text())", "ndarray"),
    ("list[bytes], Steps(Image((2, 2, 3)))", "list[bytes]"),
]


@pytest.mark.parametrize(("annotation", "found"), MISFITS)
def test_an_annotation_has_to_fit_the_steps(
    tmp_path: Path, annotation: str, found: str
) -> None:
    """The type is a list of what one step holds, or an array of numbers."""
    text = f"{HEAD}class Pet(SequenceRecord):\n    x: Annotated[{annotation}]\n"
    (finding,) = refusals(make_project(tmp_path, {"pets.py": text}))
    assert finding["rule"] == "SG112"
    assert finding["found"] == found
