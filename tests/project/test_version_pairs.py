"""The pairs of TensorFlow and Keras that `make test-versions` tests, and what is said."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAIRS = sorted((ROOT / "tests" / "versions").glob("tensorflow-*.txt"))


def _versions(pair: Path) -> dict[str, str]:
    """Return the versions that a pair's name has, by package."""
    return dict(re.findall(r"(tensorflow|keras|python)-([\d.]+\d)", pair.stem))


def test_each_pair_pins_plain_versions() -> None:
    """Those of its name among them, and no addresses, so that any index will do."""
    for pair in PAIRS:
        first, *lines = pair.read_text(encoding="utf-8").splitlines()
        assert first in ("--editable .", "--editable .[tensorflow]")
        pins = dict(line.split("==") for line in lines)
        assert all(version[0].isdigit() for version in pins.values())
        for package in ("tensorflow", "keras"):
            assert pins[package].startswith(_versions(pair)[package] + ".")


def test_the_page_has_a_row_for_each_pair() -> None:
    """And none for another."""
    page = (ROOT / "docs" / "versions.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d\S+) \| (\d\S+) \| (\d\S+) \|", page, re.MULTILINE)
    named = [(v["tensorflow"], v["keras"], v["python"]) for v in map(_versions, PAIRS)]
    assert sorted(rows) == sorted(named)


def test_the_oldest_environment_has_the_bounds_of_the_extra() -> None:
    """It has the versions that pyproject.toml and the README ask for."""
    lines = (ROOT / "constraints-oldest.txt").read_text(encoding="utf-8").splitlines()
    oldest = dict(line.split("==") for line in lines if "==" in line)
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for package, name in (("tensorflow", "TensorFlow"), ("keras", "Keras")):
        version = ".".join(oldest[package].split(".")[:2])
        assert f'"{package}>={version}"' in settings
        assert f"{name} {version} or later" in " ".join(readme.split())
