"""Boxes in pixels, which readers scale with their image, and the stored sizes of images."""

from __future__ import annotations

import json
import pickle
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from command_line import make_project, run
from PIL import Image as Pillow
from stored_features import changed, refusal
from tfrecord_files import write_records

from generated import DatasetError, RecordError

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Workspace

SCHEMA = """
from typing import Annotated, Any
import numpy as np
from pydantic import BaseModel
from schemagen import Image, Record, Scalar, SequenceRecord, Steps, VarLen, Vector

class Cars(BaseModel):
    top: Annotated[list[float], VarLen("float32", group="c", box="ymin",
        box_image="inner.photo", padding_value=-1)]
    left: Annotated[list[float], VarLen("float32", group="c", box="xmin",
        box_image="inner.photo", padding_value=-1)]
    tall: Annotated[list[float], VarLen("float32", group="c", box="height",
        box_image="inner.photo", padding_value=-1)]
    right: Annotated[list[float], VarLen("float32", group="c", box="xmax",
        box_image="inner.photo", padding_value=-1)]

class Inner(BaseModel):
    photo: Annotated[Any, Image((None, None, 3), "any", resize=(32, 16),
        orientation="apply", sizes=True)]

class Street(Record):
    boxes: Annotated[np.ndarray, VarLen("int64", item_shape=(4,), padding_value=-7,
        box=("xmin", "ymin", "width", "height"), box_image="inner.photo")]
    inner: Inner
    cars: Cars
    one: Annotated[np.ndarray | None, Vector((2, 4), "int32",
        box=("xmin", "ymin", "xmax", "ymax"), box_image="inner.photo")] = None
    own: Annotated[np.ndarray | None, Vector((4,),
        box=("ymin", "xmin", "ymax", "xmax"), box_image="inner.photo")] = None
    share: Annotated[np.ndarray, Vector((4,), box=("ymin", "xmin", "ymax", "xmax"))]
    kept: Annotated[np.ndarray, VarLen("int64", item_shape=(4,), box_scaled=False,
        ragged=True, box=("xmin", "ymin", "width", "height"), box_image="inner.photo")]
    few: Annotated[np.ndarray, VarLen("float32", 1, item_shape=(4,), too_long="keep_head",
        ragged=True, box=("xmin", "ymin", "width", "height"), box_image="inner.photo")]
    filled: Annotated[np.ndarray, VarLen("int32", 2, item_shape=(4,), pad_on_disk=True,
        box=("xmin", "ymin", "width", "height"), box_image="inner.photo")]

class Pixels(SequenceRecord):
    scan: Annotated[np.ndarray, Image((6, 8, 1), resize=(3, 2), sizes=True)]
    free: Annotated[np.ndarray, Image((None, 8, 1), height_key="h", resize=(3, 2))]
    jpeg: Annotated[bytes, Image((None, None, 3), "jpeg", resize=(8, 8), sizes=True,
        scaled_decoding=True, transfer_encoding="base64")]
    maybe: Annotated[bytes | None, Image((None, None, 1), "png", resize=(2, 2),
        sizes=True)] = None
    blank: Annotated[np.ndarray | None, Image((2, 3, 1), sizes=True)] = None
    in_scan: Annotated[np.ndarray, Vector((4,), "uint8", box_image="scan",
        box=("ymin", "xmin", "ymax", "xmax"))]
    in_free: Annotated[np.ndarray, Vector((4,), "float32", box_image="free",
        box=("ymin", "xmin", "ymax", "xmax"))]
    in_jpeg: Annotated[np.ndarray, VarLen("float32", item_shape=(2, 4), box_image="jpeg",
        box=("ymin", "xmin", "ymax", "xmax"))]
    step: Annotated[list[int], Steps(Scalar("int64"))]
"""
SIZE = np.array([32, 16])


def encoded(height: int, width: int, form: str = "png", mode: str = "RGB") -> bytes:
    """Return an image of one colour."""
    out = BytesIO()
    Pillow.new(mode, (width, height), "white").save(out, form)
    return out.getvalue()


def turned(height: int, width: int) -> bytes:
    """Return a JPEG that is `height` high once it is upright, and lies on its side."""
    out, exif = BytesIO(), Pillow.Exif()
    exif[0x0112] = 6
    Pillow.new("RGB", (height, width)).save(out, "jpeg", exif=exif)
    return out.getvalue()


SIZES = [(64, 80), (33, 17), (16, 8)]
PHOTOS = [encoded(64, 80), turned(33, 17), encoded(16, 8, "webp")]


