"""TensorFlow Datasets reads our data with the features that were exported."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exported_records import export, generated, notes_in, run, tool, write

tfds = tool("tensorflow_datasets")
tf = tool("tensorflow")

pytestmark = pytest.mark.integration


def builder_of(project: Path, record: str, data: Path, out: Path) -> Any:
    export(project, record, "tfds", out, "--data", data)
    return tfds.builder_from_directory(str(out))


def rows_of(builder: Any, split: str = "train") -> list[dict[str, Any]]:
    config = tfds.ReadConfig(interleave_cycle_length=1)
    return list(builder.as_dataset(split, read_config=config))


def serialized(data: Path) -> list[bytes]:
    paths = sorted(map(str, data.glob("train-*")))
    return [
        record.numpy() for path in paths for record in tf.data.TFRecordDataset(path)
    ]


def flat(values: dict[str, Any]) -> dict[str, Any]:
    """Return nested fields by their labels."""
    found = {}
    for name, value in values.items():
        if isinstance(value, dict):
            found.update({f"{name}.{below}": held for below, held in value.items()})
        else:
            found[name] = value
    return found


def plain(value: Any) -> Any:
    if isinstance(value, (tf.RaggedTensor, tf.SparseTensor)):
        return value.to_list()
    return value.numpy()


NAMED = r"named '(.+)'"


@pytest.mark.parametrize("record", ["kept", "changed"])
def test_fields_without_a_note_are_read_alike(
    project: Path, data: dict[str, Path], tmp_path: Path, record: str
) -> None:
    """With the value and dtype of the generated parser, under the name of the note."""
    out = tmp_path / "out"
    notes = notes_in(export(project, record, "tfds", out, "--data", data[record]))
    keys = {name: re.fullmatch(NAMED, words) for name, words in notes.items()}
    parser = generated(project, record, "parser")
    rows = rows_of(tfds.builder_from_directory(str(out)))
    assert len(rows) == 7
    for row, text in zip(rows, serialized(data[record]), strict=True):
        ours = flat(parser.parse_example(text))
        same = {
            name: value
            for name, value in ours.items()
            if keys.get(name.removesuffix("_present"), True)
        }
        assert len(same) == {"kept": 30, "changed": 4}[record]
        for name, value in same.items():
            found = keys.get(name)
            theirs = row[found[1] if found else name]
            assert theirs.dtype == value.dtype, name
            expected = plain(value)
            if isinstance(value, tf.RaggedTensor):
                assert plain(theirs) == expected
            else:
                np.testing.assert_array_equal(plain(theirs), expected, err_msg=name)


def test_what_is_changed_is_delivered_as_it_is_stored(
    project: Path, data: dict[str, Path], tmp_path: Path
) -> None:
    """TFDS reads each record, and what it delivers is in the Example."""
    rows = rows_of(builder_of(project, "changed", data["changed"], tmp_path / "out"))
    for row, text in zip(rows, serialized(data["changed"]), strict=True):
        stored = tf.train.Example.FromString(text).features.feature
        missing = set(row) - set(stored)
        for name in set(row) - missing:
            kind = stored[name].WhichOneof("kind")
            held = list(getattr(stored[name], kind).value)
            if name == "rgb":
                held = list(held[0])
            if name.startswith("still_"):  # an image
                held = tf.io.decode_png(held[0]).numpy().ravel().tolist()
            assert np.array(plain(row[name]), object).ravel().tolist() == held, name
        assert not missing or stored["number"].int64_list.value[0] % 3 == 0


def test_missing_values_read_as_the_notes_say(
    project: Path, data: dict[str, Path], tmp_path: Path
) -> None:
    """The least number, b'' and False; and lists are empty."""
    row = rows_of(builder_of(project, "changed", data["changed"], tmp_path / "out"))[0]
    for names, expected in (
        (("maybe", "count", "five"), np.iinfo(np.int64).min),
        (("height",), np.finfo(np.float32).min),
        (("note", "picture", "maybe_doubles"), b""),
        (("truth",), False),
        (("labels", "right"), []),
        (("maybe_ints",), [-128, -128]),
    ):
        for name in names:
            assert np.asarray(plain(row[name])).tolist() == expected, name


def test_splits_are_known(project: Path, tmp_path: Path) -> None:
    """Their records and bytes, parts of them by TFDS's own words, and what to learn."""
    data = write(project, "pair", tmp_path / "data")
    write(project, "pair", data, "test", shards=1)
    builder = builder_of(project, "pair", data, tmp_path / "out")
    assert builder.info.features["kind"].names == ["a", "b"]
    assert builder.info.description == "A picture and its class."
    assert {name: s.num_examples for name, s in builder.info.splits.items()} == {
        "train": 7,
        "test": 7,
    }
    assert len(rows_of(builder, "train[2:4]+test[:1]")) == 3
    assert builder.info.supervised_keys == ("pixels", "kind")
    found = next(iter(builder.as_dataset("test", as_supervised=True)))
    assert found[0].shape == (2, 2, 1)


def test_data_is_described_in_its_place(project: Path, tmp_path: Path) -> None:
    """The directory is still ours: readers, writers and the manifest take no notice."""
    data = write(project, "pair", tmp_path / "data")
    before = (data / "manifest.json").read_bytes()
    assert len(rows_of(builder_of(project, "pair", data, data))) == 7
    assert (data / "manifest.json").read_bytes() == before
    write(project, "pair", data, "test")
    write(project, "pair", data, "train", overwrite=True, shards=1)
    assert run("verify", data).exit_code == 0
    pipeline = generated(project, "pair", "pipeline")
    assert len(list(pipeline.make_dataset(data, "train", batch_size=7))) == 1


@pytest.mark.parametrize("record", ["kept", "changed"])
def test_the_features_are_those_that_tfds_would_write(
    project: Path, data: dict[str, Path], tmp_path: Path, record: str
) -> None:
    """TFDS writes the features that it has read as the file has them."""
    builder = builder_of(project, record, data[record], tmp_path / "out")
    ours = json.loads((tmp_path / "out" / "features.json").read_text())
    assert builder.info.features.to_json() == ours
