"""Segmentation masks: ids in and out, bit by bit; what is no mask is refused."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from command_line import make_project, place, refusals
from numpy.typing import NDArray
from PIL import Image as Pillow
from PIL.PngImagePlugin import PngInfo
from schemagen.runtime.encoding.base import Feature
from schemagen.runtime.encoding.examples import encode_fields
from schemagen.runtime.encoding.mask import DescribedMask, Mask
from schemagen.runtime.encoding.tensor import Tensor
from schemagen.runtime.parsing.masks import decode_masks
from schemagen.runtime.shared import images
from schemagen.runtime.shared.errors import RecordError
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
    "8 bits of few": lambda: (random_ids(3), VOC[:3], {"bits": 8}),
    "transparent": lambda: (random_ids(21), VOC, {"transparency": 0}),
    "transparent by degrees": lambda: (
        random_ids(21),
        VOC,
        {"transparency": bytes(range(21))},
    ),
    "with texts": lambda: (random_ids(21), VOC, {"pnginfo": _texts(), "dpi": (9, 9)}),
    "one pixel": lambda: (random_ids(9, 1, 1), VOC, {}),
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


def test_tensorflow_alone_loses_the_indices() -> None:
    """The trap: a decoder gives the palette's colours, or how bright they are."""
    ids = random_ids(21)
    data = with_palette(ids, VOC)
    assert (tf.io.decode_png(data, channels=1).numpy()[..., 0] != ids).any()
    np.testing.assert_array_equal(tf.io.decode_png(data, channels=3), VOC[ids])


def test_interlaced_palettes_are_read() -> None:
    """Adam7 is undone as for any image: here one pixel of each of its seven passes."""
    ids = np.arange(4, dtype=np.uint8).reshape(2, 2)
    # Passes 1, 6 and 7 have pixels in a picture of 2 x 2.
    lines = bytes([0, 0]) + bytes([0, 1]) + bytes([0, 2, 3])
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", 2, 2, 8, 3, 0, 0, 1)),
        (b"PLTE", bytes(768)),
        (b"IDAT", zlib.compress(lines)),
        (b"IEND", b""),
    ]
    data = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body))
        + kind
        + body
        + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )
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
        assert "field 'mask': expected a whole png, found one without pixels" in message


# Written from arrays.


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


def written(feature: Feature, value: Any) -> tf.train.Example:
    """Return the Example that holds one value."""
    return tf.train.Example.FromString(encode_fields((feature, value)))


@pytest.mark.parametrize(
    ("dtype", "tf_dtype", "count"),
    [("uint8", tf.uint8, 256), ("uint16", tf.uint16, 2**16)],
)
@pytest.mark.parametrize("shape", [(7, 9), (7, 9, 1), (1, 1)])
def test_arrays_are_stored_as_grey_pngs(
    dtype: str, tf_dtype: tf.DType, count: int, shape: tuple[int, ...]
) -> None:
    """All ids of the dtype come back; a last dimension of 1 may be there or not."""
    ids = random_ids(count, *shape, dtype=dtype)
    mask = Mask("mask", key="m", shape=(None, None), dtype=dtype, num_classes=count)
    (data,) = written(mask, ids).features.feature["m"].bytes_list.value
    np.testing.assert_array_equal(read(data, tf_dtype), ids.reshape(shape[:2]))
    shown = np.asarray(Pillow.open(BytesIO(data)))
    np.testing.assert_array_equal(shown, ids.reshape(shape[:2]))


def test_sizes_are_written_beside_a_mask() -> None:
    """Of arrays and of bytes; None leaves out the sizes too."""
    mask = DescribedMask(
        "mask",
        key="m",
        shape=(None, None),
        height_key="h",
        width_key="w",
        optional=True,
    )
    ids = random_ids(9, 4, 6)
    for value in (ids, with_palette(ids, VOC)):
        found = written(mask, value).features.feature
        assert [found[key].int64_list.value[:] for key in ("h", "w")] == [[4], [6]]
    only_width = DescribedMask("mask", key="m", shape=(None, None), width_key="w")
    assert set(written(only_width, ids).features.feature) == {"m", "w"}
    for encoding in ("png", "raw"):
        named = DescribedMask(
            "mask", key="m", shape=(4, 6), encoding=encoding, format_key="f"
        )
        found = written(named, ids).features.feature
        assert found["f"].bytes_list.value[:] == [encoding.encode()]
    other = Tensor("n", key="n", shape=(), dtype="int64")
    some = encode_fields((mask, None), (other, 1))
    assert set(tf.train.Example.FromString(some).features.feature) == {"n"}


