"""JPEGs as cameras and printers write them: turned by EXIF, and in CMYK."""

from __future__ import annotations

import re
import struct
import warnings
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from command_line import run
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Pillow
from stored_features import blobs, example, ints, refusal, stored
from tfrecord_files import write_records

from generated import DatasetError

if TYPE_CHECKING:
    from conftest import PackageOf, Workspace

SCHEMA = """
from typing import Annotated
from schemagen import Image, Images, Record, Scalar

class Kept(Record):
    photo: Annotated[bytes, Image((None, None, 3), "jpeg", height_key="h", width_key="w")]

class Upright(Record):
    photo: Annotated[bytes, Image((None, None, 3), "any", orientation="apply",
        height_key="h", width_key="w")]
    small: Annotated[bytes | None, Image((None, None, 3), "jpeg", resize=(9, 4),
        scaled_decoding=True, orientation="apply", role="info")] = None
    wide: Annotated[list[bytes], Images((20, 30, 3), orientation="apply", role="info")]

class Refused(Record):
    photo: Annotated[bytes, Image((None, None, 3), "jpeg", orientation="refuse")]
"""

# How Pillow turns an image of each orientation upright.
_TURNS = {
    2: Pillow.Transpose.FLIP_LEFT_RIGHT,
    3: Pillow.Transpose.ROTATE_180,
    4: Pillow.Transpose.FLIP_TOP_BOTTOM,
    5: Pillow.Transpose.TRANSPOSE,
    6: Pillow.Transpose.ROTATE_270,
    7: Pillow.Transpose.TRANSVERSE,
    8: Pillow.Transpose.ROTATE_90,
}


def jpeg(
    height: int, width: int, orientation: int = 1, mode: str = "RGB", **options: Any
) -> bytes:
    """Return a JPEG of few colours, with an orientation."""
    coarse = np.random.default_rng(height).integers(0, 256, (4, 5, len(mode)))
    image = Pillow.fromarray(coarse.astype(np.uint8), mode).resize((width, height))
    exif = Pillow.Exif()
    exif[0x010F] = "A camera"
    if orientation != 1:
        exif[0x0112] = orientation
    out = BytesIO()
    image.save(out, "jpeg", exif=exif, **options)
    return out.getvalue()


def upright(data: bytes, orientation: int) -> Any:
    """Return the pixels that TensorFlow decodes, turned by Pillow."""
    pixels = tf.io.decode_jpeg(data, channels=3).numpy()
    if orientation == 1:
        return pixels
    return np.asarray(Pillow.fromarray(pixels).transpose(_TURNS[orientation]))


def write(
    package: Workspace, record: str, rows: list[dict[str, Any]], path: Path
) -> Any:
    """Write rows, and return what both readers make of them, one after the other."""
    package.module(record, "serializer").write_dataset(rows, path, "train")
    split = package.module(record, "reader").open_split(path, "train")
    options = {"batch_size": 1} | ({"info": True} if record == "upright" else {})
    pipeline = package.module(record, "pipeline").make_dataset(path, "train", **options)
    for row, element in zip(split, pipeline, strict=True):
        found: dict[str, Any] = {}
        for part in element if isinstance(element, tuple) else (element,):
            found |= {name: tensor.numpy()[0] for name, tensor in part.items()}
        yield row, found


@pytest.mark.parametrize("orientation", range(1, 9))
def test_both_readers_turn_images_upright(
    package: Workspace, tmp_path: Path, orientation: int
) -> None:
    """Sizes, stored and declared, are those of the upright image."""
    sides = (30, 20) if orientation >= 5 else (20, 30)
    photo, wide = jpeg(24, 40, orientation), jpeg(*sides, orientation)
    row = {"photo": photo, "small": photo, "wide": [wide, wide]}
    found = stored(package.module("upright", "serializer").serialize(**row))
    expected = upright(photo, orientation)
    sizes = [found[key].int64_list.value[0] for key in ("h", "w")]
    assert tuple(sizes) == expected.shape[:2]
    ratio = 4 if orientation >= 5 else 2
    scaled = tf.io.decode_jpeg(photo, channels=3, ratio=ratio).numpy()
    if orientation != 1:
        scaled = np.asarray(Pillow.fromarray(scaled).transpose(_TURNS[orientation]))
    small = np.rint(tf.image.resize(scaled, (9, 4)).numpy())
    for read in next(write(package, "upright", [row], tmp_path / "data")):
        np.testing.assert_array_equal(read["photo"], expected)
        np.testing.assert_array_equal(read["small"], small)
        np.testing.assert_array_equal(read["wide"], [upright(wide, orientation)] * 2)
    assert run("verify", tmp_path / "data").exit_code == 0


