"""Segmentation masks: ids in and out, bit by bit; what is no mask is refused."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from command_line import make_project, place, refusals
from numpy.typing import NDArray
from parsed_by import decode_masks
from PIL import Image as Pillow
from PIL.PngImagePlugin import PngInfo
from schemagen.runtime.shared import images
from stored_features import refusal

Ids = NDArray[Any]
CHANCE = np.random.default_rng(5)


def saved(image: Pillow.Image, **options: Any) -> bytes:
    """Return an image as Pillow writes it."""
    out = BytesIO()
    image.save(out, "png", **options)
    return out.getvalue()


def with_palette(ids: Ids, colors: Ids, **options: Any) -> bytes:
    """Return a PNG whose palette has these colours, [N, 3]."""
    image = Pillow.fromarray(ids, "P")
    image.putpalette(colors.astype(np.uint8).tobytes())
    return saved(image, **options)


def random_ids(count: int, *shape: int, dtype: str = "uint8") -> Ids:
    """Return ids below `count`, the last of them too."""
    ids = CHANCE.integers(0, count, shape or (7, 9)).astype(dtype)
    ids.flat[-1] = count - 1
    return ids


def read(data: bytes, dtype: tf.DType = tf.uint8, **how: Any) -> Ids:
    """Read one mask of any size in a graph, as tf.data does."""

    @tf.function(input_signature=[tf.TensorSpec((None,), tf.string)])
    def graph(masks: tf.Tensor) -> tf.Tensor:
        return decode_masks(masks, "mask", "png", (None, None), dtype, **how)

    found: Ids = graph(tf.constant([data])).numpy()[0]
    return found


# Palettes and their chunks.

VOC = np.array(
    [
        [
            sum(((index >> 3 * bit + channel) & 1) << 7 - bit for bit in range(8))
            for channel in range(3)
        ]
        for index in range(256)
    ]
)


def _texts() -> PngInfo:
    """Chunks whose contents look like others."""
    texts = PngInfo()
    texts.add_text("comment", "IDAT\0\0\0\0IDAT IEND PLTE")
    return texts


PALETTES = {
    "of PASCAL VOC": lambda: (random_ids(256), VOC, {}),
    "VOC with its border": lambda: (
        np.where(random_ids(2) == 1, 255, random_ids(21)).astype("uint8"),
        VOC,
        {},
    ),
    "of one colour": lambda: (random_ids(256), np.zeros((256, 3)), {}),
    "grey, the other way round": lambda: (
        random_ids(256),
        np.repeat(np.arange(255, -1, -1)[:, None], 3, 1),
        {},
    ),
    "1 bit": lambda: (random_ids(2), VOC[:2], {}),
    "2 bits": lambda: (random_ids(4), VOC[:4], {}),
    "4 bits": lambda: (random_ids(16), VOC[:16], {}),
    "transparent by degrees": lambda: (
        random_ids(21),
        VOC,
        {"transparency": bytes(range(21))},
    ),
    "with texts": lambda: (random_ids(21), VOC, {"pnginfo": _texts(), "dpi": (9, 9)}),
    "large": lambda: (random_ids(21, 300, 200), VOC, {}),
}


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("name", PALETTES)
def test_indices_of_a_palette_are_the_ids(name: str) -> None:
    """Whatever the colours, be they all the same: Pillow's indices, bit by bit."""
    ids, colors, options = PALETTES[name]()
    data = with_palette(ids, colors, **options)
    assert images.read_png_header(data).palette
    np.testing.assert_array_equal(np.asarray(Pillow.open(BytesIO(data))), ids)
    np.testing.assert_array_equal(read(data), ids)


@pytest.mark.slow
def test_a_mask_cut_anywhere_is_refused() -> None:
    """A file that ends too early is an error, with or without a palette."""
    ids = random_ids(21, 3, 4)
    for data in (with_palette(ids, VOC[:21]), saved(Pillow.fromarray(ids))):
        for size in range(1, len(data) - 12):  # the last chunk is empty
            with pytest.raises(tf.errors.InvalidArgumentError):
                decode_masks(tf.constant([data[:size]]), "mask", "png", (3, 4))


