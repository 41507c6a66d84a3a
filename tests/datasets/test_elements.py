"""Float images and one-hot labels, for models of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf

from generated import DatasetError

if TYPE_CHECKING:
    from conftest import Data, MakeDataset, Workspace


@pytest.mark.parametrize("dtype", ["float32", "float16", tf.bfloat16])
@pytest.mark.parametrize("training", [False, True])
def test_images_of_a_float_dtype_are_scaled(
    data: Data, package: Workspace, dtype: Any, training: bool
) -> None:
    """Integers to 0 to 1, by their dtype; other fields and masks stay as they are."""
    make = package.module("every", "pipeline").make_dataset
    fields = ["photo", "picture", "frames", "height"]
    options = {"batch_size": 7, "fields": fields, "info": True}
    seen = []

    def augment(features: dict[str, Any]) -> dict[str, Any]:
        seen.append(features["photo"].dtype)  # as functions of tf.image take them
        return features

    dataset = make(
        data("every", 7, 2),
        image_dtype=dtype,
        training=training,
        augment=augment,
        **options,
    )
    assert set(seen) == ({tf.as_dtype(dtype)} if training else set())
    assert dataset.element_spec[0]["photo"] == tf.TensorSpec((None, 4, 6, 3), dtype)
    ((found, targets, _, info),) = dataset
    ((stored, masks, _, numbers),) = make(data("every", 7, 2), **options)
    place = {number: at for at, number in enumerate(numbers["number"].numpy())}
    order = [place[number] for number in info["number"].numpy()]
    assert stored["photo"].dtype == tf.uint8
    for name in ("photo", "picture", "frames"):
        scaled = tf.gather(stored[name], order).numpy() / 255
        pixels = tf.cast(found[name], tf.float32)
        np.testing.assert_allclose(pixels, scaled, atol=4e-3)
    np.testing.assert_array_equal(found["height"], tf.gather(stored["height"], order))
    np.testing.assert_array_equal(targets["things"], tf.gather(masks["things"], order))


def test_one_hot_labels(package: Workspace, tmp_path: Any) -> None:
    """A missing label is a row of zeros."""
    rows = [{"number": 0, "sort": 2}, {"number": 1, "sort": 0}, {"number": 2}]
    package.module("bare", "serializer").write_dataset(rows, tmp_path, "train")
    make = package.module("bare", "pipeline").make_dataset
    ((_, sorts, _),) = make(tmp_path, batch_size=3, one_hot=True)
    np.testing.assert_array_equal(sorts, [*np.eye(7)[[2, 0]], np.zeros(7)])
    assert sorts.dtype == tf.float32


def test_options_without_a_field_are_refused(
    data: Data, make_dataset: MakeDataset
) -> None:
    """Nothing would be changed by them."""
    with pytest.raises(DatasetError, match="image_dtype='float32'"):
        make_dataset(data(), batch_size=4, image_dtype="float32")