def street(at: int) -> dict[str, Any]:
    """Return a row with boxes that follow from the size of its photo."""
    height, width = SIZES[at]
    corners = [0, 0, width, height]
    return {
        "inner": {"photo": PHOTOS[at]},
        "boxes": [corners, [1, 2, 3, 4], [5, 6, 0, 7]][: 3 - at],
        "cars": {
            "top": [0.5, 0.0][:at],
            "left": [0.25, 3.0][:at],
            "tall": [1.0, height][:at],
            "right": [7.0, width][:at],
        },
        "one": None if at == 1 else [corners, [1, 1, 2, 2]],
        "own": None if at == 2 else [1.5, 0.5, height, width],
        "share": [0.1, 0.2, 0.3, 0.4],
        "kept": [corners],
        "few": [corners, [1, 1, 1, 1]],
        "filled": [[1, 2, 3, 4]],
    }


def scaled(at: int, values: Any, order: str = "xyxy") -> Any:
    """Return numbers scaled as the photo of a row."""
    factor = dict(zip("yx", SIZE / SIZES[at], strict=True))
    factors = np.array([factor[side] for side in order])
    return (np.asarray(values, np.float64) * factors).astype(np.float32)


def padded(rows: list[Any], filler: float) -> Any:
    """Pad lists to the longest."""
    longest, inner = max(map(len, rows)), np.shape(rows[0])[1:]
    found = np.full((len(rows), longest, *inner), filler, np.float32)
    for at, row in enumerate(rows):
        found[at, : len(row)] = row
    return found


def street_batch() -> dict[str, Any]:
    """Return what readers deliver of the three rows."""
    rows = [street(at) for at in range(3)]

    def each(name: str, order: str = "xyxy") -> list[Any]:
        return [scaled(at, row[name], order) for at, row in enumerate(rows)]

    def side(name: str, axis: str) -> Any:
        values = [scaled(at, row["cars"][name], axis) for at, row in enumerate(rows)]
        return padded(values, -1)

    def or_nan(name: str, order: str, shape: tuple[int, ...]) -> Any:
        return [
            np.full(shape, np.nan)
            if row[name] is None
            else scaled(at, row[name], order)
            for at, row in enumerate(rows)
        ]

    return {
        "boxes": padded(each("boxes"), -7),
        "cars_top": side("top", "y"),
        "cars_left": side("left", "x"),
        "cars_tall": side("tall", "y"),
        "cars_right": side("right", "x"),
        "one": [
            np.zeros((2, 4)) if row["one"] is None else scaled(at, row["one"])
            for at, row in enumerate(rows)
        ],
        "one_present": [True, False, True],
        "own": or_nan("own", "yxyx", (4,)),
        "share": [row["share"] for row in rows],
        "filled": [
            [scaled(at, [1, 2, 3, 4]), [0, 0, 0, 0]] for at, _ in enumerate(rows)
        ],
        "inner_photo_size": SIZES,
        "kept": [row["kept"] for row in rows],
        "few": [scaled(at, row["few"][:1]) for at, row in enumerate(rows)],
    }


def flat(batch: Any, prefix: str = "") -> dict[str, Any]:
    """Return the columns of nested batches by name, as arrays."""
    found: dict[str, Any] = {}
    for name, value in batch.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{name}_")
        elif isinstance(value, tf.RaggedTensor):
            found[prefix + name] = [row.numpy() for row in value]
        else:
            found[prefix + name] = value.numpy() if tf.is_tensor(value) else value
    return found


def assert_equal(found: dict[str, Any], expected: dict[str, Any]) -> None:
    for name, values in expected.items():
        same = found[name]
        if name in ("kept", "few"):
            for own, other in zip(same, values, strict=True):
                np.testing.assert_array_equal(own, other, name)
            continue
        np.testing.assert_array_equal(same, np.array(values, same.dtype), name)


