"""What git tracks, and where the top of its repository is."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from ..findings import COMMAND_LINE, Finding, Location, refuse


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
    command = ["git", "--literal-pathspecs", "ls-files", "-z", "--", *looked_at]
    try:
        done = subprocess.run(command, cwd=start, capture_output=True, check=False)
    except OSError as error:
        raise _cannot_ask(f"git cannot be run: {error.strerror or error}") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().split("\n")[0]
        raise _cannot_ask(said.removeprefix("fatal: "))
    names = done.stdout.decode(errors="surrogateescape").split("\0")
    found = (start / name for name in names if name)
    return frozenset(
        path.relative_to(root).as_posix() for path in found if path.is_relative_to(root)
    )


def _cannot_ask(found: str) -> Exception:
    return refuse(
        Finding(
            Location("."),
            "SG422",
            "git does not say which files it tracks",
            found=found,
            expected="a project in a git repository",
            advice="leave out --tracked where there is no git",
        )
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

    GitHub looks for the files of annotations there. Without a repository the
    workspace of the running job takes its place, and without one the project.

    Args:
        findings: with paths relative to the project.
        root: the project's directory, without symbolic links.
    """
    below = root.relative_to(_top(root))
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


def _top(root: Path) -> Path:
    for directory in (root, *root.parents):
        if (directory / ".git").exists():  # a file in worktrees and submodules
            return directory
    workspace = os.environ.get("GITHUB_WORKSPACE")
    top = Path(workspace).resolve() if workspace else root
    return top if root.is_relative_to(top) else root
