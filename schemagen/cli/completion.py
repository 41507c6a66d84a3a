"""What shells complete: records, rules, judgements, splits and paths.

Nothing here loads schemas or pydantic: a shell waits for each answer.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import click
from click.shell_completion import CompletionItem


def complete_records(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the records of the project that are generated."""
    from ..config import find_project
    from ..findings import SchemagenError

    try:
        project = find_project(Path(ctx.params.get("project") or "."))
        paths = sorted(project.output.glob("*/spec.json"))
    except (SchemagenError, OSError):
        return []
    names = [path.parent.name for path in paths]
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def complete_explained(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the rules and the judgements."""
    from ..use_cases.explain import titles

    return [
        CompletionItem(name, help=title)
        for name, title in titles().items()
        if name.lower().startswith(incomplete.lower())
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
        names = list(json.loads(Path(data[0], "manifest.json").read_bytes())["splits"])
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def complete_paths(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Have the shell complete a path."""
    return [CompletionItem(incomplete, type="file")]
