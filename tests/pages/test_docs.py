"""The docs keep up with the code."""

from __future__ import annotations

import ast
import dataclasses
import re
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest
import schemagen
from schemagen.runtime.codecs.kind import Kind

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


PRELUDE = """\
from datetime import datetime, timedelta
from enum import Enum
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, Field

from schemagen import *


"""


def is_of_fields(block: str) -> bool:
    """Tell whether an example is lines of a class's body."""
    return all(isinstance(node, ast.AnnAssign) for node in ast.parse(block).body)


def test_the_examples_of_the_schema_pages_can_be_generated(tmp_path: Path) -> None:
    """Their field lines generate as one record, their other blocks each as a file."""
    text = SCHEMA_PAGES
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    settings = "".join(re.findall(r"```toml\n(.*?)```", text, re.S))
    (tmp_path / "pyproject.toml").write_text(f"[tool.schemagen]\n{settings}")
    schemas = tmp_path / "schemas"
    schemas.mkdir()
    lines = [line for b in blocks if is_of_fields(b) for line in b.splitlines()]
    body = "".join(f"    {line}\n" for line in lines)
    (schemas / "every.py").write_text(f"{PRELUDE}class Every(Record):\n{body}")
    others = [block for block in blocks if not is_of_fields(block)]
    for number, block in enumerate(others):
        (schemas / f"block_{number}.py").write_text(PRELUDE + block)
    assert len(lines) >= 12
    assert len(others) >= 3
    paths = {file.path for file in schemagen.generate(tmp_path).changes}
    assert {"station/parser.py", "every/model.py", "robot_step/model.py"} <= paths
    assert {"long_question/serializer.py", "video/parser.py"} <= paths


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
