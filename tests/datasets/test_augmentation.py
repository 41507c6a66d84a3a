"""Pictures varied by chance: what may happen to them, and what never does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from numpy.typing import NDArray
from schemagen.runtime.datasets import augmentation
from schemagen.runtime.shared.values import FLOATS, INTEGERS

SEED = tf.constant([3, 2**32 - 1], tf.int64)


def noise(shape: tuple[int, ...], dtype: str = "uint8", seed: int = 0) -> Any:
    """Return numbers from 1 to 100."""
    drawn = np.random.default_rng(seed).integers(1, 101, shape)
    return drawn.astype(tf.as_dtype(dtype).as_numpy_dtype)


def images(pixels: Any, seed: Any = SEED, **options: Any) -> Any:
    """Vary pictures, from an array to an array."""
    return augmentation.images(tf.constant(pixels), seed, **options).numpy()


def masks(ids: Any, seed: Any = SEED, **options: Any) -> Any:
    """Vary masks, from an array to an array."""
    return augmentation.masks(tf.constant(ids), seed, **options).numpy()


def films(pixels: Any, seed: Any = SEED, **options: Any) -> Any:
    """Vary lists of pictures, from an array to an array."""
    return augmentation.image_lists(tf.constant(pixels), seed, **options).numpy()


def mirrored(pixels: NDArray[Any]) -> list[NDArray[Any]]:
    """Return a picture as it is, mirrored, upside down, and both."""
    return [pixels, pixels[:, ::-1], pixels[::-1], pixels[::-1, ::-1]]


def moved(pixels: NDArray[Any], most: int) -> list[NDArray[Any]]:
    """Return every window of a picture's size in the picture with wider edges."""
    height, width = pixels.shape[:2]
    rest = [(0, 0)] * (pixels.ndim - 2)
    wide = np.pad(pixels, [(most, most), (most, most), *rest], mode="reflect")
    places = range(2 * most + 1)
    return [
        wide[down : down + height, right : right + width]
        for down in places
        for right in places
    ]


def which(one: NDArray[Any], choices: list[NDArray[Any]]) -> int:
    """Return which of the choices an array is; it has to be one of them."""
    (found,) = [n for n, choice in enumerate(choices) if np.array_equal(one, choice)]
    return found


# Where things are.


def test_half_of_the_pictures_are_mirrored() -> None:
    """Each direction by itself: a quarter of them comes in each of the four ways."""
    before = noise((400, 3, 5, 2))
    after = images(before, flip_left_right=True, flip_up_down=True)
    found = [which(a, mirrored(b)) for a, b in zip(after, before, strict=True)]
    assert all(75 < found.count(way) < 125 for way in range(4))


@pytest.mark.parametrize(
    ("options", "ways"),
    [({"flip_left_right": True}, {0, 1}), ({"flip_up_down": True}, {0, 2})],
)
def test_pictures_are_mirrored_as_declared(
    options: dict[str, bool], ways: set[int]
) -> None:
    """And not the other way."""
    before = noise((40, 3, 5, 1))
    after = images(before, **options)
    found = {which(a, mirrored(b)) for a, b in zip(after, before, strict=True)}
    assert found == ways


def test_a_crop_moves_the_picture_and_mirrors_its_edge() -> None:
    """Every place up to so many pixels away occurs, each about as often."""
    before = noise((1000, 4, 6, 3))
    after = images(before, crop=2)
    found = [which(a, moved(b, 2)) for a, b in zip(after, before, strict=True)]
    assert set(found) == set(range(25))
    assert max(found.count(place) for place in range(25)) < 80


