"""What the text of a report says."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

from .conftest import make_report


def page_about(data: Path) -> str:
    """Return the page about data, which is written next to it."""
    return make_report(data, data.parent / "report.html").read_text("utf-8")


def section_of(page: str, name: str) -> str:
    """Return a section of a page; "" if there is none."""
    return page.partition(f'<section id="{name}"')[2].partition("</section>")[0]


def rows_of(page: str, caption: str) -> list[list[str]]:
    """Return the cells of the only table whose caption has a text, headings first."""
    tables = re.findall(r"<caption[^>]*>(.*?)</caption>(.*?)</table>", page, re.DOTALL)
    [found] = [table for name, table in tables if caption in unescape(name)]
    rows = re.findall(r"<tr>(.*?)</tr>", found, re.DOTALL)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]
    return [[unescape(re.sub(r"<[^>]+>", "", c)) for c in row] for row in cells]


def cells_of(page: str, caption: str) -> dict[str, list[str]]:
    """Return the rows of a table by their first cells."""
    return {name: cells for name, *cells in rows_of(page, caption)[1:]}


def tones(page: str) -> list[str]:
    """Return the tones of the sentences of the overview: verify, differences, duplicates."""
    return re.findall(r'<li class="tone-(\w+)"', page)
