"""Images in records: sizes under keys of their own, raw pixels of any size, lists."""

from __future__ import annotations

import runpy
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from columns import columns_of
from PIL import Image as Pillow
from stored_features import refusal, stored
from trained_models import train

if TYPE_CHECKING:
    from conftest import Workspace

SCHEMA = """
from typing import Annotated, Any
import numpy as np
from schemagen import Image, Images, Mask, Record, Scalar, VarLen

class Scene(Record):
    photo: Annotated[Any, Image((None, None, 3), encoding="any", resize=(4, 4),
        key="image/encoded", height_key="image/height", width_key="image/width",
        channels_key="image/channels", format_key="image/format")]
    mask: Annotated[np.ndarray, Mask((None, None), num_classes=3, resize=(4, 4),
        height_key="image/height", width_key="image/width", role="info")]
    thumbnail: Annotated[bytes | None, Image((2, 2, 3), encoding="jpeg",
        format_key="thumbnail/format", format_text="JPEG")] = None
    scan: Annotated[np.ndarray, Image((None, 3, 1), dtype="uint16",
        height_key="scan/height", width_key="scan/width", resize=(2, 2))]
    frames: Annotated[list[bytes], Images((2, 3, 3), encoding="png", max_count=2, group="f")]
    times: Annotated[list[int], VarLen("int64", group="f")]
    views: Annotated[Any, Images((None, None, 3), count=2, resize=(3, 3))]
    late_views: Annotated[Any | None, Images((2, 2, 3), count=2, encoding="png")] = None
    score: Annotated[float, Scalar("float32", role="target")]

class Volume(Record):
    pixels: Annotated[np.ndarray, Image((None, None, None), dtype="float32", key="raw",
        height_key="h", width_key="w", channels_key="c", format_key="f")]
    resized: Annotated[np.ndarray | None, Image((None, None, None), resize=(2, 2),
        height_key="rh", width_key="rw", channels_key="rc", role="info")] = None
    frames: Annotated[list[bytes], Images((2, 2, 3))]
"""
RECORD = "scene"


def pixels(height: int, width: int, channels: int = 3, dtype: str = "uint8") -> Any:
    """Return pixels, none of them black."""
    chance = np.random.default_rng(height * 100 + width)
    return chance.integers(1, 256, (height, width, channels)).astype(dtype)


def saved(array: Any, form: str = "png") -> bytes:
    """Encode pixels with Pillow."""
    out = BytesIO()
    Pillow.fromarray(array).save(out, format=form)
    return out.getvalue()


FRAME = pixels(2, 3)
SCENE: dict[str, Any] = {
    "photo": saved(pixels(5, 6), "jpeg"),
    "mask": np.ones((5, 6), np.uint8),
    "scan": pixels(4, 3, 1, "uint16"),
    "frames": [saved(FRAME)],
    "times": [7],
    "views": [pixels(2, 2), saved(pixels(9, 1), "jpeg")],
    "score": 0.5,
}
VOLUME: dict[str, Any] = {"pixels": pixels(2, 3, 5, "float32"), "frames": []}


def test_sizes_and_formats_are_written_from_the_headers(serializer: Any) -> None:
    """Of encoded bytes and of pixels, next to the image, as integers and text."""
    row = {**SCENE, "thumbnail": pixels(2, 2)}
    found = stored(serializer.serialize(**row))
    assert found["image/height"].int64_list.value == [5]
    assert found["image/width"].int64_list.value == [6]
    assert found["image/channels"].int64_list.value == [3]
    assert found["image/format"].bytes_list.value == [b"jpeg"]
    assert found["thumbnail/format"].bytes_list.value == [b"JPEG"]
    array = {**SCENE, "photo": pixels(5, 6)}
    assert stored(serializer.serialize(**array))["image/format"].bytes_list.value == [
        b"png"
    ]
    grey = {**SCENE, "photo": saved(pixels(5, 6, 1)[:, :, 0], "bmp")}
    found = stored(serializer.serialize(**grey))
    assert found["image/channels"].int64_list.value == [1]
    assert found["image/format"].bytes_list.value == [b"bmp"]


def test_image_and_mask_of_two_sizes_are_refused(serializer: Any) -> None:
    """Two fields that share the keys of their size have to agree on it."""
    with pytest.raises(ValueError, match=r"'mask'.*'image/height'"):
        serializer.serialize(**{**SCENE, "mask": np.ones((6, 6), np.uint8)})
    columns = columns_of(SCENE, {**SCENE, "mask": np.ones((5, 7), np.uint8)})
    with pytest.raises(ValueError, match=r"row 1: field 'mask'.*'image/width'"):
        serializer.serialize_batch(**columns)


