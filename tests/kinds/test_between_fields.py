"""Fields of a record next to each other: masks and their images, boxes and theirs."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from columns import columns_of
from command_line import make_project, run
from PIL import Image as Pillow
from stored_features import blobs, changed, example, floats, ints, refusal
from tfrecord_files import write_records

from generated import DatasetError

if TYPE_CHECKING:
    from conftest import Workspace

SCHEMA = """
from typing import Annotated, Any
import numpy as np
from pydantic import BaseModel
from schemagen import Image, Mask, Record, VarLen, Vector

class Objects(BaseModel):
    top: Annotated[list[float], VarLen("float32", group="b", box="ymin", box_image="photo")]
    left: Annotated[list[float], VarLen("float32", group="b", box="xmin", box_image="photo")]
    tall: Annotated[list[float], VarLen("float32", group="b", box="height", box_image="photo")]
    right: Annotated[list[float], VarLen("float32", group="b", box="xmax", box_image="photo")]
    label: Annotated[list[int], VarLen("int64", group="b")]

class Scene(Record):
    photo: Annotated[Any, Image((None, None, 3), "any", resize=(4, 4))]
    tile: Annotated[np.ndarray | None, Image((3, 3, 1), role="info")] = None
    mask: Annotated[Any, Mask((None, 8), num_classes=3, resize=(4, 4))]
    raw: Annotated[np.ndarray | None, Mask((None, 8), encoding="raw", height_key="rh",
        resize=(2, 2))] = None
    small: Annotated[np.ndarray | None, Mask((2, 2), own_size=True)] = None
    part: Annotated[np.ndarray | None, Mask((None, None), role="info", resize=(2, 2))] = None

class Found(Record):
    photo: Annotated[Any | None, Image((6, 8, 3), "png")] = None
    objects: Objects
    boxes: Annotated[np.ndarray, VarLen("float32", item_shape=(4,),
        box=("ymin", "xmin", "ymax", "xmax"))]
    coco: Annotated[np.ndarray, VarLen("int64", item_shape=(4,), box_image="photo",
        box=("xmin", "ymin", "width", "height"))]
    one: Annotated[np.ndarray | None, Vector((2, 4), "int32",
        box=("xmin", "ymin", "xmax", "ymax"), box_image="photo")] = None
    xmin: Annotated[list[float] | None, VarLen("float32", group="unit", box="xmin")] = None
    xmax: Annotated[list[float] | None, VarLen("float32", group="unit", box="xmax")] = None
    ymin: Annotated[list[float] | None, VarLen("float32", group="unit", box="ymin")] = None
    ymax: Annotated[list[float] | None, VarLen("float32", group="unit", box="ymax")] = None
