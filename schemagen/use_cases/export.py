"""Exporting a record of a project for other tools."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..config import find_project
from ..interop.exports.writing import Exported, export_spec
from .generate import load_specs, spec_of


def export(
    record: str,
    to: str,
    out: Path | str,
    directory: Path | str = ".",
    *,
    data: Path | str | None = None,
    given: Mapping[str, str] | None = None,
    force: bool = False,
) -> Exported:
    """Describe a record of a project for another tool.

    Args:
        record: its name, or its class's.
        to: one of `TARGETS` in `interop/exports/`.
        out: the file to write, or the directory, which may be `data` itself.
        directory: in the project.
        data: the record's data directory.
        given: properties that only a person knows.
        force: overwrite files that are there.

    Raises:
        SchemagenError: with all that stands against it; nothing is written then.
    """
    project = find_project(Path(directory))
    spec = spec_of(record, load_specs(project), project)
    return export_spec(spec, to, out, data=data, given=given, force=force)
