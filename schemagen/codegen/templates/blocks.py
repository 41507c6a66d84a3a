"""Blocks of a project's own templates that stand for none of those that they extend."""

from __future__ import annotations

from collections.abc import Iterator

from jinja2 import TemplateError, nodes

from ...findings import Finding, Location
from ...runtime.shared.errors import did_you_mean
from .environment import Templates


def idle_blocks(templates: Templates) -> tuple[Finding, ...]:
    """Return a finding for each block that Jinja would silently leave out.

    Those are the outer blocks of a template that extends another one which has no block
    of that name. A template that cannot be read is found when it is rendered.
    """
    return tuple(
        finding for name in templates.own_names() for finding in _idle(name, templates)
    )


def _idle(name: str, templates: Templates) -> Iterator[Finding]:
    try:
        source, tree = _parsed(name, templates)
        parent = _parent(tree)
        known: set[str] = set()
        while parent is not None:
            _, above = _parsed(parent, templates)
            known.update(block.name for block in above.find_all(nodes.Block))
            parent = _parent(above)
    except (TemplateError, OSError, UnicodeDecodeError):
        return
    if _parent(tree) is None:
        return
    for block in tree.body:
        if isinstance(block, nodes.Block) and block.name not in known:
            line = source.split("\n")[block.lineno - 1]
            yield Finding(
                Location(f"{templates.shown}/{name}", block.lineno, 1, line),
                "SG413",
                f"{name} has a block {block.name!r}, and what it extends has none",
                found=block.name,
                expected=f"one of {', '.join(sorted(known))}",
                advice=did_you_mean(block.name, known)
                or "take it out: it is not printed",
            )


def _parsed(name: str, templates: Templates) -> tuple[str, nodes.Template]:
    environment = templates.python
    assert environment.loader is not None
    source, _, _ = environment.loader.get_source(environment, name)
    return source, environment.parse(source, name)


def _parent(tree: nodes.Template) -> str | None:
    """Return the template that another one extends, if it is named there."""
    extended = tree.find(nodes.Extends)
    if extended is None or not isinstance(extended.template, nodes.Const):
        return None
    return str(extended.template.value)
