"""Models of masks: they learn each pixel's class, and nothing from those ignored."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import pytest
import tensorflow as tf

if TYPE_CHECKING:
    from conftest import Workspace

SCHEMA = """
from typing import Annotated
import numpy as np
from schemagen import Image, Mask, Record, Scalar

class Scene(Record):
    photo: Annotated[np.ndarray, Image((8, 8, 1), encoding="png")]
    other: Annotated[np.ndarray, Image((4, 4, 1))]
    inverted: bool
    mask: Annotated[np.ndarray | None, Mask((8, 8), num_classes=2, ignore=255)] = None

class Weighted(Record):
    photo: Annotated[np.ndarray, Image((None, None, 3), encoding="png", resize=(6, 8))]
    rough: Annotated[np.ndarray, Mask((3, 4), own_size=True, num_classes=3, role="input", ignore=9)]
    late: Annotated[np.ndarray | None, Mask((6, 8), own_size=True, classes=("a", "b"), role="input")] = None
    weight: Annotated[float, Scalar("float32", role="weight")]
    mask: Annotated[np.ndarray, Mask((6, 8), own_size=True, num_classes=3)]
    far: Annotated[np.ndarray, Mask((None, None), own_size=True, num_classes=300, resize=(6, 8),
                                    dtype="uint16", ignore=65535)]

class Depth(Record):
    photo: Annotated[np.ndarray, Image((4, 4, 3))]
    depth: Annotated[np.ndarray, Image((4, 4, 1), dtype="float32")]
    mask: Annotated[np.ndarray, Mask((4, 4), num_classes=2)]

class AnySize(Record):
    photo: Annotated[np.ndarray, Image((None, None, 3), encoding="png")]
    mask: Annotated[np.ndarray, Mask((None, None), num_classes=2)]
