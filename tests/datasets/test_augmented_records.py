"""Augmentation as records declare it: refused where it is wrong, and done in training."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from command_line import make_project, place, refusals, run
from numpy.typing import NDArray
from PIL import Image as Pillow

if TYPE_CHECKING:
    from conftest import PackageOf, Workspace

# What does not fit.

HEAD = """\
from typing import Annotated, Any
from pydantic import BaseModel
from schemagen import *

"""
_PHOTO = "photo: Annotated[Any, Image((8, 8, 3){})]"
_MASK = "mask: Annotated[Any, Mask((8, 8), num_classes=2{})]"
_ROUGH = "rough: Annotated[Any, Mask((4, 4), num_classes=2, role='input'{})]"
_MAP = "map: Annotated[Any, Image((4, 4, 3){})]"
_FILM = "film: Annotated[Any, Images((None, None, 3), resize=(8, 8))]"
_FLIP = ", augment=Augment(flip_left_right=True)"
_CROP = ", augment=Augment(crop=2, flip_up_down=True)"

# the fields, the last of them wrong, and the other one
SG121 = [
    ([_PHOTO.format(_FLIP), _MASK.format("")], "photo"),
    ([_PHOTO.format(""), _MASK.format(_CROP)], "photo"),
    ([_PHOTO.format(_CROP), _MASK.format(", augment=Augment(crop=1)")], "photo"),
    # each picture of its size, also one that is a list
    ([_PHOTO.format(_FLIP), _FILM, _MASK.format(_FLIP)], "film"),
    # a mask that is no target
    ([_PHOTO.format(_FLIP), "mask: Annotated[Any, Mask((8, 8))]"], "photo"),
    # of another size than all pictures: crops cannot be alike
    ([_PHOTO.format(_FLIP), _ROUGH.format("")], "photo"),
    ([_PHOTO.format(_CROP), _ROUGH.format(_CROP)], "photo"),
]


def _project(directory: Path, fields: list[str]) -> Path:
    lines = "".join(f"    {field}\n" for field in fields)
    return make_project(directory, {"r.py": f"{HEAD}class R(Record):\n{lines}"})


@pytest.mark.parametrize(("fields", "other"), SG121)
def test_a_mask_has_to_move_with_its_picture(
    tmp_path: Path, fields: list[str], other: str
) -> None:
    """Training would teach each pixel the class of another one."""
    (finding,) = refusals(_project(tmp_path, fields))
    assert finding["rule"] == "SG121"
    assert place(finding) == f"schemas/r.py:{HEAD.count(chr(10)) + 1 + len(fields)}:5"
    assert finding["message"].startswith(f"R.{fields[-1].partition(':')[0]}: ")
    assert f"'{other}'" in finding["message"]
    for word in ("augment=", "resize="):
        assert word in finding["advice"]


@pytest.mark.parametrize(
    ("boxes", "moved"),
    [
        ("Vector((4,), box=CORNERS, box_image='photo')", _FLIP),
        ("Vector((4,), box=CORNERS)", _CROP),
        ("VarLen('float32', item_shape=(4,), box=CORNERS, role='info')", _FLIP),
    ],
)
def test_boxes_refuse_a_picture_that_moves_without_them(
    tmp_path: Path, boxes: str, moved: str
) -> None:
    """Training would look for each object in another place."""
    boxes = boxes.replace("CORNERS", "('xmin', 'ymin', 'xmax', 'ymax')")
    field = f"boxes: Annotated[Any, {boxes}]"
    (finding,) = refusals(_project(tmp_path, [_PHOTO.format(moved), field]))
    assert finding["rule"] == "SG121"
    assert place(finding) == f"schemas/r.py:{HEAD.count(chr(10)) + 3}:5"
    assert "'photo'" in finding["message"]
    assert "dataset.map or split.map" in finding["advice"]
    assert "box_image=" not in finding["advice"]


def test_boxes_may_be_of_the_picture_that_stays(tmp_path: Path) -> None:
    """The advice says how to declare it, and works."""
    box = "Vector((4,), box=('xmin', 'ymin', 'xmax', 'ymax'){})"
    pictures = [_PHOTO.format(_FLIP), _FILM, _MAP.format("")]
    boxes = f"boxes: Annotated[Any, {box}]"
    wrong = _project(tmp_path / "wrong", [*pictures, boxes.format("")])
    (finding,) = refusals(wrong)
    advised = re.search(r"box_image='\w+'", finding["advice"])
    assert advised is not None
    right = _project(tmp_path / "right", [*pictures, boxes.format(f", {advised[0]}")])
    assert run("generate", "--project", right).exit_code == 0


@pytest.mark.parametrize(
    "fields",
    [
        # Boxes of a picture that stays, and colors change.
        [
            _PHOTO.format(", augment=Augment(brightness=0.1)"),
            _FILM.replace("film", "other"),
            "boxes: Annotated[Any, Vector((4,), "
            "box=('xmin', 'ymin', 'xmax', 'ymax'), box_image='photo')]",
        ],
        # A picture of another size is not what the mask is of.
        [_PHOTO.format(_FLIP), _MASK.format(_FLIP), _MAP.format("")],
        # Flips go with any size.
        [_PHOTO.format(_FLIP), _ROUGH.format(_FLIP)],
        # No mask at all.
        [_PHOTO.format(_CROP), _MAP.format("")],
    ],
)
def test_a_picture_that_no_mask_follows_is_augmented(
    tmp_path: Path, fields: list[str]
) -> None:
    """Nothing is asked for that would not matter, and `describe` shows what is varied."""
    root = _project(tmp_path, fields)
    assert run("generate", "--project", root).exit_code == 0
    varied = re.split(r"[,)]", fields[0].partition("Augment(")[2])[0]
    shown = run("describe", "--project", root).stdout.splitlines()
    assert any("photo (" in line and varied in line for line in shown)


# What the generated pipeline does.

SCHEMA = """
from typing import Annotated
import numpy as np
from pydantic import BaseModel
from schemagen import Augment, Image, Images, Label, Mask, Record, Scalar