def test_raw_images_of_any_size_come_alone(package: Workspace) -> None:
    """Without resize there is no batch of two; the error says what to do."""
    serializer = package.module("volume", "serializer")
    parser = package.module("volume", "parser")
    data = serializer.serialize(**VOLUME)
    found = parser.parse_batch(tf.constant([data]), ["pixels"])["pixels"]
    np.testing.assert_array_equal(found[0], VOLUME["pixels"])
    assert stored(data)["f"].bytes_list.value == [b"raw"]
    assert "'pixels'" in refusal(
        parser.parse_batch, tf.constant([data] * 2), ["pixels"]
    )


def test_raw_images_of_different_depth_are_not_batched(package: Workspace) -> None:
    """Also where they are resized; missing ones go with any depth."""
    serializer = package.module("volume", "serializer")
    parser = package.module("volume", "parser")
    data = [
        serializer.serialize(**VOLUME, resized=resized)
        for resized in (pixels(3, 3, 2), pixels(4, 1, 2), None, pixels(3, 3, 1))
    ]
    batch = parser.parse_batch(tf.constant(data[:3]), ["resized"])
    assert batch["resized"].shape == (3, 2, 2, 2)
    assert not batch["resized"][2].numpy().any()
    assert batch["resized_present"].numpy().tolist() == [True, True, False]
    assert "'resized'" in refusal(parser.parse_batch, tf.constant(data), ["resized"])


def test_images_of_any_depth_are_no_input(package: Workspace) -> None:
    """A convolution has a fixed number of channels, and so has a model's input."""
    model = package.module("volume", "model")
    assert set(model.make_inputs()) == {"frames"}


@pytest.mark.slow
@pytest.mark.usefixtures("eager_training")
def test_models_take_lists_of_images(package: Workspace, tmp_path: Path) -> None:
    """They train, also on a batch without any image, are saved, and serve the same."""
    rows = [SCENE, {**SCENE, "frames": [], "times": [], "score": 1.5}]
    trained = train(package, "scene", rows, tmp_path / "data", batch_size=1)
    model, serialize = trained.model, package.module("scene", "serializer").serialize
    data = [serialize(**row) for row in rows]
    batch = package.module("scene", "parser").parse_batch(tf.constant(data))
    both = {name: batch[name] for name in model.input}
    expected = model(both).numpy()
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(loaded(both).numpy(), expected, rtol=1e-5)
    served = trained.served(tmp_path / "served")(data)["score"]
    np.testing.assert_allclose(served, expected, rtol=1e-4, atol=1e-5)


def test_padding_counts_for_nothing(package: Workspace) -> None:
    """A list's encoding is that of its images, whatever others of the batch have."""
    model = package.module("scene", "model")
    value = model.make_inputs()["frames"]
    encoder = keras.Model(value, model.INPUTS["frames"].encoder(value))
    short = np.stack([FRAME])[None]
    padded = np.concatenate([short, np.zeros_like(short)], axis=1)
    alone, among = encoder.predict(short, verbose=0), encoder.predict(padded, verbose=0)
    np.testing.assert_allclose(alone, among, rtol=1e-5, atol=1e-6)
    two = encoder.predict(np.concatenate([short, short], axis=1), verbose=0)
    assert np.abs(two - alone).max() > 0.1  # the number of images is told
    assert np.isfinite(encoder.predict(short[:, :0], verbose=0)).all()


@pytest.mark.parametrize(
    ("annotation", "declared"),
    [("list[Any]", list), ("tuple[Any, ...]", tuple), ("np.ndarray", np.ndarray)],
)
def test_an_instance_holds_pictures_in_the_declared_type(
    annotation: str, declared: type, tmp_path: Path
) -> None:
    """An array of pictures becomes a list of arrays, and no picture becomes a list."""
    source = f"""
from typing import Annotated, Any
import numpy as np
from schemagen import Images, Record

class Film(Record):
    frames: Annotated[{annotation}, Images((2, 2, 3), encoding="png")]
"""
    (tmp_path / "film.py").write_text(source)
    given = np.zeros((3, 2, 2, 3), np.uint8)
    film = runpy.run_path(str(tmp_path / "film.py"))["Film"](frames=given)
    assert isinstance(film.frames, declared)
    assert [frame.shape for frame in film.frames] == [(2, 2, 3)] * 3
