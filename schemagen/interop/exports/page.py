"""The tables of exports as Markdown, in docs/interop.md between two marks."""

from __future__ import annotations

import sys
from pathlib import Path

from .mapping import rows_of_table
from .writing import TABLES, TITLES

BEGIN = "<!-- made by python -m schemagen.interop.exports.page docs/interop.md -->"
END = "<!-- end of the tables of exports -->"


def tables() -> str:
    """Return a table for each target: one row for each kind and parameter."""
    lines = []
    for to, table in TABLES.items():
        lines += ["", f"### What `--to {to}` keeps: {TITLES[to]}", ""]
        lines += [
            "| kind | parameter | | how, or what is lost |",
            "| --- | --- | --- | --- |",
        ]
        for kind, parameter, verdict, words in rows_of_table(table):
            lines.append(f"| {kind} | `{parameter}` | {verdict} | {words} |")
    return "\n".join([BEGIN, *lines, "", END])


def with_tables(page: str) -> str:
    """Return a page with the tables in their place.

    Raises:
        ValueError: the page has no place for them.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page lacks the lines {BEGIN!r} and {END!r}")
    return before + tables() + after


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(with_tables(path.read_text(encoding="utf-8")), encoding="utf-8")