def test_masks_of_one_size_share_its_keys() -> None:
    """Two fields may say the same under one key, and are refused if they do not."""
    first = DescribedMask("first", key="a", shape=(None, None), height_key="h")
    second = DescribedMask("second", key="b", shape=(None, None), height_key="h")
    rows = [np.zeros((height, 2), np.uint8) for height in (3, 3, 4)]
    data = encode_fields((first, rows[0]), (second, rows[1]))
    features = tf.train.Example.FromString(data).features.feature
    assert set(features) == {"a", "b", "h"}
    message = (
        "field 'second': found 4 under the key 'h', expected 3, which the field 'f"
    )
    with pytest.raises(RecordError, match=message):
        encode_fields((first, rows[0]), (second, rows[2]))


_PALETTE = with_palette(random_ids(3), VOC)
_RGB = saved(Pillow.new("RGB", (9, 7)))
_U8, _U16 = np.zeros((7, 9), np.uint8), np.zeros((7, 9), np.uint16)

# what the mask is told, the row's value, and the message
WRONG_ROWS: list[tuple[dict[str, Any], Any, str]] = [
    (
        {"num_classes": 21},
        np.full((7, 9), 21, np.uint8),
        "found class id 21 at [0, 0], expected class ids from 0 to 20",
    ),
    (
        {"num_classes": 21, "ignore": 255},
        np.where(np.arange(63).reshape(7, 9) == 40, 254, 255).astype("uint8"),
        "found class id 254 at [4, 4], expected class ids from 0 to 20, or 255 to be "
        "ignored",
    ),
    (
        {"num_classes": 2, "dtype": "int32", "encoding": "raw"},
        -np.eye(7, 9, dtype=np.int32),
        "found class id -1 at [0, 0], expected class ids from 0 to 1",
    ),
    ({}, np.full((7, 9), 300), "found the integer 300, expected uint8, from 0 to 255"),
    ({}, np.zeros((7, 9)), "found float64 values, expected uint8 values"),
    ({}, np.zeros((7, 9), bool), "found bool values, expected uint8 values"),
    ({}, np.zeros((9, 7), np.uint8), "found shape [9, 7], expected shape [7, 9]"),
    ({}, np.zeros((7, 9, 3), np.uint8), "found shape [7, 9, 3], expected shape [7, 9]"),
    (
        {"shape": (None, None)},
        np.zeros((0, 9), np.uint8),
        "found a mask without pixels, expected at least one pixel",
    ),
    (
        {},
        [[0]],
        "found a list, expected the bytes of a png image or an array of ids, uint8 "
        "[7, 9]",
    ),
    (
        {"encoding": "raw"},
        b"abc",
        "found bytes b'abc', expected an array of ids, uint8 [7, 9]",
    ),
    ({}, None, "found None, expected the bytes of a png image or an array of ids"),
    (
        {},
        np.ma.masked_equal(_U8, 0),
        "found a masked array, expected an array without mask",
    ),
    ({}, b"abc", "found bytes that begin with 'abc', expected a png image"),
    ({}, _PALETTE[:-20], "found a truncated png image, expected a whole png image"),
    (
        {},
        _RGB,
        "found a RGB PNG of 8 bits, expected a grey PNG of 8 bits, or one with a "
        "palette; colours are no class ids; give these as an array",
    ),
    (
        {},
        saved(Pillow.new("LA", (9, 7))),
        "found a grey and alpha PNG of 8 bits, expected a grey PNG of 8 bits, or one "
        "with a palette",
    ),
    (
        {},
        saved(Pillow.new("1", (9, 7))),
        "found a grey PNG of 1 bits, expected a grey PNG of 8 bits, or one with a "
        "palette; give the ids as an array, to be encoded",
    ),
    (
        {},
        images.encode_png(_U16[..., None]),
        "found a grey PNG of 16 bits, expected a grey PNG of 8 bits",
    ),
    (
        {"dtype": "uint16"},
        saved(Pillow.fromarray(_U8)),
        "found a grey PNG of 8 bits, expected a grey PNG of 16 bits; give the ids as",
    ),
    (
        {"dtype": "uint16"},
        _PALETTE,
        "found a palette PNG of 8 bits, expected a grey PNG of 16 bits",
    ),
    (
        {"shape": (9, None)},
        _PALETTE,
        "found a mask of shape [7, 9], expected shape [9, ?]",
    ),
    (
        {"shape": (7, 7)},
        _PALETTE,
        "found a mask of shape [7, 9], expected shape [7, 7]",
    ),
]