MOVED = Augment(flip_left_right=True, flip_up_down=True, crop=2)

class Scene(Record):
    number: Annotated[int, Scalar("int64", role="info")]
    photo: Annotated[np.ndarray, Image((6, 9, 3), augment=MOVED)]
    sticker: Annotated[
        np.ndarray | None,
        Image((6, 9, 4), encoding="png", augment=MOVED),
    ] = None
    things: Annotated[np.ndarray, Mask((6, 9), dtype="uint16", augment=MOVED)]
    mask: Annotated[
        np.ndarray | None, Mask((6, 9), num_classes=200, ignore=255, augment=MOVED)
    ] = None

class Plain(Record):
    number: Annotated[int, Scalar("int64", role="info")]
    photo: Annotated[np.ndarray, Image((6, 9, 3))]

class Alone(Record):
    left: Annotated[np.ndarray, Image((3, 4, 1), augment=Augment(flip_left_right=True))]
    up: Annotated[np.ndarray, Image(
        (3, 4, 1), dtype="uint16", augment=Augment(flip_up_down=True))]
    crop: Annotated[np.ndarray, Image((3, 4, 1), dtype="float32", augment=Augment(crop=1))]

class Colored(Record):
    bright: Annotated[np.ndarray, Image((3, 4, 1), augment=Augment(brightness=0.25))]
    floats: Annotated[np.ndarray, Image((3, 4, 1), dtype="float32",
        augment=Augment(brightness=0.25))]
    unrounded: Annotated[np.ndarray, Image((None, None, 3), "png", dtype="float32",
        resize=(3, 4), augment=Augment(brightness=0.25))]
    contrast: Annotated[np.ndarray, Image((3, 4, 1), dtype="uint16",
        augment=Augment(contrast=0.5))]
    sticker: Annotated[np.ndarray, Image((3, 4, 4), "png", augment=Augment(brightness=0.25))]
    missing: Annotated[np.ndarray | None, Image((3, 4, 1), augment=Augment(brightness=1.0))] = None
    photo: Annotated[np.ndarray, Image((6, 9, 3),
        augment=Augment(flip_left_right=True, brightness=0.1, contrast=0.1))]
    mask: Annotated[np.ndarray, Mask((6, 9), num_classes=200,
        augment=Augment(flip_left_right=True))]

