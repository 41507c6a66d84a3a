"""What can be wrong with a template: names that are not there, text that is no data.

Every fault becomes a finding at the template's file and line, with its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from reprlib import Repr
from traceback import walk_tb
from typing import Any

from jinja2 import (
    Environment,
    StrictUndefined,
    TemplateNotFound,
    TemplateRuntimeError,
    TemplateSyntaxError,
    UndefinedError,
)
from jinja2.environment import TemplateModule
from jinja2.utils import missing

from ...findings import Finding, Location
from ...kinds.literals import Code
from ...runtime.shared.errors import did_you_mean

# What templates are given: the variables of all contexts.
_VARIABLES = ("record", "project", "training", "macros")


_shortened = Repr()
_shortened.maxstring = _shortened.maxother = 60


class PlainText(TypeError):
    """A template prints what no filter has made data of.

    Args:
        value: what it prints.
        filters: those that make data.
    """

    def __init__(self, value: object, filters: Iterable[str]) -> None:
        known = ", ".join(f"| {name}" for name in filters if name != "spaces")
        shown = _shortened.repr(value)
        if isinstance(value, Code):
            words = f"this prints {shown}, which is Python, into another language"
        elif isinstance(value, str):
            words = (
                f"this prints {shown}, which is plain text: it might be read as code"
            )
        else:
            words = f"this prints {shown}, a {type(value).__name__}, as it is"
        super().__init__(f"{words}; a filter makes data of it: {known}")


class NoSuchName(StrictUndefined):
    """A name that a template uses and that is not there."""

    @property
    def _undefined_message(self) -> str:
        name, value = str(self._undefined_name), self._undefined_obj
        if self._undefined_hint:
            return self._undefined_hint
        if value is missing:
            return _nearest(f"{name!r} is not defined", name, _VARIABLES)
        if isinstance(value, TemplateModule):
            return _nearest(
                f"{value.__name__} has no macro {name!r}", name, vars(value)
            )
        kind = type(value).__name__
        return _nearest(f"{kind} has no attribute {name!r}", name, dir(value))


def _nearest(message: str, name: str, choices: Iterable[str]) -> str:
    """Add to a message which name may have been meant."""
    question = did_you_mean(name, [word for word in choices if word[:1] != "_"])
    return f"{message}; {question}" if question else message


def finding_of(
    error: Exception, name: str, environment: Environment, roots: dict[Path, str]
) -> Finding:
    """Return what is wrong with a template, and where.

    Args:
        error: what loading or rendering it has raised.
        name: the template's name.
        environment: where it was looked for.
        roots: the directories of templates and how they are shown, the project's first.
    """
    return Finding(
        _place(error, name, roots),
        "SG411",
        _words(error, environment),
        advice="fix the template; `schemagen templates list` names the type that each "
        "is given",
    )


def _place(error: Exception, name: str, roots: dict[Path, str]) -> Location:
    """Return the line of a template that an error comes from.

    It is the last of the project's own: an error in one of ours that it calls comes
    from the call. If none of them is at work, it is the last of ours.
    """
    frames = [
        (frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)
    ]
    if isinstance(error, TemplateSyntaxError) and error.filename:
        frames.append((error.filename, error.lineno))
    for root, shown in roots.items():
        for file, line in reversed(frames):
            if Path(file).is_relative_to(root):
                lines = Path(file).read_text(encoding="utf-8").splitlines()
                source = lines[line - 1] if line <= len(lines) else ""
                path = Path(file).relative_to(root).as_posix()
                return Location(f"{shown}/{path}", line, 1, source)
    return Location(f"{next(iter(roots.values()))}/{name}")


def _words(error: Exception, environment: Environment) -> str:
    """Say what is wrong."""
    if isinstance(error, TemplateNotFound):
        names = environment.list_templates()
        return _nearest(f"there is no template {error.name!r}", str(error.name), names)
    if isinstance(error, TemplateSyntaxError):
        return _syntax(str(error.message), environment)
    if isinstance(error, (PlainText, UndefinedError)):
        return str(error)
    if isinstance(error, TemplateRuntimeError):
        return _syntax(str(error), environment)
    return f"{type(error).__name__}: {error}"


def _syntax(message: str, environment: Environment) -> str:
    unknown = re.match(r"No (filter|test) named '(\w+)'", message)
    if unknown is None:
        return message
    known: dict[str, Any] = getattr(environment, f"{unknown[1]}s")
    return _nearest(f"there is no {unknown[1]} {unknown[2]!r}", unknown[2], known)
