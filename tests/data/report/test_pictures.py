"""Pictures of records: copies, masks, boxes and their colors."""

from __future__ import annotations

import base64
import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image as Pillow
from schemagen import Image, Label, Mask
from schemagen.data.report.columns import columns_of, splits_of
from schemagen.data.report.overlays import (
    Box,
    box_fields,
    boxes_in,
)
from schemagen.data.report.pictures import Budget, copy_of, copy_of_pixels
from schemagen.data.report.records import read, shaped
from schemagen.data.report.samples import samples_of
from schemagen.data.statistics.model import RecordStatistics
from schemagen.data.statistics.samples import Sample, Samples

from .scenes import (
    PARTS,
    SCENE,
    SIDES,
    box_lists,
    encoded,
    example,
    field,
    record_spec,
)


def decoded_url(url: str) -> Image.Image:
    """Return the picture of a data: URL."""
    return Pillow.open(io.BytesIO(base64.b64decode(url.split(",")[1])))


@pytest.mark.parametrize("form", ["JPEG", "PNG", "GIF", "BMP", "WEBP"])
def test_images_of_every_format_are_copied(form: str) -> None:
    pixels = np.full((900, 600, 3), (200, 40, 40), np.uint8)
    copy = copy_of(encoded(pixels, form), Budget())
    assert copy.about.startswith(f"600 × 900, {'grey' if form == 'GIF' else 'RGB'}")
    shown = decoded_url(copy.url)
    assert max(shown.size) == 400
    red, green, blue = shown.convert("RGB").getpixel((100, 100))
    assert red > 180
    assert max(green, blue) < 60


def test_small_images_keep_their_pixels() -> None:
    pixels = np.arange(64, dtype=np.uint8).reshape(8, 8)
    copy = copy_of(encoded(pixels, "PNG"), Budget())
    assert copy.coarse
    assert np.array_equal(np.asarray(decoded_url(copy.url)), pixels)


@pytest.mark.parametrize("dtype", ["uint16", "float32", "int64"])
def test_raw_pixels_go_from_black_to_white(dtype: str) -> None:
    pixels = np.array([[[100], [200]], [[300], [500]]], dtype)
    copy = copy_of_pixels(pixels, Budget())
    assert np.asarray(decoded_url(copy.url)).tolist() == [[0, 64], [128, 255]]
    assert copy.about.endswith(f"{dtype}, black is 100, white 500")


def test_copies_get_smaller_and_end_when_the_budget_is_spent() -> None:
    random = np.random.default_rng(0)
    data = encoded(random.integers(0, 256, (500, 500, 3), dtype=np.uint8), "JPEG")
    budget = Budget(left=400_000, ample=250_000)
    copies = [copy_of(data, budget) for _ in range(60)]
    widths = [decoded_url(copy.url).width if copy.url else 0 for copy in copies]
    assert widths == sorted(widths, reverse=True)
    assert set(widths) == {400, 160, 0}
    assert sum(len(copy.url) for copy in copies) <= 400_000
    assert copies[-1].trouble == "left out: the report holds enough pictures"


def test_raw_bytes_that_do_not_fit_their_shape_are_no_array() -> None:
    data = np.arange(6, dtype="<u2").tobytes()
    assert np.array_equal(shaped(data, "uint16", (2, 3, 1)).ravel(), range(6))
    assert shaped(data, "uint16", (None, 3, 1)).shape == (2, 3, 1)
    bad = [(None, None, 1), (4, 4, 1), (2**40, 2**40, 1), (2**70, 1, 1), (-1, 3, 1)]
    assert [shaped(data, "uint16", shape) for shape in bad] == [None] * 5
    assert shaped(b"", "uint16", (None, 3, 1)) is None
    assert shaped(data, "uint32", (None,)).size == 3
    for dtype in ("string", "object", "V0", "S4", "uint64"):
        assert shaped(data, dtype, (None,)) is None


