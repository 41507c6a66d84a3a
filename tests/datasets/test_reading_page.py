"""`docs/reading.md` is run: its data is written and read, and says what is printed."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "reading.md"
TEXT = PAGE.read_text(encoding="utf-8")
SCHEMA, *PROGRAM = re.findall(r"```python\n(.*?)```", TEXT, re.S)


def _run(*command: str, cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, *command], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the page's program prints, its blocks one after the other."""
    root = tmp_path_factory.mktemp("page")
    _run("-m", "schemagen", "init", cwd=root)
    (root / "schemas" / "post.py").write_text(SCHEMA, encoding="utf-8")
    _run("-m", "schemagen", "generate", cwd=root)
    (root / "program.py").write_text("\n".join(PROGRAM), encoding="utf-8")
    return _run("program.py", cwd=root)


def _words(text: str) -> str:
    return " ".join(text.split())


def test_the_blocks_run_and_messages_are_as_shown(output: str) -> None:
    """Each block as it stands; what is shown of errors and reports is what comes."""
    shown = re.findall(r"```text\n(.*?)```", TEXT, re.S)
    assert shown
    for message in shown:
        assert _words(message) in _words(output)


def _parameters() -> list[str]:
    from generated.digit.pipeline import make_dataset

    return [*inspect.signature(make_dataset).parameters, "targets"]


def test_every_option_is_on_the_page() -> None:
    """By its name; the reference has defaults and meanings."""
    for name in _parameters():
        if name not in ("source", "split"):
            assert re.search(rf"`{name}\b", TEXT), name
