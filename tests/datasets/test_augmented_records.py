"""Augmentation as records declare it: refused where it is wrong, and done in training."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from command_line import make_project, place, refusals, run
from numpy.typing import NDArray
from PIL import Image as Pillow
from schemagen import Augment, Image
from schemagen.kinds.field import FieldSpec
from schemagen.spec.model import RecordSpec
from schemagen.spec.serial import fingerprint, from_json, to_json

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
_FLIP = ", augment=Augment(flip_left_right=True)"
_CROP = ", augment=Augment(crop=2, flip_up_down=True)"

# the fields, the last of them wrong; what is found; and what to do
SG121 = [
    (
        [_PHOTO.format(_FLIP), _MASK.format("")],
        "R.mask: in training it would not move with 'photo'",
        "flip_left_right=True of 'photo', nothing of 'mask'",
        "give 'mask' augment=Augment(flip_left_right=True)",
    ),
    (
        [_PHOTO.format(""), _MASK.format(_CROP)],
        "R.mask: in training it would not move with 'photo'",
        "nothing of 'photo', flip_up_down=True, crop=2 of 'mask'",
        "give 'photo' augment=Augment(flip_up_down=True, crop=2) too, or take it out",
    ),
    (
        [
            _PHOTO.format(", augment=Augment(crop=2)"),
            _MASK.format(", augment=Augment(crop=1)"),
        ],
        "R.mask: in training it would not move with 'photo'",
        "crop=2 of 'photo', crop=1 of 'mask'",
        "give 'mask' augment=Augment(crop=2)",
    ),
    (  # each picture of its size, also one that is a list
        [
            _PHOTO.format(_FLIP),
            "film: Annotated[Any, Images((None, None, 3), resize=(8, 8))]",
            _MASK.format(_FLIP),
        ],
        "R.mask: in training it would not move with 'film'",
        "nothing of 'film', flip_left_right=True of 'mask'",
        "give 'film' augment=Augment(flip_left_right=True) too",
    ),
    (  # a mask that is no target
        [_PHOTO.format(_FLIP), "mask: Annotated[Any, Mask((8, 8))]"],
        "R.mask: in training it would not move with 'photo'",
        "flip_left_right=True of 'photo', nothing of 'mask'",
        "give 'mask'",
    ),
    (  # of another size than all pictures
        [
            _PHOTO.format(_FLIP),
            "rough: Annotated[Any, Mask((4, 4), num_classes=2, role='input')]",
        ],
        "R.rough: in training it would not move with 'photo'",
        "flip_left_right=True of 'photo', nothing of 'rough'",
        "give 'rough'",
    ),
    (
        [
            _PHOTO.format(_CROP),
            f"rough: Annotated[Any, Mask((4, 4), num_classes=2, role='input'{_CROP})]",
        ],
        "R.rough: its crop is not that of 'photo', which has another size",
        "crop=2 of both",
        "bring both to one size with resize=; flips go with any size",
    ),
]


@pytest.mark.parametrize(("fields", "message", "found", "advice"), SG121)
def test_a_mask_has_to_move_with_its_picture(
    tmp_path: Path, fields: list[str], message: str, found: str, advice: str
) -> None:
    """Training would teach each pixel the class of another one."""
    lines = "".join(f"    {field}\n" for field in fields)
    root = make_project(tmp_path, {"r.py": f"{HEAD}class R(Record):\n{lines}"})
    (finding,) = refusals(root)
    assert finding["rule"] == "SG121"
    assert place(finding) == f"schemas/r.py:{HEAD.count(chr(10)) + 1 + len(fields)}:5"
    assert finding["message"] == message
    assert finding["found"] == found
    assert finding["expected"].startswith(
        "the same flips" if "move" in message else "no"
    )
    assert advice in finding["advice"]


FITTING = [
    [_PHOTO.format(_FLIP), _MASK.format(_FLIP)],
    # A picture of another size is not what the mask is of.
    [
        _PHOTO.format(_FLIP),
        _MASK.format(_FLIP),
        "map: Annotated[Any, Image((4, 4, 3))]",
    ],
    # Flips go with any size.
    [
        _PHOTO.format(_FLIP),
        f"rough: Annotated[Any, Mask((4, 4), num_classes=2, role='input'{_FLIP})]",
    ],
    # No mask at all.
    [_PHOTO.format(_FLIP), "map: Annotated[Any, Image((8, 8, 3))]"],
]


@pytest.mark.parametrize("fields", FITTING)
def test_what_fits_is_generated(tmp_path: Path, fields: list[str]) -> None:
    """Nothing is asked for that would not matter."""
    lines = "".join(f"    {field}\n" for field in fields)
    root = make_project(tmp_path, {"r.py": f"{HEAD}class R(Record):\n{lines}"})
    assert run("generate", "--project", root).exit_code == 0


def test_nested_fields_are_called_by_their_paths(tmp_path: Path) -> None:
    """In the finding as everywhere."""
    text = (
        f"{HEAD}class View(BaseModel):\n    {_PHOTO.format(_FLIP)}\n"
        f"    {_MASK.format('')}\n\nclass R(Record):\n    left: View\n"
    )
    (finding,) = refusals(make_project(tmp_path, {"r.py": text}))
    assert finding["message"] == (
        "R.left.mask: in training it would not move with 'left.photo'"
    )


def test_an_unknown_word_is_guessed(tmp_path: Path) -> None:
    """As a kind's parameters are."""
    field = "x: Annotated[Any, Image((8, 8, 3), augment=Augment(flip_left=True))]"
    text = f"{HEAD}class R(Record):\n    {field}\n"
    (finding,) = refusals(make_project(tmp_path, {"r.py": text}))
    assert finding["rule"] == "SG101"
    assert finding["message"].endswith("Augment has no parameter 'flip_left'")
    assert finding["expected"].startswith("one of flip_left_right, ")
    assert finding["advice"] == "did you mean 'flip_left_right'?"


