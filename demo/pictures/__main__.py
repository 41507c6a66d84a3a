"""Make all pictures in docs/images/: `python -m demo.pictures`, or `make pictures`."""

from __future__ import annotations

from pathlib import Path

from ..records import write
from .drawings import THEMES, comparison, flow
from .screenshots import report

ROOT = Path(__file__).parents[2]


def main(data: Path = ROOT / "data", images: Path = ROOT / "docs" / "images") -> None:
    """Write each picture for light and for dark pages.

    Args:
        data: where the demo has written its records; they are written if need be.
        images: where to write the pictures.
    """
    photos = data / "photo"
    if not (photos / "manifest.json").is_file():
        write("photo", data)
    images.mkdir(parents=True, exist_ok=True)
    page = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for theme in THEMES:
        drawings = {"comparison": comparison(page, theme), "flow": flow(readme, theme)}
        for name, text in drawings.items():
            (images / f"{name}-{theme}.svg").write_text(text, encoding="utf-8")
    report(photos, {theme: images / f"report-{theme}.png" for theme in THEMES})
    for path in sorted(images.iterdir()):
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
