"""`docs/ci.md` is run: each block does what the page says of it."""

from __future__ import annotations

import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import schemagen
import yaml
from command_line import run
from composite import Action
from scratch import CHECKOUT, PET, Repository, environment, project_in
from tfrecord_files import frame

TEXT = (CHECKOUT / "docs/ci.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", TEXT, re.S)
ADDRESS = "https://github.com/YOUR-ORG/schemagen"


def block(language: str, holding: str = "") -> str:
    """Return the one block of a language that holds some text."""
    [found] = [text for name, text in BLOCKS if name == language and holding in text]
    return found


def table(*, under: str) -> dict[str, list[str]]:
    """Return the rows of a section's table by their first cell, without quotes."""
    section = TEXT.split(f"\n## {under}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([\w-]+)` \|(.*)\|$", section, re.M)
    return {name: [cell.strip(" `") for cell in rest.split("|")] for name, rest in rows}


@pytest.fixture
def repository(tmp_path: Path, shared: Path) -> Repository:
    """A repository with a clean project, where `schemagen` is a command."""
    command = tmp_path / "bin/schemagen"
    command.parent.mkdir()
    command.write_text(
        f'#!/bin/sh\nPYTHONPATH="{CHECKOUT}" exec "{sys.executable}" -m schemagen "$@"\n'
    )
    command.chmod(0o755)
    found = Repository(tmp_path / "repo", PRE_COMMIT_HOME=str(shared / "pre-commit"))
    found.environment["PATH"] = f"{command.parent}:{found.environment['PATH']}"
    project_in(found)
    return found


def test_every_block_is_tested() -> None:
    """A block that is added to the page is missed here."""
    assert [name for name, _ in BLOCKS] == [
        *("sh", "sh", "text", "yaml", "yaml", "yaml", "toml", "yaml"),
        *("python", "python", "gitattributes", "sh"),
    ]


@pytest.mark.integration
def test_the_commands_work(repository: Repository) -> None:
    """Exit code 0 where all is fresh, and 1 with the message of the page."""
    lines = block("sh", "check").splitlines()
    assert len(lines) == 4
    for line in lines:
        assert repository.run("bash", "-c", line).returncode == 0, line
    repository.replace("schemas/pets.py", "age: int", "age: float")
    for line in lines:
        assert repository.run("bash", "-c", line).returncode == 1, line
    printed = repository.run("schemagen", "check").stderr
    assert re.sub(r":\d+:1: SG302", ":15:1: SG302", block("text")) in re.sub(
        r":\d+:1: SG302", ":15:1: SG302", printed
    )


@pytest.mark.integration
def test_the_repository_installs(tmp_path: Path, released: Repository) -> None:
    """By the line of the page, into a new environment: with the core and the templates."""
    line, of_clone = block("sh", "pip install").splitlines()
    assert of_clone == 'pip install "PATH/TO/CLONE"'
    # An address of a file needs a host, or pip of Python 3.11 takes it for a path.
    address = f"file://localhost{released.root}"
    _, _, requirement = shlex.split(line.replace(ADDRESS, address))
    assert requirement.endswith("@v0.5.0")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    inside = tmp_path / "venv/bin"
    install = [inside / "python", "-m", "pip", "install", "--quiet", requirement]
    subprocess.run(install, env=environment(), check=True)
    for words in (["init"], ["generate"], ["check"]):
        done = subprocess.run(
            [inside / "schemagen", *words], cwd=tmp_path, env=environment(), check=False
        )
        assert done.returncode == 0, words


@pytest.mark.integration
def test_the_hook_works(repository: Repository, released: Repository) -> None:
    """With this checkout for the repository that the page names."""
    text = block("yaml", "repos:")
    assert ADDRESS in text
    repository.write(
        ".pre-commit-config.yaml", text.replace(ADDRESS, str(released.root))
    )
    done = repository.run(sys.executable, "-m", "pre_commit", "install")
    assert done.returncode == 0, done.stdout
    assert repository.commit(message="Add the hook").returncode == 0
    repository.replace("schemas/pets.py", "age: int", "age: float")
    assert repository.commit().returncode == 1