def test_the_widest_crop() -> None:
    """As far as an edge can be mirrored once."""
    before = noise((300, 3, 4, 1))
    after = images(before, crop=2)
    for one, picture in zip(after, before, strict=True):
        assert any(np.array_equal(one, way) for way in moved(picture, 2))


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("size", [(1, 1), (1, 4), (2, 3)])
def test_pictures_smaller_than_the_crop_are_mirrored_again(
    size: tuple[int, int],
) -> None:
    """Pictures of any size come one at a time; nothing is read from beyond them."""
    function = tf.function(
        lambda batch, seed: augmentation.images(
            batch, seed, crop=7, flip_left_right=True, flip_up_down=True
        ),
        input_signature=[
            tf.TensorSpec((None, None, None, 3), tf.uint8),
            tf.TensorSpec((2,), tf.int64),
        ],
    )
    before = noise((1, *size, 3))
    for number in range(20):
        after = function(before, [number, 0]).numpy()
        assert after.shape == before.shape
        assert {tuple(p) for p in after.reshape(-1, 3)} <= {
            tuple(p) for p in before.reshape(-1, 3)
        }


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_pixels_of_every_dtype_are_moved(dtype: str) -> None:
    """To the bit, whatever float32 would make of them."""
    before = noise((30, 3, 5, 2), dtype)
    if dtype in INTEGERS:
        before[:, 0, 0] = np.iinfo(dtype).max - 1
    options = {"flip_left_right": True, "flip_up_down": True, "crop": 1}
    after = images(before, **options)
    assert after.dtype == dtype
    for one, picture in zip(after, before, strict=True):
        ways = [way for window in moved(picture, 1) for way in mirrored(window)]
        assert any(np.array_equal(one, way) for way in ways)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int32"])
def test_masks_move_with_their_pictures(dtype: str) -> None:
    """Pixel by pixel."""
    ids = noise((60, 5, 8), dtype) + np.array(100, dtype)
    options = {"flip_left_right": True, "flip_up_down": True, "crop": 3}
    pictures = np.stack([ids, ids], axis=-1)
    moved_ids = masks(ids, **options)
    moved_pictures = images(pictures, **options)
    np.testing.assert_array_equal(moved_pictures[..., 0], moved_ids)
    np.testing.assert_array_equal(moved_pictures[..., 1], moved_ids)
    assert (moved_ids != ids).any()


# Lists of pictures.


def test_all_pictures_of_a_record_are_varied_alike() -> None:
    """As the frames of a film have to be."""
    picture = noise((50, 1, 4, 6, 3))
    before = np.repeat(picture, 3, axis=1)
    options: dict[str, Any] = {
        "flip_left_right": True,
        "flip_up_down": True,
        "crop": 2,
    }
    after = films(before, **options)
    alone = images(picture[:, 0], **options)
    for frame in range(3):
        np.testing.assert_array_equal(after[:, frame], alone)
    assert (after != before).any()


def test_lists_without_pictures() -> None:
    """A batch may have none at all, and no records."""
    for shape in ((3, 0, 4, 4, 3), (0, 0, 4, 4, 3), (0, 2, 4, 4, 3)):
        after = films(np.zeros(shape, np.uint8), flip_left_right=True, crop=1)
        assert after.shape == shape


# What is drawn.

_ALL: dict[str, Any] = {
    "flip_left_right": True,
    "flip_up_down": True,
    "crop": 2,
}


def test_the_seed_says_all() -> None:
    """The same seed does the same; either number of it changes everything."""
    before = noise((20, 5, 5, 3))
    once = images(before, **_ALL)
    np.testing.assert_array_equal(images(before, **_ALL), once)
    for other in (tf.constant([4, 5], tf.int64), tf.constant([3, 5], tf.int64)):
        again = images(before, other, **_ALL)
        assert (again != once).any(axis=(1, 2, 3)).sum() > 15


def test_records_of_a_batch_are_varied_each_by_itself() -> None:
    """Equal pictures come out unlike."""
    before = np.repeat(noise((1, 5, 5, 3)), 64, axis=0)
    after = images(before, **_ALL)
    assert len({one.tobytes() for one in after}) > 30


def test_static_shapes_are_kept() -> None:
    """In a dataset whose last batch is smaller, and of a graph's first trace."""
    batches = tf.data.Dataset.from_tensor_slices(noise((5, 4, 6, 3))).batch(2)
    varied = batches.map(lambda batch: augmentation.images(batch, SEED, **_ALL))
    assert varied.element_spec == tf.TensorSpec((None, 4, 6, 3), tf.uint8)
    assert [len(batch) for batch in varied] == [2, 2, 1]


def test_flips_and_crops_do_not_calculate() -> None:
    """No float is made of the pixels."""
    concrete = tf.function(
        lambda batch: augmentation.images(batch, SEED, crop=1, flip_left_right=True),
        input_signature=[tf.TensorSpec((None, 8, 8, 3), tf.uint8)],
    ).get_concrete_function()
    floats = [
        tensor
        for operation in concrete.graph.get_operations()
        for tensor in operation.outputs
        if tensor.dtype.is_floating and (tensor.shape.rank or 0) > 2
    ]
    assert floats == []
