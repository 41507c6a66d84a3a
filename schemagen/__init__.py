"""Declare a training record once; everything that reads or writes it is generated."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .schema import Image, Label, Record, Scalar, Text, VarLen, Vector

if TYPE_CHECKING:
    from .codegen.plan import Plan

__all__ = [
    "Image",
    "Label",
    "Record",
    "Scalar",
    "Text",
    "VarLen",
    "Vector",
    "check",
    "generate",
]


def generate(
    directory: Path | str = ".", *, dry_run: bool = False, force: bool = False
) -> Plan:
    """Bring a project's generated code up to date; see `schemagen.project.generate`."""
    from . import project  # schema files import this package and need no generator

    return project.generate(directory, dry_run=dry_run, force=force)


def check(directory: Path | str = ".") -> Plan:
    """Compare generated code with its schemas; see `schemagen.project.check`."""
    from . import project

    return project.check(directory)
