"""The docs keep up with the code."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

import schemagen
from schemagen.schema.kind import Kind

DOCS = Path(__file__).parent.parent / "docs"
KINDS = [
    kind
    for name in schemagen.__all__
    if isinstance(kind := getattr(schemagen, name), type) and issubclass(kind, Kind)
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_parameter_of_a_kind_is_documented(kind: type[Kind]) -> None:
    """`docs/schema.md` has a section for the kind, with each of its parameters."""
    text = (DOCS / "schema.md").read_text(encoding="utf-8")
    section = re.search(rf"^## {kind.__name__}\n(.*?)^## ", text, re.M | re.S)
    assert section is not None
    shared = {field.name for field in dataclasses.fields(Kind)}
    for field in dataclasses.fields(kind):
        assert f"`{field.name}`" in (text if field.name in shared else section[1])


def test_the_examples_of_the_schema_page_can_be_generated(tmp_path: Path) -> None:
    """The page's first block, and all its field lines in one record, generate."""
    text = (DOCS / "schema.md").read_text(encoding="utf-8")
    first, *others = re.findall(r"```python\n(.*?)```", text, re.S)
    (tmp_path / "pyproject.toml").write_text("[tool.schemagen]\n")
    schemas = tmp_path / "schemas"
    schemas.mkdir()
    (schemas / "station.py").write_text(first)
    lines = [f"    {line}\n" for block in others for line in block.splitlines()]
    assert len(lines) >= 12
    (schemas / "every.py").write_text(
        "from typing import Annotated, Literal\nimport numpy as np\n"
        "from schemagen import *\n\nclass Every(Record):\n" + "".join(lines)
    )
    paths = {file.path for file in schemagen.generate(tmp_path).changes}
    assert {"station/parser.py", "every/model.py"} <= paths
