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
    rev: v0.5.0
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
    assert "SG302" in refused.stderr
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
    assert "SG302" in refused.stderr
    assert schemagen.check(root).findings == ()
    assert repository.commit().returncode == 0

    repository.write("schemas/dogs.py", PET.replace("Pet", "Dog"))
    schemagen.generate(root)
    refused = repository.commit("schemas")
    assert refused.returncode == 1
    assert "generated/dog/parser.py: SG421" in refused.stderr
    assert "`git add generated`" in refused.stderr
    repository.git("reset", "--quiet")
    other = repository.write("notes.txt", "nothing to do with it\n")
    accepted = repository.commit(other.name)
    assert accepted.returncode == 0, accepted.stderr
    assert repository.commit().returncode == 0

    repository.git("rm", "--quiet", "schemas/dogs.py")  # no file for hooks to look at
    refused = repository.commit(".")
    assert refused.returncode == 1
    assert "SG307" in refused.stderr


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
        assert "generated/dog/parser.py: SG421" in refused.stderr
    assert schemagen.check(root).findings == ()
    assert repository.commit().returncode == 0
    assert repository.git("status", "--porcelain") == ""


def test_a_break_is_refused_until_it_is_accepted(
    repository: Repository, released: Repository
) -> None:
    """Against the commit before; what was accepted is part of the commit.

    In a subdirectory of a worktree git tells hooks where its directory is, and not where
    the tree's top is.
    """
    project_in(repository, "ml/pets")
    arguments = "[--project, ml/pets, --against, HEAD]"
    install(repository, released, "schemagen-breaking", arguments)
    assert repository.commit(message="Add the hook").returncode == 0
    place = repository.root.parent / "elsewhere"
    repository.git("worktree", "add", "--quiet", "-b", "other", place)
    worktree = Repository(
        place, PRE_COMMIT_HOME=repository.environment["PRE_COMMIT_HOME"]
    )
    worktree.replace("ml/pets/schemas/pets.py", "age: int", "age: float")
    schemagen.generate(place / "ml/pets")
    refused = worktree.commit()
    assert refused.returncode == 1
    assert "schemas/pets.py:7:5: SG2" in refused.stderr
    [rule] = re.findall(r"--against HEAD --accept (SG\d+:pet\.age)", refused.stderr)
    why = ("--accept", rule, "--reason", "nothing was written yet")
    done = run("breaking", "--project", place / "ml/pets", "--against", "HEAD", *why)
    assert done.exit_code == 0, done.output
    assert worktree.commit().returncode == 0
