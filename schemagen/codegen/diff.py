"""A plan as a unified diff, which `git apply` and `patch` can carry out."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from .plan import Action, Plan, PlannedFile, shown_path

_NO_LINE_END = "\\ No newline at end of file\n"


def unified_diff(found: Plan) -> str:
    """Return what a plan would change, and for an edited file what --force would."""
    parts: list[str] = []
    for file in found.changes:
        if file.action is not Action.REFUSE or file.new is not None:
            parts += _file_diff(file, found.output)
    return "".join(parts)


def _file_diff(file: PlannedFile, output: str) -> Iterator[str]:
    path = shown_path(output, file.path)
    for line in difflib.unified_diff(
        _lines((file.old or b"").decode(errors="replace")),
        _lines(file.new or ""),
        f"a/{path}" if file.old is not None else "/dev/null",
        f"b/{path}" if file.new is not None else "/dev/null",
    ):
        yield line if line.endswith("\n") else f"{line}\n{_NO_LINE_END}"


def _lines(text: str) -> list[str]:
    """Return a text's lines as tools for diffs see them: only LF ends one."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines
