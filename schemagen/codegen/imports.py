"""Import statements of generated modules."""

from __future__ import annotations

from .layout import WIDTH
from .literals import Code


def import_line(module: str, names: list[str]) -> str:
    """Write an import of names, one a line if they do not fit."""
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= WIDTH:
        return line
    listed = "".join(f"    {name},\n" for name in names)
    return f"from {module} import (\n{listed})"


def imports(*groups: list[str]) -> Code:
    """Write groups of imports, with an empty line between them."""
    return Code("\n\n".join("\n".join(group) for group in groups if group))
