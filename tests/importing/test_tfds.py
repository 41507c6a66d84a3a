"""Imports of TFDS datasets: what TFDS has written is read by the code that follows."""

from __future__ import annotations

import importlib.resources
import json
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from . import tfds_zoo
from .sources import (
    TEXT,
    connector,
    dataset,
    declared,
    imported,
    parsers_of,
    refusals,
    shape,
    tensor,
)

ZOO = Path(__file__).parent / "zoo"


def examples(directory: Path) -> dict[str, bytes]:
    """Return the records of a dataset by their ids."""
    files = [str(path) for path in directory.glob("*.tfrecord*")]
    found = {}
    for data in tf.data.TFRecordDataset(files).as_numpy_iterator():
        features = tf.train.Example.FromString(data).features.feature
        found[features["id"].bytes_list.value[0].decode()] = data
    return found


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The records that TFDS has written, parsed by generated code, by their ids."""
    root = tmp_path_factory.mktemp("tfds")
    with parsers_of(root, "imported_from_tfds", "tfds", {"zoo": ZOO}) as parsers:
        return {
            name: _numpy(parsers["zoo"].parse_batch(tf.constant([data])))
            for name, data in examples(ZOO).items()
        }


def _numpy(found: Any) -> Any:
    if isinstance(found, Mapping):
        return {name: _numpy(value) for name, value in found.items()}
    return found.to_list() if isinstance(found, tf.RaggedTensor) else found.numpy()


# What comes out of a field, from what TFDS was given for it.
SAME: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("image", "any", "depth", "vec", "track", "raw", "four"), np.array),
    **dict.fromkeys(("small", "kind", "wide", "yes", "series"), np.array),
    **dict.fromkeys(("audio", "video", "corners"), np.array),
    "label": tfds_zoo.CLASSES.index,
    "score": lambda score: np.nan if score is None else score,
    "huge": lambda number: np.array(number, "uint64").view("int64"),
    "turned": np.ravel,
}


def encoded(words: list[str]) -> list[bytes]:
    return [word.encode() for word in words]


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("number", [0, 1], ids=tfds_zoo.ORDER)
def test_values_are_those_that_tfds_was_given(
    rows: dict[str, Any], number: int, tmp_path: Path
) -> None:
    """Each connector, with much in it and with little; comments read the bytes."""
    found, row = rows[tfds_zoo.ORDER[number]], tfds_zoo.row(number)
    for name, expected in SAME.items():
        value = np.asarray(expected(row[name]))
        assert found[name][0].size == value.size or not value.size, name
        if value.size:
            np.testing.assert_array_equal(found[name][0], value, err_msg=name)
    doubts = imported(ZOO, "tfds", tmp_path / "zoo.py").doubts
    for name in ("one", "piece"):
        read = eval(doubts[name], {"np": np, "value": found[name][0]})
        np.testing.assert_array_equal(read, row[name])
    frames = [tf.io.decode_png(frame).numpy() for frame in found["clip"][0]]
    assert [frame.tolist() for frame in frames] == [one.tolist() for one in row["clip"]]


@pytest.mark.parametrize("number", [0, 1], ids=tfds_zoo.ORDER)
def test_sequences_and_dicts_are_those_that_tfds_was_given(
    rows: dict[str, Any], number: int
) -> None:
    """Lists of one group, lists of lists, and the lengths of rows."""
    found, row = rows[tfds_zoo.ORDER[number]], tfds_zoo.row(number)
    boxes, deep, steps = row["boxes"], row["deep"], row["steps"]
    assert found["nested"] == [row["nested"]]
    assert found["deep"].pop("tokens") == [[encoded(one["tokens"]) for one in deep]]
    assert found["words_of"] == {"en": [b"dog"], "fr": [b"chien"]}
    assert found["meta"] == {"file": [b"a.txt"], "count": [2]}
    for value, expected in (
        (found["boxes"]["label"], [box["label"] for box in boxes]),
        (found["boxes"]["bbox"], [box["bbox"] for box in boxes]),
        (found["boxes"]["name"], encoded([box["name"] for box in boxes])),
        (found["deep"]["frame"], [one["frame"].tolist() for one in deep]),
        (found["words"], [b"x", b"yz"]),
        (found["steps"]["state"], [step["state"] for step in steps]),
        (found["steps"]["obs"]["t"], [step["obs"]["t"] for step in steps]),
    ):
        assert value[0].tolist() == expected


ROWS_FIRST = "box=('ymin', 'xmin', 'ymax', 'xmax')"
FIELDS = {
    "Zoo.any": "Annotated[bytes, Image((None, None, 3), encoding='any')]",
    "Zoo.corners": f"Annotated[np.ndarray, Vector((2, 4), {ROWS_FIRST}, role='info')]",
    "Zoo.depth": "Annotated[bytes, Image((4, 4, 1), encoding='png', dtype='uint16')]",
    "Zoo.huge": "int",
    "Zoo.kind": "Annotated[int, Label(num_classes=7)]",
    "Zoo.label": "Literal['cat', 'dog']",
    "Zoo.piece": "bytes",
    "Zoo.score": "float | None = None",
    "Zoo.small": "Annotated[int, Scalar('int8')]",
    "Zoo.turned": "Annotated[list[int], VarLen('int32')]",
    "Zoo.video": "Annotated[list[bytes], Images((4, 4, 3), encoding='png')]",
    "Zoo.words": "Annotated[list[str], VarLen('string', max_length=2)]",
    "Boxes.bbox": "Annotated[np.ndarray, VarLen('float32', item_shape=(4,), "
    f"group='boxes', {ROWS_FIRST}, role='info')]",
    "Boxes.label": "Annotated[list[int], VarLen('int64', group='boxes', role='info')]",
    "Boxes.name": "Annotated[list[str], VarLen('string', group='boxes')]",
    "Deep.frame": "Annotated[list[bytes], Images((2, 2, 3), encoding='png', group='deep')]",
    "Obs.t": "Annotated[list[int], VarLen('int32')]",
}
DOUBTFUL = {
    *("any", "boxes/label", "clip", "deep/frame", "depth", "huge", "image"),
    *("one", "piece", "turned", "video", "wide", "words"),
}


def test_each_feature_becomes_the_field_of_a_person(tmp_path: Path) -> None:
    """Types, roles, groups and docstrings; and what cannot be said is a doubt."""
    done = imported(ZOO, "tfds", tmp_path / "zoo.py")
    assert declared(done.text).items() >= FIELDS.items()
    assert done.doubts.keys() == DOUBTFUL
    assert done.text.count("# doubt: ") == len(DOUBTFUL)
    assert 'class Zoo(Record):\n    """One of each animal."""' in done.text
    assert '    """The photo."""' in done.text


GREY = connector("Image", "image", shape=shape(-1, -1, 1), encodingFormat="jpeg")
# A feature that the dataset does not have, its field, and whether that is doubtful.
LONE = {
    "text": (tensor("string"), "str"),
    "uncounted": (
        connector("ClassLabel", "classLabel"),
        "Annotated[int, Scalar('int64', role='info')]",
    ),
    "clear_box": (
        connector("BBoxFeature", "boundingBox", bboxFormat="REL_YXYX"),
        f"Annotated[np.ndarray, Vector((4,), {ROWS_FIRST}, role='info')]",
    ),
    "old_box": (
        connector("BBoxFeature", "boundingBox", shape=shape(4)),
        f"Annotated[np.ndarray, Vector((4,), {ROWS_FIRST}, role='info')]",
    ),
    "box_in_pixels": (
        connector("BBoxFeature", "boundingBox", bboxFormat="XYWH"),
        "Annotated[np.ndarray, Vector((4,), box=('xmin', 'ymin', 'width', 'height'), "
        "role='info')]",
    ),
    "box_of_later": (
        connector("BBoxFeature", "boundingBox", bboxFormat="CENTER_XYWH"),
        "Annotated[np.ndarray, Vector((4,), role='info')]",
    ),
    "bfloat": (tensor("bfloat16", 2), "Annotated[np.ndarray, Vector((2,))]"),
    "grey": (GREY, "Annotated[bytes, Image((None, None, 1), encoding='jpeg')]"),
    "clear_maybe": (
        tensor("int64", 2, optional=True),
        "Annotated[np.ndarray | None, Vector((2,), dtype='int64')] = None",
    ),
}


@pytest.mark.parametrize("name", LONE)
def test_a_feature_that_is_alone_becomes_a_field(name: str, tmp_path: Path) -> None:
    """With a doubt, if the field does not say everything."""
    feature, field = LONE[name]
    source = dataset(tmp_path, **{name: feature})
    done = imported(source, "tfds", tmp_path / "x.py")
    assert declared(done.text) == {f"X.{name}": field}
    assert [*done.doubts] == [name] * (not name.startswith("clear"))


REFUSED = {
    "lazy": connector("Audio", "audio", shape=shape(-1), lazyDecode=True),
    "heat": connector("Image", "image", shape=shape(8, 8, 1), dtype="float32"),
    "sized": tensor("uint8", -1, -1, encoding="bytes"),
    "old": {"type": "Text", "content": {}},
    "film": connector("Image", "image", shape=shape(-1, 8, 8, 3)),
    "two": connector("Image", "image", shape=shape(8, 8, 2)),
    "mask": connector("LabeledImage", "image", shape=shape(8, 8, 1)),
    "encoded": connector("Text", "jsonFeature", use_encoder=True),
    "sizes": tensor("int64", -1, -1),
    "zipped": tensor("int64", -1, -1, encoding="zlib"),
    "empty": tensor("int64", 0, 2),
    "packed": tensor("string", encoding="zlib"),
    "odd": tensor("float8"),
    "molecule": connector("Molecule", "jsonFeature", json="{}"),
    "unnamed": {"name": "x"},
    "list": [],
    "number": {"pythonClassName": 3},
    "uncounted": connector("ClassLabel", "classLabel", numClasses="x"),
    "inner": connector("FeaturesDict", "featuresDict", features=3),
}


def test_what_has_no_counterpart_is_left_out(tmp_path: Path) -> None:
    """Each part is named, with a comment above the class."""
    source = dataset(tmp_path, **REFUSED, good=TEXT)
    done = imported(source, "tfds", tmp_path / "x.py")
    assert declared(done.text) == {"X.good": "str"}
    assert done.left_out.keys() == REFUSED.keys()
    assert all(f"# left out: {part}: " in done.text for part in REFUSED)


@pytest.mark.parametrize(
    "text",
    ["{", "\xff", '{"a":' * 3000, "[]", json.dumps(TEXT), json.dumps(REFUSED["inner"])],
)
def test_other_files_are_told_apart(text: str, tmp_path: Path) -> None:
    """Each is a finding, and never an exception."""
    (tmp_path / "features.json").write_text(text, encoding="latin-1")
    (finding,) = refusals(tmp_path, "tfds", tmp_path)
    assert finding["rule"] == "SG461"


def test_a_directory_without_features_is_refused(tmp_path: Path) -> None:
    """The directory of one dataset is named, not one above it."""
    shutil.copytree(ZOO, tmp_path / "zoo" / "1.0.0")
    (finding,) = refusals(tmp_path / "zoo", "tfds", tmp_path)
    assert (finding["rule"], "directory" in finding["expected"]) == ("SG461", True)


@pytest.mark.parametrize("length", ["-1", "4"])
def test_lists_are_grouped_by_an_outermost_sequence_of_any_length(
    length: str, tmp_path: Path
) -> None:
    """One of a fixed length says the same of each list alone."""
    both = {"a": tensor("int64"), "b": tensor("int64")}
    inner = connector("FeaturesDict", "featuresDict", features=both)
    steps = connector("Sequence", "sequence", feature=inner, length="-1")
    outer = connector("Sequence", "sequence", feature=steps, length=length)
    source = dataset(tmp_path, steps=outer)
    text = imported(source, "tfds", tmp_path / "x.py").text
    assert text.count('group="steps"' if length == "-1" else "Ragged(") == 2


def test_a_group_has_several_fields(tmp_path: Path) -> None:
    """A list that is alone in its sequence has none."""
    inner = connector("FeaturesDict", "featuresDict", features={"a": tensor("int64")})
    steps = connector("Sequence", "sequence", feature=inner, length="-1")
    source = dataset(tmp_path, steps=steps)
    assert "group" not in imported(source, "tfds", tmp_path / "x.py").text


def test_a_file_of_names_that_does_not_fit_is_doubtful(tmp_path: Path) -> None:
    """The number of classes counts."""
    label = connector("ClassLabel", "classLabel", numClasses="3")
    (tmp_path / "label.labels.txt").write_text("a\nb\n")
    source = dataset(tmp_path, label=label)
    done = imported(source, "tfds", tmp_path / "x.py")
    assert [*done.doubts] == ["label"]
    assert declared(done.text) == {"X.label": "Annotated[int, Label(num_classes=3)]"}


@pytest.mark.integration
def test_tfds_still_writes_what_is_tested_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The dataset that is next to this test is what TFDS writes today."""
    # TFDS 4.9.10 imports a backport that it does not require.
    monkeypatch.setitem(sys.modules, "importlib_resources", importlib.resources)
    pytest.importorskip("tensorflow_datasets")
    written = Path(tfds_zoo.write(str(tmp_path)))
    ours, theirs = (
        json.loads((directory / "features.json").read_text())
        for directory in (ZOO, written)
    )
    assert theirs == ours
    parse = tf.train.Example.FromString  # TFDS writes maps in any order
    assert {name: parse(data) for name, data in examples(written).items()} == {
        name: parse(data) for name, data in examples(ZOO).items()
    }
