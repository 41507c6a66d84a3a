"""The programs of the page about engines, as it shows them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "scale-engines.md").read_text(encoding="utf-8")


def blocks(section: str, language: str) -> list[str]:
    """Return the blocks of a section that are in a language."""
    text = TEXT.partition(f"## {section}\n")[2].partition("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


def write_scans(directory: Path) -> Path:
    """Write the module that the programs import to a directory."""
    (module,) = re.findall(r"```python\n# scans.py\n(.*?)```", TEXT, re.S)
    path = directory / "scans.py"
    path.write_text(module, encoding="utf-8")
    return path


def printed_by(program: str, directory: Path, **environment: str) -> str:
    """Run a program as a script in a directory, and return what it prints."""
    write_scans(directory)
    (directory / "program.py").write_text(program, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