@pytest.mark.parametrize(("told", "value", "message"), WRONG_ROWS)
def test_a_wrong_mask_is_not_written(
    told: dict[str, Any], value: Any, message: str
) -> None:
    """The error names the field, what was found and what is expected."""
    mask = Mask("mask", key="m", **{"shape": (7, 9), **told})
    with pytest.raises(RecordError) as caught:
        mask.encode(value)
    assert str(caught.value).startswith(f"field 'mask': {message}")


def test_the_row_of_a_wrong_mask_is_named() -> None:
    """In a column, the first that is wrong."""
    mask = Mask("mask", key="m", shape=(7, 9), num_classes=2)
    with pytest.raises(RecordError, match=r"^row 1: field 'mask': found class id 2 at"):
        mask.encode_column([_U8, _U8 + 2, _U8 + 3], 3)


# Wrong bytes.

# how it is read, the bytes, and the message
WRONG_BYTES: list[tuple[dict[str, Any], bytes, str]] = [
    ({}, _RGB, "expected a grey PNG of 8 bits, or one with a palette, found bits and"),
    ({}, saved(Pillow.new("1", (9, 7))), "expected a grey PNG of 8 bits, or one with"),
    (
        {},
        images.encode_png(_U16[..., None]),
        "expected a grey PNG of 8 bits, or one with",
    ),
    (
        {"dtype": tf.uint16},
        images.encode_png(_U8[..., None]),
        "expected a grey PNG of 16 bits, found bits and colour type",
    ),
    ({"dtype": tf.uint16}, _PALETTE, "expected a grey PNG of 16 bits, found bits and"),
    ({}, b"", "expected a png, found data that begins with the bytes"),
    ({}, b"GIF89a", "expected a png, found data that begins with the bytes"),
    ({}, _PALETTE[:30], "expected a png, found data that begins with the bytes"),
    ({}, _PALETTE[:50], "expected a whole png, found one without pixels"),
    (
        {"num_classes": 2},
        _PALETTE,
        "expected class ids from 0 to 1, found",
    ),
    (
        {"num_classes": 1, "ignore": 2},
        _PALETTE,
        "expected class ids from 0 to 0, or 2 to be ignored, found",
    ),
]


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize(("how", "data", "message"), WRONG_BYTES)
def test_wrong_bytes_are_not_read(
    how: dict[str, Any], data: bytes, message: str
) -> None:
    """In a graph and outside of one, the error names the field and what is expected."""
    eager = {"dtype": tf.uint8, **how}
    for function in (
        lambda: read(data, **how),
        lambda: decode_masks(tf.constant([data]), "mask", "png", (None, None), **eager),
    ):
        assert f"field 'mask': {message}" in refusal(function)


def test_a_wrong_size_is_not_read() -> None:
    """A mask of another size than declared is refused, and shown."""
    data = tf.constant([_PALETTE])
    for shape in ((9, 7), (None, 7)):
        message = refusal(lambda s=shape: decode_masks(data, "m", "png", s))  # type: ignore[misc]
        assert f"field 'm': expected a mask of {shape[0]} x 7, found [7, 9]" in message
    raw = tf.constant([bytes(10)])
    message = refusal(lambda: decode_masks(raw, "m", "raw", (2, 4), tf.uint8))
    assert "field 'm': expected 8 bytes (uint8 [2, 4, 1]), found sizes [10]" in message


def test_raw_masks_of_any_size_are_as_large_as_is_said_beside_them() -> None:
    """Read by the stored size, one by one or resized; a wrong size is refused."""
    ids = [random_ids(300, 3, 5, dtype="uint16"), random_ids(300, 2, 1, dtype="uint16")]
    data = tf.constant([mask.tobytes() for mask in ids])
    height, width = tf.constant([[3, 2], [5, 1]], tf.int64)

    def decode(rows: slice, **how: Any) -> Ids:
        sizes = {"height": height[rows], "width": width[rows]}
        found: Ids = decode_masks(
            data[rows], "m", "raw", (None, None), tf.uint16, **{**sizes, **how}
        ).numpy()
        return found

    for at, mask in enumerate(ids):
        np.testing.assert_array_equal(decode(slice(at, at + 1)), [mask])
    both = decode(slice(2), resize=(6, 5))
    np.testing.assert_array_equal(both[0], np.repeat(ids[0], 2, axis=0))
    np.testing.assert_array_equal(both[1], np.tile(np.repeat(ids[1], 3, 0), (1, 5)))
    for wrong in ([4], [0], [-3]):
        message = refusal(
            lambda w=wrong: decode(slice(1), height=tf.constant(w, tf.int64))  # type: ignore[misc]
        )
        assert "field 'm': expected height x width x channels x 2 bytes" in message
        assert f"{wrong[0]}, 5, 1, 30" in message


