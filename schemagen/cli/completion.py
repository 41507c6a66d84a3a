"""What shells complete: records, rules, splits and paths.

Nothing here loads schemas, pydantic or numpy: a shell waits for each answer.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from ..config import Project

_BASES = {"Record", "SequenceRecord"}
_SPLITS = "manifest.json"

# The tables of breaking changes import numpy.
_TABLES = ("wire", "meaning", "api")


def complete_records(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the records of the project that are generated or declared."""
    from ..config import find_project
    from ..findings import SchemagenError

    try:
        project = find_project(Path(ctx.params.get("project") or "."))
        found = {**_declared(project), **_generated(project)}
    except (SchemagenError, OSError):
        return []
    return [
        CompletionItem(name, help=source)
        for name, source in sorted(found.items())
        if name.startswith(incomplete)
    ]


def _generated(project: Project) -> dict[str, str]:
    paths = project.output.glob("*/spec.json")
    return {path.parent.name: project.settings.output for path in paths}


def _declared(project: Project) -> dict[str, str]:
    """Return the records that derive directly from schemagen's, by their source."""
    from ..spec.names import snake_case

    found = {}
    schemas = project.root / project.settings.schemas
    for path in schemas.rglob("*.py"):
        if path.name.startswith("_"):
            continue
        with suppress(OSError, ValueError, SyntaxError):
            for name in _classes(ast.parse(path.read_bytes())):
                found[snake_case(name)] = path.relative_to(project.root).as_posix()
    return found


def _classes(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
            if bases & _BASES:
                yield node.name


def complete_rules(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the rules."""
    from ..rules import RULES

    titles = {rule.id: rule.title for rule in RULES.values()}
    tables = resources.files("schemagen.evolution")
    for name in _TABLES:
        text = tables.joinpath(f"{name}.py").read_text(encoding="utf-8")
        titles |= dict(re.findall(r'id="(SG\d+)",\s+title="([^"]*)"', text))
    return [
        CompletionItem(rule, help=title)
        for rule, title in sorted(titles.items())
        if rule.startswith(incomplete.upper())
    ]


def complete_splits(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the splits in the manifest of a local data directory."""
    # click has not assigned the arguments where the last option lacks its value.
    data = ctx.params.get("data") or ctx.args
    if isinstance(data, str):
        data = [data]
    names: list[str] = []
    with suppress(OSError, ValueError, KeyError, TypeError, IndexError):
        names = list(json.loads(Path(data[0], _SPLITS).read_bytes())["splits"])
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def complete_paths(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Have the shell complete a path."""
    return [CompletionItem(incomplete, type="file")]
