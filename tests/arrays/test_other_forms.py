"""Splits as datasets of Keras and tables of Arrow, and images as bytes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import pytest
from digit_rows import rows
from tfrecord_files import write_records

from generated import DatasetError
from generated.digit.model import adapt, build_model
from generated.digit.pipeline import make_dataset
from generated.digit.reader import open_split
from generated.digit.serializer import write_dataset

if TYPE_CHECKING:
    from conftest import PackageOf

COUNT = 100

CLIPS = '''
from typing import Annotated, Any

import numpy as np

from schemagen import *


class Clip(Record):
    """One value of several kinds."""

    photo: Annotated[np.ndarray, Image((None, None, 3), encoding="png", resize=(4, 4))]
    words: Annotated[list[str], VarLen("string")]
    title: str | None = None
    tags: Annotated[list[str], MultiLabel(classes=("old", "new"))]
    grid: Annotated[Any, Sparse(shape=(3, 3), index_key=("row", "column"))]
    mood: Annotated[str | None, Label(classes=("glad", "sad"))] = None
    kind: Annotated[str, Label(classes=("a", "b", "c"), role="target")]
    marks: Annotated[list[str] | None, MultiLabel(classes=("x", "y"), role="target")] = None
    share: Annotated[float, Scalar("float32", role="weight")] = 1.0
'''


@pytest.fixture(scope="module")
def clips(package_of: PackageOf, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Open a split of three clips, of which the last one has no optional values."""
    package = package_of(CLIPS)
    directory = tmp_path_factory.mktemp("clips")
    pixels = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    clip = {
        "photo": pixels,
        "words": ["one", "two"],
        "title": "first",
        "tags": ["new"],
        "grid": {(0, 2): 1.5},
        "mood": "sad",
        "kind": "c",
        "marks": ["x"],
        "share": 0.5,
    }
    bare = {"photo": pixels[::-1], "words": [], "tags": [], "grid": {}, "kind": "a"}
    package.module("clip", "serializer").write_dataset(
        [clip, {**clip, "words": ["three"]}, bare], directory, "train"
    )

    def make(**options: Any) -> Any:
        reader = package.module("clip", "reader")
        return reader.open_split(directory, "train", **options)

    return make


def test_missing_values_of_a_record_are_none(clips: Any) -> None:
    found = clips(class_names=True)[2]
    assert found["title"] is found["mood"] is found["marks"] is None
    assert found["words"] == []
    assert found["tags"] == []
    assert found["kind"] == "a"
    assert found["share"] == 1


def test_missing_values_of_a_batch_are_those_of_parse_batch(clips: Any) -> None:
    found = clips()[:]
    assert found["title"].tolist() == ["first", "first", ""]
    assert found["title_present"].tolist() == [True, True, False]
    assert found["mood"].tolist() == [1, 1, -1]
    assert found["words"].tolist() == [["one", "two"], ["three", ""], ["", ""]]
    assert found["tags"].tolist() == [[0, 1], [0, 1], [0, 0]]
    assert [len(values) for _, values in found["grid"]] == [1, 1, 0]


def test_classes_are_named_and_images_stay_bytes(clips: Any) -> None:
    found = clips(class_names=True, decode_images=False, ragged="list")[:]
    assert found["mood"].tolist() == ["sad", "sad", ""]
    assert found["tags"] == [["new"], ["new"], []]
    assert found["words"] == [["one", "two"], ["three"], []]
    assert all(data.startswith(b"\x89PNG") for data in found["photo"])


def test_keras_gets_inputs_targets_and_weights(clips: Any) -> None:
    """Those that are read."""
    dataset = clips(fields=["photo", "mood", "kind", "marks", "share"]).keras(2)
    assert len(dataset) == 2
    inputs, targets, weights = dataset[1]
    assert list(inputs) == ["photo"]
    assert list(targets) == ["mood", "kind", "marks"]
    assert targets["kind"].tolist() == [0]
    assert targets["marks"].tolist() == [[-1, -1]]
    assert weights.tolist() == [1]


