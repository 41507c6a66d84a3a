"""Files of a git revision, read without checking it out."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ..runtime.shared.errors import Problem

_MERGE_BASE = "..."

# What git tells hooks. In a hook of a worktree it would take the directory that it runs in
# for the top of the tree, and find nothing there.
_OF_HOOKS = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"})


@dataclass(frozen=True)
class Revision:
    """One commit, seen from a directory in its repository.

    Attributes:
        directory: the directory.
        name: what the user called it.
        commit: its full hash.
        prefix: the directory's path in the repository, ending with "/", or "".
    """

    directory: Path
    name: str
    commit: str
    prefix: str

    def __str__(self) -> str:
        return f"{self.name} ({self.commit[:10]})"

    def paths(self, folder: str) -> tuple[str, ...]:
        """Return the files below a folder, both relative to the directory."""
        listed = run_git(
            self.directory,
            "ls-tree",
            "-r",
            "-z",
            "--name-only",
            "--full-tree",
            self.commit,
            "--",
            f"{self.prefix}{folder}",
        )
        found = [path for path in listed.decode(errors="replace").split("\0") if path]
        return tuple(path.removeprefix(self.prefix) for path in found)

    def read(self, paths: Sequence[str]) -> Mapping[str, bytes]:
        """Return the contents of those of some files that the revision has."""
        asked = "".join(f"{self.commit}:{self.prefix}{path}\n" for path in paths)
        answer = run_git(self.directory, "cat-file", "--batch", given=asked.encode())
        found: dict[str, bytes] = {}
        at = 0
        for path in paths:
            end = answer.index(b"\n", at)
            words = answer[at:end].split()
            at = end + 1
            if words[-1] not in (b"missing", b"ambiguous"):
                size = int(words[-1])
                found[path] = answer[at : at + size]
                at += size + 1
        return found


def find_revision(directory: Path, name: str) -> Revision | None:
    """Look up a revision: a branch, a tag, a hash, or whatever git calls one.

    Args:
        directory: in the repository.
        name: the revision. "main..." is where main and HEAD have parted.

    Returns:
        None for HEAD where there is no commit yet.

    Raises:
        Problem: no repository, or no such revision.
    """
    try:
        prefix = run_git(directory, "rev-parse", "--show-prefix").decode().strip("\n")
    except Problem as problem:
        raise Problem(
            problem.found,
            "a directory in a git repository, or a path that exists",
            "give a spec.json or a data directory that exists; revisions need git",
        ) from None
    wanted = name
    try:
        if name.endswith(_MERGE_BASE):
            wanted = name.removesuffix(_MERGE_BASE)
            found = run_git(directory, "merge-base", "--", wanted, "HEAD")
        else:
            arguments = ("rev-parse", "--verify", "--quiet", "--end-of-options")
            found = run_git(directory, *arguments, f"{name}^{{commit}}")
    except Problem:
        if name == "HEAD":
            return None
        remote, _, branch = wanted.partition("/")
        fetch = f"`git fetch {remote} {branch}`" if branch else "`git fetch`"
        raise Problem(
            repr(name),
            "a path that exists, or a git revision such as HEAD, main or origin/main...",
            f"if it is in another clone, run {fetch}; checkouts in CI usually hold "
            "one commit (fetch-depth: 0 gets all)",
        ) from None
    return Revision(directory, name, found.decode().strip(), prefix)


def spec_paths(paths: Sequence[str], output: str) -> tuple[str, ...]:
    """Return those of some paths that are the spec of a generated package."""
    depth = len(PurePosixPath(output).parts) + 2
    return tuple(
        path
        for path in paths
        if path.endswith("/spec.json") and len(PurePosixPath(path).parts) == depth
    )


def run_git(
    directory: Path,
    *arguments: str,
    given: bytes = b"",
    environment: Mapping[str, str] | None = None,
) -> bytes:
    """Run git and return what it prints.

    Args:
        directory: where.
        arguments: of git.
        given: what it reads from stdin.
        environment: its variables; None for all but those of hooks.

    Raises:
        Problem: it is not installed, or it fails.
    """
    if environment is None:
        environment = {k: v for k, v in os.environ.items() if k not in _OF_HOOKS}
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=directory,
            env=environment,
            input=given,
            capture_output=True,
            check=False,
        )
    except OSError:
        raise Problem("no git on the PATH", "git", "install git") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().split("\n")[0]
        raise Problem(said.removeprefix("fatal: "), "git to succeed")
    return done.stdout
