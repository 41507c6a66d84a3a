"""`docs/generated-code.md` is run: its commands work and print what it shows."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from schemagen.rules import RULES

PAGE = Path(__file__).parents[2] / "docs" / "generated-code.md"
TEXT = PAGE.read_text(encoding="utf-8")


def _schemagen(root: Path, arguments: list[str]) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "schemagen", *arguments],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    assert arguments != ["generate"] or done.returncode == 0
    return done.stdout + done.stderr


@pytest.mark.integration
def test_the_blocks_run_and_findings_are_as_shown(tmp_path: Path) -> None:
    """One after the other, but for the last, which is told in test_watching."""
    (tmp_path / "pyproject.toml").write_text("[tool.schemagen]\n")
    (tmp_path / "schemas").mkdir()
    blocks = re.findall(r"```(\w+)\n(.*?)```", TEXT, re.S)
    assert blocks[-1][1].endswith("schemagen generate --watch\n")
    printed = ""
    shown = 0
    for language, text in blocks[:-1]:
        if language == "python":
            (tmp_path / "schemas/pet.py").write_text(text)
        elif language == "sh":
            printed = ""
            for line in text.splitlines():
                words = shlex.split(line)
                if words[0] == "schemagen":
                    printed += _schemagen(tmp_path, words[1:])
                else:
                    printed += subprocess.run(
                        words,
                        cwd=tmp_path,
                        check=True,
                        stdout=subprocess.PIPE,
                        text=True,
                    ).stdout
        else:
            printed += (tmp_path / "generated/pet/parser.py").read_text()
            for line in text.splitlines():
                assert line in printed, line
            shown += 1
    assert shown == 2


def test_every_rule_of_generated_files_is_on_the_page() -> None:
    """In the table, with what generate does."""
    rules = {rule for rule in RULES if rule.startswith("SG3")}
    assert set(re.findall(r"^\| (SG3\d\d) \|", TEXT, re.M)) == rules
