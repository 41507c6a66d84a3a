"""The templates: ours, and those that a project has in their place."""

from __future__ import annotations

import json
from pathlib import Path

from ..codegen.templates import Templates, our_names, templates_directory
from ..config import FILE_NAME, Project, find_project, setting_place
from ..display.blocks import Listing, Table
from ..display.terminal import terminal_text
from ..findings import refused


def templates_of(project: Project) -> Templates:
    """Return a project's templates.

    Raises:
        SchemagenError: their directory does not exist.
    """
    shown = project.settings.templates
    if shown is None:
        return Templates()
    if not (project.root / shown).is_dir():
        text = (project.root / FILE_NAME).read_text(encoding="utf-8")
        raise refused(
            setting_place(text, "templates"),
            f"directory {shown} does not exist",
            rule="SG401",
            expected="the directory of your templates",
            advice="create it, or remove the setting",
        )
    return Templates(project.root / shown, shown)


def listing(directory: Path | str, style: str) -> str:
    """Return our templates and what the project has in their place, as text or JSON.

    Raises:
        SchemagenError: no project, or its settings cannot be used.
    """
    templates, ours = templates_of(find_project(Path(directory))), templates_directory()
    rows = [(name, templates.own(name)) for name in our_names()]
    if style == "json":
        data = {
            "version": 1,
            "directory": str(ours),
            "templates": [{"name": name, "own": own} for name, own in rows],
        }
        return json.dumps(data, indent=2) + "\n"
    table = Table(("template", "replaced by"), rows)
    return terminal_text([table, Listing(f"They are in {ours}")])