def test_readers_scale_boxes_as_their_image(package: Workspace, tmp_path: Path) -> None:
    """Integers and floats, lists, items and arrays, in batches, rows and datasets."""
    rows = [street(at) for at in range(3)]
    serializer = package.module("street", "serializer")
    records = [serializer.serialize(**row) for row in rows]
    parser, expected = package.module("street", "parser"), street_batch()
    for parse in (parser.parse_batch, tf.function(parser.parse_batch, autograph=False)):
        batch = flat(parse(tf.constant(records)))
        assert_equal(batch, expected)
        dtypes = {name: batch[name].dtype for name in ("boxes", "one", "filled")}
        assert set(dtypes.values()) == {np.dtype("float32")}
    serializer.write_dataset(rows, tmp_path, "train")
    open_split = package.module("street", "reader").open_split
    split = open_split(tmp_path, "train", ragged="padded")
    lists = {"few", "kept"}
    (batch,) = split.batches(3)
    assert_equal(flat(batch), {n: v for n, v in expected.items() if n not in lists})
    split = pickle.loads(pickle.dumps(open_split(tmp_path, "train")))
    for at in (2, 0, 1):
        row = flat(split[at])
        np.testing.assert_array_equal(row["boxes"], scaled(at, rows[at]["boxes"]))
        np.testing.assert_array_equal(row["few"], scaled(at, rows[at]["few"][:1]))
        np.testing.assert_array_equal(row["kept"], rows[at]["kept"])
        assert row["inner_photo_size"].tolist() == [*SIZES[at]]
        assert (row["one"] is None) == (at == 1)
    make_dataset = package.module("street", "pipeline").make_dataset
    for cache in (False, True):
        *_, info = next(
            iter(
                make_dataset(
                    tmp_path, batch_size=3, info=True, cache=cache, fields=["own"]
                )
            )
        )
        np.testing.assert_array_equal(info["inner_photo_size"], SIZES)
    bare = open_split(tmp_path, "train", decode_images=False)
    np.testing.assert_array_equal(bare[0]["boxes"], rows[0]["boxes"])
    assert next(bare.batches(3))["boxes"].dtype == np.int64
    assert "photo_size" not in bare[0]["inner"]
    serializer.write_dataset(bare, tmp_path / "copy", "train")
    copy = open_split(tmp_path / "copy", "train")
    np.testing.assert_array_equal(copy[0]["boxes"], scaled(0, rows[0]["boxes"]))
    table = split.to_arrow([0, 2])
    assert table["boxes"].to_pylist() == [rows[0]["boxes"], rows[2]["boxes"]]
    assert str(table["boxes"].type.value_type.value_type) == "int64"
    assert table["own"].to_pylist() == [rows[0]["own"], None]
    found = run("verify", tmp_path)
    assert found.exit_code == 0, found.output


def test_boxes_are_read_without_their_image(package: Workspace, tmp_path: Path) -> None:
    """Its size is looked at, and it is not delivered; damage of it is an error."""
    serializer = package.module("street", "serializer")
    records = [serializer.serialize(**street(at)) for at in range(3)]
    parse = package.module("street", "parser").parse_batch
    expected = {"boxes": street_batch()["boxes"]}
    batch = parse(tf.constant(records), fields=["boxes"])
    assert set(batch) == {"boxes"}
    assert_equal(flat(batch), expected)
    broken = changed(records[0], **{"inner/photo": _bytes(b"GIF no more")})
    missing = changed(records[0], **{"inner/photo": None})
    for wrong in (broken, missing):
        files = write_records(tmp_path / "train.tfrecord", [*records, wrong])
        split = package.module("street", "reader").open_split(files, fields=["boxes"])
        rows = [split[at] for at in range(3)]
        assert all(set(row) == {"boxes"} for row in rows)
        (batch,) = split.select([0, 1, 2]).batches(3)
        assert_equal(flat(batch), expected)
        with pytest.raises(DatasetError, match=r"record 3.*inner\.photo"):
            split[3]
        only = partial(parse, fields=["boxes"])
        refusal(only, tf.constant([*records, wrong]))