class View(BaseModel):
    frames: Annotated[
        list[bytes],
        Images((4, 4, 3), encoding="png",
            augment=Augment(flip_left_right=True, flip_up_down=True)),
    ]

class Film(Record):
    camera: View
    kind: Annotated[int, Label(num_classes=2)]
"""
_ROWS = 23


def _row(number: int) -> dict[str, Any]:
    """A scene whose fields all show the same; every third has neither mask nor sticker."""
    ids = np.random.default_rng(number).integers(1, 200, (6, 9)).astype(np.uint8)
    rare = number % 3 == 0
    return {
        "number": number,
        "photo": np.stack([ids] * 3, -1),
        "sticker": None if rare else np.stack([ids // 2 + 60] * 4, -1),
        "things": ids.astype(np.uint16),
        "mask": None if rare else ids,
    }


@pytest.fixture
def scenes(package: Workspace, tmp_path: Path) -> Path:
    """A directory of scenes."""
    write = package.module("scene", "serializer").write_dataset
    write(map(_row, range(_ROWS)), tmp_path / "scenes", "train", shards=2)
    return tmp_path / "scenes"


def _mirrored(pixels: NDArray[Any]) -> list[NDArray[Any]]:
    """Return a picture as it is, mirrored, upside down, and both."""
    return [pixels[::down, ::right] for down in (1, -1) for right in (1, -1)]


def _windows(pixels: NDArray[Any], most: int) -> list[NDArray[Any]]:
    """Return every window of a picture's size in the picture with wider edges."""
    height, width = pixels.shape[:2]
    rest = [(0, 0)] * (pixels.ndim - 2)
    wide = np.pad(pixels, [(most, most), (most, most), *rest], mode="reflect")
    places = [
        (down, right) for down in range(2 * most + 1) for right in range(2 * most + 1)
    ]
    return [wide[down : down + height, right : right + width] for down, right in places]


def _which(one: NDArray[Any], ways: list[NDArray[Any]]) -> int:
    """Return the first way in which an array has come; it has to be one of them."""
    return next(at for at, way in enumerate(ways) if np.array_equal(one, way))


def test_pictures_are_moved_as_declared(package: Workspace, tmp_path: Path) -> None:
    """Each by itself: half of them mirrored, or moved to any place, and nothing else."""
    picture = np.arange(12).reshape(3, 4, 1)
    row = {
        "left": picture.astype(np.uint8),
        "up": picture.astype(np.uint16) * 5000,
        "crop": picture.astype(np.float32) / 3,
    }
    package.module("alone", "serializer").write_dataset([row] * 400, tmp_path, "train")
    make_dataset = package.module("alone", "pipeline").make_dataset
    options: dict[str, Any] = {"batch_size": 400, "training": True, "cache": True}
    dataset = make_dataset(tmp_path, seed=3, **options)
    assert dataset.element_spec["left"] == tf.TensorSpec((None, 3, 4, 1), tf.uint8)
    (found,) = dataset.as_numpy_iterator()
    for name, ways, occurring in (
        ("left", _mirrored(row["left"]), {0, 1}),
        ("up", _mirrored(row["up"]), {0, 2}),
        ("crop", _windows(row["crop"], 1), set(range(9))),
    ):
        drawn = Counter(_which(one, ways) for one in found[name])
        assert set(drawn) == occurring
        assert max(drawn.values()) < 2.5 * 400 / len(occurring)
        if len(occurring) == 2:
            assert min(drawn.values()) > 150
    # The same with the same seed; other ones in each epoch, and without a seed.
    (again,) = make_dataset(tmp_path, seed=3, **options).as_numpy_iterator()
    np.testing.assert_array_equal(again["crop"], found["crop"])
    others = [make_dataset(tmp_path, seed=seed, **options) for seed in (4, None, None)]
    drawn = {next(iter(each))["crop"].numpy().tobytes() for each in (dataset, *others)}
    assert len(drawn | {found["crop"].tobytes()}) == 5


