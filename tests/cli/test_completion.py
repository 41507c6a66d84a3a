"""Shell completion, by the real entry point."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from command_line import make_project, run

PET = "from schemagen import Record\n\n\nclass PetPhoto(Record):\n    age: int\n"
RULES = Path(__file__).parents[2] / "docs" / "rules.md"
NAMES = ["leakage", "duplicates", "drift", "missing-classes", "target-leakage"]
_ENTRY = "from schemagen.__main__ import main; main()"


def _run(
    instruction: str,
    words: str = "",
    cwd: Path | None = None,
    options: Sequence[str] = (),
) -> str:
    """Return what the command prints for a shell, which completes the last word."""
    count = len(words.split(" ")) - 1
    done = subprocess.run(
        [sys.executable, *options, "-c", _ENTRY],
        env={
            **os.environ,
            "_SCHEMAGEN_COMPLETE": instruction,
            "COMP_WORDS": words,
            "COMP_CWORD": str(count),
        },
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return f"{done.stdout}{done.stderr}" if options else done.stdout


def completed(words: str, cwd: Path | None = None) -> list[str]:
    """Return the completions of the last word in bash, without their types."""
    lines = _run("bash_complete", words, cwd).splitlines()
    return [line.partition(",")[2] for line in lines if line]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with two generated records."""
    pets = {"pets.py": PET, "new.py": PET.replace("PetPhoto", "NewPet")}
    root = make_project(tmp_path / "p", pets)
    assert run("generate", "--project", root).exit_code == 0
    return root


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_command_prints_the_script_of_a_shell(shell: str) -> None:
    """It is what docs/cli.md has people put into their configuration."""
    assert f"_SCHEMAGEN_COMPLETE={shell}_complete" in _run(f"{shell}_source")


def test_commands_and_options_are_completed() -> None:
    """By their beginnings."""
    assert completed("schemagen gen") == ["generate"]
    assert "--dry-run" in completed("schemagen generate --d")
    assert completed("schemagen export pet --to cr") == ["croissant"]


@pytest.mark.parametrize(
    "words", ["describe ", "verify data --record ", "export ", "init --train "]
)
def test_records_are_completed(project: Path, words: str) -> None:
    """Those that are generated, by their beginnings."""
    assert completed(f"schemagen {words}", project) == ["new_pet", "pet_photo"]
    assert completed(f"schemagen {words}pet", project) == ["pet_photo"]


def test_all_rules_are_completed() -> None:
    """Those of breaking changes, too; also by small letters."""
    rules = re.findall(r"</a>(SG\d{3}) \|", RULES.read_text("utf-8"))
    assert completed("schemagen explain ") == [*sorted(rules), *NAMES]
    assert "SG304" in completed("schemagen explain sg30")
    assert completed("schemagen explain m") == ["missing-classes"]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("inspect data --fail-on ", NAMES),
        ("inspect data --fail-on d", ["duplicates", "drift"]),
        ("inspect data --fail-on drift,leakage,d", ["drift,leakage,duplicates"]),
        ("diff a b --fail-on ", NAMES[:-1]),
    ],
)
def test_names_of_fail_on_are_completed(words: str, found: list[str]) -> None:
    """The last one of several, behind the others, which are not offered again."""
    assert completed(f"schemagen {words}") == found


def test_splits_are_completed(tmp_path: Path) -> None:
    """Those in the manifest of a directory; other data has none."""
    (tmp_path / "data").mkdir()
    manifest = {"splits": {"train": {}, "test": {}}}
    (tmp_path / "data/manifest.json").write_text(json.dumps(manifest))
    for command in ("verify", "inspect", "infer"):
        words = f"schemagen {command} data --split "
        assert completed(words, tmp_path) == ["train", "test"]
        assert completed(f"schemagen {command} other --split ", tmp_path) == []


def test_paths_are_left_to_the_shell(tmp_path: Path) -> None:
    """The answer has the type "file", for which shells complete paths."""
    for words in ("verify da", "infer da", "import da", "infer x --out da"):
        assert _run("bash_complete", f"schemagen {words}", tmp_path) == "file,da\n"


@pytest.mark.parametrize(
    "words",
    ["describe ", "explain ", "verify data --split ", "inspect data --fail-on "],
)
def test_completing_imports_nothing_slow(project: Path, words: str) -> None:
    """Neither TensorFlow nor schemas or templates: a shell waits for the answer."""
    options = ["-X", "importtime"]
    said = _run("bash_complete", f"schemagen {words}", project, options)
    imported = {line.rpartition("|")[2].strip() for line in said.splitlines()}
    assert "schemagen.cli" in imported
    assert not imported & {"tensorflow", "jinja2", "schemagen.schema"}