def test_an_overlay_has_the_colors_of_the_legend() -> None:
    """Of masks and boxes; a class that covers more than half is not drawn."""
    ids = np.zeros((40, 60), np.uint8)
    ids[:8], ids[32:] = 1, 255
    held = dict(zip(SIDES, ([0.25], [0.25], [0.75], [0.75]), strict=True))
    record = {
        PARTS.key: [encoded(ids, "PNG")],
        "image/encoded": [encoded(np.zeros((40, 60, 3), np.uint8), "JPEG")],
        **{f"object/{side}": value for side, value in held.items()},
        "object/class": [b"disc"],
    }
    kept = Sample(0, "train", 0, 0, example(record))
    splits = splits_of({"train": RecordStatistics(1, sampled=Samples((kept,)))})
    [group], legends = samples_of(splits, columns_of(splits, SCENE), SCENE)
    masks, boxes = ({key.name: key.color for key in each.classes} for each in legends)
    assert list(masks) == ["disc", "ignored (255)"]  # not the sky
    assert boxes == {"disc": masks["disc"]}
    [picture] = group.samples[0].pictures
    shown = decoded_url(picture.overlay)
    assert shown.size == (400, 267)

    def color(x: int, y: int) -> tuple[str, int]:
        *rgb, alpha = shown.getpixel((x, y))
        return "#" + bytes(rgb).hex(), alpha

    assert color(200, 10) == (masks["disc"], 140)
    assert color(200, 260) == (masks["ignored (255)"], 140)
    assert color(200, 133)[1] == 0
    assert color(100, 133) == (masks["disc"], 255)


def test_frequent_classes_have_a_color_each() -> None:
    """The others are grey."""
    ids = np.repeat(np.arange(30, dtype=np.uint8), range(40, 70)).reshape(5, -1)
    mask = field(Mask, "m", shape=(None, None), num_classes=30)
    kept = Sample(0, "train", 0, 0, example({"m": [encoded(ids, "PNG")]}))
    splits = splits_of({"train": RecordStatistics(1, sampled=Samples((kept,)))})
    spec = record_spec("scan", mask)
    [group], [legend] = samples_of(splits, columns_of(splits, spec), spec)
    assert [key.name for key in legend.classes] == [
        *map(str, range(14, 30)),
        "14 others",
    ]
    assert len({key.color for key in legend.classes}) == 17
    shown = np.asarray(decoded_url(group.samples[0].pictures[0].url))
    assert len(np.unique(shown.reshape(-1, 4), axis=0)) == 17
    assert (shown[..., 3] == 255).all()


@pytest.mark.parametrize(
    ("corners", "boxes"),
    [
        ([[0.25], [0.5], [1.0], [1.0]], [Box(50, 50, 200, 100, "")]),
        (
            [[0.0, 5.0], [0.0, 5.0], [1.0, 9.0], [1.0, 8.0]],  # all of them in pixels
            [Box(0, 0, 1, 1, ""), Box(5, 5, 9, 8, "")],
        ),
        ([[-10.0], [-10.0], [900.0], [50.0]], [Box(0, 0, 200, 50, "")]),  # cut
        ([[9.0], [1.0], [2.0], [5.0]], []),  # turned
        ([[300.0], [1.0], [400.0], [5.0]], []),  # outside
        ([[float("nan")], [1.0], [400.0], [5.0]], []),
        ([[1.0, 2.0], [1.0], [4.0], [5.0]], []),
        (
            [[2.0] * 300, [2.0] * 300, [4.0] * 300, [3.0] * 300],
            [Box(2, 2, 4, 3, "")] * 200,
        ),
    ],
)
def test_boxes_are_relative_or_pixels_inside_of_the_picture(
    corners: list[list[float]], boxes: list[Box]
) -> None:
    """On a picture 100 high and 200 wide."""
    [fields] = box_fields(record_spec("boxes", *box_lists(group=None)))
    record = read(example(dict(zip(SIDES, corners, strict=True))))
    assert list(boxes_in(fields, record, 100, 200)) == boxes


def test_boxes_of_a_schema_are_four_lists_and_their_names() -> None:
    [boxes] = box_fields(SCENE)
    assert boxes.keys[0] == "object/xmin"
    assert boxes.label is not None
    assert boxes.label.name == "what"
    assert box_fields(record_spec("none", SCENE.fields[4])) == ()


