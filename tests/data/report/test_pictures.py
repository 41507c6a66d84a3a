"""What is drawn of a record: images of every sort, masks, boxes, and their colours."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
import pytest
from PIL import Image
from schemagen.data.report.formatting import decoded, number, one_line, percent, size
from schemagen.data.report.overlays import (
    Box,
    Colors,
    box_fields,
    boxes_in,
    layers,
    mask_class_name,
    mask_of,
)
from schemagen.data.report.pictures import Budget, copy_of, copy_of_pixels
from schemagen.data.report.records import read, shaped
from schemagen.spec.model import MaskSpec, VarLenSpec

from .scenes import SCENE, encoded, example, record_spec


def decoded_url(url: str) -> Image.Image:
    """Return the picture of a data: URL."""
    return Image.open(io.BytesIO(base64.b64decode(url.split(",")[1])))


@pytest.mark.parametrize("form", ["JPEG", "PNG", "GIF", "BMP", "WEBP"])
def test_every_format_is_shown(form: str) -> None:
    """Bounded, and as it looks."""
    pixels = np.full((900, 600, 3), (200, 40, 40), np.uint8)
    copy = copy_of(encoded(pixels, form), Budget())
    assert copy.about.startswith(f"600 × 900, {'grey' if form == 'GIF' else 'RGB'}")
    shown = decoded_url(copy.url)
    assert max(shown.size) == 400
    red, green, blue = shown.convert("RGB").getpixel((100, 100))
    assert red > 180
    assert max(green, blue) < 60


def test_small_pictures_keep_their_pixels() -> None:
    """They are shown as squares."""
    pixels = np.arange(64, dtype=np.uint8).reshape(8, 8)
    copy = copy_of(encoded(pixels, "PNG"), Budget())
    assert copy.coarse
    assert np.array_equal(np.asarray(decoded_url(copy.url)), pixels)


@pytest.mark.parametrize("dtype", ["uint16", "float32", "int64"])
def test_raw_pixels_of_any_dtype_are_shown(dtype: str) -> None:
    """From black to white, and the page says which values those are."""
    pixels = np.array([[[100], [200]], [[300], [500]]], dtype)
    copy = copy_of_pixels(pixels, Budget())
    assert np.asarray(decoded_url(copy.url)).tolist() == [[0, 64], [128, 255]]
    assert copy.about.endswith(f"{dtype}, black is 100, white 500")


def test_what_pictures_may_take_has_an_end() -> None:
    """Later ones are smaller, and at last there is none."""
    random = np.random.default_rng(0)
    data = encoded(random.integers(0, 256, (500, 500, 3), dtype=np.uint8), "JPEG")
    budget = Budget(left=400_000, ample=250_000)
    copies = [copy_of(data, budget) for _ in range(60)]
    widths = [decoded_url(copy.url).width if copy.url else 0 for copy in copies]
    assert widths == sorted(widths, reverse=True)
    assert set(widths) == {400, 160, 0}
    assert sum(len(copy.url) for copy in copies) <= 400_000
    assert copies[-1].trouble == "left out: the report holds enough pictures"


def test_raw_bytes_have_the_shape_that_the_record_says() -> None:
    """Or none, if they do not fit; never more than they are."""
    data = np.arange(6, dtype="<u2").tobytes()
    assert np.array_equal(shaped(data, "uint16", (2, 3, 1)).ravel(), range(6))
    assert shaped(data, "uint16", (None, 3, 1)).shape == (2, 3, 1)
    bad = [(None, None, 1), (4, 4, 1), (2**40, 2**40, 1), (2**70, 1, 1), (-1, -6, 1)]
    assert [shaped(data, "uint16", shape) for shape in bad] == [None] * 5
    assert shaped(b"", "uint16", (None, 3, 1)) is None
    assert shaped(data, "uint32", (None,)).size == 3
    for dtype in ("string", "object", "V0", "S4", "uint64"):
        assert shaped(data, dtype, (None,)) is None


def test_masks_are_layers_of_one_colour() -> None:
    """Each of a class; together they cover the picture once."""
    field = next(each for each in SCENE.fields if isinstance(each.kind, Mask))
    ids = np.array([[0, 0, 1], [2, 2, 255]], np.uint8)
    mask = mask_of(field, read(example({field.key: [encoded(ids, "PNG")]})))
    assert mask is not None
    colors = Colors()
    keys = colors.add(field.name, {0: 3, 1: 2, 2: 1}, {0: "a", 1: "b", 2: "c"}, 2)
    assert [key.shown for key in keys] == [False, True, True]
    found = layers(mask, colors, Budget())
    assert [slot for slot, _ in found] == [0, 1, 2, 24]  # ignored pixels: all others
    opaque = [np.asarray(decoded_url(url).convert("RGBA"))[..., 3] for _, url in found]
    assert (sum((each > 0).astype(int) for each in opaque) == 1).all()
    assert mask_class_name(field, 255) == "ignored (255)"
    assert mask_class_name(field, 1) == "disc"
    assert mask_class_name(field, 77) == "77"


def corners(**features: Any) -> list[Box]:
    """Return the boxes of a record on a picture 100 high and 200 wide."""
    fields = [
        FieldSpec.of(VarLen, name=f"b_{side}", key=side, role="input", dtype="float32")
        for side in ("xmin", "ymin", "xmax", "ymax")
    ]
    [boxes] = box_fields(record_spec("boxes", *fields))
    return list(boxes_in(boxes, read(example(features)), 100, 200))


def test_boxes_are_relative_or_in_pixels() -> None:
    """By their numbers: relative ones are from 0 to 1, all of a record."""
    relative = corners(xmin=[0.25], ymin=[0.5], xmax=[1.0], ymax=[1.0])
    assert relative == [Box(50, 50, 150, 50, "")]
    pixels = corners(xmin=[0.0, 5.0], ymin=[0.0, 5.0], xmax=[1.0, 9.0], ymax=[1.0, 8.0])
    assert pixels == [Box(0, 0, 1, 1, ""), Box(5, 5, 4, 3, "")]


def test_boxes_that_are_none_are_left_out() -> None:
    """Turned ones, those outside, those that are no numbers, and lists that differ."""
    assert corners(xmin=[9.0], ymin=[1.0], xmax=[2.0], ymax=[5.0]) == []
    assert corners(xmin=[300.0], ymin=[1.0], xmax=[400.0], ymax=[5.0]) == []
    nan = float("nan")
    assert corners(xmin=[nan], ymin=[1.0], xmax=[400.0], ymax=[5.0]) == []
    assert corners(xmin=[1.0, 2.0], ymin=[1.0], xmax=[4.0], ymax=[5.0]) == []
    [cut] = corners(xmin=[-10.0], ymin=[-10.0], xmax=[900.0], ymax=[50.0])
    assert cut == Box(0, 0, 200, 50, "")


def test_a_schema_says_where_boxes_are() -> None:
    """Four lists that are alike but for their ends, and what names them."""
    [boxes] = box_fields(SCENE)
    assert boxes.keys[0] == "object/xmin"
    assert boxes.label is not None
    assert boxes.label.name == "what"
    assert box_fields(record_spec("none", SCENE.fields[4])) == ()
