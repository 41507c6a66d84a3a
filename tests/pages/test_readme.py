"""The README is run: its schema is generated, its commands and its code work."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
# A block of code as (language, text, ""), or a command in a sentence as ("", "", text).
_STEP = re.compile(r"```(\w+)\n(.*?)```|`(schemagen [^`]+)`", re.DOTALL)


def _run(command: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.mark.integration
def test_the_readme_works_from_top_to_bottom(tmp_path: Path) -> None:
    """Who follows the README gets a verified data set, a trained and a served model.

    Each command between two pieces of code runs with what the pieces before it made.
    """
    schemagen = [sys.executable, "-m", "schemagen"]
    _run([*schemagen, "init"], tmp_path)
    programs: list[str] = []
    for language, text, command in _STEP.findall(README.read_text(encoding="utf-8")):
        if text.startswith("# schemas/"):
            path = text.split("\n", 1)[0].removeprefix("# ")
            (tmp_path / path).write_text(text, encoding="utf-8")
        elif language == "python":
            programs.append(text)
            (tmp_path / "readme.py").write_text("\n".join(programs), encoding="utf-8")
            if "write_dataset(" in text:
                _run([sys.executable, "readme.py"], tmp_path)
                (tmp_path / "data").rename(tmp_path / "written")
        elif command.startswith("schemagen ") and "init" not in command:
            if "data" in command:
                command = command.replace("data", "written")
            _run([*schemagen, *shlex.split(command)[1:]], tmp_path)
    _run([sys.executable, "readme.py"], tmp_path)
    assert (tmp_path / "served" / "saved_model.pb").is_file()
    assert (tmp_path / "report.html").is_file()


def test_each_link_of_the_readme_leads_to_a_file() -> None:
    """And to a heading of it, where it names one."""
    text = README.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)]+)\)", text):
        assert (ROOT / target).is_file(), target


def test_the_readme_names_every_verb_kind_and_exit_code() -> None:
    """Nothing a newcomer can use is left out of the README."""
    import schemagen
    from schemagen.cli import main

    text = README.read_text(encoding="utf-8")
    for verb in main.commands:
        assert re.search(rf"`(schemagen )?{verb}\b", text), verb
    for kind in (name for name in schemagen.__all__ if name[0].isupper()):
        assert re.search(rf"\b{kind}\b", text), kind
    for code in ("0 clean", "1 findings", "2 the request", "3 a bug"):
        assert code in " ".join(text.split())