def test_a_missing_mask_is_all_ignored() -> None:
    """Of any encoding and size; without an id to ignore it is zeros."""
    nothing, zero = tf.constant([""]), tf.constant([0], tf.int64)
    sizes = {"height": zero, "width": zero}
    for encoding, shape, further in (
        ("png", (2, 3), {}),
        ("png", (None, None), {}),
        ("raw", (2, 3), {}),
        ("raw", (None, None), sizes),
    ):
        for ignore, filler in ((7, 7), (None, 0)):
            found = decode_masks(
                nothing,
                "m",
                encoding,
                shape,
                tf.uint16,
                num_classes=5,
                ignore=ignore,
                optional=True,
                **further,
            )
            expected = np.full((1, shape[0] or 1, shape[1] or 1), filler)
            np.testing.assert_array_equal(found, expected)


def test_masks_of_any_size_come_one_at_a_time() -> None:
    """A batch of several needs one size, and says how to get it."""
    data = tf.constant([_PALETTE, _PALETTE])
    message = refusal(lambda: decode_masks(data, "m", "png", (None, None)))
    assert "use batch_size=1 or declare resize=(height, width)" in message
    found = decode_masks(data, "m", "png", (None, None), resize=(2, 2))
    assert found.shape == (2, 2, 2)


@pytest.mark.parametrize("size", [(14, 18), (3, 4), (7, 9), (1, 1), (70, 5)])
def test_resizing_makes_no_new_ids(size: tuple[int, int]) -> None:
    """Each pixel is the one below its centre, as bilinear pictures have it too."""
    ids = random_ids(256)
    rows, columns = (
        ((np.arange(new) + 0.5) * old / new).astype(int)
        for new, old in zip(size, ids.shape, strict=True)
    )
    found = read(with_palette(ids, VOC), resize=size)
    np.testing.assert_array_equal(found, ids[rows][:, columns])
    raw = tf.constant([ids.astype("<i4").tobytes()] * 2)
    both = decode_masks(raw, "m", "raw", (7, 9), tf.int32, resize=size)
    np.testing.assert_array_equal(both, [ids[rows][:, columns]] * 2)


# In a schema.

HEAD = """\
from typing import Annotated, Any
import numpy as np
from schemagen import Image, Mask, Record, Scalar

"""
FIRST_FIELD = HEAD.count("\n") + 2

# the fields, and found, expected and advice of the finding at the first
SG118 = [
    (
        ["mask: Annotated[Any, Mask((4, 4), num_classes=2)]", "x: float"],
        "no Image",
        "an Image of [4, 4], the mask's height and width",
        "declare the picture",
    ),
    (
        [
            "mask: Annotated[Any, Mask((4, 4), num_classes=2)]",
            "a: Annotated[Any, Image((8, 4, 3))]",
            "b: Annotated[Any, Image((None, None, 3), encoding='png', resize=(6, 6))]",
        ],
        "an Image of [8, 4] and an Image of [6, 6]",
        "an Image of [4, 4]",
        "resize= brings both to one size",
    ),
    (
        [
            "mask: Annotated[Any, Mask((None, None), num_classes=2, resize=(8, 8))]",
            "a: Annotated[Any, Image((8, 8, 3), role='info')]",
        ],
        "no Image",
        "an Image of [8, 8]",
        "role='info'",
    ),
    (
        ["mask: Annotated[Any, Mask((4, 4), role='target')]", "x: float"],
        "role 'target'",
        "role='info' for ids without num_classes: no model can take them",
        "'info' is carried along",
    ),
    (
        ["mask: Annotated[Any, Mask((4, 4), role='input')]", "x: float"],
        "role 'input'",
        "role='info' for ids without num_classes",
        "change the role",
    ),
    (
        [
            "mask: Annotated[np.ndarray | None, Mask((8, 8), num_classes=2)] = None",
            "a: Annotated[Any, Image((8, 8, 3))]",
        ],
        "role 'target'",
        "ignore=<an id>, which a missing mask then is full of: a missing one cannot",
        "change the role",
    ),
]


@pytest.mark.parametrize(("fields", "found", "expected", "advice"), SG118)
def test_a_target_needs_its_picture(
    tmp_path: Path, fields: list[str], found: str, expected: str, advice: str
) -> None:
    """What no model could learn is refused when generating, with what to do."""
    lines = "".join(f"    {field}\n" for field in fields)
    root = make_project(tmp_path, {"r.py": f"{HEAD}class R(Record):\n{lines}"})
    (finding,) = [f for f in refusals(root) if f["rule"] == "SG118"]
    assert place(finding) == f"schemas/r.py:{FIRST_FIELD}:5"
    assert finding["found"] == found
    assert finding["expected"].startswith(expected)
    assert advice in finding["advice"]
