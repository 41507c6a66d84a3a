"""A run of a benchmark with next to no records."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.program import Program

DOCUMENT = Path(__file__).parents[2] / "docs" / "benchmarks.md"

Run = Callable[..., tuple[dict[str, Any], str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return a function that measures; it returns the results and the document."""

    def measured(program: Program, *options: str) -> tuple[dict[str, Any], str]:
        document = tmp_path / "benchmarks.md"
        shutil.copy(DOCUMENT, document)
        results = tmp_path / "results" / "found.json"
        files = ("--json", str(results), "--document", str(document))
        few = ("--rounds", "1", "--share", "0.005", "--bytes", "1e6")
        program.run([*few, *options, *files])
        return json.loads(results.read_text()), document.read_text()

    return measured
