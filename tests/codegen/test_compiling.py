"""Templates are compiled once, and what is compiled is never trusted blindly."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from command_line import snapshot


def generated(project: Path, kept: Path, **more: str) -> None:
    """Generate once more in a process of its own, which keeps bytecode in a directory."""
    environment = {
        k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"
    }
    subprocess.run(
        [sys.executable, "-m", "schemagen", "generate"],
        cwd=project,
        env={**environment, "PYTHONPYCACHEPREFIX": str(kept), **more},
        check=True,
        capture_output=True,
    )


def templates(kept: Path) -> list[Path]:
    """Return the compiled templates."""
    return [path for path in kept.rglob("*.cache") if "templates" in path.parts]


def test_a_template_is_compiled_once(project: Path, tmp_path: Path) -> None:
    """The next process takes what is kept, unless it is damaged; no run fails of it."""
    kept = tmp_path / "bytecode"
    before = snapshot(project)
    generated(project, kept)
    files = templates(kept)
    assert len(files) > 5
    times = {path: path.stat().st_mtime_ns for path in files}
    whole = {path: path.read_bytes() for path in files}
    generated(project, kept)
    assert {path: path.stat().st_mtime_ns for path in files} == times
    for number, (path, data) in enumerate(whole.items()):
        path.write_bytes((b"", b"x", data[: len(data) // 2])[number % 3])
    generated(project, kept)
    assert {path: path.read_bytes() for path in files} == whole
    assert snapshot(project) == before


def test_compiled_templates_are_not_kept_where_python_keeps_nothing(
    project: Path, tmp_path: Path
) -> None:
    """PYTHONDONTWRITEBYTECODE applies."""
    kept = tmp_path / "bytecode"
    generated(project, kept, PYTHONDONTWRITEBYTECODE="1")
    assert not kept.exists()
