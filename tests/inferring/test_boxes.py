"""Boxes in drafts: their sides, their order, and the image in whose pixels they are."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import make_project, run
from data.messages import write_file
from PIL import Image as Pillow

from .inference import found_in, infer, many

ROWS_FIRST = ("ymin", "xmin", "ymax", "xmax")
CORNERS = ("xmin", "ymin", "xmax", "ymax")
SIZES = ("xmin", "ymin", "width", "height")

Row = dict[str, Any]


def shares(at: int) -> Any:
    """Return ymin, xmin, ymax, xmax of some boxes as shares: float32 [boxes, 4]."""
    random = np.random.default_rng(at)
    return np.sort(random.random((at % 3 + 1, 2, 2)), axis=1).reshape(-1, 4)


def size(at: int) -> tuple[int, int]:
    """Return height and width of a picture that is higher than wide."""
    return 300 + at % 7, 120 + at % 5


def picture(at: int) -> bytes:
    out = BytesIO()
    Pillow.new("RGB", size(at)[::-1]).save(out, "png")
    return out.getvalue()


def pixels(at: int, order: tuple[str, ...]) -> Any:
    """Return boxes in pixels of the picture: int64 [boxes, 4]."""
    boxes = np.floor(shares(at) * np.array([*size(at), *size(at)])).astype(np.int64)
    named = dict(zip(ROWS_FIRST, boxes.T, strict=True))
    named["width"] = named["xmax"] - named["xmin"]
    named["height"] = named["ymax"] - named["ymin"]
    named["xc"] = named["xmin"] + named["width"] // 2
    named["yc"] = named["ymin"] + named["height"] // 2
    return np.stack([named[side] for side in order], axis=1)


def sides(at: int, prefix: str, names: tuple[str, ...], boxes: Any) -> Row:
    return {
        f"{prefix}{name}": [float(n) for n in column]
        for name, column in zip(names, boxes.T, strict=True)
    }


# The names of four lists and the sides that they are.
NAMES = [
    ("image/object/bbox/", ROWS_FIRST, ROWS_FIRST),
    ("objects/x_", ("1", "2"), ()),
    ("boxes/", ("y1", "x1", "y2", "x2"), ROWS_FIRST),
    ("boxes/", ("top", "left", "bottom", "right"), ROWS_FIRST),
    ("boxes/", ("y_min", "x_min", "y_max", "x_max"), ROWS_FIRST),
    ("bbox_", ("ymin", "xmin", "ymax", "xmax"), ROWS_FIRST),
]


@pytest.mark.parametrize(("prefix", "names", "expected"), NAMES)
def test_lists_that_are_named_as_sides_are_boxes(
    tmp_path: Path,
    prefix: str,
    names: tuple[str, ...],
    expected: tuple[str, ...],
) -> None:
    """Of shares, without an image; other names are no sides."""
    fields, comments = found_in(
        tmp_path,
        many(
            lambda at: {
                **sides(at, prefix, names, shares(at)[:, : len(names)]),
                "image": picture(at),
            },
        ),
    )
    for name, side in zip(names, expected or (None,) * len(names), strict=True):
        kind = fields[f"{prefix}{name}"].kind
        assert (kind.box, kind.box_image) == (side, None)
        assert "box=" not in comments.get(f"{prefix}{name}", "")


def test_boxes_in_pixels_name_their_image(tmp_path: Path) -> None:
    """Of several that which they are inside of."""
    out = BytesIO()
    Pillow.new("RGB", (20, 20)).save(out, "png")
    small = out.getvalue()
    fields, _ = found_in(
        tmp_path,
        many(
            lambda at: {
                **sides(at, "object/bbox/", ROWS_FIRST, pixels(at, ROWS_FIRST)),
                "image/encoded": picture(at),
                "other/encoded": small,
            },
        ),
    )
    kinds = {side: fields[f"object/bbox/{side}"].kind for side in ROWS_FIRST}
    assert {side: kind.box for side, kind in kinds.items()} == {
        s: s for s in ROWS_FIRST
    }
    assert {kind.box_image for kind in kinds.values()} == {"image"}


# The key of items of four, their order, and the box= that is declared.
ITEMS: list[tuple[str, tuple[str, ...], Any]] = [
    ("bbox", CORNERS, CORNERS),
    ("boxes", ROWS_FIRST, ROWS_FIRST),
    ("object/bbox", SIZES, SIZES),
    ("bbox_xywh", SIZES, SIZES),
    ("boxes", ("xc", "yc", "width", "height"), None),
    ("rgba", CORNERS, None),
]


@pytest.mark.parametrize(("key", "order", "expected"), ITEMS)
@pytest.mark.parametrize("labelled", [False, True])
def test_values_in_pixels_tell_the_order_of_items(
    tmp_path: Path, key: str, order: tuple[str, ...], expected: Any, labelled: bool
) -> None:
    """Since boxes are inside of their image in one order alone."""
    fields, comments = found_in(
        tmp_path,
        many(
            lambda at: {
                key: [*map(int, pixels(at, order).ravel())],
                "image": picture(at),
                **({f"{key}_label": [1] * (at % 3 + 1)} if labelled else {}),
            },
            60,
        ),
    )
    kind = fields[key].kind
    assert kind.box == expected
    assert kind.box_image == ("image" if expected else None)
    if expected:
        assert kind.item_shape == (4,)
    if "xc" in order:
        assert "centers" in comments[key]


def test_one_box_in_each_record(tmp_path: Path) -> None:
    """A vector of four, and several of a fixed number."""
    fields, comments = found_in(
        tmp_path,
        many(
            lambda at: {
                "bbox_xyxy": [*map(float, shares(at)[0])],
                "bbox": [*map(float, shares(at)[0])],
                "objects/bbox": [*map(float, shares(at).ravel())],
            }
        ),
    )
    assert fields["bbox_xyxy"].kind.box == CORNERS
    assert fields["bbox"].kind.box is None
    assert 'box=("ymin", "xmin", "ymax", "xmax") or box=("xmin"' in comments["bbox"]
    assert fields["objects/bbox"].kind.box == ROWS_FIRST
    assert "TFDS" in comments["objects/bbox"]


def swapped(row: Callable[[int], Row], odd: int) -> Callable[[int], Row]:
    """Return rows of which the first ones have boxes that end before they begin."""

    def change(at: int) -> Row:
        found = row(at)
        if at < odd:
            found["bbox/xmin"], found["bbox/xmax"] = (
                found["bbox/xmax"],
                found["bbox/xmin"],
            )
        return found

    return change


@pytest.mark.parametrize(("odd", "is_box"), [(2, True), (30, False)])
def test_boxes_that_end_before_they_begin(
    tmp_path: Path, odd: int, is_box: bool
) -> None:
    """In few records a doubt, and findings of `verify`; in more, no boxes."""

    def row(at: int) -> Row:
        return sides(at, "bbox/", ROWS_FIRST, shares(at))

    data = write_file(tmp_path / "records", many(swapped(row, odd), 200))
    found = infer(data, tmp_path / "found.py")
    kinds = [found.fields[f"bbox/{side}"].kind for side in ROWS_FIRST]
    assert [kind.box is not None for kind in kinds] == [is_box] * 4
    assert f"{odd} of 200 records have a box" in found.prose
    assert "ends before it begins" in found.prose


@pytest.mark.usefixtures("adopt_in_process")
@pytest.mark.parametrize("odd", [0, 1])
def test_files_with_broken_boxes_are_not_sealed(tmp_path: Path, odd: int) -> None:
    """The findings name the records."""

    def row(at: int) -> Row:
        boxes = sides(at, "bbox/", ROWS_FIRST, shares(at))
        return {**boxes, "image": picture(0), "label": at % 2}

    project = make_project(tmp_path / "project", {})
    data = tmp_path / "data"
    data.mkdir()
    messages = many(swapped(row, odd), 150)
    write_file(data / "train.tfrecord", messages)
    schema = project / "schemas" / "found.py"
    found = run("adopt", data, "--out", schema, "--project", project, "--seal")
    assert ("SG533" in found.output) == bool(odd), found.output
    assert (data / "manifest.json").exists() == (not odd), found.output
    assert found.exit_code == odd


def test_boxes_outside_of_their_image(tmp_path: Path) -> None:
    """In few records a doubt with their number, of those that have the image."""

    def row(at: int) -> Row:
        boxes = pixels(at, ROWS_FIRST) + (10_000 if at == 0 else 0)
        image = {"image": picture(at)} if at % 4 else {}
        return {**sides(at, "bbox/", ROWS_FIRST, boxes), **image}

    def early(at: int) -> Row:
        return row(at) | ({"image": picture(0)} if at == 0 else {})

    data = write_file(tmp_path / "records", many(early, 200))
    found = infer(data, tmp_path / "found.py")
    kind = found.fields["bbox/xmin"].kind
    assert (kind.box, kind.box_image) == ("xmin", "image")
    assert "1 of 151 records has a box outside of 'image'" in found.prose


def test_boxes_of_another_unit(tmp_path: Path) -> None:
    """Neither shares nor pixels: sides alone are declared."""
    fields, comments = found_in(
        tmp_path,
        many(
            lambda at: {
                **sides(at, "bbox/", ROWS_FIRST, shares(at) * 5000 + 5000),
                "image": picture(at),
            }
        ),
    )
    kind = fields["bbox/ymin"].kind
    assert (kind.box, kind.box_image) == ("ymin", None)
    text = " ".join(comments.values())
    assert "in pixels of another size" in text
    assert "30 of 30 records are outside" in text


def test_x_and_y_are_a_corner_or_a_center(tmp_path: Path) -> None:
    """Values tell: centers are no sides, and are a doubt."""
    for order, expected in ((SIZES, "xmin"), (("xc", "yc", "width", "height"), None)):
        fields, comments = found_in(
            tmp_path,
            many(
                lambda at, order=order: {
                    **sides(at, "boxes/", ("x", "y", "w", "h"), pixels(at, order)),
                    "image": picture(at),
                },
                60,
            ),
        )
        assert fields["boxes/x"].kind.box == expected
        assert ("centers" in " ".join(comments.values())) == (expected is None)


def test_boxes_in_pixels_without_an_image_ask_for_it(tmp_path: Path) -> None:
    """Readers would not scale them with it."""

    def row(at: int) -> Row:
        begins = [10.0 + at, 40.0, 70.0][: at % 3 + 1]
        ends = [each + 50 for each in begins]
        corners = {"xmin": begins, "ymin": begins, "xmax": ends, "ymax": ends}
        return {f"bbox/{side}": values for side, values in corners.items()}

    fields, comments = found_in(tmp_path, many(row))
    assert fields["bbox/xmin"].kind.box == "xmin"
    said = "".join(comments.values())
    assert "of which image? Then say box_image=" in said
