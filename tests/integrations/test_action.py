"""The GitHub Action: its scripts are executed as GitHub would, in scratch repositories."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from composite import Action
from scratch import CHECKOUT, Repository, project_in

import schemagen

FILE = CHECKOUT / "action.yml"
DATA = yaml.safe_load(FILE.read_text(encoding="utf-8"))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository whose project is committed and clean."""
    found = Repository(tmp_path / "repo")
    project_in(found)
    return found


def test_the_metadata_is_valid() -> None:
    """By the schema that GitHub's metadata has in SchemaStore."""
    command = [sys.executable, "-m", "check_jsonschema"]
    subprocess.run(
        [*command, "--builtin-schema", "vendor.github-actions", FILE], check=True
    )


def test_inputs_never_become_part_of_a_script() -> None:
    """Expressions stand in `env` and `with` alone: in a script they would be code."""
    for step in DATA["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
        assert "${{" not in step["name"]


def test_inputs_are_documented_and_used() -> None:
    """Each has a sentence and a default, and a step that reads it."""
    steps = str(DATA["runs"]["steps"])
    used = set(re.findall(r"\$\{\{ inputs\.([\w-]+) \}\}", steps))
    assert used == set(DATA["inputs"])
    for described in DATA["inputs"].values():
        assert described["description"].endswith(".")
        assert set(described) == {"description", "default"}
    assert DATA["inputs"]["command"]["default"] == "check"


@pytest.mark.slow
def test_a_fresh_project_passes(action: Action, repository: Repository) -> None:
    """Exit code 0 and no annotation; and no tensorflow was installed."""
    outcome = action.run(repository.root, {})
    assert outcome.exit_code == 0, outcome.output
    assert outcome.annotations == []
    [packages] = action.temporary.glob("schemagen/lib/*/site-packages")
    assert (packages / "schemagen").is_dir()
    assert not list(packages.glob("tensorflow*"))


@pytest.mark.slow
def test_a_stale_project_is_annotated_and_fails(
    action: Action, repository: Repository
) -> None:
    """Exit code 1, and an error at file and line for each stale file."""
    repository.replace("schemas/pets.py", "age: int", "age: float")
    outcome = action.run(repository.root, {})
    assert outcome.exit_code == 1
    found = {annotation.file: annotation for annotation in outcome.annotations}
    names = ("model.py", "parser.py", "pipeline.py", "serializer.py", "spec.json")
    assert set(found) >= {f"generated/pet/{name}" for name in names}
    parser = found["generated/pet/parser.py"]
    assert (parser.level, parser.title) == ("error", "SG302")
    lines = (repository.root / parser.file).read_text().splitlines()
    assert "age" in lines[parser.line - 1]
    assert "run `schemagen generate`" in parser.message


@pytest.mark.slow
def test_a_broken_schema_is_annotated_at_its_line(
    action: Action, tmp_path: Path
) -> None:
    """Exit code 2; in a subdirectory the path counts from the repository's top."""
    repository = Repository(tmp_path / "mono")
    project_in(repository, "ml/pets")
    repository.replace("ml/pets/schemas/pets.py", "age: int", "age: dict[str, int]")
    outcome = action.run(repository.root, {"project": "ml/pets"})
    assert outcome.exit_code == 2
    [annotation] = outcome.annotations
    assert (annotation.file, annotation.line) == ("ml/pets/schemas/pets.py", 7)
    assert (annotation.level, annotation.title) == ("error", "SG111")


@pytest.mark.slow
def test_other_commands_and_options(action: Action, repository: Repository) -> None:
    """`generate` mends what `check` found; options are passed on one by one."""
    repository.replace("schemas/pets.py", "age: int", "age: float")
    shown = action.run(repository.root, {"args": "--diff  --tracked\n"})
    assert shown.exit_code == 1
    assert "+++ b/generated/pet/parser.py" in shown.output
    assert action.run(repository.root, {"command": "generate"}).exit_code == 0
    assert schemagen.check(repository.root).findings == ()
    assert action.run(repository.root, {}).exit_code == 0


@pytest.mark.slow
def test_no_input_is_executed(action: Action, repository: Repository) -> None:
    """Whatever an input holds, it is a word and no code."""
    for name, text in (
        ("project", '"; touch hacked; "'),
        ("project", "$(touch hacked)"),
        ("args", "; touch hacked"),
        ("args", "`touch hacked` $(touch hacked)"),
        ("command", "check; touch hacked"),
        ("command", "init"),
        ("command", "x\n::warning::hacked"),
    ):
        outcome = action.run(repository.root, {name: text})
        assert outcome.exit_code == 2, outcome.output
        assert not (repository.root / "hacked").exists()
        assert {a.level for a in outcome.annotations} <= {"error"}


FAKE = """\
#!/bin/sh
if [ "$2" = venv ]; then
    mkdir -p "$3/bin"
    cp "$0" "$3/bin/python"
    cp "$0" "$3/bin/schemagen"
else
    for word in "$@"; do echo "<$word>"; done
fi
"""


def test_packages_are_installed_beside_schemagen(
    action: Action, repository: Repository, tmp_path: Path
) -> None:
    """What schema files import, each word an argument of pip's; a Python tells them."""
    fake = tmp_path / "python"
    fake.write_text(FAKE)
    fake.chmod(0o755)
    temporary = tmp_path / "runner temp"
    machine = replace(
        action,
        temporary=temporary,
        players={"actions/setup-python": lambda given: {"python-path": str(fake)}},
        once=frozenset(),
    )
    outcome = machine.run(repository.root, {"packages": "--no-deps\n./lib  x>=1;y"})
    words = re.findall("<(.+)>", outcome.output)
    installed = words[: words.index("check")]
    assert installed == [
        *("-m", "pip", "install", "--disable-pip-version-check", "--quiet"),
        *(str(action.directory), "--no-deps", "./lib", "x>=1;y"),
    ]
    assert words[len(installed) :] == ["check", "--project", ".", "--format", "github"]
