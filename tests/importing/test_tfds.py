"""Imports of TFDS datasets: what TFDS has written is read by the code that follows."""

from __future__ import annotations

import importlib.resources
import json
import shutil
import sys
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from schemagen.interop.imports import import_schema

from . import tfds_zoo
from .sources import connector, dataset, declared, parsers_of, refusals, shape

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
    rows: dict[str, Any], number: int, tmp_path: Path
) -> None:
    """The comment of the schema is the expression that reads it."""
    found, row = rows[tfds_zoo.ORDER[number]], given(number)
    said = dict(import_schema(str(ZOO), "tfds", tmp_path / "zoo.py").doubts)
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


FIELDS = {
    "any": "Annotated[bytes, Image((None, None, 3), encoding='any')]",
    "corners": "Annotated[np.ndarray, Vector((2, 4), role='info')]",
    "depth": "Annotated[bytes, Image((4, 4, 1), encoding='png', dtype='uint16')]",
    "heat": "Annotated[bytes, Image((4, 4, 4), encoding='png', role='info')]",
    "huge": "int",
    "id": "str",
    "kind": "Annotated[int, Label(num_classes=7)]",
    "label": "Literal['cat', 'dog']",
    "piece": "bytes",
    "score": "float | None = None",
    "seg": "Annotated[np.ndarray, Mask((4, 4), classes=('sky', 'road'))]",
    "small": "Annotated[int, Scalar('int8')]",
    "turned": "Annotated[list[int], VarLen('int32')]",
    "video": "Annotated[list[bytes], Images((4, 4, 3), encoding='png')]",
    "words": "Annotated[list[str], VarLen('string', max_length=2)]",
}
GROUPED = {
    "Boxes.label": "Annotated[list[int], VarLen('int64', group='boxes', role='info')]",
    "Boxes.name": "Annotated[list[str], VarLen('string', group='boxes')]",
    "Deep.frame": "Annotated[list[bytes], Images((2, 2, 3), encoding='png', group='deep')]",
    "Obs.t": "Annotated[list[int], VarLen('int32')]",
}
DOUBTFUL = {
    *("any", "boxes/label", "clip", "deep/at", "deep/frame", "depth", "heat", "huge"),
    *("image", "levels", "one", "piece", "turned", "video", "wide", "words", "zipped"),
}


def test_each_feature_becomes_the_field_of_a_person(tmp_path: Path) -> None:
    """Types, roles and groups; and what cannot be said is a doubt."""
    done = import_schema(str(ZOO), "tfds", tmp_path / "zoo.py")
    expected = {f"Zoo.{name}": words for name, words in FIELDS.items()} | GROUPED
    assert declared(done.text).items() >= expected.items()
    assert {part for part, _ in done.doubts} == DOUBTFUL
    assert done.text.count("# doubt: ") == len(DOUBTFUL)


def tensor(dtype: str, *sizes: int, **more: Any) -> dict[str, Any]:
    """Return a Tensor as features.json has it."""
    return connector("Tensor", "tensor", shape=shape(*sizes), dtype=dtype, **more)


LONE = {
    "lazy": connector("Audio", "audio", shape=shape(-1), lazyDecode=True),
    "text": tensor("string"),
    "uncounted": connector("ClassLabel", "classLabel"),
    "boxed": connector("BBoxFeature", "boundingBox", bboxFormat="XYXY"),
    "whole": tensor("int64", encoding="bytes"),
    "bfloat": tensor("bfloat16", 2),
    "mask": connector("LabeledImage", "image", shape=shape(2, 2, 1)),
    "grey": connector("Image", "image", shape=shape(-1, -1, 1), encodingFormat="jpeg"),
    "maybe": tensor("int64", 2, optional=True),
}
LONE_FIELDS = {
    "lazy": "bytes",
    "text": "str",
    "uncounted": "Annotated[int, Scalar('int64', role='info')]",
    "boxed": "Annotated[np.ndarray, Vector((4,), role='info')]",
    "whole": "Annotated[np.ndarray, Vector((1,), dtype='int64', encoding='raw')]",
    "bfloat": "Annotated[np.ndarray, Vector((2,))]",
    "mask": "Annotated[np.ndarray, Mask((2, 2))]",
    "grey": "Annotated[bytes, Image((None, None, 1), encoding='jpeg')]",
    "maybe": "Annotated[np.ndarray | None, Vector((2,), dtype='int64')] = None",
}


@pytest.mark.parametrize("name", LONE)
def test_a_feature_that_is_alone_becomes_a_field(name: str, tmp_path: Path) -> None:
    """Those that the dataset does not have."""
    done = import_schema(
        dataset(tmp_path, **{name: LONE[name]}), "tfds", tmp_path / "x.py"
    )
    assert declared(done.text) == {f"X.{name}": LONE_FIELDS[name]}
    clear = ("boxed", "mask", "maybe")
    assert [part for part, _ in done.doubts] == ([] if name in clear else [name])


REFUSED = {
    "film": connector("Image", "image", shape=shape(-1, 8, 8, 3)),
    "two": connector("Image", "image", shape=shape(8, 8, 2)),
    "lossy": connector(
        "LabeledImage", "image", shape=shape(8, 8, 1), encodingFormat="jpeg"
    ),
    "encoded": connector("Text", "jsonFeature", use_encoder=True),
    "sizes": tensor("int64", -1, -1),
    "empty": tensor("int64", 0, 2),
    "packed": tensor("string", encoding="zlib"),
    "odd": tensor("float8"),
    "molecule": connector("Molecule", "jsonFeature", json="{}"),
}


