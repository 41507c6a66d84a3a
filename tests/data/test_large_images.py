"""Images of a few bytes and many pixels: their headers are read, and nothing is decoded."""

from __future__ import annotations

import json
import struct
import warnings
import zlib
from pathlib import Path
from typing import Annotated, Any

import pytest
import schemagen
from command_line import run
from PIL import ImageFile
from PIL.GifImagePlugin import GifImageFile
from PIL.WebPImagePlugin import WebPImageFile
from schemagen import Image

from .messages import example, record, write_data, write_file

SIDE = 12_000
_SIZE = struct.pack("<HH", SIDE, SIDE)


def _chunk(kind: bytes, body: bytes) -> bytes:
    checksum = struct.pack(">I", zlib.crc32(kind + body))
    return struct.pack(">I", len(body)) + kind + body + checksum


IMAGES = {
    "webp": bytes.fromhex(
        "524946461e000000574542505650384c110000002fdfeeb70b07508a2ad4a3ff8188e87f0000"
    ),
    "gif": b"GIF89a%b\x80\0\0%b,\0\0\0\0%b\0\x02\x02\x44\x01\0;"
    % (_SIZE, bytes(6), _SIZE),
    "png": b"\x89PNG\r\n\x1a\n"
    + _chunk(b"IHDR", struct.pack(">IIBBBBB", SIDE, SIDE, 8, 0, 0, 0, 0))
    + _chunk(b"IDAT", zlib.compress(bytes(1000)))
    + _chunk(b"IEND", b""),
}
"""Images of 144 megapixels. The WebP is a whole one, of one color."""

LARGEST_WEBP = bytes.fromhex(
    "524946461e000000574542505650384c110000002ffebfff0f07508a2ad4a3ff8188e87f0000"
)
"""A WebP of 16,383 x 16,383 pixels, which Pillow's own limit refuses to open."""


@pytest.fixture(autouse=True)
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the images that Pillow decodes; a test with a warning fails."""
    found: list[str] = []

    def load(image: Any) -> None:
        found.append(image.format)
        raise OSError("not decoded")

    for plugin in (ImageFile.ImageFile, GifImageFile, WebPImageFile):
        monkeypatch.setattr(plugin, "load", load)
    return found


@pytest.mark.parametrize("form", IMAGES)
def test_no_verb_decodes_an_image_of_144_megapixels(
    tmp_path: Path, decoded: list[str], form: str
) -> None:
    """`inspect`, its page, `verify` and `infer` read its size of its header."""
    path = write_file(tmp_path / "train.tfrecord", [example({"image": IMAGES[form]})])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        document = run("inspect", path, "--format", "json").stdout
        page = run("inspect", path, "--html", tmp_path / "page.html")
        inferred = run("infer", path, "--out", tmp_path / "schema.py")
        large = record(
            "Large",
            {
                "image": Annotated[
                    bytes, Image((None, None, 3), encoding=form, resize=(8, 8))
                ]
            },
        )
        data = write_data(
            tmp_path / "data", large, {"train": [example({"image": IMAGES[form]})]}
        )
        assert schemagen.verify(data).clean
    assert f'"{form}"' in document
    assert str(SIDE) in document
    assert json.loads(document)["files"][0]["damages"] == []
    assert (page.exit_code, inferred.exit_code) == (0, 0)
    assert f"{SIDE:,} × {SIDE:,} pixels: not decoded" in (
        tmp_path / "page.html"
    ).read_text("utf-8")
    assert decoded == []


def test_an_image_over_the_limit_of_pillow_is_refused_for_its_pixels(
    tmp_path: Path, decoded: list[str]
) -> None:
    """It is not a truncated image."""
    path = write_file(tmp_path / "train.tfrecord", [example({"image": LARGEST_WEBP})])
    document = run("inspect", path, "--format", "json").stdout
    assert "truncated" not in document
    assert "a webp image of more pixels than Pillow opens" in document
    assert decoded == []
