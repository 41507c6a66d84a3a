"""Tables of a notebook in a browser, with the rules that JupyterLab has for all tables."""

from __future__ import annotations

from pathlib import Path

import pytest
import schemagen

from .conftest import Visit

# Of @jupyterlab/rendermime.
JUPYTER = """
.jp-RenderedHTMLCommon table { table-layout: fixed; margin-left: auto; }
.jp-RenderedHTMLCommon td, .jp-RenderedHTMLCommon th { vertical-align: middle; }
:not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon td,
:not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon th { text-align: right; }
.jp-RenderedHTMLCommon tbody tr:nth-child(odd) { background: #f5f5f5; }
"""
ALIGNED = """() => [...document.querySelectorAll('table')].map(table =>
  Object.fromEntries([...table.querySelectorAll('th')].map((head, at) => [
    head.innerText,
    [...table.querySelectorAll('tr')].map(
      row => getComputedStyle(row.children[at]).textAlign)])))"""
WIDER = """() => [...document.querySelectorAll('code')].filter(
  each => each.scrollWidth > each.parentElement.clientWidth).length"""
NUMBERS = {
    *("files", "records", "on disk", "record size", "present", "length"),
    *("value", "distance"),
}


@pytest.mark.parametrize("width", [500, 1200])
def test_numbers_are_to_the_right_and_texts_to_the_left(
    scenes_data: Path, tmp_path: Path, visit: Visit, width: int
) -> None:
    """In each row, headings included; and code wraps."""
    found = schemagen.inspect(scenes_data)
    path = tmp_path / "notebook.html"
    path.write_text(
        f"<!doctype html><title>A notebook</title><style>{JUPYTER}</style>"
        f'<div class="jp-RenderedHTMLCommon">{found._repr_html_()}</div>',
        "utf-8",
    )
    page = visit(path, width=width)
    tables = page.evaluate(ALIGNED)
    assert len(tables) == 3
    for table in tables:
        for name, cells in table.items():
            assert set(cells) == {"right" if name in NUMBERS else "left"}, name
    assert page.evaluate(WIDER) == 0
    assert not page.locator("code:empty").count()