def test_other_formats_are_read_as_they_are(package: Workspace, tmp_path: Path) -> None:
    """Where any format is declared, the orientation is that of JPEGs."""
    pixels = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
    rows: list[dict[str, Any]] = [
        {"photo": pixels, "wide": []},
        {"photo": jpeg(4, 5, 6), "wide": []},
    ]
    read = [*write(package, "upright", rows, tmp_path / "data")]
    for found in read[0]:
        np.testing.assert_array_equal(found["photo"], pixels)
    for found in read[1]:
        np.testing.assert_array_equal(found["photo"], upright(rows[1]["photo"], 6))


def test_images_that_are_not_upright_are_refused(
    package: Workspace, tmp_path: Path
) -> None:
    """By the writer, `verify` and both readers, where the schema says so."""
    row = {"photo": jpeg(4, 6, 8)}
    with pytest.raises(ValueError, match="'photo': found EXIF orientation 8"):
        package.module("refused", "serializer").serialize(**row)
    record = package.module("kept", "serializer").serialize(**row)
    parser = package.module("refused", "parser")
    assert "orientation 1, found" in refusal(parser.parse_batch, tf.constant([record]))
    files = write_records(tmp_path / "train.tfrecord", [record])
    open_split = package.module("refused", "reader").open_split
    with pytest.raises(DatasetError, match="EXIF orientation 8"):
        open_split(files)[0]
    project = str(package.root)
    found = run("verify", files, "--record", "Refused", "--project", project)
    assert found.exit_code == 1
    assert "EXIF orientation 8" in found.output


def test_the_default_keeps_them_and_warns_once(
    package_of: PackageOf, tmp_path: Path
) -> None:
    """Pixels are as they are stored; `verify` and `inspect` count the images."""
    package = package_of(SCHEMA.replace("photo", "snapshot"))
    rows = [{"snapshot": jpeg(4, 6, each)} for each in (1, 6, 8)]
    with pytest.warns(RuntimeWarning, match="'snapshot'.*EXIF orientation") as warned:
        read = [*write(package, "kept", rows, tmp_path / "data")]
    assert len(warned) == 1
    for row, both in zip(rows, read, strict=True):
        for found in both:
            pixels = upright(row["snapshot"], 1)
            np.testing.assert_array_equal(found["snapshot"], pixels)
    verified = run("verify", tmp_path / "data")
    assert verified.exit_code == 0
    assert "EXIF orientation that is kept: 'snapshot', in 2 records" in verified.output
    inspected = run("inspect", tmp_path / "data").output
    assert "2 turned by EXIF" in inspected


_TAGS = st.sampled_from([0x0112, 0x0110, 1])


@given(
    st.sampled_from(["<", ">"]),
    st.lists(st.tuples(_TAGS, st.integers(0, 9) | st.integers(0, 300)), max_size=4),
    st.sampled_from([0, 0, 0, -1, 9]),
    st.binary(max_size=30),
    st.data(),
)
def test_writer_and_parser_find_the_same_orientation(
    package: Workspace,
    order: str,
    entries: list[tuple[int, int]],
    count: int,
    tail: bytes,
    data: Any,
) -> None:
    """Whatever the bytes are, and wherever the file ends."""
    number = max(0, len(entries) + count)
    exif = {"<": b"II*\0", ">": b"MM\0*"}[order] + struct.pack(f"{order}IH", 8, number)
    for tag, value in entries:
        exif += struct.pack(f"{order}HHIHH", tag, 3, 1, value, 0)
    exif = b"Exif\0\0" + exif + tail
    at = data.draw(st.integers(0, len(exif)))
    damaged = [exif[:at], exif[:10] + b"\xff" + exif[11:]]
    exif = data.draw(st.sampled_from([exif, exif, *damaged]))
    segments = [
        b"\xff\xe0\0\x04ab",
        b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif,
        b"\xff\xe1\0\x08http",
        b"\xff",
    ]
    plain = jpeg(2, 3)
    head = b"".join(
        data.draw(st.permutations(segments))[: data.draw(st.integers(0, 4))]
    )
    whole = plain[:2] + head + plain[2:]
    serialize = package.module("refused", "serializer").serialize
    parse_batch = package.module("refused", "parser").parse_batch

    def orientation(read: Callable[[], Any]) -> str:
        """Return what is said of an image; "" if it cannot be read."""
        try:
            read()
        except (ValueError, tf.errors.InvalidArgumentError) as error:
            said = re.search(r"found \[?(?:EXIF orientation )?(\d)\b", str(error))
            return said[1] if said else ""
        return "1"

    def parsed(photo: bytes) -> Any:
        return parse_batch(tf.constant([example({"photo": blobs(photo)})]))

    written = orientation(lambda: serialize(photo=whole))
    assert written in ("", orientation(lambda: parsed(whole)))
    with pytest.raises(tf.errors.InvalidArgumentError):
        parsed(whole[: len(head)])


