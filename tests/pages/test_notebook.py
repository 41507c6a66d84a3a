"""The notebook of the docs runs, and shows what its committed outputs show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from run_notebook import executed

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebook.ipynb"

_MOST_BYTES = 80_000


def kinds(notebook: Any) -> list[list[str]]:
    """Return the kinds of each cell's outputs: a stream, or types of media."""
    return [
        [
            output.get("name") or " ".join(sorted(output.get("data", {})))
            for output in cell.get("outputs", [])
        ]
        for cell in notebook.cells
    ]


def test_the_committed_notebook_is_small_and_names_no_machine() -> None:
    """It is valid, has outputs, and no path, script, time or error."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert len(text) < _MOST_BYTES
    for part in ("/tmp", "/home", "/root", "/work", "<script", "Traceback", "stderr"):
        assert part not in text
    assert not any("execution" in cell.metadata for cell in notebook.cells)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == [*range(1, len(code) + 1)]
    assert sum("text/html" in kind for cell in kinds(notebook) for kind in cell) >= 4


@pytest.mark.slow
def test_every_cell_of_the_notebook_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a kernel, with outputs of the kinds that are committed."""
    monkeypatch.setenv("CI", "1")  # a slow machine shows bars otherwise
    found = executed(NOTEBOOK, tmp_path)
    assert kinds(found) == kinds(nbformat.read(NOTEBOOK, as_version=4))
    html = [
        output.data["text/html"]
        for cell in found.cells
        for output in cell.get("outputs", [])
        if "text/html" in output.get("data", {})
    ]
    assert all('class="schemagen-view"' in each for each in html)
    assert "SG507" in html[-1]
    assert str(tmp_path) not in "".join(html)
