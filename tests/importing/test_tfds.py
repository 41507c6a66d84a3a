"""Imports of TFDS datasets: what TFDS has written is read by the code that follows."""

from __future__ import annotations

import importlib.util
import json
import shutil
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from schemagen.interop.imports import import_schema
from schemagen.interop.imports import tfds_mapping as table
from schemagen.interop.imports.tfds import import_tfds
from schemagen.interop.imports.tfds_mapping import TABLE

from . import tfds_zoo
from .sources import connector, dataset, parsers_of, refusal, shape

ZOO = Path(__file__).parent / "zoo"
PACKAGE = "imported_from_tfds"


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The records that TFDS has written, parsed by generated code, in order."""
    root = tmp_path_factory.mktemp("tfds")
    with parsers_of(root, PACKAGE, "tfds", {"zoo": ZOO}) as parsers:
        files = [str(path) for path in ZOO.glob("*.tfrecord*")]
        serialized = [*tf.data.TFRecordDataset(files).as_numpy_iterator()]
        parse = parsers["zoo"].parse_batch
        parsed = [_numpy(parse(tf.constant([one]))) for one in serialized]
    return {one["id"][0].decode(): one for one in parsed}


def _numpy(found: Any) -> Any:
    if isinstance(found, Mapping):
        return {name: _numpy(value) for name, value in found.items()}
    if isinstance(found, tf.RaggedTensor):
        return found.to_list()
    return found.numpy()


def given(number: int) -> dict[str, Any]:
    """Return an example as TFDS was given it."""
    return tfds_zoo.row(number)


# What comes out of a field, from what TFDS was given for it.
SAME: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("image", "any", "depth", "vec", "track", "raw", "four"), np.array),
    **dict.fromkeys(("small", "kind", "wide", "yes", "sized", "series"), np.array),
    **dict.fromkeys(("audio", "video", "corners"), np.array),
    "seg": lambda mask: mask[:, :, 0],
    "label": tfds_zoo.CLASSES.index,
    "score": lambda score: np.nan if score is None else score,
    "heat": lambda heat: heat.view("uint8").reshape(4, 4, 4),
    "huge": lambda number: np.array(number, "uint64").view("int64"),
    "turned": np.ravel,
    "one": lambda number: [number],
}


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("number", [0, 1], ids=tfds_zoo.ORDER)
def test_values_are_those_that_tfds_was_given(
    rows: dict[str, Any], number: int
) -> None:
    """Each connector, with much in it and with little."""
    found = rows[tfds_zoo.ORDER[number]]
    for name, expected in SAME.items():
        value = np.asarray(expected(given(number)[name]))
        if not value.size:
            assert not found[name].size, name
            continue
        np.testing.assert_array_equal(found[name][0], value, err_msg=name)


@pytest.mark.parametrize("number", [0, 1], ids=tfds_zoo.ORDER)
def test_sequences_and_dicts_are_those_that_tfds_was_given(
    rows: dict[str, Any], number: int
) -> None:
    """Lists of one group, lists of lists, and values as the bytes that they are."""
    found, row = rows[tfds_zoo.ORDER[number]], given(number)
    boxes = found["boxes"]
    assert boxes["label"][0].tolist() == [box["label"] for box in row["boxes"]]
    assert boxes["bbox"][0].tolist() == [box["bbox"] for box in row["boxes"]]
    assert boxes["name"][0].tolist() == [box["name"].encode() for box in row["boxes"]]
    assert found["nested"] == [row["nested"]]
    tokens = [[word.encode() for word in one["tokens"]] for one in row["deep"]]
    assert found["deep"]["tokens"] == [tokens]
    assert found["deep"]["frame"][0].tolist() == [
        one["frame"].tolist() for one in row["deep"]
    ]
    assert found["deep"]["at"][0].tolist() == [
        at for o in row["deep"] for at in o["at"]
    ]
    assert found["deep"]["at_lengths_0"][0].tolist() == [
        len(one["at"]) for one in row["deep"]
    ]
    lists = [inner for outer in row["levels"] for inner in outer]
    assert found["levels"][0].tolist() == [n for inner in lists for n in inner]
    assert found["levels_lengths_0"][0].tolist() == [*map(len, row["levels"])]
    assert found["levels_lengths_1"][0].tolist() == [*map(len, lists)]
    assert found["words"][0].tolist() == [b"x", b"yz"]
    assert found["words_of"] == {"en": [b"dog"], "fr": [b"chien"]}
    assert found["some"]["language"][0].tolist() == [
        word.encode() for word in sorted(row["some"])
    ]
    steps = row["steps"]
    assert found["steps"]["state"][0].tolist() == [step["state"] for step in steps]
    assert found["steps"]["obs"]["t"][0].tolist() == [s["obs"]["t"] for s in steps]
    assert found["meta"] == {"file": [b"a.txt"], "count": [2]}


@pytest.mark.parametrize("number", [0, 1], ids=tfds_zoo.ORDER)
def test_what_stays_bytes_is_read_as_its_comment_says(
    rows: dict[str, Any], number: int
) -> None:
    """The comment of the schema is the expression that reads it."""
    found, row = rows[tfds_zoo.ORDER[number]], given(number)
    said = {o.part: o.remark for o in import_tfds(str(ZOO)).approximated}
    for name in ("zipped", "piece"):
        value = found[name][0]
        read = eval(said[name], {"np": np, "zlib": zlib, "value": value})
        np.testing.assert_array_equal(read, row[name])
    frames = [tf.io.decode_png(frame).numpy() for frame in found["clip"][0]]
    assert [frame.tolist() for frame in frames] == [one.tolist() for one in row["clip"]]


def test_what_tfds_says_of_a_dataset_becomes_docstrings(tmp_path: Path) -> None:
    """The first paragraph of its description, and the descriptions of features."""
    text = import_schema(str(ZOO), "tfds", tmp_path / "zoo.py").text
    assert 'class Zoo(Record):\n    """One of each animal."""' in text
    assert '    """The photo."""' in text
    assert 'label: Literal["cat", "dog"]' in text
    assert 'Mask((4, 4), classes=("sky", "road"))' in text


REFUSED = {
    table.ANIMATION: connector("Image", "image", shape=shape(-1, 8, 8, 3)),
    table.JPEG_MASK: connector(
        "LabeledImage", "image", shape=shape(8, 8, 1), encodingFormat="jpeg"
    ),
    table.ENCODED_TEXT: connector("Text", "jsonFeature", use_encoder=True),
    table.TWO_SIZES: connector("Tensor", "tensor", shape=shape(-1, -1), dtype="int64"),
    table.NO_SIZE: connector("Tensor", "tensor", shape=shape(0, 2), dtype="int64"),
    table.OTHER: connector("Molecule", "jsonFeature", json="{}"),
}


def test_what_has_no_counterpart_is_refused_together(tmp_path: Path) -> None:
    """Every row of the table that refuses is met, and nothing is written."""
    features = {f"f{n}": one for n, one in enumerate(REFUSED.values())}
    source = dataset(tmp_path, **features, good=connector("Text", "text"))
    text = refusal(source, "tfds", tmp_path)
    assert text.count("SG462") == len(REFUSED)
    for number, row in enumerate(REFUSED):
        assert f"SG462 f{number}: {row.becomes}" in text
    assert set(REFUSED) == {row for row in TABLE if row.verdict == "refused"}


def test_what_is_refused_can_be_left_out(tmp_path: Path) -> None:
    """A comment above the class says what and why."""
    features = {f"f{n}": one for n, one in enumerate(REFUSED.values())}
    source = dataset(tmp_path, **features, good=connector("Text", "text"))
    done = import_schema(source, "tfds", tmp_path / "x.py", skip_refused=True)
    assert done.fields == 1
    assert "# left out: f4: it holds nothing (shape (0, 2))\n" in done.text
    assert len(done.left_out) == len(REFUSED)


def test_the_dataset_meets_every_other_row_of_the_table(tmp_path: Path) -> None:
    """Each row that keeps or approximates is the outcome of a feature."""
    lazy = connector("Audio", "audio", shape=shape(-1), dtype="int64", lazyDecode=True)
    note = connector("Tensor", "tensor", shape={}, dtype="string", encoding="none")
    label = connector("ClassLabel", "classLabel")
    source = dataset(tmp_path, audio=lazy, note=note, label=label)
    outcomes = [*import_tfds(str(ZOO)).outcomes, *import_tfds(source).outcomes]
    met = {outcome.row for outcome in outcomes}
    structure = {table.OPTIONAL, table.SEQUENCE, table.NESTED}  # said of any feature
    assert met | structure | set(REFUSED) == set(TABLE)


def test_features_of_old_versions_are_read(tmp_path: Path) -> None:
    """Before 4.3 TFDS wrote `type` and `content`."""
    core = "tensorflow_datasets.core.features"
    content = {
        "image": {
            "type": f"{core}.image_feature.Image",
            "content": {
                "shape": [28, 28, 1],
                "dtype": "uint8",
                "encoding_format": "png",
            },
        },
        "label": {
            "type": f"{core}.class_label_feature.ClassLabel",
            "content": {"num_classes": 10},
        },
        "ids": {
            "type": f"{core}.sequence_feature.Sequence",
            "content": {
                "feature": {
                    "type": f"{core}.feature.Tensor",
                    "content": {"shape": [], "dtype": "int64", "encoding": "none"},
                },
                "length": None,
            },
        },
    }
    top = {"type": f"{core}.features_dict.FeaturesDict", "content": content}
    (tmp_path / "features.json").write_text(json.dumps(top))
    text = import_schema(str(tmp_path), "tfds", tmp_path / "x.py").text
    assert 'image: Annotated[bytes, Image((28, 28, 1), encoding="png")]' in text
    assert "label: Annotated[int, Label(num_classes=10)]" in text
    assert "ids: list[int]" in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "it is not JSON"),
        ('{"a":' * 3000, "features in features without an end"),
        ("[]", "the outermost feature is list, and no object"),
        ('{"pythonClassName": "a.Text", "text": {}}', "its outermost feature is no"),
        (
            '{"pythonClassName": "a.FeaturesDict", "featuresDict": {"features": 3}}',
            "it does not say features as TFDS writes them",
        ),
    ],
)
def test_other_files_are_told_apart(text: str, message: str, tmp_path: Path) -> None:
    """Each is a finding, and no exception."""
    (tmp_path / "features.json").write_text(text)
    text = refusal(tmp_path, "tfds", tmp_path)
    assert "SG461 it cannot be imported: " in text
    assert message in text


def test_of_several_datasets_one_has_to_be_named(tmp_path: Path) -> None:
    """The finding lists them; one alone is found below any directory."""
    shutil.copytree(ZOO, tmp_path / "zoo" / "1.0.0")
    assert import_schema(str(tmp_path), "tfds", tmp_path / "x.py").fields > 30
    shutil.copytree(ZOO, tmp_path / "zoo" / "2.0.0")
    text = refusal(tmp_path, "tfds", tmp_path)
    assert "2 datasets below it" in text
    assert "zoo/1.0.0, zoo/2.0.0" in text


@pytest.mark.parametrize("length", ["-1", "4"])
def test_lists_are_grouped_by_an_outermost_sequence_of_any_length(
    length: str, tmp_path: Path
) -> None:
    number = connector("Tensor", "tensor", shape=shape(), dtype="int64")
    inner = connector(
        "FeaturesDict", "featuresDict", features={"a": number, "b": number}
    )
    steps = connector("Sequence", "sequence", feature=inner, length="-1")
    outer = connector("Sequence", "sequence", feature=steps, length=length)
    found = import_tfds(dataset(tmp_path, steps=outer)).fields
    groups = [getattr(field.kind, "group", None) for field in found]
    assert groups == ["steps/steps" if length == "-1" else None] * 2


def test_a_file_of_names_that_does_not_fit_is_doubtful(tmp_path: Path) -> None:
    """The number of classes counts."""
    label = connector("ClassLabel", "classLabel", numClasses="3")
    (tmp_path / "label.labels.txt").write_text("a\nb\n")
    source = dataset(tmp_path, label=label)
    done = import_schema(source, "tfds", tmp_path / "x.py")
    assert "# doubt: label.labels.txt has 2 names for 3 classes\n" in done.text


@pytest.mark.skipif(
    importlib.util.find_spec("tensorflow_datasets") is None,
    reason="tensorflow-datasets is not installed",
)
def test_tfds_still_writes_what_is_tested_here(tmp_path: Path) -> None:
    """The dataset that is next to this test is what TFDS writes today."""
    written = Path(tfds_zoo.write(str(tmp_path)))
    name = "features.json"
    assert json.loads((written / name).read_text()) == json.loads(
        (ZOO / name).read_text()
    )
    assert examples(written) == examples(ZOO)


def examples(directory: Path) -> dict[bytes, Any]:
    """Return the Examples of a dataset by their ids; TFDS writes maps in any order."""
    files = [str(path) for path in directory.glob("*.tfrecord*")]
    found = map(
        tf.train.Example.FromString,
        tf.data.TFRecordDataset(files).as_numpy_iterator(),
    )
    return {one.features.feature["id"].bytes_list.value[0]: one for one in found}
