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
NARROW = ("int8", "int16", "uint8", "uint16")


def noise(shape: tuple[int, ...], dtype: str = "uint8", seed: int = 0) -> Any:
    """Return numbers from 1 to 100: black is what is missing."""
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
    """Pixel by pixel, also where the picture's colours change."""
    ids = noise((60, 5, 8), dtype) + np.array(100, dtype)
    options = {"flip_left_right": True, "flip_up_down": True, "crop": 3}
    pictures = np.stack([ids, ids], axis=-1)
    moved_ids = masks(ids, **options)
    moved_pictures = images(pictures, **options)
    np.testing.assert_array_equal(moved_pictures[..., 0], moved_ids)
    np.testing.assert_array_equal(moved_pictures[..., 1], moved_ids)
    assert (moved_ids != ids).any()
    if dtype == "int32":  # its colours cannot be changed
        return
    brighter = images(pictures, brightness=0.001, **options)
    by = np.int64(brighter[..., 0]) - np.int64(moved_ids)
    assert (np.ptp(by, axis=(1, 2)) <= 1).all()  # by rounding


# Colours.


def differences(after: Any, before: NDArray[Any]) -> NDArray[Any]:
    """Return what was added to each value."""
    return np.asarray(after, np.float64) - np.asarray(before, np.float64)


@pytest.mark.parametrize("dtype", NARROW)
def test_brightness_ends_at_black_and_white(dtype: str) -> None:
    """One number is added to all of a picture, and no value wraps around."""
    bounds = np.iinfo(dtype)
    middle = (bounds.max + bounds.min) // 2
    row = [bounds.min, bounds.min + 1, middle, bounds.max - 1, bounds.max]
    before = np.tile(np.array(row, dtype).reshape(1, 1, 5, 1), (200, 2, 1, 3))
    after = images(before, brightness=0.25)
    assert after.dtype == dtype
    added = differences(after[:, :1, 2:3, :1], before[:, :1, 2:3, :1])
    expected = np.clip(before.astype(np.int64) + added, bounds.min, bounds.max)
    np.testing.assert_allclose(after, expected, rtol=0, atol=1)  # by rounding
    most = (int(bounds.max) - int(bounds.min)) * 0.25
    assert -most - 1 < added.min() < -0.9 * most
    assert 0.9 * most < added.max() < most + 1
    assert abs(added.mean()) < 0.1 * most


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_floats_may_leave_their_usual_range(dtype: str) -> None:
    """Their range is taken to be 0 to 1, and metres stay metres."""
    before = noise((50, 2, 2, 1), dtype)
    after = images(before, brightness=0.5)
    assert after.dtype == dtype
    added = differences(tf.cast(after, tf.float64), before)
    assert np.abs(added).max() <= 0.5 + 100 * tf.as_dtype(dtype).as_numpy_dtype(0.004)
    assert len(np.unique(added.round(3))) > 2


def test_a_range_of_its_own() -> None:
    """Twelve bits in uint16; floats from -1 to 1: both end there."""
    deep = np.tile(
        np.array([0, 2000, 4095], np.uint16).reshape(1, 1, 3, 1), (99, 1, 1, 1)
    )
    after = images(deep, brightness=0.1, value_range=(0, 4095))
    added = differences(after[:, :, 1:2], deep[:, :, 1:2])
    assert 350 < np.abs(added).max() <= 410
    np.testing.assert_array_equal(after, np.clip(deep + added, 0, 4095))
    floats = np.tile(
        np.array([-1, 0, 1], np.float32).reshape(1, 1, 3, 1), (99, 1, 1, 1)
    )
    options: dict[str, Any] = {"brightness": 0.1, "value_range": (-1.0, 1.0)}
    after = images(floats, **options)
    assert after.min() == -1
    assert after.max() == 1
    assert 0.18 < np.abs(after[:, :, 1]).max() <= 0.2


def test_contrast_spreads_each_channel_around_its_mean() -> None:
    """By one factor for the whole picture."""
    before = noise((300, 6, 6, 3), "float32")
    after = images(before, contrast=0.4)
    mean = before.mean((1, 2), keepdims=True)
    axes = {"axis": (1, 2, 3), "keepdims": True}
    usual = (after - mean).std(**axes) / (before - mean).std(**axes)
    np.testing.assert_allclose(after, mean + (before - mean) * usual, atol=1e-3)
    assert 0.6 <= usual.min() < 0.65
    assert 1.35 < usual.max() <= 1.4


