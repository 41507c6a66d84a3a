"""The pre-commit hooks, in real commits of scratch repositories.

pre-commit installs them from a repository with this checkout's files, as it would from
anywhere: once, into an environment of their own.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import schemagen
from command_line import run
from scratch import CHECKOUT, PET, Repository, project_in

pytestmark = pytest.mark.integration

CONFIG = """\
repos:
  - repo: {repository}
    rev: v0.3.0
    hooks:
      - id: {hook}
        args: {arguments}
"""


@pytest.fixture
def repository(tmp_path: Path, shared: Path, released: Repository) -> Repository:
    """An empty repository; all have the hooks' environment in common."""
    return Repository(tmp_path / "repo", PRE_COMMIT_HOME=str(shared / "pre-commit"))


def install(
    repository: Repository, released: Repository, hook: str, arguments: str = "[]"
) -> None:
    """Have a hook run at every commit from now on."""
    text = CONFIG.format(repository=released.root, hook=hook, arguments=arguments)
    repository.write(".pre-commit-config.yaml", text)
    done = repository.run(sys.executable, "-m", "pre_commit", "install")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_manifest_is_valid() -> None:
    """By pre-commit's own judgement."""
    command = [sys.executable, "-m", "pre_commit", "validate-manifest"]
    subprocess.run([*command, CHECKOUT / ".pre-commit-hooks.yaml"], check=True)


def test_a_stale_commit_is_refused_and_a_fresh_one_accepted(
    repository: Repository, released: Repository, shared: Path
) -> None:
    """A changed schema alone, then with its code; and no tensorflow was installed."""
    root = project_in(repository)
    install(repository, released, "schemagen-check")
    assert repository.commit(message="Add the hook").returncode == 0
    repository.replace("schemas/pets.py", "age: int", "age: float")
    refused = repository.commit(message="Change a schema")
    assert refused.returncode == 1
    assert "SG302 the code in generated/pet (6 files) is out of date" in refused.stderr
    assert "Change a schema" not in repository.git("log", "--format=%s")
    schemagen.generate(root)
    accepted = repository.commit(message="Change a schema")
    assert accepted.returncode == 0, accepted.stderr
    assert "Change a schema" in repository.git("log", "--format=%s")
    assert list((shared / "pre-commit").rglob("site-packages/pydantic"))
    assert not list((shared / "pre-commit").rglob("site-packages/tensorflow"))


def test_what_is_committed_counts_and_not_what_is_on_disk(
    repository: Repository, released: Repository
) -> None:
    """Generated and not staged is stale in the commit; the disk keeps what it had.

    pre-commit puts unstaged changes aside, but not new files, which git does not know:
    there the hook asks git.
    """
    root = project_in(repository)
    install(repository, released, "schemagen-check")
    assert repository.commit(message="Add the hook").returncode == 0
    repository.replace("schemas/pets.py", "age: int", "age: float")
    schemagen.generate(root)
    refused = repository.commit("schemas")
    assert refused.returncode == 1
    assert "SG302 the code in generated/pet (6 files) is out of date" in refused.stderr
    assert schemagen.check(root).findings == ()
    assert repository.commit().returncode == 0

    repository.write("schemas/dogs.py", PET.replace("Pet", "Dog"))
    schemagen.generate(root)
    refused = repository.commit("schemas")
    assert refused.returncode == 1
    assert "SG421 generated/dog/parser.py is not tracked by git" in refused.stderr
    assert "run `git add generated`" in refused.stderr
    repository.git("reset", "--quiet")
    refused = repository.commit("generated")
    assert refused.returncode == 1
    assert "SG421 schemas/dogs.py is not tracked by git" in refused.stderr
    repository.git("reset", "--quiet")
    other = repository.write("notes.txt", "nothing to do with it\n")
    accepted = repository.commit(other.name)
    assert accepted.returncode == 0, accepted.stderr
    assert repository.commit().returncode == 0


def test_a_commit_that_only_deletes_is_checked(
    repository: Repository, released: Repository
) -> None:
    """pre-commit passes over hooks that ask for files, when files go."""
    root = project_in(repository)
    repository.write("schemas/dogs.py", PET.replace("Pet", "Dog"))
    schemagen.generate(root)
    install(repository, released, "schemagen-check")
    assert repository.commit(message="Add a record").returncode == 0
    repository.git("rm", "--quiet", "schemas/dogs.py")
    refused = repository.commit(".")
    assert refused.returncode == 1
    assert (
        "SG307 the code in generated/dog (6 files) belongs to no record"
        in refused.stderr
    )


