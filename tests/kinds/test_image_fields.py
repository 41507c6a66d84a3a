"""Images in records: sizes under keys of their own, raw pixels of any size, lists."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from command_line import make_project, refusals
from PIL import Image as Pillow
from pydantic import ValidationError
from stored_features import stored

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


def changed(data: bytes, change: Callable[[Any], object]) -> tf.Tensor:
    """Return a batch of an Example whose features were changed."""
    example = tf.train.Example.FromString(data)
    change(example.features.feature)
    return tf.constant([example.SerializeToString()])


def said(parse: Callable[..., Any], batch: tf.Tensor, *fields: str) -> str:
    """Return what a parser raises, which names the field, also in a graph."""
    messages = []
    for function in (parse, tf.function(parse)):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            function(batch, list(fields))
        messages.append(caught.value.message.replace("\\'", "'"))
    assert all(f"field '{fields[0]}'" in message for message in messages)
    return messages[0]


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


def test_a_missing_image_has_no_size_either(serializer: Any) -> None:
    """All keys of an optional image are left out with it."""
    assert "thumbnail/format" not in stored(serializer.serialize(**SCENE))


def test_image_and_mask_of_two_sizes_are_refused(serializer: Any) -> None:
    """Two fields that share the keys of their size have to agree on it."""
    with pytest.raises(ValueError, match=r"'mask'.*under the key 'image/height'"):
        serializer.serialize(**{**SCENE, "mask": np.ones((6, 6), np.uint8)})
    columns = {name: [value, value] for name, value in SCENE.items()}
    columns["mask"] = [SCENE["mask"], np.ones((5, 7), np.uint8)]
    with pytest.raises(ValueError, match=r"row 1: field 'mask'.*'image/width'"):
        serializer.serialize_batch(**columns)


@pytest.mark.slow
def test_sizes_are_not_delivered(parser: Any, serializer: Any) -> None:
    """A decoded image says its own size; readers get the fields that are declared."""
    batch = parser.parse_batch(tf.constant([serializer.serialize(**SCENE)]))
    assert set(batch) == {
        *SCENE,
        *parser.KEYS,
        "thumbnail_present",
        "late_views_present",
    }
    without = changed(
        serializer.serialize(**SCENE), lambda found: found.pop("image/height")
    )
    assert parser.parse_batch(without, ["photo"])["photo"].shape == (1, 4, 4, 3)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        (
            "photo",
            b"text",
            "found bytes that begin with 'text', expected an image",
        ),
        ("photo", "a path", "expected the bytes of an image of any known format or"),
        ("photo", pixels(5, 6, 1), "found shape [5, 6, 1], expected shape [?, ?, 3]"),
        (
            "scan",
            pixels(4, 4, 1, "uint16"),
            "found shape [4, 4, 1], expected shape [?, 3",
        ),
        ("scan", np.zeros((0, 3, 1), np.uint16), "found an image without pixels"),
        (
            "scan",
            np.full((1, 3, 1), 70_000),
            "found the integer 70000, expected uint16",
        ),
        ("scan", saved(FRAME), "expected uint16 numbers"),
        ("frames", [saved(FRAME), b""], "found no bytes at [1], expected a png"),
        ("frames", saved(FRAME), "expected a list of images, or an array [N, H, W, C]"),
        ("frames", [saved(FRAME)] * 3, "found 3 images, expected at most 2"),
        (
            "frames",
            [FRAME, FRAME[:, :2]],
            "found shape [2, 2, 3] at [1], expected shape",
        ),
        ("frames", FRAME, "found shape [2, 3, 3], expected shape [?, 2, 3, 3]"),
        ("frames", FRAME[None].astype(int) + 255, "at [0], expected uint8"),
        ("views", [pixels(2, 2)], "found 1 images, expected 2"),
        ("views", [saved(FRAME), FRAME], "found a png image at [0], expected a jpeg"),
    ],
)
def test_wrong_rows_are_refused(
    serializer: Any, field: str, value: Any, words: str
) -> None:
    """In words with the field's name, what was found and what was expected."""
    row = {**SCENE, field: value}
    if field == "frames" and not isinstance(value, bytes):
        row["times"] = [7] * len(value)
    with pytest.raises(ValueError, match=f"field '{field}': found") as caught:
        serializer.serialize(**row)
    assert words in str(caught.value)