def test_brightness_and_contrast_vary_by_a_share_of_the_range(
    package: Workspace, tmp_path: Path
) -> None:
    """A share of the range, by chance; masks, opacity and missing images stay as they are."""
    picture = np.arange(20, 32).reshape(3, 4, 1) * 5
    color = np.repeat(picture, 3, axis=2).astype(np.uint8)
    ids = np.arange(54).reshape(6, 9).astype(np.uint8)
    row = {
        "bright": picture.astype(np.uint8),
        "floats": picture.astype(np.float32) / 255,
        "unrounded": color,
        "contrast": picture.astype(np.uint16),
        "sticker": np.concatenate([color, picture.astype(np.uint8)], axis=2),
        "photo": np.stack([ids] * 3, axis=-1) + 100,
        "mask": ids,
    }
    package.module("colored", "serializer").write_dataset(
        [row] * 300, tmp_path, "train"
    )
    make_dataset = package.module("colored", "pipeline").make_dataset
    options = {"batch_size": 300, "training": True, "seed": 3}
    ((found, masks),) = make_dataset(tmp_path, **options).as_numpy_iterator()
    scales = {"bright": 255, "floats": 1, "unrounded": 255, "sticker": 255}
    for name, scale in scales.items():
        given, varied = np.float64(row[name]), np.float64(found[name])
        added = (varied - given)[..., 0].reshape(300, -1) / scale
        assert (
            np.ptp(added, axis=1).max() < 0.005
        )  # one share for a picture, but rounding
        assert -0.255 < added.min() < -0.2
        assert 0.2 < added.max() < 0.255
        assert abs(added.mean()) < 0.03
    assert found["bright"].dtype == np.uint8
    np.testing.assert_array_equal(found["sticker"][..., 3:], [row["bright"]] * 300)
    assert not found["missing"].any()
    spread = np.std(np.float64(found["contrast"]), axis=(1, 2, 3)) / picture.std()
    assert 0.45 < spread.min() < 0.6
    assert 1.4 < spread.max() < 1.55
    np.testing.assert_allclose(
        found["contrast"].mean((1, 2, 3)), picture.mean(), atol=1
    )
    flipped = [_which(mask, [ids, ids[:, ::-1]]) for mask in masks]
    assert 100 < sum(flipped) < 200
    for photo, is_flipped in zip(found["photo"], flipped, strict=True):
        upright = photo[:, ::-1, 0] if is_flipped else photo[..., 0]
        assert (np.diff(upright.astype(int), axis=1) >= 0).all()


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("Image((4, 4, 3), augment=Augment(brightness=1.5))", "a share from 0 to 1"),
        ('Image((4, 4, 3), dtype="int64", augment=Augment(contrast=0.5))', "float32"),
        ("Mask((4, 4), augment=Augment(brightness=0.1))", "class ids"),
    ],
)
def test_colors_that_cannot_be_varied_are_refused(
    tmp_path: Path, field: str, words: str
) -> None:
    """A share that is none, pixels that float32 does not hold, and masks."""
    (finding, *_) = refusals(_project(tmp_path, [f"x: Annotated[Any, {field}]"]))
    assert words in json.dumps(finding)


