"""A plan in a few lines, and how to import what it writes."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..codegen.plan import Action, GenerationPlan, PlannedFile, shown_path
from ..config import Project
from ..data.formatting import listed, plural

if TYPE_CHECKING:
    from ..spec.model import RecordSpec

_PACKAGE_FILE = "__init__.py"
_MOST_SHOWN = 20
_MOST_FIELDS = 8


def _import_place(project: Project) -> tuple[str, Path]:
    """Return the package of a project's generated code, and where Python has to look.

    The name begins with the outermost package that the output directory is in: the
    directories above it with an `__init__.py`. If the one above it has none, the name
    begins in the project, or in its `src`.
    """
    parts = project.settings.output.split("/")
    last = start = len(parts) - 1
    while start and project.root.joinpath(*parts[:start], _PACKAGE_FILE).exists():
        start -= 1
    if start == last:
        start = 1 if parts[0] == "src" and last else 0
    return ".".join(parts[start:]), project.root.joinpath(*parts[:start])


def changes_text(found: GenerationPlan, *, dry_run: bool = False) -> str:
    """Return a line for each package with changes, and one of what is up to date."""
    if not found.changes:
        return f"{plural(len(found.files), 'file')} up to date"
    groups: dict[str, list[PlannedFile]] = {}
    for file in found.files:
        # A file of the output directory itself has a line of its own.
        groups.setdefault(file.path.partition("/")[0], []).append(file)
    lines = [
        line
        for name, files in groups.items()
        if (line := _line(name, files, found.output, dry_run=dry_run))
    ]
    # The file of the package of all records comes with its first record.
    own = shown_path(found.output, _PACKAGE_FILE)
    lines = [line for line in lines if not line.endswith(f" {own}")] or lines
    more = len(lines) - _MOST_SHOWN
    if more > 0:
        lines[_MOST_SHOWN:] = [f"and {plural(more, 'more package')}"]
    unchanged = len(found.files) - len(found.changes)
    if unchanged:
        lines.append(f"{plural(unchanged, 'file')} up to date")
    return "\n".join(lines)


def _line(
    name: str, files: Sequence[PlannedFile], output: str, *, dry_run: bool
) -> str:
    """Return what happens to the files of a directory; "" for nothing."""
    changed = [file for file in files if file.action is not Action.KEEP]
    if not changed:
        return ""
    actions = {file.action for file in files}
    action = actions.pop() if len(actions) == 1 else Action.UPDATE
    if len(changed) == 1:
        action, place, count = changed[0].action, changed[0].path, ""
    else:
        some = len(changed) < len(files)
        of = f"{len(changed)} of " if some else ""
        place, count = name, f" ({of}{plural(len(files), 'file')})"
    verb = f"would {action.value}" if dry_run else f"{action.value}d"
    return f"{verb} {shown_path(output, place)}{count}"


def roles_text(found: GenerationPlan) -> str:
    """Return the fields of each role of new records, a line each; "" for none."""
    lines = [f"{spec.record}: {_roles(spec)}" for spec in found.new[:_MOST_SHOWN]]
    more = len(found.new) - len(lines)
    return "\n".join(
        [*lines, *([f"and {plural(more, 'more record')}"] if more else [])]
    )


def _roles(spec: RecordSpec) -> str:
    """Return the fields of each role: "inputs sqft and rooms; target price"."""
    shown = []
    for role in ("input", "target", "weight", "info"):
        names = [field.label for field in spec.with_role(role)]
        noun = role if role == "info" or len(names) == 1 else f"{role}s"
        if names:
            shown.append(f"{noun} {listed(names, _MOST_FIELDS)}")
        elif role == "target":
            shown.append("no target")
    return "; ".join(shown)


def usage_text(found: GenerationPlan, project: Project) -> str:
    """Return how to import what was written for the first time; "" for later times."""
    specs = [file.path for file in found.changes if file.path.endswith("/spec.json")]
    records = sorted(map(posixpath.dirname, specs))
    if not (found.is_first and records):
        return ""
    output, directory = _import_place(project)
    package = f"{output}.{records[0]}"
    others = len(records) - 1
    likewise = f" (and likewise {plural(others, 'other record')})" if others else ""
    lines = [
        f"Write and read data with{likewise}:",
        f"    from {package}.serializer import Writer, write_dataset",
        f"    from {package}.pipeline import make_dataset  # TensorFlow",
        f"    from {package}.reader import open_split  # PyTorch, JAX, numpy",
        f"Run programs that import {output} in {directory}, or set PYTHONPATH to it.",
    ]
    return "\n".join(lines)
