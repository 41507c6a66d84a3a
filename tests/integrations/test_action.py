"""The GitHub Action: its scripts are executed as GitHub would, in scratch repositories."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import schemagen
import yaml
from composite import Action
from scratch import CHECKOUT, Repository, project_in
from tfrecord_files import frame

pytestmark = pytest.mark.integration

# A tf.train.Example whose feature "a" is [0].
RECORD = b"\x0a\x0c\x0a\x0a\x0a\x01a\x12\x05\x1a\x03\x0a\x01\x00"

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


def test_a_stale_project_is_annotated_until_it_is_generated(
    action: Action, repository: Repository
) -> None:
    """Exit code 1, and an error at file and line; no tensorflow is installed for it.

    `generate` fixes what `check` found; options are passed on one by one.
    """
    outcome = action.run(repository.root, {})
    assert (outcome.exit_code, outcome.annotations) == (0, []), outcome.output
    [packages] = action.temporary.glob("schemagen/lib/*/site-packages")
    assert (packages / "schemagen").is_dir()
    assert not list(packages.glob("tensorflow*"))
    repository.replace("schemas/pets.py", "age: int", "age: float")
    outcome = action.run(repository.root, {"args": "--diff  --tracked\n"})
    assert outcome.exit_code == 1
    assert "+++ b/generated/pet/parser.py" in outcome.output
    [found] = outcome.annotations
    assert (found.level, found.title) == ("error", "SG302")
    assert found.file == "generated/pet/spec.json"
    lines = (repository.root / found.file).read_text().splitlines()
    assert "int64" in lines[found.line - 1]
    assert action.run(repository.root, {"command": "generate"}).exit_code == 0
    assert action.run(repository.root, {}).exit_code == 0


def test_data_that_leaks_is_annotated(action: Action, tmp_path: Path) -> None:
    """Exit code 1, also without a project."""
    data = tmp_path / "data"
    data.mkdir()
    for split in ("train", "test"):
        (data / f"{split}.tfrecord").write_bytes(frame(RECORD))
    given = {"command": "inspect", "args": "data --fail-on leakage,drift"}
    outcome = action.run(tmp_path, given)
    assert outcome.exit_code == 1, outcome.output
    [found] = outcome.annotations
    assert (found.level, found.title) == ("error", "SG541")
    assert found.file.startswith("data/")
    (data / "test.tfrecord").unlink()
    assert action.run(tmp_path, given).exit_code == 0


def test_data_is_verified_and_compared_by_quoted_paths(
    action: Action, tmp_path: Path
) -> None:
    """An argument with spaces and quotes reaches the command as one; damage is annotated."""
    directories = [tmp_path / name for name in ("last month", "this 'new' month")]
    for directory in directories:
        directory.mkdir()
        (directory / "train.tfrecord").write_bytes(frame(RECORD) * 2)
    arguments = "'last month'\n\"this 'new' month\" --split=train"
    compare = {"command": "diff", "args": arguments}
    verify = {"command": "verify", "args": "this\\ \\'new\\'\\ month"}
    for given in (compare, verify):
        outcome = action.run(tmp_path, given)
        assert (outcome.exit_code, outcome.annotations) == (0, []), outcome.output
    (directories[1] / "train.tfrecord").write_bytes(frame(RECORD[:-1] + b"\x01")[:-1])
    outcome = action.run(tmp_path, verify)
    assert outcome.exit_code == 1
    [found] = outcome.annotations
    assert found.file == "this 'new' month/train.tfrecord"
    outcome = action.run(tmp_path, compare)
    assert outcome.exit_code == 1
    assert "nothing after it can be read" in outcome.output.replace("\n", " ")


def test_a_quote_that_is_not_closed_is_refused(action: Action, tmp_path: Path) -> None:
    """Exit code 2 before anything runs."""
    outcome = action.run(tmp_path, {"command": "verify", "args": "'my data"})
    assert outcome.exit_code == 2
    [found] = outcome.annotations
    assert (
        found.message == "args has a quote that is not closed, or ends with a backslash"
    )


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
        ("packages", "x>=1;y $(touch hacked)"),
    ):
        outcome = action.run(repository.root, {name: text})
        assert outcome.exit_code == 2, outcome.output
        assert not (repository.root / "hacked").exists()
        assert {a.level for a in outcome.annotations} <= {"error"}


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


@pytest.mark.parametrize(
    "against",
    [
        "no-such-branch",
        "main...",
        "$(touch hacked)",
        "--upload-pack=touch hacked;",
        "...",
    ],
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