def test_a_project_in_a_subdirectory_and_a_worktree(
    repository: Repository, released: Repository
) -> None:
    """There git names its index and directory by other paths, and with -a another one."""
    project_in(repository, "ml/pets")
    install(repository, released, "schemagen-check", "[--project, ml/pets]")
    assert repository.commit(message="Add the hook").returncode == 0
    place = repository.root.parent / "elsewhere"
    repository.git("worktree", "add", "--quiet", "-b", "other", place)
    worktree = Repository(
        place, PRE_COMMIT_HOME=repository.environment["PRE_COMMIT_HOME"]
    )
    for tree in (repository, worktree):
        root = tree.root / "ml/pets"
        tree.replace("ml/pets/schemas/pets.py", "age: int", "age: float")
        refused = tree.run("git", "commit", "--all", "--message", "Change a schema")
        assert refused.returncode == 1
        assert (
            "SG302 the code in generated/pet (6 files) is out of date" in refused.stderr
        )
        tree.write("ml/pets/schemas/dogs.py", PET.replace("Pet", "Dog"))
        schemagen.generate(root)
        refused = tree.commit("ml/pets/schemas", "ml/pets/generated/pet")
        assert refused.returncode == 1
        assert "SG421 generated/dog/parser.py is not tracked" in refused.stderr
        assert "generated/pet/" not in refused.stderr
        tree.git("add", "--all")
        accepted = tree.run("git", "commit", "--all", "--message", "Change a schema")
        assert accepted.returncode == 0, accepted.stderr


def test_the_hook_that_generates_leaves_the_commit_to_be_repeated(
    repository: Repository, released: Repository
) -> None:
    """What it writes, changed or new, has to be added before the commit goes through."""
    root = project_in(repository)
    install(repository, released, "schemagen-generate")
    assert repository.commit(message="Add the hook").returncode == 0
    repository.replace("schemas/pets.py", "age: int", "age: float")
    refused = repository.commit()
    assert refused.returncode == 1
    assert "files were modified by this hook" in refused.stderr
    assert schemagen.check(root).findings == ()
    assert repository.commit().returncode == 0

    repository.write("schemas/dogs.py", PET.replace("Pet", "Dog"))
    for _ in range(2):
        refused = repository.commit("schemas")
        assert refused.returncode == 1
        assert "SG421 generated/dog/parser.py is not tracked by git" in refused.stderr
    assert schemagen.check(root).findings == ()
    assert repository.commit().returncode == 0
    assert repository.git("status", "--porcelain") == ""


def test_a_break_is_refused_until_it_is_accepted(
    repository: Repository, released: Repository
) -> None:
    """Against the commit before; what was accepted is part of the commit."""
    root = project_in(repository)
    install(repository, released, "schemagen-breaking", "[--against, HEAD]")
    assert repository.commit(message="Add the hook").returncode == 0
    repository.replace("schemas/pets.py", "age: int", "age: float")
    schemagen.generate(root)
    refused = repository.commit()
    assert refused.returncode == 1
    assert "schemas/pets.py:7:5: SG2" in refused.stderr
    [rule] = re.findall(r"--against HEAD --accept (SG\d+:pet\.age)", refused.stderr)
    head = repository.git("rev-parse", "HEAD").strip()
    why = ("--accept", rule, "--reason", "nothing was written yet")
    done = run("breaking", "--project", root, "--against", head, *why)
    assert done.exit_code == 0, done.output
    assert repository.commit().returncode == 0
    repository.write("notes.txt", "a commit that changes no schema\n")
    assert repository.commit().returncode == 0


def test_breaks_are_found_in_a_subdirectory_of_a_worktree(
    repository: Repository, released: Repository
) -> None:
    """There git tells hooks where its directory is, and not where the tree's top is."""
    project_in(repository, "ml/pets")
    arguments = "[--project, ml/pets, --against, main]"
    install(repository, released, "schemagen-breaking", arguments)
    assert repository.commit(message="Add the hook").returncode == 0
    place = repository.root.parent / "elsewhere"
    repository.git("worktree", "add", "--quiet", "-b", "other", place)
    worktree = Repository(
        place, PRE_COMMIT_HOME=repository.environment["PRE_COMMIT_HOME"]
    )
    worktree.replace("ml/pets/schemas/pets.py", "age: int", "age: float")
    refused = worktree.commit()
    assert refused.returncode == 1
    assert "schemas/pets.py:7:5: SG2" in refused.stderr
