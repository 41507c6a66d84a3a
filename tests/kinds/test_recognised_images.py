"""Images of formats that `"any"` does not take: errors name them, and what to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import schemagen
import tensorflow as tf
from command_line import run
from pictures import encoded, picture
from schemagen.runtime.shared.errors import DatasetError
from stored_features import blobs, changed, example
from tfrecord_files import write_records

if TYPE_CHECKING:
    from conftest import Workspace

SCHEMA = """
from typing import Annotated
import numpy as np
from schemagen import *

class Shot(Record):
    photo: Annotated[bytes, Image((None, None, 3), encoding="jpeg", resize=(4, 4))]
    other: Annotated[bytes, Image((None, None, 3), encoding="any", resize=(4, 4))]
    frames: Annotated[list[bytes], Images((None, None, 3), encoding="png", resize=(4, 4))]
    mask: Annotated[bytes, Mask((None, None), num_classes=2, resize=(4, 4))]
    pixels: Annotated[np.ndarray, Image((2, 2, 1))]
"""
RECORD = "shot"

_TEXT = b"\0" * 20

# A file of each format, what it is called and what converts it.
FILES: dict[str, tuple[bytes, str, str]] = {
    "TIFF": (picture(5, 6, form="tiff"), "a TIFF image", "Pillow"),
    "TIFF of Motorola": (b"MM\0*\0\0\0\x08" + _TEXT, "a TIFF image", "Pillow"),
    "BigTIFF": (b"II+\0\x08\0\0\0" + _TEXT, "a TIFF image", "Pillow"),
    "AVIF": (
        b"\0\0\0\x20ftypavif" + _TEXT,
        "an AVIF image",
        "Pillow 11.3 or later",
    ),
    "HEIC": (b"\0\0\0\x18ftypheic" + _TEXT, "a HEIC image", "Pillow and pillow-heif"),
    "JPEG XL": (
        b"\0\0\0\x0cJXL \r\n\x87\n" + _TEXT,
        "a JPEG XL image",
        "Pillow and pillow-jxl-plugin",
    ),
    "JPEG XL alone": (
        b"\xff\x0a" + _TEXT,
        "a JPEG XL image",
        "Pillow and pillow-jxl-plugin",
    ),
}

# What images of each field are to become.
WANTED = {
    "photo": "jpeg",
    "other": "PNG, JPEG or WebP",
    "frames": "png",
    "mask": "png",
}


def shot(**values: Any) -> dict[str, Any]:
    """Return a good row, with other values of some fields."""
    return {
        "photo": picture(5, 6, form="jpeg"),
        "other": picture(5, 6),
        "frames": [picture(5, 6)],
        "mask": encoded(np.ones((5, 6), np.uint8)),
        "pixels": np.ones((2, 2, 1), np.uint8),
        **values,
    }


@pytest.fixture
def stored(
    package: Workspace, serializer: Any, tmp_path: Path, monkeypatch: Any
) -> Any:
    """Return what writes a file of a record with other bytes of a field behind a good one."""
    monkeypatch.chdir(package.root)
    good = serializer.serialize(**shot())

    def written(name: str, data: bytes) -> Path:
        records = [good, changed(good, **{name: blobs(data)})]
        return write_records(tmp_path / "shots.tfrecord", records)

    return written


@pytest.mark.parametrize("name", WANTED)
@pytest.mark.parametrize("case", FILES)
def test_writers_name_the_format_and_say_what_to_do(
    serializer: Any, case: str, name: str
) -> None:
    """An image field of any encoding refuses such bytes, and a mask does."""
    data, found, tool = FILES[case]
    value = [data] if name == "frames" else data
    with pytest.raises(ValueError, match=name) as caught:
        serializer.serialize(**shot(**{name: value}))
    assert f"found {found}" in str(caught.value)
    assert str(caught.value).endswith(f"convert it to {WANTED[name]} with {tool}")


@pytest.mark.parametrize("name", WANTED)
@pytest.mark.parametrize("case", FILES)
def test_verify_names_the_format_and_says_what_to_do(
    package: Workspace, stored: Any, case: str, name: str
) -> None:
    """As the writer does, of files that another program has written."""
    data, found, tool = FILES[case]
    record = package.record("Shot")
    [finding] = schemagen.verify(stored(name, data), record=record).findings
    assert (finding.rule, finding.field) == ("SG528", name)
    [example] = finding.examples
    assert (example.record, example.found) == (1, found)
    assert example.cause == f"convert it to {WANTED[name]} with {tool}"


@pytest.mark.parametrize("name", WANTED)
@pytest.mark.parametrize("case", FILES)
def test_open_split_names_the_format_and_says_what_to_do(
    package: Workspace, stored: Any, case: str, name: str
) -> None:
    """Next to the field and the record."""
    data, found, tool = FILES[case]
    split = package.module(RECORD, "reader").open_split(stored(name, data))
    assert split[0]["photo"] is not None
    with pytest.raises(DatasetError, match=name) as caught:
        split[1]
    assert found in str(caught.value)
    assert f"with {tool}" in str(caught.value)


@pytest.mark.parametrize(
    ("case", "name"),
    [
        *((case, "photo") for case in FILES),
        *(("TIFF", name) for name in list(WANTED)[1:]),
    ],
)
def test_make_dataset_names_the_format_and_says_what_to_do(
    package: Workspace, stored: Any, case: str, name: str
) -> None:
    data, found, tool = FILES[case]
    make_dataset = package.module(RECORD, "pipeline").make_dataset
    with pytest.raises(tf.errors.InvalidArgumentError, match=name) as caught:
        list(make_dataset(str(stored(name, data)), batch_size=2))
    assert found in str(caught.value)
    assert f"with {tool}" in str(caught.value)


@pytest.mark.parametrize("case", [case for case in FILES if "alone" not in case])
def test_verify_names_such_bytes_in_the_place_of_raw_pixels(
    package: Workspace, stored: Any, case: str
) -> None:
    """Two bytes alone are no sign of a format, where any bytes may be."""
    data, found, tool = FILES[case]
    record = package.record("Shot")
    [finding] = schemagen.verify(stored("pixels", data), record=record).findings
    assert finding.rule == "SG525"
    [example] = finding.examples
    cause = f"they begin like {found}: convert it to pixels with {tool}"
    if found in ("a TIFF image", "an AVIF image"):  # which a field may have
        cause = f"they begin like {found.removesuffix(' image').lower()}: declare that encoding"
    assert example.cause.startswith(cause)


@pytest.mark.parametrize("case", [case for case in FILES if "alone" not in case])
def test_inspect_names_the_format_of_such_values(tmp_path: Path, case: str) -> None:
    """In place of "raw", which is any other bytes."""
    data, found, _ = FILES[case]
    path = write_records(tmp_path / "x.tfrecord", [example({"image": blobs(data)})])
    report = json.loads(run("inspect", path, "--format", "json").output)
    [key] = report["splits"][0]["statistics"]["keys"]
    [kind] = key["by_kind"]
    [form] = kind["bytes"]["formats"]
    assert form["count"] == 1
    names = {"jxl": "JPEG XL"}
    assert names.get(form["value"], form["value"].upper()) in found


def test_an_image_of_another_decoded_format_is_named_as_before(serializer: Any) -> None:
    """Its advice is another encoding, since readers decode it."""
    with pytest.raises(ValueError, match=r"a png image.*a jpeg image.*encoding='any'"):
        serializer.serialize(**shot(photo=picture(5, 6)))