def _bytes(value: bytes) -> tf.train.Feature:
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def test_images_of_all_forms_have_sizes(package: Workspace, tmp_path: Path) -> None:
    """Raw and encoded, in base64, decoded at a fraction of their size, and missing ones."""
    corners = [0, 0, 6, 8]
    row: dict[str, Any] = {
        "scan": np.zeros((6, 8, 1), np.uint8),
        "free": np.zeros((12, 8, 1), np.uint8),
        "jpeg": encoded(64, 48, "jpeg"),
        "in_scan": [1, 2, 6, 8],
        "in_free": [1, 2, 12, 8],
        "in_jpeg": [[corners, [8, 8, 64, 48]]],
        "step": [1],
    }
    rows = [
        row,
        {**row, "maybe": encoded(5, 7, mode="L"), "blank": row["scan"][:2, :3]},
    ]
    package.module("pixels", "serializer").write_dataset(rows, tmp_path, "train")
    split = package.module("pixels", "reader").open_split(tmp_path, "train")
    (batch,) = split.batches(2)
    records = [*tf.data.TFRecordDataset(split_files(tmp_path))]
    parse = package.module("pixels", "parser").parse_batch
    for found in (batch, flat(parse(tf.stack(records)))):
        assert found["in_scan"].tolist() == [[0.5, 0.5, 3, 2]] * 2
        assert found["in_free"].tolist() == [[0.25, 0.5, 3, 2]] * 2
        first = np.float32([0, 0, 6 * 8 / 64, 8 * 8 / 48])
        np.testing.assert_array_equal(found["in_jpeg"][0, 0, 0], first)
        last = np.float32([1, 8 * 8 / 48, 8, 8])
        np.testing.assert_array_equal(found["in_jpeg"][1, 0, 1], last)
        assert found["scan_size"].tolist() == [[6, 8]] * 2
        assert found["jpeg_size"].tolist() == [[64, 48]] * 2
        assert found["maybe_size"].tolist() == [[0, 0], [5, 7]]
        assert found["blank_size"].tolist() == [[0, 0], [2, 3]]
        assert found["maybe_size"].dtype == np.int64
    assert split[0]["maybe_size"].tolist() == [0, 0]
    assert split[0]["maybe"] is None
    mapped = split.map(lambda row: {**row, "more": row["scan_size"] * 2})
    (batch,) = mapped.batches(2)
    assert batch["more"].tolist() == [[12, 16]] * 2
    assert batch["maybe_size"].tolist() == [[0, 0], [5, 7]]


SIGHTS = """
from typing import Annotated
import numpy as np
from pydantic import BaseModel
from schemagen import Image, Record, Scalar, Vector

class Lens(BaseModel):
    view: Annotated[bytes, Image((None, None, 3), "png", sizes=True, role="input")]

class Sight(Record):
    lens: Lens
    top: Annotated[bytes | None, Image((None, None, 3), "png", sizes=True)] = None
    ba: Annotated[float, Scalar("float32")]
"""


def test_rows_with_sizes_are_written_and_sizes_come_with_their_image(
    make_package: Callable[[str], Workspace], tmp_path: Path
) -> None:
    """Writers leave sizes out; the info of `make_dataset` has those of images it reads."""
    package = make_package(SIGHTS)
    serializer = package.module("sight", "serializer")
    rows = [
        {"lens": {"view": encoded(5 + at, 7)}, "top": top, "ba": at}
        for at, top in enumerate((encoded(3, 4), None))
    ]
    serializer.write_dataset(rows, tmp_path / "one", "train")
    open_split = package.module("sight", "reader").open_split
    split = open_split(tmp_path / "one", "train")
    assert split[1]["lens"]["view_size"].tolist() == [6, 7]
    serializer.write_dataset(split, tmp_path / "two", "train")
    copy = open_split(tmp_path / "two", "train")
    for at, top in enumerate(([3, 4], [0, 0])):
        np.testing.assert_equal(copy[at], split[at])
        assert copy[at]["top_size"].tolist() == top
    with pytest.raises(TypeError, match="'ba_size': found an unknown field"):
        serializer.write_dataset([{**split[0], "ba_size": 1}], tmp_path / "x", "train")
    make_dataset = package.module("sight", "pipeline").make_dataset
    found = next(
        iter(make_dataset(tmp_path / "one", batch_size=1, fields=["top"], info=True))
    )
    assert set(flat(found[-1])) == {"top_size"}
    with pytest.raises(DatasetError, match="size of images that `fields` leaves out"):
        make_dataset(tmp_path / "one", batch_size=2, fields=["ba"], info=True)


RAW = """
from typing import Annotated
import numpy as np
from schemagen import Image, Record, VarLen

class Scan(Record):
    pixels: Annotated[np.ndarray, Image((6, 8, 1), resize=(12, 4), sizes=True)]
    boxes: Annotated[np.ndarray, VarLen("int64", item_shape=(4,), box_image="pixels",
        box=("ymin", "xmin", "ymax", "xmax"))]
"""


def test_resized_raw_images_are_copied_as_a_table(
    make_package: Callable[[str], Workspace], tmp_path: Path
) -> None:
    """Rows of a reader have them resized, which is no image of the schema."""
    package = make_package(RAW)
    write_dataset = package.module("scan", "serializer").write_dataset
    open_split = package.module("scan", "reader").open_split
    pixels = np.arange(48, dtype=np.uint8).reshape(6, 8, 1)
    write_dataset([{"pixels": pixels, "boxes": [[0, 0, 6, 8]]}], tmp_path / "one", "x")
    split = open_split(tmp_path / "one", "x", decode_images=False)
    assert split[0]["pixels"].shape == (12, 4, 1)
    assert split[0]["boxes"].tolist() == [[0, 0, 12, 4]]
    with pytest.raises(RecordError, match="found float32 values, expected int64"):
        write_dataset(split, tmp_path / "two", "x")
    write_dataset(split.to_arrow(), tmp_path / "two", "x")
    [first, second] = [open_split(tmp_path / each, "x")[0] for each in ("one", "two")]
    np.testing.assert_equal(first, second)


