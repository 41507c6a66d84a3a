"""`mkdocs.yml`: the navigation of the site. `make check` builds the site itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]


class _Loader(yaml.SafeLoader):
    """Reads settings whose values are Python objects as if they had none."""


_Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_: None)

SETTINGS = yaml.load((ROOT / "mkdocs.yml").read_text("utf-8"), _Loader)


def _pages(navigation: list[Any]) -> Iterator[str]:
    """Yield the pages of a navigation in order."""
    for entry in navigation:
        for target in entry.values():
            if isinstance(target, str):
                yield target
            else:
                yield from _pages(target)


def test_each_page_is_in_the_navigation_once() -> None:
    """A page that the navigation does not list cannot be found."""
    docs = ROOT / "docs"
    files = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    assert sorted(_pages(SETTINGS["nav"])) == sorted(files)


def test_the_site_loads_nothing_from_other_hosts() -> None:
    """Fonts and scripts are part of the site, which is read offline."""
    assert SETTINGS["theme"]["font"] is False
    for script in SETTINGS["extra"]["polyfills"]:
        assert (ROOT / "docs" / script).is_file()
    assert "repo_url" not in SETTINGS