# What the spec says.


def _spec(augment: Augment | None) -> RecordSpec:
    image = FieldSpec.of(
        Image,
        name="x",
        key="x",
        role="input",
        shape=(4, 4, 1),
        encoding="raw",
        dtype="uint16",
        augment=augment,
    )
    return RecordSpec(
        record="r", class_name="R", source="r.py", doc="", fields=(image,)
    )


@pytest.mark.parametrize("entry", ["brightness", "hue"])
def test_an_unknown_entry_says_which_version_reads_it(entry: str) -> None:
    """Whether an earlier version had it, or a later one has it."""
    data = json.loads(to_json(_spec(Augment(crop=2))))
    data["fields"][0]["augment"][entry] = 0.5
    with pytest.raises(ValueError, match=f"{entry} is not supported: .* schemagen 0.2"):
        from_json(json.dumps(data))


def test_the_spec_says_what_is_declared_and_no_more() -> None:
    """Its JSON gives back the same spec; without augmentation it has no word of it."""
    spec = _spec(Augment(crop=2, flip_up_down=True))
    assert from_json(to_json(spec)) == spec
    assert "flip_left_right" not in to_json(spec)
    assert from_json(to_json(_spec(None))) == _spec(None)
    assert "augment" not in to_json(_spec(None))


def test_the_fingerprint_does_not_know_it() -> None:
    """It names what a spec says about data: interrupted runs resume after a change."""
    plain, varied = _spec(None), _spec(Augment(crop=2))
    assert fingerprint(plain) == fingerprint(varied)
    resized = plain.fields[0].replaced(resize=(2, 2))  # as that does
    assert fingerprint(plain) != fingerprint(replace(plain, fields=(resized,)))


def test_describe_shows_it(tmp_path: Path) -> None:
    """A line for each field that is varied."""
    text = f"{HEAD}class R(Record):\n    {_PHOTO.format(_CROP)}\n    {_MASK.format(_CROP)}\n"
    root = make_project(tmp_path, {"r.py": text})
    shown = run("describe", "--project", root).stdout
    assert shown.endswith(
        "\n\naugmented in training: photo (flip_up_down=True, crop=2)\n"
        "augmented in training: mask (flip_up_down=True, crop=2)\n"
    )


# What the generated pipeline does.