def test_a_damaged_chunk_ends_the_search() -> None:
    """Sizes of chunks that lead nowhere do not lead round and round."""
    data = with_palette(random_ids(21), VOC)
    for size in (b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\xff\xff\xff\xf4"):
        damaged = data[:33] + size + data[37:]
        message = refusal(lambda d=damaged: read(d))  # type: ignore[misc]
        assert "field 'mask'" in message


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_pngs_of_arrays_hold_each_bit(dtype: str, channels: int) -> None:
    """What was given is read by tensorflow, also RGB of 16 bits, unknown to Pillow."""
    pixels = CHANCE.integers(0, np.iinfo(dtype).max + 1, (6, 5, channels)).astype(dtype)
    data = images.encode_png(pixels)
    found = tf.io.decode_png(data, dtype=dtype).numpy()
    np.testing.assert_array_equal(found, pixels)
    header = images.read_png_header(data)
    assert (header.height, header.width, header.bits) == (6, 5, 8 * pixels.itemsize)
    if dtype == "uint8" or channels == 1:
        shown = np.asarray(Pillow.open(BytesIO(data))).reshape(pixels.shape)
        np.testing.assert_array_equal(shown, pixels)


def test_masks_of_any_size_come_one_at_a_time() -> None:
    """A batch of several needs one size, and says how to get it."""
    data = tf.constant([with_palette(random_ids(3), VOC)] * 2)
    message = refusal(lambda: decode_masks(data, "m", "png", (None, None)))
    assert "batch_size=1" in message
    assert "resize=(height, width)" in message
    found = decode_masks(data, "m", "png", (None, None), resize=(2, 2))
    assert found.shape == (2, 2, 2)


# In a schema.

HEAD = """\
from typing import Annotated, Any
import numpy as np
from schemagen import Image, Mask, Record, Scalar

"""
FIRST_FIELD = HEAD.count("\n") + 2

# the fields, what the finding at the first shows as found, expected and advice
SG118 = [
    (["mask: Annotated[Any, Mask((4, 4), num_classes=2)]", "x: float"], "", "[4, 4]"),
    (
        [
            "mask: Annotated[Any, Mask((4, 4), num_classes=2)]",
            "a: Annotated[Any, Image((8, 4, 3))]",
            "b: Annotated[Any, Image((None, None, 3), encoding='png', resize=(6, 6))]",
        ],
        "[6, 6]",
        "[4, 4]",
    ),
    (
        [
            "mask: Annotated[Any, Mask((None, None), num_classes=2, resize=(8, 8))]",
            "a: Annotated[Any, Image((8, 8, 3), role='info')]",
        ],
        "",
        "[8, 8]",
    ),
    (
        ["mask: Annotated[Any, Mask((4, 4), role='target')]", "x: float"],
        "'target'",
        "role='info'",
    ),
    (
        ["mask: Annotated[Any, Mask((4, 4), role='input')]", "x: float"],
        "'input'",
        "role='info'",
    ),
    (
        [
            "mask: Annotated[np.ndarray | None, Mask((8, 8), num_classes=2)] = None",
            "a: Annotated[Any, Image((8, 8, 3))]",
        ],
        "'target'",
        "ignore=",
    ),
]


@pytest.mark.parametrize(("fields", "found", "expected"), SG118)
def test_a_target_needs_its_picture(
    tmp_path: Path, fields: list[str], found: str, expected: str
) -> None:
    """What no model could learn is refused when generating, with what to do."""
    lines = "".join(f"    {field}\n" for field in fields)
    root = make_project(tmp_path, {"r.py": f"{HEAD}class R(Record):\n{lines}"})
    (finding,) = [f for f in refusals(root) if f["rule"] == "SG118"]
    assert place(finding) == f"schemas/r.py:{FIRST_FIELD}:5"
    assert found in finding["found"]
    assert expected in finding["expected"]
    assert finding["advice"]