# CMYK


@pytest.mark.parametrize("kind", ["of Adobe", "YCCK", "plain"])
@pytest.mark.parametrize("orientation", [1, 6])
def test_inks_are_read_as_colors(
    package: Workspace,
    parser_of: Callable[[str], ModuleType],
    tmp_path: Path,
    kind: str,
    orientation: int,
) -> None:
    """A CMYK image is RGB to both readers, the writer and `verify`."""
    data = jpeg(24, 40, orientation, "CMYK")
    at = data.index(b"Adobe")
    if kind == "YCCK":
        data = data[: at + 11] + b"\2" + data[at + 12 :]
    elif kind == "plain":
        size = int.from_bytes(data[at - 2 : at], "big")
        data = data[: at - 4] + data[at - 2 + size :]
    row = {"photo": data, "small": data, "wide": []}
    expected = upright(data, orientation)
    for read in next(write(package, "upright", [row], tmp_path / "data")):
        np.testing.assert_array_equal(read["photo"], expected)
        assert read["small"].shape == (9, 4, 3)
    assert run("verify", tmp_path / "data").exit_code == 0
    record = example({"x": blobs(data)})
    parse_batch = parser_of("Image((None, None, 4), 'any')").parse_batch
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert parse_batch(tf.constant([record]))["x"].shape[3] == 4


def test_inks_of_several_sizes_are_read_too(package: Workspace, tmp_path: Path) -> None:
    """By another decoder, with differences that rounding explains."""
    data = jpeg(64, 96, mode="CMYK", subsampling=2, quality=95)
    readers = write(package, "kept", [{"photo": data}], tmp_path / "data")
    one, other = (each["photo"].astype(int) for each in next(readers))
    assert np.abs(one - other).mean() < 2


def _inferred(tmp_path: Path, *examples: dict[str, Any]) -> str:
    """Return the schema that is inferred of records."""
    records = (
        example(
            {
                key: blobs(value) if isinstance(value, bytes) else ints(value)
                for key, value in each.items()
            }
        )
        for each in examples
    )
    path = write_records(tmp_path / "train.tfrecord", records)
    assert run("infer", path, "--out", tmp_path / "found.py").exit_code == 0
    return (tmp_path / "found.py").read_text()


def test_sizes_of_upright_images_are_named(tmp_path: Path) -> None:
    """Stored sizes that are those of the image as EXIF turns it."""

    def row(height: int, width: int, orientation: int) -> dict[str, Any]:
        stored = (width, height) if orientation >= 5 else (height, width)
        data = jpeg(*stored, orientation)
        return {"im/encoded": data, "im/height": height, "im/width": width}

    found = _inferred(tmp_path, row(8, 9, 1), row(12, 7, 6), row(10, 11, 8))
    assert "is not the height of the image in 2 records" in found.replace(
        "\n    # ", " "
    )
    assert "orientation='apply'" in found


def test_one_image_in_cmyk_is_an_image(tmp_path: Path) -> None:
    """Among RGB ones it makes no bytes of all."""
    rows = [{"photo": jpeg(8, 9, mode=mode)} for mode in ("RGB", "CMYK", "RGB")]
    assert 'Image((8, 9, 3), encoding="jpeg"' in _inferred(tmp_path, *rows)