def test_samples_have_pictures_masks_and_values() -> None:
    """A mask of other proportions is a picture of its own."""
    sized = {"encoding": "raw", "height_key": "h", "width_key": "w"}
    label = {"num_classes": 2, "classes": ("a", "b"), "offset": 1}
    spec = record_spec(
        "scan",
        field(Image, "depth", shape=(None, None, 1), dtype="uint16", **sized),
        field(
            Mask,
            "mask",
            shape=(4, 4),
            num_classes=2,
            encoding="raw",
            dtype="uint8",
        ),
        field(Label, "kind", role="target", **label),
    )
    depth, mask = np.arange(6, dtype="<u2").tobytes(), bytes(8) + b"\1" * 8
    held = {"depth": [depth], "h": [2], "w": [3], "mask": [mask], "kind": [2]}
    file = "data/train-00001-of-00002.tfrecord"
    kept = Sample(0, file, 3, 0, example(held)), Sample(0, file, 4, 0, b"\xff\xff")
    splits = splits_of({"train": RecordStatistics(9, sampled=Samples(kept))})
    [group], [legend] = samples_of(splits, columns_of(splits, spec), spec)
    assert group.of == "2 of 9 records"
    assert [key.name for key in legend.classes] == ["0", "1"]
    sample, malformed = group.samples
    assert (sample.title, sample.headline) == ("record 3, shard 1", "b")
    assert [(each.name, each.about, each.overlay) for each in sample.pictures] == [
        ("depth", "3 × 2, grey, uint16, black is 0, white 5", ""),
        ("mask", "4 × 4, a mask", ""),
    ]
    assert [value.name for value in sample.values] == ["depth", "mask", "kind"]
    assert sample.values[2].text == "b"
    assert (malformed.headline, malformed.values[0].name) == ("malformed", "malformed")


@pytest.mark.parametrize("with_schema", [True, False])
def test_a_palette_png_of_a_mask_is_shown_by_its_indices(with_schema: bool) -> None:
    """Not in the colors of its palette, with a schema or by its key."""
    image = Pillow.fromarray(np.array([[0, 1], [7, 7]], np.uint8), "P")
    image.putpalette([255, 0, 0, 0, 255, 0] + [9] * 762)
    out = io.BytesIO()
    image.save(out, "PNG")
    kept = Sample(0, "train", 0, 0, example({"parts/mask": [out.getvalue()]}))
    splits = splits_of({"train": RecordStatistics(1, sampled=Samples((kept,)))})
    mask = field(Mask, "parts/mask", shape=(None, None), num_classes=8)
    spec = record_spec("scan", mask) if with_schema else None
    columns = columns_of(
        splits, spec or record_spec("scan", field(Image, "parts/mask", shape=(1, 1, 1)))
    )
    if not with_schema:
        columns = tuple(replace(each, field=None) for each in columns)
    [group], [legend] = samples_of(splits, columns, spec)
    assert [key.name for key in legend.classes] == ["0", "1", "7"]
    [picture] = group.samples[0].pictures
    assert picture.about == "2 × 2, a mask"
    shown = decoded_url(picture.url)
    assert shown.getpixel((0, 1)) == shown.getpixel((1, 1)) != shown.getpixel((0, 0))


def test_a_palette_png_of_another_key_is_shown_in_its_colors() -> None:
    """It is a drawing, as far as anything tells."""
    image = Pillow.fromarray(np.array([[0, 1], [1, 1]], np.uint8), "P")
    image.putpalette([255, 0, 0, 0, 255, 0])
    out = io.BytesIO()
    image.save(out, "PNG")
    kept = Sample(0, "train", 0, 0, example({"icon": [out.getvalue()]}))
    splits = splits_of({"train": RecordStatistics(1, sampled=Samples((kept,)))})
    spec = record_spec("scan", field(Image, "icon", shape=(1, 1, 1)))
    columns = tuple(replace(each, field=None) for each in columns_of(splits, spec))
    [group], legends = samples_of(splits, columns, None)
    [picture] = group.samples[0].pictures
    assert not legends
    assert decoded_url(picture.url).convert("RGB").getpixel((0, 0)) == (255, 0, 0)


def test_pictures_in_base64_are_shown() -> None:
    """Raw and encoded ones; of damaged text the page says that it is no image."""
    text = {"transfer_encoding": "base64"}
    spec = record_spec(
        "scan",
        field(Image, "a", shape=(2, 2, 3), **text),
        field(Image, "b", shape=(4, 4, 3), encoding="png", **text),
    )
    raw = base64.b64encode(bytes(12))
    png = base64.urlsafe_b64encode(encoded(np.zeros((4, 4, 3), np.uint8), "PNG"))
    rows = {"a": [raw], "b": [png]}, {"a": [raw[:-1]], "b": [png[:-1] + b"!"]}
    kept = [Sample(0, "f", at, 0, example(row)) for at, row in enumerate(rows)]
    splits = splits_of({"train": RecordStatistics(2, sampled=Samples((*kept,)))})
    [group], _ = samples_of(splits, columns_of(splits, spec), spec)
    good, damaged = group.samples
    assert [each.about.split(",")[0] for each in good.pictures] == ["2 × 2", "4 × 4"]
    assert all(each.url for each in good.pictures)
    assert [each.trouble.split(":")[0] for each in damaged.pictures] == [
        "not the bytes of 2×2×3 uint8 pixels",
        "no image",
    ]
