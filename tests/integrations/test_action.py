"""The GitHub Action: its scripts are executed as GitHub would, in scratch repositories."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import schemagen
import yaml
from composite import Action
from scratch import CHECKOUT, Repository, project_in

pytestmark = pytest.mark.integration

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


def test_a_fresh_project_passes(action: Action, repository: Repository) -> None:
    """Exit code 0 and no annotation; and no tensorflow was installed."""
    outcome = action.run(repository.root, {})
    assert outcome.exit_code == 0, outcome.output
    assert outcome.annotations == []
    [packages] = action.temporary.glob("schemagen/lib/*/site-packages")
    assert (packages / "schemagen").is_dir()
    assert not list(packages.glob("tensorflow*"))


def test_a_stale_project_is_annotated_and_fails(
    action: Action, repository: Repository
) -> None:
    """Exit code 1, and an error at file and line that names each stale file."""
    repository.replace("schemas/pets.py", "age: int", "age: float")
    outcome = action.run(repository.root, {})
    assert outcome.exit_code == 1
    found = {annotation.file: annotation for annotation in outcome.annotations}
    names = ("model.py", "parser.py", "pipeline.py", "serializer.py", "spec.json")
    assert set(found) == {"generated/pet/spec.json"}
    spec = found["generated/pet/spec.json"]
    assert (spec.level, spec.title) == ("error", "SG302")
    lines = (repository.root / spec.file).read_text().splitlines()
    assert "int64" in lines[spec.line - 1]
    assert all(name in spec.message for name in names)
    assert "run `schemagen generate`" in spec.message


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


def test_other_commands_and_options(action: Action, repository: Repository) -> None:
    """`generate` fixes what `check` found; options are passed on one by one."""
    repository.replace("schemas/pets.py", "age: int", "age: float")
    shown = action.run(repository.root, {"args": "--diff  --tracked\n"})
    assert shown.exit_code == 1
    assert "+++ b/generated/pet/parser.py" in shown.output
    assert action.run(repository.root, {"command": "generate"}).exit_code == 0
    assert schemagen.check(repository.root).findings == ()
    assert action.run(repository.root, {}).exit_code == 0


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


# breaking, in the checkouts that GitHub makes: one commit, of a repository elsewhere


@pytest.fixture
def origin(repository: Repository) -> Repository:
    """A repository whose branch `change` breaks what main could do."""
    repository.git("switch", "--quiet", "-c", "change")
    repository.replace("schemas/pets.py", "age: int", "age: float")
    schemagen.generate(repository.root)
    assert repository.commit(message="Change a type").returncode == 0
    return repository


def checkout(origin: Repository, place: Path, branch: str) -> Repository:
    """Check a branch out as actions/checkout does: its last commit, and no other."""
    address = origin.root.as_uri()
    options = ("--quiet", "--depth=1", "--single-branch", f"--branch={branch}")
    origin.git("clone", *options, address, place)
    found = Repository(place)
    assert len(found.git("log", "--format=%h").split()) == 1
    return found


@pytest.mark.parametrize(
    ("given", "event"),
    [
        ({}, {"event.pull_request.base.sha": "MAIN"}),
        ({}, {"event.before": "MAIN"}),
        ({}, {"event.before": "0" * 40, "event.repository.default_branch": "main"}),
        ({"against": "main"}, {}),
        ({"against": "origin/main"}, {}),
    ],
    ids=["pull request", "push", "push of a new branch", "branch", "remote branch"],
)
def test_breaks_are_annotated_in_the_schema(
    action: Action,
    origin: Repository,
    tmp_path: Path,
    given: dict[str, str],
    event: dict[str, str],
) -> None:
    """Exit code 1. What is compared with need not be in the checkout: it is fetched."""
    sha = origin.git("rev-parse", "main").strip()
    event = {name: sha if value == "MAIN" else value for name, value in event.items()}
    change = checkout(origin, tmp_path / "change", "change")
    outcome = action.run(change.root, {"command": "breaking", **given}, event)
    assert outcome.exit_code == 1, outcome.output
    places = {(a.file, a.line, a.level) for a in outcome.annotations}
    assert ("schemas/pets.py", 7, "error") in places
    main = checkout(origin, tmp_path / "main", "main")
    outcome = action.run(main.root, {"command": "breaking", **given}, event)
    assert (outcome.exit_code, outcome.annotations) == (0, []), outcome.output


def test_breaks_against_files_and_with_options(
    action: Action, origin: Repository
) -> None:
    """A path is not fetched; options come behind it."""
    spec = origin.git("show", "main:generated/pet/spec.json")
    origin.write("old.json", spec)
    given = {"command": "breaking", "against": "old.json"}
    assert action.run(origin.root, given).exit_code == 1
    outcome = action.run(origin.root, {**given, "args": "--mode full"})
    assert outcome.exit_code == 1, outcome.output
    assert action.run(origin.root, {**given, "args": "--mode no"}).exit_code == 2


@pytest.mark.parametrize(
    "against",
    ["no-such-branch", "$(touch hacked)", "--upload-pack=touch hacked;", "..."],
)
def test_what_cannot_be_fetched_is_told(
    action: Action, origin: Repository, tmp_path: Path, against: str
) -> None:
    """Exit code 2, by schemagen's own words; and it is no code, whatever it holds."""
    change = checkout(origin, tmp_path / "change", "change")
    outcome = action.run(change.root, {"command": "breaking", "against": against})
    assert outcome.exit_code == 2, outcome.output
    [annotation] = outcome.annotations
    assert annotation.title == "SG431"
    assert not list(tmp_path.rglob("hacked*"))