def test_lists_are_no_inputs_of_keras(clips: Any) -> None:
    with pytest.raises(DatasetError, match="ragged='padded'"):
        clips(ragged="list").keras(2)[0]


def test_a_table_has_a_column_for_each_field(clips: Any) -> None:
    table = clips().to_arrow()
    assert table.column_names == list(clips()[0])
    assert table["words"].to_pylist() == [["one", "two"], ["three"], []]
    assert table["title"].to_pylist() == ["first", "first", None]
    assert table["grid"].to_pylist()[0] == {"indices": [[0, 2]], "values": [1.5]}
    assert clips().to_arrow([2, 0])["kind"].to_pylist() == [0, 2]


def test_a_table_has_the_names_of_classes(clips: Any) -> None:
    """Where the split was opened for them."""
    table = clips(class_names=True).to_arrow()
    assert table["kind"].to_pylist() == ["c", "c", "a"]
    assert table["mood"].to_pylist() == ["sad", "sad", None]
    assert table["tags"].to_pylist() == [["new"], ["new"], []]
    assert table["marks"].to_pylist() == [["x"], ["x"], None]
    assert clips(class_names=True).to_arrow([]).schema == table.schema


def test_a_damaged_image_is_named_or_left_out(
    package_of: PackageOf, tmp_path: Path
) -> None:
    """Its header and its end are whole."""
    package = package_of(CLIPS)
    serialize = package.module("clip", "serializer").serialize
    rows = [
        serialize(
            photo=np.full((9, 9, 3), n, np.uint8), words=[], tags=[], grid={}, kind="a"
        )
        for n in range(4)
    ]
    at = rows[2].index(b"IDAT") + 6
    rows[2] = rows[2][:at] + bytes(4) + rows[2][at + 4 :]
    path = write_records(tmp_path / "clips.tfrecord", rows)
    open_clips = package.module("clip", "reader").open_split
    with pytest.raises(
        DatasetError, match="record 2: field 'photo': it cannot be decoded"
    ):
        open_clips(path)[:]
    with pytest.warns(RuntimeWarning, match="record 2: field 'photo'"):
        batches = list(open_clips(path, on_corrupt="skip").batches(4))
    assert batches[0]["photo"][:, 0, 0, 0].tolist() == [0, 1, 3]
    split = open_clips(path, on_corrupt="skip")
    assert len(split.balanced("kind").map(lambda batch: batch, batched=True)) == 4
    with pytest.warns(RuntimeWarning), pytest.raises(DatasetError, match="before map"):
        split.map(lambda batch: batch, batched=True).balanced("kind")


def test_keras_learns_from_lists_of_any_length(tmp_path: Path) -> None:
    """Also where the longest lists of the first two batches are equally long."""
    some = rows(COUNT)
    for row in some:
        row["ink_runs"] = [1, 2, 3]
    some[-1]["ink_runs"] = [1] * 9
    write_dataset(some, tmp_path, "train")
    split = open_split(tmp_path, "train", fields=["ink_runs", "digit"])
    batches = split.keras(8)
    assert [batches[at][0]["ink_runs"].shape[1] for at in (0, 1)] == [3, 4]
    model = build_model(fields=["ink_runs"])
    adapt(model, make_dataset(tmp_path, batch_size=8, fields=["ink_runs"]))
    assert np.isfinite(model.fit(batches, verbose=0).history["loss"]).all()


def test_a_generated_model_learns_from_it(tmp_path: Path) -> None:
    write_dataset(rows(COUNT), tmp_path, "train", shards=2)
    split = open_split(tmp_path, "train", fields=["image", "digit"])
    model = build_model(fields=["image"])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    history = model.fit(split.keras(32, shuffle_seed=1), epochs=2, verbose=0)
    assert np.isfinite(history.history["loss"]).all()
