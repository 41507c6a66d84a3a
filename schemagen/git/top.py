"""Where a repository is, and so what its files are called on GitHub."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from ..findings import COMMAND_LINE, Finding


def in_repository(findings: Iterable[Finding], root: Path) -> list[Finding]:
    """Return findings with paths from the top of the repository, not the project.

    GitHub looks for the files of annotations there. Without a repository the
    workspace of the running job stands for it, and without one the project.

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
