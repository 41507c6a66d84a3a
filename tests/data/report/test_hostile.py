"""What a hostile file holds is shown as text: nothing runs, nothing is asked for."""

from __future__ import annotations

import base64
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from schemagen.data.report.charts import inline_svg
from schemagen.data.report.pictures import Budget, copy_of
from schemagen.spec.model import ImageSpec, LabelSpec, TextSpec, VarLenSpec

from .conftest import Visit, make_report
from .scenes import encoded, example, record_spec, write_dataset, write_files

SCRIPT = "<script>alert(1)</script>"
IMAGE = '"><img src=x onerror=alert(1)>'
ESCAPES = "\x1b[31m\u202egnp.exe\u2066 {{ 7 * 7 }} ]]> </style></title>"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>'
PAGE = b"<!doctype html><img src=http://127.0.0.1:9/x.png><script>alert(1)</script>"


def bomb() -> bytes:
    """Return a PNG of a few bytes that says it is 60,000 pixels wide and high."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        checksum = struct.pack(">I", zlib.crc32(kind + body))
        return struct.pack(">I", len(body)) + kind + body + checksum

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    pixels = chunk(b"IDAT", zlib.compress(bytes(1000)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + pixels + chunk(b"IEND", b"")


def jpeg_bomb() -> bytes:
    """Return a JPEG that says it has 65,500 pixels in a row, and as many rows."""
    small = encoded(np.zeros((8, 8, 3), np.uint8), "JPEG")
    at = small.index(b"\xff\xc0") + 5
    return small[:at] + struct.pack(">HH", 65_500, 65_500) + small[at + 4 :]


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report about names, keys, strings, images and paths that mean harm."""
    base = tmp_path_factory.mktemp("hostile")
    spec = record_spec(
        "hostile",
        FieldSpec.of(
            Image,
            name="photo",
            key=IMAGE,
            role="input",
            shape=(None, None, 3),
            encoding="jpeg",
            dtype="uint8",
        ),
        FieldSpec.of(
            Label,
            name="label",
            key="label" + SCRIPT,
            role="target",
            num_classes=3,
            classes=(SCRIPT, IMAGE, ESCAPES),
        ),
        FieldSpec.of(Text, name="text", key="text", role="info", optional=True),
        *(
            FieldSpec.of(
                VarLen, name=side, key=side, role="input", dtype="float32", group=SCRIPT
            )
            for side in ("xmin", "ymin", "xmax", "ymax")
        ),
        FieldSpec.of(
            VarLen,
            name="names",
            key="names",
            role="input",
            dtype="string",
            group=SCRIPT,
        ),
        doc=SCRIPT,
    )
    good = encoded(np.full((20, 30, 3), 200, np.uint8), "JPEG")
    images = [good, SVG, PAGE, bomb(), jpeg_bomb(), b"\xff\xd8\xff\xe0" + PAGE, b""]
    texts = [SCRIPT.encode(), IMAGE.encode(), ESCAPES.encode(), SVG, b"\x00\xff"]
    records = [
        example(
            {
                IMAGE: [images[index % len(images)]],
                "label" + SCRIPT: [index % 5],
                "text": [texts[index % len(texts)]],
                "xmin": [0.1],
                "ymin": [0.1],
                "xmax": [0.9],
                "ymax": [0.9],
                "names": [SCRIPT.encode()],
                ESCAPES + "key": [1.5],
                "\"'><h1>": [IMAGE.encode()],
            }
        )
        for index in range(40)
    ]
    directory = base / "a'b\"<i>&amp; data"
    write_dataset(directory, spec, {"train": records[:30], "test": records[20:]})
    return make_report(directory, base / "hostile.html")


def test_nothing_runs_and_nothing_is_requested(
    visit: Visit, hostile_page: Path
) -> None:
    """All names are there to be read; `visit` sees that no one has acted on them."""
    page = visit(hostile_page)
    text = page.inner_text("main")
    assert SCRIPT in text
    assert IMAGE in text
    assert "\\x1b[31m\\u202egnp.exe" in text
    assert "{{ 7 * 7 }}" in text
    assert page.locator("h1").count() == 1
    assert page.locator("img, iframe, object, embed, form[action]").count() == 0
    assert page.locator("script").count() == 1
    assert page.locator("a:not([href^='#'])").count() == 0
    seen = ""
    for tab in ("train", "test"):
        page.get_by_role("tab", name=tab).click()
        page.locator(".panel:not([hidden]) .card").first.click()
        for _ in range(15):
            seen += page.inner_text("dialog")
            page.keyboard.press("ArrowRight")
        page.keyboard.press("Escape")
    assert "no image: neither JPEG, PNG, GIF, BMP nor WebP" in seen
    assert "60,000 × 60,000 pixels: not decoded" in seen
    assert "65,500 × 65,500 pixels: not decoded" in seen
    assert '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)">' in seen


def test_the_policy_would_stop_what_slipped_through(
    browser: Any, hostile_page: Path, tmp_path: Path
) -> None:
    """A page into which markup was put by hand neither runs nor loads it, and says so.

    That is what the tests of the page rely on: here they would see it.
    """
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


def test_a_decompression_bomb_is_not_decoded() -> None:
    """What a header asks for is looked at before any pixel is."""
    for data in (bomb(), jpeg_bomb()):
        copy = copy_of(data, Budget())
        assert not copy.url
        assert "not decoded" in copy.trouble


def test_pictures_are_made_anew() -> None:
    """What stands in an image next to its pixels does not come into the page."""
    data = encoded(np.zeros((300, 300, 3), np.uint8), "JPEG")
    comment = b"\xff\xfe" + struct.pack(">H", len(SVG) + 2) + SVG
    copy = copy_of(data[:2] + comment + data[2:], Budget())
    body = base64.b64decode(copy.url.split(",")[1])
    assert b"script" not in body
    assert body.startswith(b"\xff\xd8")


def test_plots_keep_shapes_and_words_only() -> None:
    """Whatever else an SVG can do is left out of it, also behind namespaces."""
    kept = inline_svg(
        '<svg xmlns="http://www.w3.org/2000/svg" '
        'xmlns:xlink="http://www.w3.org/1999/xlink" onload="alert(1)" viewBox="0 0 1 1">'
        '<script>alert(1)</script><a xlink:href="javascript:alert(1)"><text>x</text></a>'
        '<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"/></foreignObject>'
        '<image href="http://127.0.0.1/"/><style>*{fill:red}</style>'
        '<g onclick="alert(1)" style="fill:red"><text fill="var(--ink)">&lt;b&gt;</text>'
        "</g></svg>"
    )
    assert kept == (
        '<svg viewBox="0 0 1 1" aria-hidden="true" focusable="false">'
        '<g><text fill="var(--ink)">&lt;b&gt;</text></g></svg>'
    )


def test_without_a_manifest_the_same_holds(visit: Visit, tmp_path: Path) -> None:
    """Keys and strings alone, and a file's name, say what they are."""
    records = [
        example({SCRIPT: [IMAGE.encode()], IMAGE: [SVG], "n": [index % 3]})
        for index in range(30)
    ]
    write_files(tmp_path / "x", {"<b>train": records})
    page = visit(make_report(tmp_path / "x", tmp_path / "x.html"))
    assert SCRIPT in page.inner_text("main")
    assert page.locator("b:text-is('train')").count() == 0
    assert page.locator("script").count() == 1
