"""Runs a notebook in an empty directory; as a program, it renews the outputs in the file.

python tests/pages/run_notebook.py docs/notebook.ipynb
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

_SECONDS = 500
_CHARACTERS = 200


def executed(path: Path, directory: Path) -> Any:
    """Return a notebook with the outputs of a run in a directory, without stderr.

    Raises:
        CellExecutionError: a cell failed.
    """
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=_SECONDS,
        record_timing=False,
        resources={"metadata": {"path": str(directory)}},
    )
    client.execute(env={**os.environ, "NO_COLOR": "1"})
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [
                output for output in cell.outputs if output.get("name") != "stderr"
            ]
            for output in cell.outputs:
                _shorten(output.get("data", {}))
    notebook.metadata["language_info"] = {"name": "python"}
    return notebook


def _shorten(data: dict[str, str]) -> None:
    """Cut a long text that is there as HTML, too."""
    if "text/html" in data and len(data["text/plain"]) > _CHARACTERS:
        data["text/plain"] = data["text/plain"][:_CHARACTERS] + " ..."


if __name__ == "__main__":
    target = Path(sys.argv[1])
    place = Path(tempfile.mkdtemp())
    try:
        nbformat.write(executed(target, place), target)
    finally:
        shutil.rmtree(place)
