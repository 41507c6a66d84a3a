"""What schemagen knows of git: revisions, tracked files, and the lines of .gitattributes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from .findings import COMMAND_LINE, Finding, Location, refused
from .runtime.shared.errors import Problem

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


def tracked_files(root: Path, paths: Iterable[str]) -> frozenset[str]:
    """Return which files are in git's index: those that a commit would hold.

    Args:
        root: the project's directory, without symbolic links.
        paths: files and directories to look at, relative to it.

    Returns:
        Files, relative to the root, with forward slashes.

    Raises:
        SchemagenError: the directory is in no repository, or there is no git.
    """
    # Within a hook git names its index and directory by paths that count from where
    # the hook runs.
    here = Path.cwd()
    in_hook = "GIT_DIR" in os.environ or "GIT_INDEX_FILE" in os.environ
    start = here if in_hook and root.is_relative_to(here) else root
    looked_at = [str(root / path) for path in paths]
    command = ["--literal-pathspecs", "ls-files", "-z", "--", *looked_at]
    try:
        listed = run_git(start, *command, environment=os.environ)
    except Problem as problem:
        raise refused(
            ".",
            "git cannot list the files that it tracks",
            rule="SG422",
            found=problem.found,
            expected="a project in a git repository",
            advice="leave out --tracked where there is no git",
        ) from None
    names = listed.decode(errors="surrogateescape").split("\0")
    found = (start / name for name in names if name)
    return frozenset(
        path.relative_to(root).as_posix() for path in found if path.is_relative_to(root)
    )


def half_tracked(
    sources: Mapping[str, str], tracked: Collection[str], output: str
) -> tuple[Finding, ...]:
    """Tell where git tracks a generated file or its source, and not the other one.

    A commit of the tracked half would be stale or orphaned in every other clone,
    however well the two agree on this disk. Where neither is tracked there is nothing
    to say: they are no part of the commit.

    Args:
        sources: of each generated file what it is generated from, both relative to
            the project.
        tracked: the files that git tracks.
        output: the directory of generated code, relative to the project.
    """
    any_source = any(source in tracked for source in sources.values())
    found: dict[str, Finding] = {}
    for path, source in sources.items():
        shared = source.startswith("schemagen/")  # it comes with the package
        has_source = any_source if shared else source in tracked
        if has_source and path not in tracked:
            other = "the code that imports it" if shared else source
            found[path] = Finding(
                Location(path),
                "SG421",
                f"{path} is not tracked by git, and {other} is",
                advice=f"run `git add {output}`; if git ignores it, let .gitignore not",
            )
        elif path in tracked and not has_source and not shared:
            found[source] = Finding(
                Location(source),
                "SG421",
                f"{source} is not tracked by git, and {path} is",
                advice=f"run `git add {source}`",
            )
    return tuple(found.values())


def in_repository(findings: Iterable[Finding], root: Path) -> list[Finding]:
    """Return findings with paths from the top of the repository, not the project.

    GitHub looks for the files of annotations there.

    Args:
        findings: with paths relative to the project.
        root: the project's directory, without symbolic links.
    """
    tops = (root, *root.parents)
    # What marks one is a file in worktrees and submodules.
    top = next((each for each in tops if (each / ".git").exists()), root)
    below = root.relative_to(top)
    return [
        finding
        if finding.location == COMMAND_LINE
        else replace(
            finding,
            location=replace(
                finding.location, path=(below / finding.location.path).as_posix()
            ),
            files=tuple((below / path).as_posix() for path in finding.files),
        )
        for finding in findings
    ]


ATTRIBUTES = ".gitattributes"

ACCEPTED_BREAKS = "accepted_breaks.jsonl"
"""The file of the output directory that `breaking --accept` writes."""

# Two branches that change one schema both change all that follows from it. A merge by
# lines would leave markers in it, or join halves that were never generated together.
# Without a merge git keeps the file of the branch that one is on, says that there is a
# conflict, and `schemagen generate` makes the file that the merged schema asks for.
_GENERATED = {
    "text": "text",
    "eol": "eol=lf",
    "linguist-generated": "linguist-generated",
    "merge": "-merge",
}

# A line for each acceptance, of which a merge keeps those of both sides.
_ACCEPTED = {
    "linguist-generated": "-linguist-generated",
    "merge": "merge=union",
}

_COMMENT = (
    "# Generated by schemagen: folded in reviews; after a conflict generate again."
)


def with_attributes(text: str, output: str) -> str:
    """Return a `.gitattributes` that says what git is to do with generated files.

    What the text already says about these files stays and is not said again, whatever it
    is; if it says everything, the text is returned as it is.

    Args:
        text: the file's text; empty without a file. Its line ends are kept.
        output: the directory of generated code, relative to the file.
    """
    wanted = {
        f"{output}/**": _GENERATED,
        f"{output}/{ACCEPTED_BREAKS}": _ACCEPTED,
    }
    lines = []
    for pattern, attributes in wanted.items():
        said = _attributes_of(text, pattern)
        missing = [said_so for name, said_so in attributes.items() if name not in said]
        if missing:
            lines.append(" ".join([pattern, *missing]))
    if not lines:
        return text
    end = "\r\n" if "\r\n" in text else "\n"
    before = text if not text or text.endswith("\n") else text + end
    return before + "".join(line + end for line in (_COMMENT, *lines))


def _attributes_of(text: str, pattern: str) -> set[str]:
    """Return the names of the attributes that lines with a pattern set, or unset."""
    found: set[str] = set()
    for line in text.splitlines():
        first, *attributes = line.split() or [""]
        if first.removeprefix("/") == pattern:
            found |= {name.lstrip("-!").split("=")[0] for name in attributes}
    return found | ({"text", "merge"} if "binary" in found else set())
