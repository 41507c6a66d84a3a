"""The templates by name: what each makes, what it is given, and whose it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from jinja2 import TemplateError, TemplateSyntaxError, meta, nodes

from ...findings import Finding, Location
from ...runtime.shared.errors import did_you_mean
from ..header import digest
from .environment import Templates, templates_directory

_CONTEXT = re.compile(r"\{#- context: (\w+) as (\w+) \((\S+)\) -#\}\n")
_EJECTED = re.compile(r"\{#- ejected from schemagen: original=([0-9a-f]{16}) -#\}\n")


@dataclass(frozen=True)
class Context:
    """What a template is given, as its first line says.

    Attributes:
        type: the name of a class.
        name: the variable, or in templates of macros the parameter, that has the type.
        module: the file that the class is in.
    """

    type: str
    name: str
    module: str


@dataclass(frozen=True)
class Entry:
    """One of our templates.

    Attributes:
        name: relative to the directory of templates.
        makes: what it makes, in words.
        context: what it is given.
        own: the project's own template in place of it, relative to the project; "" if
            there is none.
        changed: whether the original has changed since that was ejected.
    """

    name: str
    makes: str
    context: Context
    own: str
    changed: bool


def our_names() -> tuple[str, ...]:
    """Return the names of our templates, sorted."""
    root = templates_directory()
    paths = (path.relative_to(root) for path in root.rglob("*.jinja"))
    return tuple(sorted(path.as_posix() for path in paths))


def original(name: str) -> str:
    """Return the text of one of our templates."""
    return (templates_directory() / name).read_text(encoding="utf-8")


def context_of(text: str) -> Context | None:
    """Return what the first line of a template says that it is given, if it does."""
    match = _CONTEXT.match(text)
    return Context(*match.groups()) if match else None


def entries(templates: Templates, output: str) -> tuple[Entry, ...]:
    """Return all our templates, with what a project has in their place.

    Args:
        templates: the project's own.
        output: the directory of generated code, relative to the project.
    """
    found = []
    for name in our_names():
        text, own = original(name), templates.place(name)
        context = context_of(text)
        assert context is not None, name
        changed = own != "" and _has_changed(templates, name, text)
        found.append(Entry(name, _makes(name, output), context, own, changed))
    return tuple(found)


def _makes(name: str, output: str) -> str:
    folder, _, file = name.rpartition("/")
    made = file.removesuffix(".jinja")
    if folder == "kinds":
        several = made == "parts"
        return "parts of several kinds" if several else f"the parts of {made} fields"
    if folder == "init":
        return f"{made}, by `schemagen init --train`"
    return f"{output}/<record>/{made}"


def ejected(name: str) -> str:
    """Return a copy of one of our templates that says of which original it is one."""
    text = original(name)
    first, rest = text.split("\n", 1)
    mark = f"{{#- ejected from schemagen: original={digest(text)} -#}}"
    return "\n".join([first, mark, rest])


def _has_changed(templates: Templates, name: str, text: str) -> bool:
    assert templates.directory is not None
    own = (templates.directory / name).read_text(encoding="utf-8", errors="replace")
    match = _EJECTED.search(own)
    return match is not None and match[1] != digest(text)


def changed_originals(templates: Templates) -> tuple[Finding, ...]:
    """Return a warning for each ejected template whose original has changed since."""
    if templates.directory is None:
        return ()
    return tuple(
        Finding(
            Location(entry.own),
            "SG415",
            f"schemagen's own {entry.name} has changed since {entry.own} was ejected",
            advice=f"move it away, run `schemagen templates eject {entry.name}`, and "
            "make your changes to the new one",
            severity="warning",
        )
        for entry in entries(templates, "")
        if entry.changed
    )


def strays(templates: Templates, used: Iterable[str]) -> tuple[Finding, ...]:
    """Return a finding for each of a project's templates that stands for nothing.

    It is an error if its name is nearly that of one of ours, and a warning if not.

    Args:
        templates: the project's own.
        used: those that its additional outputs are made by.
    """
    if templates.directory is None:
        return ()
    ours, names = our_names(), templates.own_names()
    reached = {name for name in names if name in ours or name in used}
    waiting = list(reached)
    while waiting:
        for name in _references(templates, waiting.pop()):
            if name is None:  # found when rendering: it may be any of them
                return ()
            if name in names and name not in reached:
                reached.add(name)
                waiting.append(name)
    left = [name for name in names if name not in reached]
    return tuple(_stray(f"{templates.shown}/{name}", name, ours) for name in left)


def _stray(shown: str, name: str, ours: Iterable[str]) -> Finding:
    stems = {ours_.removesuffix(".jinja"): ours_ for ours_ in ours}
    near = get_close_matches(name.removesuffix(".jinja"), stems, n=1)
    return Finding(
        Location(shown),
        "SG413",
        f"schemagen has no template {name}, and no other of yours uses it",
        found=name,
        expected="the name of a template that `schemagen templates list` shows, of one "
        "in [[tool.schemagen.outputs]], or of one that these include",
        advice=f"did you mean {stems[near[0]]!r}?" if near else "move it elsewhere",
        severity="error" if near else "warning",
    )


def _references(templates: Templates, name: str) -> Iterator[str | None]:
    assert templates.directory is not None
    text = (templates.directory / name).read_text(encoding="utf-8", errors="replace")
    try:
        yield from meta.find_referenced_templates(templates.python.parse(text))
    except TemplateSyntaxError:
        return  # which rendering reports with its place


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