def test_a_list_of_another_length_than_its_group_is_refused(
    parser: Any, serializer: Any
) -> None:
    """Frames and their times belong together, on both sides."""
    with pytest.raises(ValueError, match="2 items, expected 1, as many as 'frames'"):
        serializer.serialize(**{**SCENE, "times": [7, 8]})
    wrong = changed(
        serializer.serialize(**SCENE),
        lambda found: found["times"].int64_list.value.append(8),
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="group"):
        parser.parse_batch(wrong)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("field", "change", "words"),
    [
        (
            "scan",
            lambda found: found["scan/height"].int64_list.value.__setitem__(0, 5),
            "field 'scan': expected height x width x channels x 2 bytes (uint16), found "
            "height, width, channels, bytes [5, 3, 1, 24]",
        ),
        (
            "scan",
            lambda found: found["scan/height"].int64_list.value.__setitem__(0, -4),
            "height, width, channels, bytes [-4, 3, 1, 24]",
        ),
        (
            "scan",
            lambda found: found["scan/height"].int64_list.value.__setitem__(
                0, 2**63 - 2**61 + 4
            ),
            "found height, width, channels, bytes",
        ),
        (
            "frames",
            lambda found: found["frames"].bytes_list.value.append(b"GIF89a"),
            "field 'frames': expected a png, found data that begins with the bytes",
        ),
        (
            "frames",
            lambda found: found["frames"].bytes_list.value.extend([saved(FRAME)] * 2),
            "field 'frames': expected at most 2 items, found lengths [3]",
        ),
        (
            "frames",
            lambda found: found["frames"].bytes_list.value.append(saved(pixels(3, 3))),
            "field 'frames': expected an image of 2 x 3, found [3, 3]",
        ),
        (
            "late_views",
            lambda found: found["late_views"].bytes_list.value.extend(
                [b"", saved(pixels(2, 2))]
            ),
            "field 'late_views': expected all of 2 images or none, found how many are "
            "empty [1]",
        ),
    ],
)
def test_wrong_records_are_refused(
    parser: Any, serializer: Any, field: str, change: Any, words: str
) -> None:
    """What other code has written is looked at, and named."""
    wrong = changed(serializer.serialize(**SCENE), change)
    assert words in said(parser.parse_batch, wrong, field)


@pytest.mark.parametrize("key", ["scan/height", "frames", "views", "image/encoded"])
def test_missing_features_are_refused(parser: Any, serializer: Any, key: str) -> None:
    """A size that readers need is required like an image itself."""
    wrong = changed(serializer.serialize(**SCENE), lambda found: found.pop(key))
    with pytest.raises(tf.errors.InvalidArgumentError, match=key):
        parser.parse_batch(wrong)


def test_too_few_images_of_a_fixed_number_are_refused(
    parser: Any, serializer: Any
) -> None:
    """The error of tensorflow itself names the key."""
    wrong = changed(
        serializer.serialize(**SCENE),
        lambda found: found["views"].bytes_list.value.pop(),
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="Key: views"):
        parser.parse_batch(wrong)


def test_raw_images_of_any_size_come_alone(package: Workspace) -> None:
    """Without resize there is no batch of two; the error says what to do."""
    serializer = package.module("volume", "serializer")
    parser = package.module("volume", "parser")
    data = serializer.serialize(**VOLUME)
    found = parser.parse_batch(tf.constant([data]), ["pixels"])["pixels"]
    np.testing.assert_array_equal(found[0], VOLUME["pixels"])
    assert stored(data)["f"].bytes_list.value == [b"raw"]
    words = said(parser.parse_batch, tf.constant([data] * 2), "pixels")
    assert "field 'pixels': images of any size cannot be batched" in words


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
    words = said(parser.parse_batch, tf.constant(data), "resized")
    assert "field 'resized': images of different numbers of channels cannot" in words


