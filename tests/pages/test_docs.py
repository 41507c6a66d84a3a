"""The docs keep up with the code."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest
import schemagen
from schemagen.runtime.kinds.kind import Kind

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA_PAGES = "\n".join(
    path.read_text(encoding="utf-8")
    for path in (DOCS / "schema.md", *sorted((DOCS / "kinds").glob("*.md")))
)
KINDS = [
    kind
    for name in schemagen.__all__
    if isinstance(kind := getattr(schemagen, name), type) and issubclass(kind, Kind)
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_parameter_of_a_kind_is_documented(kind: type[Kind]) -> None:
    """`docs/kinds/` has a section for the kind, with each of its parameters."""
    text = SCHEMA_PAGES
    section = re.search(rf"^## {kind.__name__}\n(.*?)(?:^##? |\Z)", text, re.M | re.S)
    assert section is not None
    shared = {
        "exact",
        "finite",
        "min",
        "max",
        *(field.name for field in dataclasses.fields(Kind)),
    }
    for field in dataclasses.fields(kind):
        assert f"`{field.name}`" in (text if field.name in shared else section[1])


# Words and phrases, and the common ones of technical English.
_UNCOMMON = {
    "anew": "again",
    "beside": "next to",
    "nobody": "no one",
    "whoever": "a caller",
    "mend": "fix",
    "fate": "mapping",
    "without a word": "silently",
    "fates": "mapping",
    "already there": "exists",
    "broken off": "incomplete",
    "neighbours": "neighbors",
    "nothing says": "it is unknown",
    "set aside": "allocated",
    "shall": "should",
    "there is no such": "does not exist",
}


def _texts(path: Path) -> str:
    """Return the prose of a file: of a Python file, its comments and strings."""
    if path.suffix != ".py":
        return path.read_text(encoding="utf-8")
    with path.open("rb") as file:
        tokens = list(tokenize.tokenize(file.readline))
    kinds = (tokenize.COMMENT, tokenize.STRING)
    texts = (token.string for token in tokens if token.type in kinds)
    # What stands in braces is code.
    return "\n".join(re.sub(r"\{[^{}]*\}", "", text) for text in texts)


def test_prose_uses_common_words() -> None:
    """In documentation, messages, docstrings and comments."""
    root = DOCS.parent
    files = [*root.glob("*.md"), *DOCS.rglob("*.md")]
    for directory in ("schemagen", "templates"):
        files += [
            *(root / directory).rglob("*.py"),
            *(root / directory).rglob("*.jinja"),
        ]
    pattern = re.compile(rf"\b({'|'.join(_UNCOMMON)})\b", re.I)
    found = {
        f"{path.relative_to(root)}: {match[0]!r}, say {_UNCOMMON[match[0].lower()]!r}"
        for path in files
        for match in pattern.finditer(_texts(path))
    }
    assert found == set()


@pytest.mark.parametrize("page", ["reference", "rules", "cli"])
def test_generated_page_is_what_its_generator_prints(page: str) -> None:
    """Who changes a docstring, a rule or an option generates the page again."""
    generator = DOCS / "generators" / f"{page}.py"
    printed = subprocess.run(
        [sys.executable, generator], capture_output=True, check=True
    )
    assert (DOCS / f"{page}.md").read_bytes() == printed.stdout