def test_contrast_ends_at_black_and_white() -> None:
    """What is black or white already stays so where contrast grows."""
    before = np.zeros((100, 2, 2, 1), np.uint8)
    before[:, 0] = 255
    after = images(before, contrast=0.5).astype(int)
    up, down = after[:, 0], after[:, 1]
    assert ((up > 190) & (down < 65)).all()
    assert (up + down == 255).all()
    assert ((up == 255) & (down == 0)).any()


def test_a_plain_picture_has_no_contrast_to_change() -> None:
    """A picture of one pixel, or of one colour."""
    for before in (noise((20, 1, 1, 3)), np.full((20, 3, 3, 1), 77, np.uint8)):
        after = images(before, contrast=1.0)
        np.testing.assert_array_equal(after, before)


def test_opacity_is_no_colour() -> None:
    """The alpha channel moves with the others, and keeps its values."""
    before = noise((50, 3, 4, 4))
    before[..., 3] = before[..., 0]
    options: dict[str, Any] = {"flip_left_right": True, "crop": 1}
    only_moved = images(before, **options)
    after = images(before, brightness=0.3, contrast=0.5, alpha=True, **options)
    np.testing.assert_array_equal(after[..., 3], only_moved[..., 3])
    assert (after[..., :3] != only_moved[..., :3]).mean() > 0.9


def test_a_missing_picture_stays_black() -> None:
    """Else it would look present; and a black picture that is there is brightened."""
    before = np.zeros((40, 3, 3, 1), np.uint16)
    present = np.arange(40) % 2 == 0
    after = images(
        before,
        flip_left_right=True,
        crop=1,
        brightness=0.2,
        contrast=0.5,
        value_range=(100, 4095),
        present=present,
    )
    assert not after[~present].any()
    assert after[present].all()


# Lists of pictures.


def test_all_pictures_of_a_record_are_varied_alike() -> None:
    """As the frames of a film have to be."""
    picture = noise((50, 1, 4, 6, 3))
    before = np.repeat(picture, 3, axis=1)
    options: dict[str, Any] = {
        "flip_left_right": True,
        "flip_up_down": True,
        "crop": 2,
        "brightness": 0.1,
        "contrast": 0.3,
    }
    after = films(before, **options)
    alone = images(picture[:, 0], **options)
    for frame in range(3):
        np.testing.assert_array_equal(after[:, frame], alone)
    assert (after != before).any()


def test_what_fills_up_a_list_stays_black() -> None:
    """The model knows by that how long the list is."""
    before = noise((30, 4, 3, 3, 1))
    before[::2, 2:] = 0
    after = films(before, brightness=0.3, contrast=0.2)
    assert not after[::2, 2:].any()
    assert (after[1::2] != before[1::2]).mean() > 0.9


def test_lists_without_pictures() -> None:
    """A batch may have none at all, and no records."""
    for shape in ((3, 0, 4, 4, 3), (0, 0, 4, 4, 3), (0, 2, 4, 4, 3)):
        after = films(
            np.zeros(shape, np.uint8), flip_left_right=True, crop=1, brightness=0.1
        )
        assert after.shape == shape


# What is drawn.

_ALL: dict[str, Any] = {
    "flip_left_right": True,
    "flip_up_down": True,
    "crop": 2,
    "brightness": 0.2,
    "contrast": 0.2,
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
    assert len({one.tobytes() for one in after}) > 60


def test_a_further_option_does_not_change_the_others() -> None:
    """Each has random numbers of its own, so that a picture may have more of them."""
    before = noise((30, 5, 5, 1))
    flipped = masks(before[..., 0], flip_left_right=True)
    both = images(before, flip_left_right=True, brightness=0.01)
    assert np.abs(differences(both[..., 0], flipped)).max() <= 3


def test_static_shapes_are_kept() -> None:
    """In a dataset whose last batch is smaller, and of a graph's first trace."""
    batches = tf.data.Dataset.from_tensor_slices(noise((5, 4, 6, 3))).batch(2)
    varied = batches.map(lambda batch: augmentation.images(batch, SEED, **_ALL))
    assert varied.element_spec == tf.TensorSpec((None, 4, 6, 3), tf.uint8)
    assert [len(batch) for batch in varied] == [2, 2, 1]


def test_flips_and_crops_do_not_calculate() -> None:
    """No float is made of the pixels where nothing asks for one."""
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