def test_what_has_no_counterpart_is_refused_together(tmp_path: Path) -> None:
    """Each part is named, and nothing is written."""
    source = dataset(tmp_path, **REFUSED, good=connector("Text", "text"))
    found = refusals(source, "tfds", tmp_path)
    assert {finding.rule for finding in found} == {"SG462"}
    assert {f.message.partition(":")[0] for f in found} == set(REFUSED)


def test_what_is_refused_can_be_left_out(tmp_path: Path) -> None:
    """A comment above the class says what and why."""
    source = dataset(tmp_path, **REFUSED, good=connector("Text", "text"))
    done = import_schema(source, "tfds", tmp_path / "x.py", skip_refused=True)
    assert declared(done.text) == {"X.good": "str"}
    assert {part for part, _ in done.left_out} == set(REFUSED)
    for part in REFUSED:
        assert f"# left out: {part}: " in done.text


CORE = "tensorflow_datasets.core.features"
OLD_TEXT = {"type": f"{CORE}.text_feature.Text", "content": {}}


@pytest.mark.parametrize("form", ["object", "text"])
def test_the_older_form_is_read_at_any_depth(form: str, tmp_path: Path) -> None:
    """With the content of a message, which may be JSON in JSON."""
    inner = {
        "type": f"{CORE}.features_dict.FeaturesDict",
        "content": {"features": {"word": OLD_TEXT}},
        "proto_cls": "tensorflow_datasets.FeaturesDict",
    }
    sequence: dict[str, Any] = {
        "type": f"{CORE}.sequence_feature.Sequence",
        "content": {"feature": inner, "length": "-1"},
        "proto_cls": "tensorflow_datasets.Sequence",
    }
    content: Any = {"features": {"said": sequence, "features": OLD_TEXT}}
    top = {**inner, "content": json.dumps(content) if form == "text" else content}
    (tmp_path / "features.json").write_text(json.dumps(top))
    text = import_schema(str(tmp_path), "tfds", tmp_path / "x.py").text
    assert declared(text) == {
        "Said.word": "list[str]",
        "X.features": "str",
        "X.said": "Said",
    }


def test_the_oldest_form_is_read(tmp_path: Path) -> None:
    """Before 4.3 TFDS wrote lists of sizes, and names with underscores."""
    content = {
        "image": {
            "type": f"{CORE}.image_feature.Image",
            "content": {
                "shape": [28, None, 1],
                "dtype": "uint8",
                "encoding_format": "png",
            },
        },
        "label": {
            "type": f"{CORE}.class_label_feature.ClassLabel",
            "content": {"num_classes": 10},
        },
        "ids": {
            "type": f"{CORE}.sequence_feature.Sequence",
            "content": {
                "feature": {
                    "type": f"{CORE}.feature.Tensor",
                    "content": {"shape": [], "dtype": "tf.int64", "encoding": "none"},
                },
                "length": None,
            },
        },
    }
    top = {"type": f"{CORE}.features_dict.FeaturesDict", "content": content}
    (tmp_path / "features.json").write_text(json.dumps(top))
    text = import_schema(str(tmp_path), "tfds", tmp_path / "x.py").text
    assert declared(text) == {
        "X.image": "Annotated[bytes, Image((28, None, 1), encoding='png')]",
        "X.label": "Annotated[int, Label(num_classes=10)]",
        "X.ids": "list[int]",
    }


def below(feature: Any) -> str:
    """Return a features.json in which a feature stands in a dict of features."""
    top = connector("FeaturesDict", "featuresDict", features={"b": feature})
    return json.dumps(connector("FeaturesDict", "featuresDict", features={"a": top}))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{", "not JSON"),
        ('{"a":' * 3000, ""),
        ("[]", "list"),
        (json.dumps(connector("Text", "text")), "Text"),
        (json.dumps(connector("FeaturesDict", "featuresDict", features=3)), ""),
        (below({"name": "x"}), "'a/b' has name"),
        (below({}), "'a/b' has nothing"),
        (below([]), "'a/b' is list"),
        (below({"pythonClassName": 3}), ""),
        (below(connector("ClassLabel", "classLabel", numClasses="x")), "'x'"),
    ],
)
def test_other_files_are_told_apart(text: str, found: str, tmp_path: Path) -> None:
    """Each is a finding that names the place, and never an exception."""
    (tmp_path / "features.json").write_text(text)
    (finding,) = refusals(tmp_path, "tfds", tmp_path)
    assert finding.rule == "SG461"
    assert found in finding.message + finding.found
    assert "Error:" not in finding.found


def test_of_several_datasets_one_has_to_be_named(tmp_path: Path) -> None:
    """The finding lists them; one alone is found below any directory."""
    shutil.copytree(ZOO, tmp_path / "zoo" / "1.0.0")
    assert import_schema(str(tmp_path), "tfds", tmp_path / "x.py").fields > 30
    shutil.copytree(ZOO, tmp_path / "zoo" / "2.0.0")
    (finding,) = refusals(tmp_path, "tfds", tmp_path)
    assert finding.rule == "SG461"
    assert finding.found == "zoo/1.0.0, zoo/2.0.0"
    (tmp_path / "none").mkdir()
    (finding,) = refusals(tmp_path / "none", "tfds", tmp_path)
    assert finding.rule == "SG461"


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
    source = dataset(tmp_path, steps=outer)
    text = import_schema(source, "tfds", tmp_path / "x.py").text
    assert text.count('group="steps"' if length == "-1" else "Ragged(") == 2


def test_a_file_of_names_that_does_not_fit_is_doubtful(tmp_path: Path) -> None:
    """The number of classes counts."""
    label = connector("ClassLabel", "classLabel", numClasses="3")
    (tmp_path / "label.labels.txt").write_text("a\nb\n")
    source = dataset(tmp_path, label=label)
    done = import_schema(source, "tfds", tmp_path / "x.py")
    assert [part for part, _ in done.doubts] == ["label"]
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
