"""Scratch git repositories: real git, and none of the machine's settings."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import schemagen
from command_line import make_project

CHECKOUT = Path(__file__).parents[2]

PET = """\
from schemagen import Record


class Pet(Record):
    \"\"\"A pet.\"\"\"

    age: int
    name: str | None = None
    weight: float
"""

Result = subprocess.CompletedProcess[str]


def environment(**more: str) -> dict[str, str]:
    """Return the machine's environment without what it says of git and Python."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GIT_", "GITHUB_", "PYTHON", "PRE_COMMIT"))
    }
    return {
        **kept,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        **{f"GIT_{who}_NAME": "Ada" for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_EMAIL": "ada@example.org" for who in ("AUTHOR", "COMMITTER")},
        **more,
    }


class Repository:
    """A git repository in a directory that a test may do anything with.

    Attributes:
        root: its working tree.
        environment: what its commands see.
    """

    def __init__(self, root: Path, **more: str) -> None:
        self.root = root
        self.environment = environment(**more)
        root.mkdir(parents=True, exist_ok=True)
        if not (root / ".git").exists():
            self.git("init", "--quiet", "--initial-branch=main")

    def run(self, *command: str | Path, cwd: Path | None = None) -> Result:
        """Run a command in the working tree, whatever comes of it."""
        return subprocess.run(
            [str(part) for part in command],
            cwd=cwd or self.root,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def git(self, *arguments: str | Path) -> str:
        """Run git, which has to succeed, and return what it printed."""
        done = self.run("git", *arguments)
        assert done.returncode == 0, f"{arguments}\n{done.stdout}{done.stderr}"
        return done.stdout

    def commit(self, *paths: str, message: str = "a commit") -> Result:
        """Add paths, by default everything, and try to commit."""
        self.git("add", *(paths or ("--all",)))
        return self.run("git", "commit", "--quiet", "--message", message)

    def write(self, path: str, text: str) -> Path:
        """Write a file of the working tree."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        return place

    def replace(self, path: str, old: str, new: str) -> None:
        """Change a file of the working tree."""
        text = (self.root / path).read_text(encoding="utf-8")
        assert old in text
        self.write(path, text.replace(old, new))


def project_in(repository: Repository, directory: str = ".") -> Path:
    """Make a directory of a repository a project with the record Pet, all committed."""
    root = make_project(repository.root / directory, {"pets.py": PET})
    schemagen.generate(root)
    assert repository.commit(message="Start").returncode == 0
    return root


def release(directory: Path) -> Repository:
    """Make what a release of schemagen is to others: a repository with a tag.

    It holds the files of this checkout as they are now, committed or not.
    """
    repository = Repository(directory)
    ignored = shutil.ignore_patterns("__pycache__", "*.so")
    for folder in ("schemagen", "templates"):
        shutil.copytree(CHECKOUT / folder, directory / folder, ignore=ignored)
    for name in (
        "pyproject.toml",
        "README.md",
        "CHANGELOG.md",
        "hatch_build.py",
        ".pre-commit-hooks.yaml",
        "action.yml",
    ):
        shutil.copy(CHECKOUT / name, directory / name)
    assert repository.commit(message="Release").returncode == 0
    repository.git("tag", "v0.5.0")
    return repository