_SCHEMA = """
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

class Varied(Record):
    number: Annotated[int, Scalar("int64", role="info")]
    photo: Annotated[np.ndarray, Image((6, 9, 3), augment=MOVED)]

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


@pytest.fixture
def package(package_of: PackageOf) -> Workspace:
    """The generated package for the schema above."""
    return package_of(_SCHEMA)


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


@pytest.fixture
def photos(package: Workspace, tmp_path: Path) -> Path:
    """A directory of photos alone, which are read in less time."""
    write = package.module("varied", "serializer").write_dataset
    rows = [{"number": n, "photo": _row(n)["photo"]} for n in range(_ROWS)]
    write(rows, tmp_path / "photos", "train", shards=2)
    return tmp_path / "photos"


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
    moved = 0
    found = list(_records(dataset))
    assert sorted(record["number"] for record in found) == list(range(_ROWS))
    for record in found:
        row = _row(record["number"])
        ids: NDArray[Any] = record["photo"][..., 0]
        np.testing.assert_array_equal(record["photo"], np.stack([ids] * 3, -1))
        np.testing.assert_array_equal(record["things"], ids)
        moved += not np.array_equal(ids, row["photo"][..., 0])
        assert record["sticker_present"] == (row["sticker"] is not None)
        if row["mask"] is None:
            assert (record["mask"] == 255).all()
            assert not record["sticker"].any()
            continue
        np.testing.assert_array_equal(record["mask"], ids)
        sticker = np.stack([ids // 2 + 60] * 4, -1)
        np.testing.assert_array_equal(record["sticker"], sticker)
    assert moved > _ROWS * 0.8


@pytest.mark.slow
def test_evaluation_is_not_augmented(package: Workspace, scenes: Path) -> None:
    """What was written comes back."""
    make_dataset = package.module("scene", "pipeline").make_dataset
    for record in _records(make_dataset(scenes, batch_size=5, seed=1, info=True)):
        row = _row(record["number"])
        np.testing.assert_array_equal(record["photo"], row["photo"])
        np.testing.assert_array_equal(record["things"], row["things"])
        if row["mask"] is not None:
            np.testing.assert_array_equal(record["mask"], row["mask"])
            np.testing.assert_array_equal(record["sticker"], row["sticker"])


@pytest.mark.slow
def test_a_seed_repeats_the_augmentation(package: Workspace, photos: Path) -> None:
    """The same in every run, unlike in every epoch; without one all runs differ."""
    make_dataset = package.module("varied", "pipeline").make_dataset
    options: dict[str, Any] = {"batch_size": 4, "training": True, "info": True}

    def epochs(seed: int | None) -> list[list[bytes]]:
        """Two epochs, each the photos in the order of their numbers."""
        dataset = make_dataset(photos, seed=seed, cache=True, **options)
        found = []
        for _ in range(2):
            photo_of = {
                int(number): photo.tobytes()
                for features, info in dataset.as_numpy_iterator()
                for number, photo in zip(info["number"], features["photo"], strict=True)
            }
            found.append([photo_of[number] for number in range(_ROWS)])
        return found

    def alike(one: list[bytes], other: list[bytes]) -> int:
        return sum(map(bytes.__eq__, one, other))

    first, second = epochs(7)
    assert epochs(7) == [first, second]
    assert alike(first, second) < 5
    assert alike(first, epochs(8)[0]) < 5
    assert alike(epochs(None)[0], epochs(None)[0]) < 5


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("epoch", [0, 1])
def test_a_checkpoint_resumes_the_augmentation(
    package: Workspace, photos: Path, tmp_path: Path, epoch: int
) -> None:
    """In mid-epoch, what is left comes as it would have come, pixel by pixel."""
    module = package.module("varied", "pipeline")

    def iterator(epochs: int) -> Any:
        dataset = module.make_dataset(
            photos, batch_size=4, training=True, seed=1, drop_remainder=True
        )
        for _ in range(epochs):
            assert len(list(dataset)) == len(dataset) == _ROWS // 4
        return iter(dataset)

    first, again = iterator(epoch), iterator(0)
    next(first)
    path = tf.train.Checkpoint(iterator=first).save(str(tmp_path / "checkpoint"))
    tf.train.Checkpoint(iterator=again).restore(path)
    left = [features["photo"].numpy() for features in first]
    found = [features["photo"].numpy() for features in again]
    assert len(left) == _ROWS // 4 - 1
    np.testing.assert_array_equal(found, left)


@pytest.mark.slow
def test_a_function_comes_after_what_is_declared(
    package: Workspace, photos: Path
) -> None:
    """It gets the features as they have become, and changes nothing of the draws."""
    make_dataset = package.module("varied", "pipeline").make_dataset
    options: dict[str, Any] = {"batch_size": 5, "training": True, "seed": 1}
    plain = make_dataset(photos, **options)
    halved = make_dataset(
        photos, augment=lambda found: {"photo": found["photo"] // 2}, **options
    )
    for one, other in zip(halved, plain, strict=True):
        np.testing.assert_array_equal(one["photo"], other["photo"] // 2)


@pytest.mark.slow
def test_a_part_of_the_fields_is_augmented(package: Workspace, scenes: Path) -> None:
    """Those that are not asked for are not needed for the others."""
    make_dataset = package.module("scene", "pipeline").make_dataset
    options: dict[str, Any] = {"batch_size": 5, "training": True, "seed": 1}
    part = make_dataset(scenes, targets=False, **options)
    whole = make_dataset(scenes, **options)
    for features, (others, _) in zip(part, whole, strict=True):
        np.testing.assert_array_equal(features["photo"], others["photo"])
    assert len(part) == len(whole) == 5


def test_data_stays_readable_when_the_augmentation_changes(
    package: Workspace, tmp_path: Path, package_of: PackageOf
) -> None:
    """It says nothing about the bytes, in either direction."""
    varied = package_of(
        _SCHEMA.replace("Image((6, 9, 3))", "Image((6, 9, 3), augment=MOVED)")
    )
    rows = [{"number": n, "photo": _row(n)["photo"]} for n in range(4)]
    for writer, reader in ((package, varied), (varied, package)):
        path = tmp_path / writer.package
        writer.module("plain", "serializer").write_dataset(rows, path, "train")
        read = reader.module("plain", "pipeline").make_dataset
        ((features, info),) = read(path, batch_size=4, info=True)
        assert list(info["number"].numpy()) == [0, 1, 2, 3]
        np.testing.assert_array_equal(features["photo"][3], rows[3]["photo"])


def test_nested_lists_of_pictures(package: Workspace, tmp_path: Path) -> None:
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
    ways = [frames[:, ::down, ::right] for down in (1, -1) for right in (1, -1)]
    for films, there in zip(found, shown, strict=True):
        assert any(np.array_equal(films[there], way[: there.sum()]) for way in ways)