"""

Row = dict[str, Any]


def _scene(chance: np.random.Generator) -> Row:
    """A picture whose bright pixels are class 1, or 0 if it is said to be inverted."""
    photo = chance.integers(0, 2, (8, 8, 1)) * 200 + chance.integers(0, 50, (8, 8, 1))
    inverted = bool(chance.integers(2))
    mask = (photo[:, :, 0] > 100) ^ inverted
    return {
        "photo": photo.astype(np.uint8),
        "other": np.zeros((4, 4, 1), np.uint8),
        "inverted": inverted,
        "mask": mask.astype(np.uint8),
    }


def _written(package: Workspace, record: str, rows: list[Row], path: Path) -> Any:
    """Write rows and return the batches of all of them."""
    package.module(record, "serializer").write_dataset(rows, path, "train")
    make_dataset = package.module(record, "pipeline").make_dataset
    return make_dataset(path, batch_size=min(len(rows), 32))


@pytest.mark.slow
def test_a_model_learns_which_pixels_are_which(
    package: Workspace, tmp_path: Path
) -> None:
    """From the picture, and from what another input says of the whole record."""
    keras.utils.set_random_seed(0)
    chance = np.random.default_rng(1)
    dataset = _written(
        package, "scene", [_scene(chance) for _ in range(64)], tmp_path / "data"
    )
    module = package.module("scene", "model")
    model = module.build_model(optimizer=keras.optimizers.Adam(0.01))
    module.adapt(model, dataset)
    before = model.evaluate(dataset, verbose=0, return_dict=True)
    # One long epoch: to start reading again takes longer than to learn.
    model.fit(dataset.cache().repeat(40), verbose=0)
    after = model.evaluate(dataset, verbose=0, return_dict=True)
    assert after["pixel_accuracy"] > 0.95 > before["pixel_accuracy"]
    assert after["loss"] < 0.2 < before["loss"]
    (features, masks), *_ = dataset
    predicted = model.predict(features, verbose=0)
    assert predicted.shape == (32, 8, 8, 2)
    assert predicted.dtype == np.float32
    np.testing.assert_allclose(predicted.sum(-1), 1, rtol=1e-5)
    right = (predicted.argmax(-1) == masks.numpy()).mean()
    assert right > 0.95

    path = tmp_path / "scene.keras"
    model.save(path)
    again = keras.models.load_model(path)
    np.testing.assert_array_equal(again.predict(features, verbose=0), predicted)
    found = again.evaluate(dataset, verbose=0, return_dict=True)
    assert found == pytest.approx(after, rel=1e-5)

    module.export_serving(model, tmp_path / "served")
    served = tf.saved_model.load(str(tmp_path / "served")).signatures["serving_default"]
    row = _scene(chance)
    row.pop("mask")  # a model is asked because no one knows it
    example = package.module("scene", "serializer").serialize(**row)
    (answer,) = served(examples=tf.constant([example])).values()
    assert answer.shape == (1, 8, 8, 2)


@pytest.mark.slow
@pytest.mark.usefixtures("eager_training")
def test_ignored_pixels_teach_nothing(package: Workspace, tmp_path: Path) -> None:
    """Records without a mask, and pixels to be ignored, leave the weights as they are."""
    chance = np.random.default_rng(2)
    rows = [_scene(chance) for _ in range(4)]
    for row in rows[:2]:
        del row["mask"]
    for row in rows[2:]:
        row["mask"] = np.full((8, 8), 255, np.uint8)
    dataset = _written(package, "scene", rows, tmp_path)
    module = package.module("scene", "model")
    model = module.build_model(optimizer=keras.optimizers.SGD(1.0))
    module.adapt(model, dataset)
    ((_, masks),) = dataset
    assert (masks.numpy() == 255).all()
    before = model.get_weights()
    model.fit(dataset.repeat(2), verbose=0)
    for old, new in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)
    assert model.evaluate(dataset, verbose=0, return_dict=True)["loss"] == 0


def _weighted(chance: np.random.Generator, late: bool) -> Row:
    size = tuple(chance.integers(2, 9, 2))
    row = {
        "photo": chance.integers(0, 256, (*size, 3)).astype(np.uint8),
        "rough": chance.choice([0, 1, 2, 9], (3, 4)).astype(np.uint8),
        "weight": np.float32(chance.random()),
        "mask": chance.integers(0, 3, (6, 8)).astype(np.uint8),
        "far": chance.choice([0, 299, 65535], size).astype(np.uint16),
    }
    if late:
        row["late"] = chance.integers(0, 2, (6, 8)).astype(np.uint8)
    return row


@pytest.mark.slow
@pytest.mark.usefixtures("eager_training")
def test_masks_are_inputs_and_several_targets(
    package: Workspace, tmp_path: Path
) -> None:
    """Every part of the model is trained, and measured at the pixels that count."""
    chance = np.random.default_rng(6)
    rows = [_weighted(chance, late=at % 2 == 0) for at in range(8)]
    dataset = _written(package, "weighted", rows, tmp_path)
    module = package.module("weighted", "model")
    model = module.build_model(optimizer=keras.optimizers.SGD(0.1))
    module.adapt(model, dataset)
    before = {w.path: w.numpy() for w in model.trainable_variables}
    model.fit(dataset.repeat(3), verbose=0)
    same = [
        w.path
        for w in model.trainable_variables
        if np.array_equal(w.numpy(), before[w.path])
    ]
    assert not same
    values = model.evaluate(dataset, verbose=0, return_dict=True)
    ((features, targets, weights),) = dataset
    predicted = model.predict(features, verbose=0)
    for name, ignored in (("mask", -1), ("far", 65535)):
        # Over the pixels that count, those of a record by its weight.
        truth, chances = targets[name].numpy().astype(int), predicted[name]
        counted = truth != ignored
        weight = np.broadcast_to(weights.numpy()[:, None, None], truth.shape)[counted]
        chance_of = np.take_along_axis(
            chances, np.where(counted, truth, 0)[..., None], axis=-1
        )[..., 0]
        loss = (-np.log(chance_of[counted]) * weight).sum() / counted.sum()
        assert values[f"{name}_loss"] == pytest.approx(loss, rel=1e-3)
        right = (chances.argmax(-1) == truth)[counted]
        accuracy = (right * weight).sum() / weight.sum()
        assert values[f"{name}_pixel_accuracy"] == pytest.approx(accuracy, rel=1e-4)
    assert {name: found.shape for name, found in predicted.items()} == {
        "mask": (8, 6, 8, 3),
        "far": (8, 6, 8, 300),
    }
    assert targets["far"].dtype == tf.uint16


def _change(model: Any, features: dict[str, Any], name: str) -> float:
    """Return by how much predictions change with one input."""
    other = {**features, name: 1 - features[name]}
    found: float = np.abs(model(features) - model(other)).max()
    return found


def test_all_pictures_of_one_size_are_looked_at(package: Workspace) -> None:
    """Of two of a mask's size, neither is taken for the one picture."""
    model = package.module("depth", "model").build_model()
    features = {
        "photo": np.zeros((1, 4, 4, 3), np.uint8),
        "depth": np.zeros((1, 4, 4, 1), np.float32),
    }
    assert all(_change(model, features, name) > 0 for name in features)


@pytest.mark.slow
@pytest.mark.usefixtures("eager_training")
def test_pictures_of_any_size_have_masks_of_any_size(
    package: Workspace, tmp_path: Path
) -> None:
    """One by one: the head is made of convolutions only."""
    chance = np.random.default_rng(7)
    module = package.module("any_size", "model")
    model = module.build_model()
    serialize = package.module("any_size", "serializer").write_dataset
    rows = [
        {
            "photo": chance.integers(0, 256, (*size, 3)).astype(np.uint8),
            "mask": chance.integers(0, 2, size).astype(np.uint8),
        }
        for size in ((16, 21), (24, 17))
    ]
    serialize(rows, tmp_path, "train")
    dataset = package.module("any_size", "pipeline").make_dataset(
        tmp_path, batch_size=1
    )
    model.fit(dataset, verbose=0)
    shapes = [model.predict(f, verbose=0).shape for f, _ in dataset]
    assert shapes == [(1, 16, 21, 2), (1, 24, 17, 2)]
    with pytest.warns(RuntimeWarning, match="'photo'"):  # a request has one record
        module.export_serving(model, tmp_path / "served")
