"""Segmentation masks: ids in and out, bit by bit; what is no mask is refused."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from numpy.typing import NDArray
from PIL import Image as Pillow
from PIL.PngImagePlugin import PngInfo
from stored_features import blobs, example, refusal, stored

if TYPE_CHECKING:
    from conftest import PackageOf

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


ParserOf = Callable[[str], ModuleType]

ANY_SIZE = "Mask((None, None), num_classes=256, role='info')"


def batch_of(*masks: bytes) -> tf.Tensor:
    """Return records that have encoded masks."""
    return tf.constant([example({"x": blobs(mask)}) for mask in masks])


def read(parser: ModuleType, data: bytes) -> Ids:
    """Read one mask in a graph, as tf.data does."""
    parse = tf.function(parser.parse_batch, autograph=False)
    found: Ids = parse(batch_of(data))["x"].numpy()[0]
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
def test_indices_of_a_palette_are_the_ids(parser_of: ParserOf, name: str) -> None:
    """Whatever the colours, be they all the same: Pillow's indices, bit by bit."""
    ids, colors, options = PALETTES[name]()
    data = with_palette(ids, colors, **options)
    picture = Pillow.open(BytesIO(data))
    assert picture.mode == "P"
    np.testing.assert_array_equal(np.asarray(picture), ids)
    np.testing.assert_array_equal(read(parser_of(ANY_SIZE), data), ids)


@pytest.mark.slow
def test_a_mask_cut_anywhere_is_refused(parser_of: ParserOf) -> None:
    """A file that ends too early is an error, with or without a palette."""
    parse = parser_of("Mask((3, 4), num_classes=256, role='info')").parse_batch
    ids = random_ids(21, 3, 4)
    for data in (with_palette(ids, VOC[:21]), saved(Pillow.fromarray(ids))):
        for size in range(1, len(data) - 12):  # the last chunk is empty
            with pytest.raises(tf.errors.InvalidArgumentError):
                parse(batch_of(data[:size]))


def test_a_damaged_chunk_ends_the_search(parser_of: ParserOf) -> None:
    """Sizes of chunks that lead nowhere do not lead round and round."""
    parser = parser_of(ANY_SIZE)
    data = with_palette(random_ids(21), VOC)
    for size in (b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\xff\xff\xff\xf4"):
        damaged = data[:33] + size + data[37:]
        assert "field 'x'" in refusal(read, parser, damaged)


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_pngs_of_arrays_hold_each_bit(
    package_of: PackageOf, dtype: str, channels: int
) -> None:
    """What was given is read by tensorflow, also RGB of 16 bits, unknown to Pillow."""
    pixels = CHANCE.integers(0, np.iinfo(dtype).max + 1, (6, 5, channels)).astype(dtype)
    source = (
        "from typing import Annotated\nimport numpy as np\n"
        "from schemagen import Image, Record\n\n"
        + "class Png(Record):\n"
        + "".join(
            f"    {of}_{count}: Annotated[np.ndarray | None, "
            f"Image((6, 5, {count}), 'png', dtype={of!r})] = None\n"
            for of in ("uint8", "uint16")
            for count in (1, 3, 4)
        )
    )
    name = f"{dtype}_{channels}"
    serialize = package_of(source).module("png", "serializer").serialize
    [data] = stored(serialize(**{name: pixels}))[name].bytes_list.value
    found = tf.io.decode_png(data, dtype=dtype).numpy()
    np.testing.assert_array_equal(found, pixels)
    assert data[24] == 8 * pixels.itemsize  # the bits of a sample, in the header
    if dtype == "uint8" or channels == 1:
        shown = np.asarray(Pillow.open(BytesIO(data))).reshape(pixels.shape)
        np.testing.assert_array_equal(shown, pixels)


def test_masks_of_any_size_come_one_at_a_time(parser_of: ParserOf) -> None:
    """A batch of several needs one size, and says how to get it."""
    records = batch_of(*[with_palette(random_ids(3), VOC)] * 2)
    message = refusal(parser_of(ANY_SIZE).parse_batch, records)
    assert "batch_size=1" in message
    assert "resize=(height, width)" in message
    resized = ANY_SIZE.replace("role", "resize=(2, 2), role")
    assert parser_of(resized).parse_batch(records)["x"].shape == (2, 2, 2)
