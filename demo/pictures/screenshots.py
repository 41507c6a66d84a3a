"""Screenshots of the HTML report, taken by a headless Chromium."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

# Where the browser is looked for, on PATH.
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")

_WIDTH, _HEIGHT = 1100, 1320

_COLORS = 128
"""So many colors keep a picture under 200 kB, and none is missed."""


def report(data: Path, pictures: Mapping[str, Path]) -> None:
    """Write pictures of the overview and the samples of the report on some data.

    Args:
        data: a data directory.
        pictures: the PNG file to write for each theme, "light" or "dark".

    Raises:
        FileNotFoundError: there is no Chromium on PATH.
    """
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser is None:
        raise FileNotFoundError("there is no Chromium on PATH: install it")
    with tempfile.TemporaryDirectory() as directory:
        page = Path(directory) / "report.html"
        # The page names the data as the command does.
        root, shown_data = data.parents[1], Path(*data.parts[-2:])
        command = [sys.executable, "-m", "schemagen", "inspect", str(shown_data)]
        subprocess.run([*command, "--html", str(page)], check=True, cwd=root)
        with sync_playwright() as playwright:
            shown = playwright.chromium.launch(
                executable_path=browser, args=["--no-sandbox"]
            )
            for theme, picture in pictures.items():
                view = shown.new_page(
                    viewport={"width": _WIDTH, "height": _HEIGHT},
                    color_scheme="dark" if theme == "dark" else "light",
                    device_scale_factor=1.5,
                )
                view.goto(page.as_uri())
                image = Image.open(io.BytesIO(view.screenshot())).convert("RGB")
                few = image.quantize(_COLORS, dither=Image.Dither.NONE)
                few.save(picture, optimize=True)
            shown.close()