def test_every_hook_is_on_the_page() -> None:
    """With what it runs."""
    manifest = (CHECKOUT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    hooks = {
        hook["id"]: " ".join([hook["entry"], *hook.get("args", ())])
        for hook in yaml.safe_load(manifest)
    }
    shown = {name: cells[0] for name, cells in table(under="pre-commit").items()}
    assert shown == hooks


SCHEMAS, DATA = "name: schemas", "name: data"
"""What the workflows of the page begin with."""


@pytest.mark.parametrize("name", [SCHEMAS, DATA])
def test_the_workflow_is_valid(tmp_path: Path, name: str) -> None:
    """By the schema that GitHub's workflows have in SchemaStore; steps as one of a job."""
    workflow = yaml.load(block("yaml", name), yaml.BaseLoader)
    for job in workflow["jobs"].values():
        job["steps"] += yaml.safe_load(block("yaml", "command: inspect"))
    path = tmp_path / "schemas.yml"
    path.write_text(yaml.safe_dump(workflow))
    command = [sys.executable, "-m", "check_jsonschema"]
    subprocess.run(
        [*command, "--builtin-schema", "vendor.github-workflows", path], check=True
    )


RECORD = b"\n\x0c\n\n\n\x01a\x12\x05\x1a\x03\n\x01\x01"
"""A tf.train.Example with one number."""


def test_a_copied_shard_fails_the_job_of_splits(tmp_path: Path) -> None:
    """With an annotation; the thresholds of the page are settings."""
    data = tmp_path / "data"
    data.mkdir()
    for split, number in (("train", 0), ("train", 1), ("test", 2)):
        some = b"".join(
            frame(RECORD[:-1] + bytes([10 * number + at])) for at in range(9)
        )
        (data / f"{split}-{number:05}").write_bytes(some)
    [step] = yaml.safe_load(block("yaml", "command: inspect"))
    options = shlex.split(step["with"]["args"].replace("/mnt/data", str(data)))
    arguments = (step["with"]["command"], *options, "--format", "github")
    assert run(*arguments).exit_code == 0
    (data / "test-00002").write_bytes((data / "train-00001").read_bytes())
    settings = tmp_path / "pyproject.toml"
    settings.write_text("[tool.schemagen]\n" + block("toml"))
    result = run(*arguments, "--project", tmp_path)
    assert result.exit_code == 1
    assert "::error file=" in result.stdout
    settings.write_text("[tool.schemagen]\n" + block("toml").replace("0.01", "1.0"))
    assert run(*arguments, "--project", tmp_path).exit_code == 0


@pytest.mark.integration
def test_each_job_checks_its_shards(action: Action, tmp_path: Path) -> None:
    """The one that has a damaged shard fails, with an annotation."""
    data = tmp_path / "data"
    data.mkdir()
    shards = [data / f"train-{number:05}-of-00010" for number in range(10)]
    for shard in shards:
        shard.write_bytes(frame(RECORD) * 2)
    job = yaml.safe_load(block("yaml", DATA))["jobs"]["verify"]
    [verify] = job["steps"]
    assert verify["with"] == {"command": "verify", "args": "${{ matrix.data }}"}

    def codes() -> list[int]:
        results = []
        for some in job["strategy"]["matrix"]["data"]:
            given = {"command": "verify", "args": some.replace("/mnt/data", str(data))}
            outcome = action.run(tmp_path, given)
            assert (outcome.exit_code == 1) == bool(outcome.annotations)
            results.append(outcome.exit_code)
        return results

    assert codes() == [0, 0, 0]
    shards[4].write_bytes(frame(RECORD) + b"damaged")
    assert codes() == [1, 0, 0]
    shards[4].unlink()
    assert codes()[-1] == 1


@pytest.mark.integration
def test_the_workflow_works(action: Action, repository: Repository) -> None:
    """Its steps, with this checkout for the action that the page names."""
    workflow = yaml.safe_load(block("yaml", SCHEMAS))
    checkout, *steps = workflow["jobs"]["check"]["steps"]
    assert checkout["uses"].startswith("actions/checkout@")
    before = {"event.before": repository.git("rev-parse", "HEAD").strip()}
    for step in steps:
        assert step["uses"] == f"{ADDRESS.removeprefix('https://github.com/')}@v0.5.0"
        outcome = action.run(repository.root, step.get("with", {}), before)
        assert outcome.exit_code == 0, outcome.output
    repository.replace("schemas/pets.py", "age: int", "age: float")
    files = []
    for step in steps:
        outcome = action.run(repository.root, step.get("with", {}), before)
        assert outcome.exit_code == 1
        files.append({annotation.file for annotation in outcome.annotations})
    assert files[0] == {"generated/pet/spec.json"}
    assert files[1] == {"schemas/pets.py"}


def test_every_input_is_on_the_page() -> None:
    """With its default."""
    metadata = (CHECKOUT / "action.yml").read_text(encoding="utf-8")
    inputs = yaml.safe_load(metadata)["inputs"]
    shown = {name: cells[0] for name, cells in table(under="A GitHub Action").items()}
    assert shown == {name: entry["default"] for name, entry in inputs.items()}


def test_the_test_works(repository: Repository) -> None:
    """It passes where all is fresh and fails where something is not."""
    path = repository.write("tests/test_schemas.py", block("python", "assert_fresh"))
    test = runpy.run_path(str(path))["test_generated_code_is_fresh"]
    test()
    repository.replace("schemas/pets.py", "age: int", "age: float")
    with pytest.raises(AssertionError, match="SG302"):
        test()


def test_an_owner_in_two_splits_fails_the_test(repository: Repository) -> None:
    """By the command of the page, in the directory of the project."""
    repository.environment["PYTHONPATH"] = str(CHECKOUT)
    repository.replace("schemas/pets.py", "age: int", "age: int\n    owner: str")
    schemagen.generate(repository.root)
    repository.write("tests/test_data.py", block("python", "no_owner"))
    for owner, code in (("Bob", 0), ("Ann", 1)):
        repository.write(
            "write.py",
            "from generated.pet.serializer import write_dataset\n"
            f"for split, owner in (('train', 'Ann'), ('test', '{owner}')):\n"
            "    row = {'age': 1, 'owner': owner, 'weight': 2.5}\n"
            "    write_dataset([row], 'data', split, overwrite=True)\n",
        )
        assert repository.run(sys.executable, "write.py").returncode == 0
        assert repository.run(sys.executable, "-m", "pytest").returncode == code


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("way", ["merge", "rebase"])
def test_a_conflict_is_solved_as_the_page_says(
    repository: Repository, way: str
) -> None:
    """By the block's lines, or with the last line that the page gives for a rebase."""
    repository.write(".gitattributes", block("gitattributes"))
    assert repository.commit().returncode == 0
    for branch, old, new in (
        ("other", "age: int", "age: float"),
        ("main", "weight: float", "weight: int"),
    ):
        if branch != "main":
            repository.git("branch", branch)
        repository.git("switch", "--quiet", branch)
        repository.replace("schemas/pets.py", old, new)
        schemagen.generate(repository.root)
        assert repository.commit(message=branch).returncode == 0
    repository.environment["GIT_EDITOR"] = "true"
    assert repository.run("git", way, "other").returncode == 1
    assert schemagen.check(repository.root).findings
    lines = block("sh", "git add").strip().splitlines()
    if way == "rebase":
        [lines[-1]] = re.findall(r"In a rebase the last line is `(.+?)`", TEXT)
    done = repository.run("bash", "-e", "-c", "\n".join(lines))
    assert done.returncode == 0, done.stdout + done.stderr
    assert schemagen.check(repository.root).findings == ()
    assert repository.git("status", "--porcelain") == ""
    expected = PET.replace("age: int", "age: float").replace(
        "weight: float", "weight: int"
    )
    assert (repository.root / "schemas/pets.py").read_text() == expected
