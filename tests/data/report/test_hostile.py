"""Hostile data is shown as text: nothing runs, and nothing is requested."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
from pictures import encoded
from schemagen import Image, Label, Text, VarLen

from ..messages import example, record, write_data, write_file
from .conftest import Visit, make_report
from .scenes import SIDES, box_lists

SCRIPT = "<script>alert(1)</script>"
IMAGE = '"><img src=x onerror=alert(1)>'
ESCAPES = "\x1b[31m\u202egnp.exe\u2066 {{ 7 * 7 }} ]]> </style></title>"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>'
PAGE = b"<!doctype html><img src=http://127.0.0.1:9/x.png><script>alert(1)</script>"


CLASSES = (SCRIPT, IMAGE, ESCAPES)


def bomb() -> bytes:
    """Return a PNG of a few bytes that claims to be 60,000 pixels wide and high."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        checksum = struct.pack(">I", zlib.crc32(kind + body))
        return struct.pack(">I", len(body)) + kind + body + checksum

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    pixels = chunk(b"IDAT", zlib.compress(bytes(1000)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + pixels + chunk(b"IEND", b"")


def jpeg_bomb() -> bytes:
    """Return a JPEG that claims to be 65,500 pixels wide and high."""
    small = encoded(np.zeros((8, 8, 3), np.uint8), "JPEG")
    at = small.index(b"\xff\xc0") + 5
    return small[:at] + struct.pack(">HH", 65_500, 65_500) + small[at + 4 :]


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report about hostile names, keys, strings, images and paths."""
    base = tmp_path_factory.mktemp("hostile")
    label = "label" + SCRIPT
    photo = Image((None, None, 3), encoding="jpeg", resize=(8, 8), key=IMAGE)
    hostile = record(
        "Hostile",
        {
            "photo": Annotated[bytes, photo],
            "label": Annotated[int, Label(classes=CLASSES, key=label)],
            "text": Annotated[str | None, Text(role="info")],
            **box_lists(group=SCRIPT),
            "names": Annotated[list[str], VarLen("string", group=SCRIPT)],
        },
        __doc__=SCRIPT,
        text=None,
    )
    good = encoded(np.full((20, 30, 3), 200, np.uint8), "JPEG")
    images = [good, SVG, PAGE, bomb(), jpeg_bomb(), b"\xff\xd8\xff\xe0" + PAGE, b""]
    texts = [SCRIPT.encode(), IMAGE.encode(), ESCAPES.encode(), SVG, b"\x00\xff"]
    records = [
        example(
            {
                IMAGE: [images[index % len(images)]],
                label: [index % 5],
                "text": [texts[index % len(texts)]],
                **dict(zip(SIDES, (0.1, 0.1, 0.9, 0.9), strict=True)),
                "names": SCRIPT,
                ESCAPES + "key": 1.5,
                "\"'><h1>": IMAGE,
            }
        )
        for index in range(40)
    ]
    directory = base / "a'b\"<i>&amp; data"
    write_data(directory, hostile, {"train": records[:30], "test": records[20:]})
    return make_report(directory, base / "hostile.html")


def test_hostile_data_is_text_and_requests_nothing(
    visit: Visit, hostile_page: Path
) -> None:
    """`visit` fails if anything runs or is requested."""
    page = visit(hostile_page)
    text = page.inner_text("main")
    for part in (SCRIPT, IMAGE, "\\x1b[31m\\u202egnp.exe", "{{ 7 * 7 }}"):
        assert part in text
    assert not {"\x1b", "\u202e", "\u2066"} & set(page.content())
    count = {"h1": 1, "script": 1, "a:not([href^='#'])": 0}
    count["img, iframe, object, embed, form[action]"] = 0
    assert {each: page.locator(each).count() for each in count} == count
    seen = ""
    for tab in ("train", "test"):
        page.get_by_role("tab", name=tab).click()
        page.locator(".panel:not([hidden]) .card").first.click()
        for _ in range(15):
            seen += page.inner_text("dialog")
            page.keyboard.press("ArrowRight")
        page.keyboard.press("Escape")
    assert "not an image in JPEG, PNG, BMP, GIF, WebP, TIFF or AVIF" in seen
    assert "60,000 × 60,000 pixels: not decoded" in seen
    assert "65,500 × 65,500 pixels: not decoded" in seen
    assert '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)">' in seen


def test_hostile_keys_and_files_without_a_manifest_are_text(
    visit: Visit, tmp_path: Path
) -> None:
    records = [
        example({SCRIPT: IMAGE, IMAGE: SVG, "n": index % 3}) for index in range(30)
    ]
    write_file(tmp_path / "x" / "<b>train-00000-of-00001.tfrecord", records)
    page = visit(make_report(tmp_path / "x", tmp_path / "x.html"))
    assert SCRIPT in page.inner_text("main")
    assert page.locator("b:text-is('train')").count() == 0
    assert page.locator("script").count() == 1


def test_markup_in_the_page_is_stopped_by_its_policy(
    browser: Any, hostile_page: Path, tmp_path: Path
) -> None:
    """`visit` relies on it: it would see what the policy reports."""
    text = hostile_page.read_text(encoding="utf-8")
    evil = "<script>document.title = 'run'</script><img src=http://127.0.0.1:9/x.png>"
    spoilt = tmp_path / "spoilt.html"
    spoilt.write_text(text.replace("<footer>", f"<footer>{evil}"), encoding="utf-8")
    told: list[str] = []
    page = browser.new_page()
    page.on("console", lambda message: told.append(message.text))
    page.goto(spoilt.as_uri())
    title = page.title()
    page.close()
    assert title.startswith("Hostile")
    assert "Executing inline script violates" in "".join(told)
    assert "Loading the image 'http://127.0.0.1:9/x.png' violates" in "".join(told)