def test_images_of_any_depth_are_no_input(package: Workspace, tmp_path: Path) -> None:
    """A convolution has a fixed number of channels, and so has a model's input."""
    model = package.module("volume", "model")
    assert set(model.make_inputs()) == {"frames"}
    line = "x: Annotated[Any, Image((2, 2, None), channels_key='c', role='input')]\n"
    head = "from typing import *\nfrom schemagen import *\n\nclass R(Record):\n    "
    (finding,) = refusals(make_project(tmp_path, {"r.py": head + line}))
    assert finding["rule"] == "SG118"
    assert "role='info' for images of any number of channels" in finding["expected"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            "a: Annotated[Any, Image((2, 2, 3), height_key='b')]\n    b: int",
            "R.b: the wire key 'b' is that of 'a' too",
        ),
        (
            "a: Annotated[Any, Image((2, 2, 3), height_key='s')]\n"
            "    b: Annotated[Any, Image((2, 2, 3), width_key='s')]",
            "R.b: the wire key 's' is that of 'a' too",
        ),
        (
            "a: Annotated[Any, Image((2, 2, 3), format_key='f')]\n"
            "    b: Annotated[Any, Image((2, 2, 3), encoding='png', format_key='f')]",
            "R.b: the wire key 'f' is that of 'a' too",
        ),
        (
            "a: Annotated[Any, Tensor((None, 3), shape_key='s')]\n"
            "    b: Annotated[Any, Tensor((None, 3, 1), shape_key='s')]",
            "R.b: the wire key 's' is that of 'a' too",
        ),
        (
            "a: Annotated[Any, Tensor((None, 3), shape_key='s')]\n"
            "    b: Annotated[Any, Tensor((None, 4), shape_key='s')]",
            "R.b: the sizes under the wire key 's' cannot be those of 'a' too",
        ),
        (
            "a: Annotated[Any, Image((4, 2, 3), height_key='h', width_key='w')]\n"
            "    b: Annotated[Any, Mask((None, 2), height_key='h', width_key='w')]\n"
            "    c: Annotated[Any, Mask((None, 9), height_key='h', width_key='w')]",
            "R.c: the sizes under the wire key 'w' cannot be those of 'a' too",
        ),
        (
            "a: Annotated[Any, Images((2, 2, 3), count=2, group='g')]\n"
            "    b: Annotated[Any, VarLen('int64', group='g')]",
            "R.a: Images cannot have group='g' and a count",
        ),
        (
            "a: Annotated[list[bytes], Images((2, 2, 3), count=2)] = []",
            "R.a: Images cannot have this default",
        ),
        (
            "a: Annotated[list[bytes], Images((2, 2, 3))] = [b'']",
            "R.a: Images cannot have this default",
        ),
        (
            "a: Annotated[bytes, Images((2, 2, 3))]",
            "R.a: declared as bytes, which does not go with Images",
        ),
        (
            "a: Annotated[list[str], Images((2, 2, 3))]",
            "R.a: declared as list[str], which does not go with Images",
        ),
    ],
)
def test_wrong_schemas_are_findings(tmp_path: Path, lines: str, message: str) -> None:
    """Keys that two fields would fill with different things, and wrong declarations."""
    head = "from typing import *\nfrom schemagen import *\n\nclass R(Record):\n    "
    (finding,) = refusals(make_project(tmp_path, {"r.py": f"{head}{lines}\n"}))
    assert finding["message"].startswith(message)
    assert finding["expected"]


def test_records_keep_what_they_are_given(package: Workspace) -> None:
    """Instances of the schema's class hold bytes and pixels as the type says."""
    import importlib.util

    path = package.root / "schemas" / "records.py"
    spec = importlib.util.spec_from_file_location("image_field_records", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    scene = module.Scene(**SCENE)
    assert scene.frames == SCENE["frames"]
    assert scene.photo == SCENE["photo"]
    stack = module.Scene(**{**SCENE, "views": np.stack([pixels(2, 2)] * 2)}).views
    assert stack.shape == (2, 2, 2, 3)
    with pytest.raises(ValidationError, match="found 3 images, expected at most 2"):
        module.Scene(**{**SCENE, "frames": [saved(FRAME)] * 3, "times": [1, 2, 3]})


@pytest.mark.slow
@pytest.mark.usefixtures("eager_training")
def test_models_take_lists_of_images(package: Workspace, tmp_path: Path) -> None:
    """They train, also on a batch without any image, are saved, and serve the same."""
    serializer = package.module("scene", "serializer")
    model_code = package.module("scene", "model")
    pipeline = package.module("scene", "pipeline")
    rows = [SCENE, {**SCENE, "frames": [], "times": [], "score": 1.5}]
    serializer.write_dataset(rows, tmp_path / "data", "train")
    dataset = pipeline.make_dataset(tmp_path / "data", batch_size=1)
    model = model_code.build_model()
    model_code.adapt(model, dataset)
    losses = model.fit(dataset, verbose=0).history["loss"]
    assert np.isfinite(losses).all()
    data = [serializer.serialize(**row) for row in rows]
    batch = package.module("scene", "parser").parse_batch(tf.constant(data))
    both = {name: batch[name] for name in model.input}
    expected = model(both).numpy()
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(loaded(both).numpy(), expected, rtol=1e-5)
    model_code.export_serving(model, tmp_path / "served")
    serve = tf.saved_model.load(str(tmp_path / "served")).signatures["serving_default"]
    (served,) = serve(tf.constant(data)).values()
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


def test_an_array_of_pictures_stays_one_of_pictures() -> None:
    """What a record's class hands back can be written: no picture becomes a list."""
    import schemagen

    class Pictures(schemagen.Record):
        views: Annotated[list[bytes], schemagen.Images((2, 3, 3), encoding="png")]

    frames = np.stack([FRAME, 255 - FRAME])
    views: Any = Pictures(views=frames).views  # type: ignore[arg-type]
    assert isinstance(views, list)
    assert all(isinstance(view, np.ndarray) for view in views)
    np.testing.assert_array_equal(np.stack(views), frames)
