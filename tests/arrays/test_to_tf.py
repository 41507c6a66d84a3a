"""`to_tf` and `keras` of splits: the batches of `batches`, as TensorFlow takes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from digit_rows import rows

from generated import DatasetError, mix
from generated.digit.model import adapt, build_model
from generated.digit.pipeline import make_dataset
from generated.digit.reader import open_split
from generated.digit.serializer import write_dataset

COUNT = 301


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A split of numbered records."""
    root = tmp_path_factory.mktemp("digits")
    write_dataset(rows(COUNT), root, "train", shards=4)
    write_dataset(rows(100), root, "extra", shards=1)
    return root


@pytest.fixture
def split(directory: Path) -> Any:
    return open_split(directory, "train")


def test_batches_are_those_of_the_split(split: Any) -> None:
    """In another order each time, with the specs of `make_dataset`."""
    dataset = split.to_tf(16, shuffle_seed=1, epoch=4)
    assert int(dataset.cardinality()) == 19
    for epoch in (4, 5):
        expected = split.batches(16, shuffle_seed=1, epoch=epoch)
        for (features, labels), batch in zip(dataset, expected, strict=True):
            assert labels.numpy().tolist() == batch["digit"].tolist()
            for name, tensor in features.items():
                np.testing.assert_array_equal(tensor, batch[name])


def test_specs_are_those_of_make_dataset(directory: Path, split: Any) -> None:
    for options in (
        {},
        {"drop_remainder": True},
        {"pad_to_max_length": True},
        {"drop_remainder": True, "pad_to_max_length": True},
    ):
        expected = make_dataset(directory, "train", batch_size=16, **options)
        assert split.to_tf(16, **options).element_spec == expected.element_spec
    alone = make_dataset(directory, "train", batch_size=16, targets=False)
    assert split.to_tf(16, targets=False).element_spec == alone.element_spec


def test_what_functions_add_is_a_feature(split: Any) -> None:
    def change(row: dict[str, Any]) -> dict[str, Any]:
        image = row["image"].astype(np.float32)
        return {**row, "image": image, "text": "a", "more": np.zeros(3, np.float16)}

    features, _ = split.map(change).to_tf(16).element_spec
    assert features["image"] == tf.TensorSpec((None, 8, 8, 1), tf.float32)
    assert features["text"] == tf.TensorSpec((None,), tf.string)
    assert features["more"] == tf.TensorSpec((None, 3), tf.float16)
    inputs, _ = split.map(change).keras(16)[0]
    assert inputs["more"].shape == (16, 3)


def test_dtypes_and_sizes_are_those_of_several_records(split: Any) -> None:
    lists = split.map(lambda row: {"scan": row["scan"], "x": [1] * (row["scan"] % 5)})
    dataset = lists.to_tf(16)
    assert dataset.element_spec["x"] == tf.TensorSpec((None, None), tf.int64)
    assert sum(len(batch["x"]) for batch in dataset) == COUNT
    halves = split.map(lambda row: {"x": row["scan"] / 2 if row["scan"] > 200 else 1})
    with pytest.raises(
        tf.errors.UnknownError, match="'x': found float64, and int64 in"
    ):
        list(halves.to_tf(16))
    with pytest.raises(TypeError, match="resume"):
        split.to_tf(16, resume={})
    assert len(split.to_tf(50, pack=None)) == 7


def test_packed_rows_have_one_shape(split: Any) -> None:
    dataset = split.to_tf(4, pack={"ink_runs": 64}, drop_remainder=True)
    features = dataset.element_spec
    assert {each.shape for each in features.values()} == {(4, 64)}
    assert all(batch["ink_runs"].shape == (4, 64) for batch in dataset)


def test_packed_rows_have_values_for_each_segment(split: Any) -> None:
    options: dict[str, Any] = {"pack": {"ink_runs": 64}, "per_segment": ["moments"]}
    added = split.map(lambda row: {**row, "half": row["scan"] / 2})
    dataset = added.to_tf(4, **{**options, "per_segment": ["moments", "half"]})
    features = dataset.element_spec
    assert features["ink_runs"].shape.as_list() == [None, 64]
    assert features["moments"].shape.as_list() == [None, None, 8]
    assert features["half"].shape.as_list() == [None, None]
    batches = split.batches(4, **options)
    assert int(dataset.cardinality()) == len(batches)
    for tensors, batch in zip(dataset, batches, strict=True):
        for name, column in batch.items():
            np.testing.assert_array_equal(tensors[name], column)
    shuffled = split.to_tf(4, shuffle_seed=1, **options)
    for epoch in range(2):
        expected = split.batches(4, shuffle_seed=1, epoch=epoch, **options)
        assert sum(1 for _ in shuffled) == len(expected)