"""


def png(height: int, width: int, mode: str = "RGB") -> bytes:
    """Return a PNG of one colour."""
    out = BytesIO()
    Pillow.new(mode, (width, height)).save(out, "png")
    return out.getvalue()


SCENE: dict[str, Any] = {
    "photo": png(6, 8),
    "tile": np.zeros((3, 3, 1), np.uint8),
    "mask": np.zeros((6, 8), np.uint8),
    "raw": np.zeros((6, 8), np.uint8),
    "small": np.zeros((2, 2), np.uint8),
    "part": np.zeros((1, 1), np.uint8),
}
SIDES: dict[str, Any] = {
    "top": [0.0, 1.5],
    "left": [0.0, 7.5],
    "tall": [6.0, 0.0],
    "right": [8.0, 7.5],
    "label": [1, 2],
}
FOUND: dict[str, Any] = {
    "photo": png(6, 8),
    "objects": SIDES,
    "boxes": [[0.1, 0.2, 0.3, 0.2], [0, 0, 1, 1]],
    "coco": [[0, 0, 8, 6], [3, 3, 0, 0]],
    "one": [[0, 0, 8, 6], [1, 1, 1, 1]],
    "xmin": [0.1],
    "xmax": [0.2],
    "ymin": [0.1],
    "ymax": [0.1],
}
UNIT = ("xmin", "xmax", "ymin", "ymax")


def _sides(**change: list[float]) -> dict[str, Any]:
    return {"objects": {**SIDES, **change}}


# A record, what is changed in its row, the field at fault, what was found and expected.
WRONG: list[tuple[str, dict[str, Any], str, str, str]] = [
    (
        "scene",
        {"mask": np.zeros((7, 8), np.uint8)},
        "mask",
        "a mask of [7, 8]",
        "photo",
    ),
    (
        "scene",
        {"mask": png(5, 8, "L")},
        "mask",
        "an image of [6, 8]",
        "height and width",
    ),
    ("scene", {"photo": png(6, 9), "raw": None}, "mask", "[6, 9]", ""),
    ("scene", {"raw": np.zeros((7, 8), np.uint8)}, "raw", "a mask of [7, 8]", "photo"),
    ("found", {"boxes": [[0, 0, 1, 1], [0.5, 0, 0.25, 1]]}, "boxes", "0.25", "ymin"),
    ("found", {"coco": [[1, 1, 2, -1]]}, "coco", "-1", "height not below 0"),
    ("found", {"one": [[0, 0, 1, 1], [2, 0, 1, 0]]}, "one", "1", "xmax not below xmin"),
    ("found", {"xmax": [0.05]}, "xmax", "0.05", "xmax not below xmin"),
    ("found", _sides(right=[8.0, 7.0]), "objects.right", "7.0 at [1]", "below xmin"),
    ("found", _sides(tall=[6.0, -1.0]), "objects.tall", "-1.0", "height not below 0"),
    ("found", _sides(right=[8.0, 8.5]), "objects.right", "8.5", "inside of the image"),
    ("found", _sides(tall=[6.0, 5.0]), "objects.tall", "5.0", "inside of the image"),
    ("found", _sides(top=[-1.0, 1.5]), "objects.top", "-1.0", "inside of the image"),
    ("found", {"coco": [[1, 1, 2, 6]]}, "coco", "6 at [3]", "inside of the image"),
    ("found", {"one": [[0, 0, 9, 6], [1, 1, 1, 1]]}, "one", "9 at [2]", "'photo'"),
]


@pytest.mark.parametrize(("record", "change", "field", "found", "expected"), WRONG)
def test_writers_refuse_what_does_not_go_together(
    package: Workspace,
    record: str,
    change: dict[str, Any],
    field: str,
    found: str,
    expected: str,
) -> None:
    """By row, batch and class; the error names the field, the values and the row."""
    good = SCENE if record == "scene" else FOUND
    row = {**good, **change}
    serializer = package.module(record, "serializer")
    serializer.serialize(**good)
    instance = package.record(record.capitalize())
    instance(**good)
    calls: list[tuple[Callable[..., Any], dict[str, Any]]] = [
        (serializer.serialize, row),
        (serializer.serialize_batch, columns_of(good, good, row)),
        (instance, row),
    ]
    for call, given in calls:
        with pytest.raises(ValueError, match=field) as caught:
            call(**given)
        assert found in str(caught.value)
        assert expected in str(caught.value)
        assert call != serializer.serialize_batch or "row 2" in str(caught.value)


def test_what_is_missing_is_not_compared(package: Workspace, tmp_path: Path) -> None:
    """An image, a mask or boxes that are not there, and lists without a box."""
    rows = [
        {**SCENE, "tile": None, "raw": None, "small": None},
        {**SCENE, "part": None},
    ]
    write = package.module("scene", "serializer").write_dataset
    write(rows, tmp_path / "scenes", "train")
    none = {"objects": {name: [] for name in SIDES}, "boxes": [], "coco": []}
    far = {"coco": [[500, 500, 9, 9]], "photo": None, "one": None}
    rows = [FOUND, {**FOUND, **none}, {**FOUND, **far, "xmin": None}]
    rows += [{**FOUND, **dict.fromkeys(UNIT)}]
    package.module("found", "serializer").write_dataset(
        rows, tmp_path / "found", "train"
    )
    for name in ("scenes", "found"):
        verified = run("verify", tmp_path / name)
        assert verified.exit_code == 0, verified.output
    (batch,) = package.module("found", "pipeline").make_dataset(
        tmp_path / "found", "train", batch_size=4
    )
    split = package.module("found", "reader").open_split(tmp_path / "found", "train")
    assert len(next(split.batches(4))["boxes"]) == 4
    assert batch


# What is changed in a stored record, the field, and what readers say.
BOXES: list[tuple[dict[str, Any], str, str]] = [
    ({"boxes": floats(0, 0, 1, 1, 0.5, 0, 0.25, 1)}, "boxes", "ymax not below ymin"),
    ({"coco": ints(1, 1, 2, -1)}, "coco", "height not below 0"),
    ({"one": ints(0, 0, 1, 1, 2, 0, 1, 0)}, "one", "xmax not below xmin"),
    ({"xmax": floats(0.05)}, "xmax", "xmax not below xmin"),
    ({"objects/right": floats(8, 7)}, "objects.right", "xmax not below xmin"),
]


@pytest.fixture(scope="module")
def in_graph(package: Workspace) -> Any:
    """`parse_batch` of boxes in a graph, which is made once."""
    parse = package.module("found", "parser").parse_batch
    signature = [tf.TensorSpec((None,), tf.string)]
    return tf.function(parse, input_signature=signature, autograph=False)


@pytest.mark.parametrize(("features", "field", "expected"), BOXES)
def test_readers_refuse_boxes_that_end_before_they_begin(
    package: Workspace,
    in_graph: Any,
    tmp_path: Path,
    features: dict[str, Any],
    field: str,
    expected: str,
) -> None:
    """`verify`, `open_split` and `make_dataset` alike, eager or in a graph."""
    good = package.module("found", "serializer").serialize(**FOUND)
    wrong = changed(good, **features)
    parser = package.module("found", "parser")
    for parse in (parser.parse_batch, in_graph):
        parse(tf.constant([good, good]))
        text = refusal(parse, tf.constant([good, wrong]))
        assert field in text
        assert expected in text
    files = write_records(tmp_path / "train.tfrecord", [good, wrong])
    split = package.module("found", "reader").open_split(files)
    assert len(split[0]["boxes"]) == 2
    with pytest.raises(DatasetError, match=f"record 1.*{field}.*{expected}"):
        split[1]
    found = run("verify", files, "--record", "Found", "--project", package.root)
    assert "SG533" in found.output
    only = package.module("found", "reader").open_split(files, fields=["xmin", "photo"])
    assert len(only[1]["xmin"]) == 1
    parser.parse_batch(tf.constant([wrong]), fields=["xmin"])


def test_old_data_stays_readable(package: Workspace, tmp_path: Path) -> None:
    """`verify` reports masks of another size, and boxes outside; readers take them."""
    scene = package.module("scene", "serializer").serialize(**SCENE)
    other = changed(scene, mask=blobs(png(5, 8, "L")))
    files = write_records(tmp_path / "train.tfrecord", [scene, other])
    found = run("verify", files, "--record", "Scene", "--project", package.root)
    assert found.exit_code == 1
    assert "SG534" in found.output
    assert "a mask of [5, 8], and an image of [6, 8]" in found.output
    assert package.module("scene", "reader").open_split(files)[1]["mask"].shape == (
        4,
        4,
    )
    boxes = package.module("found", "serializer").serialize(**FOUND)
    far = {"objects/right": floats(8, 9), "one": ints(0, 0, 9, 6, 1, 1, 1, 1)}
    write_records(files, [boxes, changed(boxes, **far)])
    found = run("verify", files, "--record", "Found", "--project", package.root)
    assert found.output.count("SG533") == 2
    assert len(package.module("found", "reader").open_split(files)[1]["one"]) == 2
    package.module("found", "parser").parse_batch(tf.constant([changed(boxes, **far)]))


def test_masks_of_another_size_are_inferred(tmp_path: Path) -> None:
    """A doubt names the number of records, and the schema allows them."""
    records = []
    for number in range(10):
        height = 5 + number + (number == 3)
        ids = Pillow.fromarray(np.full((height, 9), number % 3, np.uint8))
        out = BytesIO()
        ids.save(out, "png")
        image = blobs(png(5 + number, 9))
        records.append(example({"image": image, "mask": blobs(out.getvalue())}))
    files = write_records(tmp_path / "train.tfrecord", records)
    root = make_project(tmp_path / "project", {})
    schema = root / "schemas" / "scene.py"
    assert run("infer", files, "--out", schema).exit_code == 0
    text = " ".join(schema.read_text().replace("#", " ").split())
    assert "own_size=True" in text
    assert "of another size than 'image' in 1 record" in text
    found = run("verify", files, "--record", "Scene", "--project", root)
    assert found.exit_code == 0, found.output
    without = schema.read_text().replace("own_size=True,", "")
    schema.write_text(without.replace(", own_size=True", ""))
    found = run("verify", files, "--record", "Scene", "--project", root)
    assert "SG534" in found.output, found.output
