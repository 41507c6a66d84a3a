"""A project's own templates: its settings as values, and the verbs `list` and `eject`."""

from __future__ import annotations

import json
import os
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path

from ..atomic_write import write_whole
from ..codegen.templates.catalogue import (
    Entry,
    changed_originals,
    ejected,
    entries,
    idle_blocks,
    our_names,
    strays,
)
from ..codegen.templates.environment import Templates
from ..config import FILE_NAME, Project, find_project
from ..findings import Finding, Location, SchemagenError, refuse
from ..runtime.shared.errors import did_you_mean
from ..setting_checks import setting_place
from ..spec.describe import aligned

_USUAL = "templates"


def checked_templates(project: Project) -> Templates:
    """Return a project's templates.

    Raises:
        SchemagenError: their directory is not there, or holds one that stands for
            nothing.
    """
    settings = project.settings
    if settings.templates and not (project.root / settings.templates).is_dir():
        text = (project.root / FILE_NAME).read_text(encoding="utf-8")
        raise refuse(
            Finding(
                setting_place(text, "templates"),
                "SG401",
                f"there is no directory {settings.templates}",
                expected="the directory of your templates",
                advice="`schemagen templates eject NAME` makes it; or take the setting "
                "out",
            )
        )
    templates = templates_of(project)
    wrong = [each for each in _strays(project, templates) if each.severity == "error"]
    wrong += idle_blocks(templates)
    if wrong:
        raise SchemagenError(wrong)
    return templates


def _strays(project: Project, templates: Templates) -> tuple[Finding, ...]:
    return strays(templates, [row.template for row in project.settings.outputs])


def warnings_of(project: Project, templates: Templates) -> tuple[Finding, ...]:
    """Return what users should know of their templates, and what fails nothing."""
    found = (*_strays(project, templates), *changed_originals(templates))
    return tuple(sorted(found))


def templates_of(project: Project) -> Templates:
    """Return a project's templates."""
    shown = project.settings.templates
    return Templates(project.root / shown, shown) if shown else Templates()


def listing(directory: Path | str, style: str) -> str:
    """Return what `templates list` prints, as text or JSON.

    Raises:
        SchemagenError: the settings or the templates cannot be used.
    """
    project = find_project(Path(directory))
    templates, settings = checked_templates(project), project.settings
    ours = entries(templates, settings.output)
    outputs = [
        {
            "template": f"{templates.shown}/{row.template}",
            "makes": row.path,
            "per": row.per,
        }
        for row in settings.outputs
    ]
    if style == "json":
        data = {
            "version": 1,
            "templates": [asdict(entry) for entry in ours],
            "outputs": outputs,
        }
        return json.dumps(data, indent=2, sort_keys=True) + "\n"
    rows = [("template", "makes", "context", "yours")]
    for entry in ours:
        context = f"{entry.context.type}, {entry.context.module}"
        rows.append((entry.name, entry.makes, context, _state(entry)))
    for row in outputs:
        rows.append((row["template"], row["makes"], _CONTEXTS[row["per"]], "an output"))
    return "".join(f"{line}\n" for line in aligned(rows))


_CONTEXTS = {
    "record": "RecordView, schemagen/codegen/record_view.py",
    "project": "ProjectView, schemagen/codegen/project_view.py",
}


def _state(entry: Entry) -> str:
    changed = ", ejected from an older version" if entry.changed else ""
    return f"{entry.own}{changed}"


@dataclass(frozen=True)
class Ejected:
    """What `eject` has done.

    Attributes:
        path: the new template, relative to the project.
        setting: whether the setting `templates` was added for it.
        to_add: the line that the user has to add to the settings; "" if none.
    """

    path: str
    setting: bool
    to_add: str


def eject(name: str, directory: Path | str = ".") -> Ejected:
    """Copy one of our templates into the project, to be changed there.

    Nothing is overwritten. Without the setting `templates`, the directory is
    "templates", and the setting is added.

    Raises:
        SchemagenError: there is no such template, or the project has its own already.
    """
    project = find_project(Path(directory))
    names = our_names()
    if name not in names:
        raise refuse(
            Finding(
                Location(FILE_NAME),
                "SG416",
                f"schemagen has no template {name!r}",
                found=name,
                expected=f"one of {', '.join(names)}",
                advice=did_you_mean(name, names) or "see `schemagen templates list`",
            )
        )
    shown = project.settings.templates or _USUAL
    place = project.root / shown / name
    path = f"{shown}/{name}"
    if os.path.lexists(place):
        raise refuse(
            Finding(
                Location(path),
                "SG404",
                f"{path} exists, and is yours",
                advice="move it away to have the original again",
            )
        )
    write_whole(place, ejected(name), path)
    if project.settings.templates:
        return Ejected(path, setting=False, to_add="")
    line = f'templates = "{shown}"'
    added = _add_setting(project.root / FILE_NAME, line)
    return Ejected(path, setting=added, to_add="" if added else line)


def _add_setting(path: Path, line: str) -> bool:
    """Add a line below [tool.schemagen] if that says what it should, and no more."""
    data = path.read_bytes()
    text = data.decode()
    head, mark, rest = text.partition("[tool.schemagen]")
    rest_of_line, end, below = rest.partition("\n")
    ending = "\r\n" if rest_of_line.endswith("\r") else "\n"
    new = f"{head}{mark}{rest_of_line}{end or ending}{line}{ending}{below}"
    wanted = tomllib.loads(text)
    wanted.get("tool", {}).get("schemagen", {})["templates"] = _USUAL
    try:
        if not mark or tomllib.loads(new) != wanted:
            return False
    except tomllib.TOMLDecodeError:
        return False
    write_whole(path.resolve(), new, path.name)
    return True