def split_files(directory: Path) -> list[str]:
    return sorted(map(str, directory.glob("*.tfrecord")))


def declared(boxes: str, image: str = "resize=(4, 4)", more: str = "") -> str:
    """Return a schema with boxes in pixels."""
    return (
        "from typing import Annotated, Any\n"
        "from schemagen import Augment, Image, Record, SequenceRecord, Steps, VarLen, "
        "Vector\n\n"
        "class Shot(Record):\n"
        f"    photo: Annotated[Any, Image((8, 8, 3), 'png', {image})]{more}\n"
        f"    boxes: {boxes}\n"
    )


_COCO = "box=('xmin', 'ymin', 'width', 'height')"
_LIST = f"Annotated[Any, VarLen('float32', item_shape=(4,), {_COCO}, {{}})]"
_ONE = f"Annotated[Any, Vector((4,), 'int32', {_COCO}, box_image='photo', {{}})]"
_SIDES = "\n    ".join(
    f"b{at}: Annotated[list[float], VarLen('float32', group='b', box={side!r}, "
    f"box_image='photo', box_scaled={at != 2})]"
    for at, side in enumerate(("xmin", "ymin", "xmax", "ymax"))
)
WRONG = [
    ("SG113", "box_image=", declared(_LIST.format("box_scaled=True"))),
    (
        "SG121",
        "augmentation moves",
        declared(
            _LIST.format("box_image='photo'"),
            "resize=(4, 4), augment=Augment(flip_left_right=True)",
        ),
    ),
    (
        "SG123",
        "not resized",
        declared(_LIST.format("box_image='photo', box_scaled=True"), ""),
    ),
    (
        "SG123",
        "may be missing",
        declared(_LIST.format("box_image='photo'"), more=" | None = None"),
    ),
    (
        "SG123",
        "a default",
        declared(_ONE.format("") + " = (0, 0, 4, 4)"),
    ),
    ("SG123", "dequantized", declared(_ONE.format("dequantize=(0.5, 0)"))),
    (
        "SG113",
        "dequantize",
        declared(_ONE.format("dequantize=(1, 0), box_scaled=True")),
    ),
    ("SG123", "scaled differently", declared(f"Any = None\n    {_SIDES}")),
    (
        "SG115",
        "stored size of 'photo'",
        declared("int = 0", "sizes=True").replace("boxes", "photo_size"),
    ),
    (
        "SG123",
        "of steps",
        declared(
            f"Annotated[Any, Steps(Vector((4,), {_COCO}, box_image='photo'))]"
        ).replace("Shot(Record)", "Shot(SequenceRecord)"),
    ),
]


@pytest.mark.parametrize(("rule", "words", "schema"), WRONG)
def test_boxes_that_cannot_be_scaled_are_findings(
    tmp_path: Path, rule: str, words: str, schema: str
) -> None:
    """Unless the schema says that they stay as they are."""
    found = run("check", "--project", make_project(tmp_path, {"shot.py": schema}))
    assert found.exit_code == 2, found.output
    assert rule in found.output
    assert words in found.output


def test_specs_say_which_boxes_are_scaled(tmp_path: Path) -> None:
    """What 0.4.0 wrote says nothing, and is read as before; a change is a break."""
    schema = declared(_LIST.format("box_image='photo'"))
    root = make_project(tmp_path / "project", {"shot.py": schema})
    assert run("generate", "--project", root).exit_code == 0
    spec = root / "generated" / "shot" / "spec.json"
    fields = {field["name"]: field for field in json.loads(spec.read_text())["fields"]}
    assert fields["boxes"]["box_scaled"] is True
    assert "sizes" not in fields["photo"]
    assert "box_scaled=True" in (spec.parent / "fields.py").read_text()
    kept = schema.replace("box_image='photo'", "box_image='photo', box_scaled=False")
    other = make_project(tmp_path / "other", {"shot.py": kept})
    assert run("generate", "--project", other).exit_code == 0
    before = other / "generated" / "shot" / "spec.json"
    assert "box_scaled" not in before.read_text()
    found = run("breaking", "--against", before, "--project", root)
    assert found.exit_code == 1
    assert "SG232" in found.output
    assert "box_scaled" in found.output