def _records(dataset: Any) -> Iterator[dict[str, Any]]:
    """Yield a dataset's records, each with all of its fields."""
    for features, masks, info in dataset.as_numpy_iterator():
        columns = {**features, **info, "mask": masks}
        for at in range(len(masks)):
            yield {name: column[at] for name, column in columns.items()}


@pytest.mark.slow
def test_fields_of_a_record_move_together(package: Workspace, scenes: Path) -> None:
    """Picture, masks and opacity, pixel by pixel; and what is missing stays missing."""
    make_dataset = package.module("scene", "pipeline").make_dataset
    dataset = make_dataset(scenes, batch_size=5, training=True, seed=1, info=True)
    moved, ways_at_rest = 0, 4 * 12  # the window in the middle, as it is
    found = list(_records(dataset))
    assert sorted(record["number"] for record in found) == list(range(_ROWS))
    for record in found:
        row = _row(record["number"])
        ids: NDArray[Any] = record["photo"][..., 0]
        np.testing.assert_array_equal(record["photo"], np.stack([ids] * 3, -1))
        np.testing.assert_array_equal(record["things"], ids)
        windows = _windows(row["photo"][..., 0], 2)
        ways = [way for window in windows for way in _mirrored(window)]
        moved += _which(ids, ways) != ways_at_rest
        assert record["sticker_present"] == (row["sticker"] is not None)
        if row["mask"] is None:
            assert (record["mask"] == 255).all()
            assert not record["sticker"].any()
            continue
        np.testing.assert_array_equal(record["mask"], ids)
        sticker = np.stack([ids // 2 + 60] * 4, -1)
        np.testing.assert_array_equal(record["sticker"], sticker)
    assert moved > _ROWS * 0.8


def test_data_stays_readable_when_the_augmentation_changes(
    package: Workspace, tmp_path: Path, package_of: PackageOf
) -> None:
    """It says nothing about the bytes, in either direction."""
    varied = package_of(
        SCHEMA.replace("Image((6, 9, 3))", "Image((6, 9, 3), augment=MOVED)")
    )
    rows = [{"number": n, "photo": _row(n)["photo"]} for n in range(4)]
    fingerprints = set()  # interrupted runs resume after a change
    for writer, reader in ((package, varied), (varied, package)):
        path = tmp_path / writer.package
        writer.module("plain", "serializer").write_dataset(rows, path, "train")
        content = json.loads((path / "manifest.json").read_text())
        fingerprints.add(content["fingerprint"])
        read = reader.module("plain", "pipeline").make_dataset
        ((features, info),) = read(path, batch_size=4, info=True)
        assert list(info["number"].numpy()) == [0, 1, 2, 3]
        np.testing.assert_array_equal(features["photo"][3], rows[3]["photo"])
    assert len(fingerprints) == 1


def test_nested_lists_of_pictures_move_alike(
    package: Workspace, tmp_path: Path
) -> None:
    """All frames of a record move alike; what fills up the shorter list stays black."""
    frames = np.random.default_rng(0).integers(60, 190, (3, 4, 4, 3)).astype(np.uint8)
    encoded = []
    for frame in frames:
        out = BytesIO()
        Pillow.fromarray(frame).save(out, "png")
        encoded.append(out.getvalue())
    rows = [
        {"camera": {"frames": encoded[:count]}, "kind": 0} for count in (3, 1, 0, 2)
    ]
    package.module("film", "serializer").write_dataset(rows, tmp_path, "train")
    make_dataset = package.module("film", "pipeline").make_dataset
    ((features, _),) = make_dataset(tmp_path, batch_size=4, training=True, seed=3)
    found = features["camera_frames"].numpy()
    shown = found.any(axis=(2, 3, 4))
    assert sorted(shown.sum(1)) == [0, 1, 2, 3]
    ways = [np.stack(way) for way in zip(*map(_mirrored, frames), strict=True)]
    for films, there in zip(found, shown, strict=True):
        assert any(np.array_equal(films[there], way[: there.sum()]) for way in ways)