def test_a_model_learns_from_a_mixture_of_changed_splits(directory: Path) -> None:
    both = mix([open_split(directory, name) for name in ("train", "extra")], [3, 1])
    flipped = both.map(
        lambda row, rng: {**row, "image": row["image"][:, :: rng.choice((1, -1))]}
    )
    dataset = flipped.to_tf(32, shuffle_seed=1)
    model = build_model()
    adapt(model, dataset)
    model.compile("adam", "sparse_categorical_crossentropy")
    history = model.fit(dataset, epochs=2, verbose=0)
    assert len(history.history["loss"]) == 2
    assert len(model.predict(flipped.to_tf(32, targets=False), verbose=0)) == len(both)


def test_several_devices_share_batches(split: Any) -> None:
    strategy = tf.distribute.MirroredStrategy()
    found = [
        labels.numpy().tolist()
        for _, labels in strategy.experimental_distribute_dataset(split.to_tf(16))
    ]
    assert sum(map(len, found)) == COUNT


def test_errors_come_as_they_are(split: Any) -> None:
    def fails(row: dict[str, Any]) -> dict[str, Any]:
        if row["scan"] == 200:
            raise ValueError("no")
        return row

    with pytest.raises(tf.errors.UnknownError, match=r"record \d+: map\(fails\)"):
        list(split.map(fails).to_tf(16))


def test_damage_is_the_only_message_of_loops_and_fit(
    directory: Path, tmp_path: Path
) -> None:
    """Nothing of TensorFlow's own text or of Python's stack comes with it."""
    write_dataset(rows(40), tmp_path, "train", shards=1)
    model = build_model()
    adapt(model, make_dataset(tmp_path, batch_size=8))
    model.compile(loss="sparse_categorical_crossentropy")
    path = tmp_path / "train-00000-of-00001.tfrecord"
    contents = bytearray(path.read_bytes())
    contents[-200] ^= 1
    path.write_bytes(contents)
    damaged = open_split(tmp_path)
    with pytest.raises(DatasetError) as expected:
        damaged[:]
    for read in (
        lambda: list(damaged.to_tf(8)),
        lambda: model.fit(damaged.to_tf(8), verbose=0),
    ):
        with pytest.raises(tf.errors.UnknownError) as found:
            read()
        assert str(found.value) == str(expected.value)


def test_what_makes_no_tensor_is_refused(directory: Path) -> None:
    lists = open_split(directory, "train", ragged="list")
    with pytest.raises(DatasetError, match="'ink_runs': its rows are lists"):
        lists.to_tf(16)
    empty = open_split(directory, "train[:0]")
    with pytest.raises(DatasetError, match="no record"):
        empty.to_tf(16)


def numbers(dataset: Any) -> int:
    """Return how many records a dataset has."""
    return sum(len(labels) for _, labels in dataset)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("train[:80%]", 241),
        ("train[80%:]", 60),
        ("train[100:200]", 100),
        ("train[:0]", 0),
    ],
)
@pytest.mark.parametrize(
    "options", [{}, {"training": True, "seed": 1}, {"cache": True}]
)
def test_make_dataset_takes_slices(
    directory: Path, name: str, count: int, options: dict[str, Any]
) -> None:
    dataset = make_dataset(directory, name, batch_size=16, **options)
    assert numbers(dataset) == count
    assert len(dataset) == -(-count // 16)


def test_a_slice_is_the_same_for_both_readers(directory: Path) -> None:
    for name in ("train[70:233]", "train[-20%:]"):
        ours = [row["moments"][0] for row in open_split(directory, name)]
        theirs = make_dataset(directory, name, batch_size=16)
        assert [m[0] for f, _ in theirs for m in f["moments"].numpy()] == ours


def test_a_slice_is_divided_among_readers(directory: Path) -> None:
    shares = [
        make_dataset(directory, "train[50:251]", batch_size=16, shard=(i, 3))
        for i in range(3)
    ]
    found = [m[0] * 8 for each in shares for f, _ in each for m in f["moments"].numpy()]
    assert sorted(found) == list(range(50, 251))
    assert [*map(numbers, shares)] == [67, 67, 67]


def test_splits_of_one_directory_are_mixed(directory: Path) -> None:
    found = make_dataset(
        {f"{directory}:train": 3, f"{directory}:extra[:50]": 1}, batch_size=16, seed=1
    )
    assert 100 < numbers(found) < 300
