"""What git tracks, and where the top of its repository is."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from ..findings import COMMAND_LINE, Finding, Location, refused
from ..runtime.shared.errors import Problem
from .revisions import run_git


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
