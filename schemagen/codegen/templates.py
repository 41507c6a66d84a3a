"""The environment of the templates: where they are, and what they may print.

They print integers and `Code`, which only filters make. Text of a schema is a plain str,
and printing one is an error, so that every piece of it passes through a function that
makes it data.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from importlib.util import cache_from_source
from pathlib import Path
from traceback import walk_tb
from typing import Any

from jinja2 import (
    ChoiceLoader,
    Environment,
    FileSystemBytecodeCache,
    FileSystemLoader,
    PrefixLoader,
    StrictUndefined,
    TemplateSyntaxError,
    Undefined,
)
from jinja2.bccache import Bucket
from jinja2.filters import do_indent

from ..findings import Finding, Location, refuse
from .python_source import Code, identifier, literal, prose


def templates_directory() -> Path:
    """Return where our templates are: in the wheel, or at the checkout's top."""
    package = Path(str(resources.files("schemagen")))
    shipped = package / "templates"
    return shipped if shipped.is_dir() else package.parent / "templates"


@dataclass(frozen=True)
class Templates:
    """The templates of a run.

    Attributes:
        directory: the project's own, which replace ours of the same name;
            None if it has none.
        shown: that directory relative to the project, for messages.
    """

    directory: Path | None = None
    shown: str = ""

    @cached_property
    def python(self) -> Environment:
        """The environment of these templates."""
        return _ours() if self.directory is None else _python(self.directory)

    def own(self, name: str) -> str:
        """Return where the project's own template of a name is; "" if it has none."""
        found = self.directory is not None and (self.directory / name).is_file()
        return f"{self.shown}/{name}" if found else ""

    def render(self, name: str, **context: object) -> str:
        """Render a template.

        Raises:
            SchemagenError: a template of the project's own has an error.
        """
        try:
            return self.python.get_template(name).render(context)
        except Exception as error:
            if self.directory is None:
                raise  # our own templates are at fault
            place = _place(error, self.directory, self.shown)
            raise refuse(
                Finding(
                    place,
                    "SG411",
                    f"{type(error).__name__}: {error}",
                    advice="correct the template; nothing is written until it is",
                )
            ) from None


def _place(error: Exception, directory: Path, shown: str) -> Location:
    """Return the last line of a project's own templates that an error passed through."""
    frames = walk_tb(error.__traceback__)
    lines = [(frame.f_code.co_filename, line) for frame, line in frames]
    if isinstance(error, TemplateSyntaxError):
        lines.append((error.filename or "", error.lineno))
    for file, line in reversed(lines):
        if Path(file).is_relative_to(directory):
            path = Path(file).relative_to(directory).as_posix()
            return Location(f"{shown}/{path}", line)
    return Location(shown)


def our_names() -> tuple[str, ...]:
    """Return the names of our templates, sorted."""
    root = templates_directory()
    paths = (path.relative_to(root) for path in root.rglob("*.jinja"))
    return tuple(sorted(path.as_posix() for path in paths))


@cache
def _ours() -> Environment:
    return _python(None)


# What makes text that templates may print.
_FILTERS = {"literal": literal, "identifier": identifier, "prose": prose}


def _python(directory: Path | None) -> Environment:
    ours = FileSystemLoader(templates_directory())
    loaders = [PrefixLoader({"schemagen": ours}), ours]
    if directory is not None:
        loaders.insert(0, FileSystemLoader(directory))
    environment = _Environment(
        loader=ChoiceLoader(loaders),
        auto_reload=directory is not None,  # ours do not change
        bytecode_cache=_CompiledTemplates() if directory is None else None,
        finalize=_printed,
        keep_trailing_newline=True,
        lstrip_blocks=True,
        optimized=False,  # what is compiled depends on the template alone
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= _FILTERS
    environment.filters["spaces"] = lambda _, count: Code(" " * count)
    environment.filters["indent"] = _indented

    @cache
    def macros(name: str) -> object:
        return environment.get_template(name).module

    # The macros of a field's kind: one template a kind, found by its name.
    environment.globals["macros"] = lambda field: macros(field.macros)
    return environment


class _CompiledTemplates(FileSystemBytecodeCache):
    """Our templates in compiled form, kept where Python keeps compiled modules.

    PYTHONDONTWRITEBYTECODE and PYTHONPYCACHEPREFIX apply.
    """

    def __init__(self) -> None:
        place = Path(cache_from_source(str(templates_directory() / "template.jinja")))
        super().__init__(str(place.parent), "%s.jinja.cache")

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a compiled template, where that is possible."""
        with suppress(OSError):
            if not sys.dont_write_bytecode:
                Path(self.directory).mkdir(parents=True, exist_ok=True)
                super().dump_bytecode(bucket)


class _Environment(Environment):
    """An environment whose macros, blocks and `set` join what they print to `Code`."""

    concat = staticmethod(lambda parts: Code("".join(parts)))


def _printed(value: Any) -> Any:
    """Let `Code` and integers through.

    Raises:
        TypeError: anything else.
    """
    if isinstance(value, Code) or type(value) is int:
        return value
    if isinstance(value, Undefined):
        str(value)  # which says what is undefined
    raise TypeError(f"{value!r} is printed without a filter: {', '.join(_FILTERS)}")


def _indented(
    text: str, width: int = 4, first: bool = False, blank: bool = False
) -> str:
    """Indent text, and leave it as safe to print as it was."""
    found = do_indent(str(text), int(width), first, blank)
    return Code(found) if isinstance(text, Code) else found
