"""Text out of templates: which are found, what they may use, what they may print.

A template can print nothing but what the functions of `literals.py` and `languages.py`
have made. Text of a schema is a plain str, and printing one is an error, so that every
piece of it passes through a function that makes it data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import (
    BaseLoader,
    ChoiceLoader,
    Environment,
    FileSystemLoader,
    PrefixLoader,
    Undefined,
)

from ..literals import Code, identifier, literal, prose
from .faults import NoSuchName, PlainText


def templates_directory() -> Path:
    """Return where our templates are: in the wheel, or at the checkout's top."""
    package = Path(str(resources.files("schemagen")))
    shipped = package / "templates"
    return shipped if shipped.is_dir() else package.parent / "templates"


@dataclass(frozen=True)
class Templates:
    """The templates of a run.

    Attributes:
        directory: the project's own, of which each stands for ours of the same name;
            None if it has none.
    """

    directory: Path | None = None

    @cached_property
    def python(self) -> Environment:
        """The environment of templates that print Python."""
        return _ours() if self.directory is None else _python(self.directory)

    def render(self, name: str, **context: object) -> str:
        """Render a template that prints Python."""
        return self.python.get_template(name).render(context)


@cache
def _ours() -> Environment:
    return _python(None)


def _python(directory: Path | None) -> Environment:
    filters: dict[str, Callable[..., Any]] = {
        "literal": literal,
        "identifier": identifier,
        "prose": prose,
        "spaces": lambda _, count: Code(" " * count),
    }
    environment = _Environment(directory, Code, filters)
    # The macros of a field's kind: one template a kind, found by its name.
    environment.globals["macros"] = lambda field: (
        environment.get_template(field.macros).module
    )
    return environment


class _Environment(Environment):
    """Where templates are found and what they can use.

    Args:
        directory: the project's templates, if it has any.
        printable: the class of text that templates may print.
        filters: what makes such text.
    """

    def __init__(
        self,
        directory: Path | None,
        printable: type[str],
        filters: dict[str, Callable[..., Any]],
    ) -> None:
        # Macros, blocks and `set` join what they print by this: it is printable too.
        # Nothing is escaped as HTML, so that there is no other text that is safe.
        self.concat = lambda parts: printable("".join(parts))  # type: ignore[method-assign]
        super().__init__(
            loader=_loader(directory),
            finalize=_printed(printable, filters),
            keep_trailing_newline=True,
            lstrip_blocks=True,
            trim_blocks=True,
            undefined=NoSuchName,
        )
        self.filters.update(
            filters, indent=_indenting(printable, self.filters["indent"])
        )


def _loader(directory: Path | None) -> BaseLoader:
    ours = FileSystemLoader(templates_directory())
    if directory is None:
        return ours
    yours = FileSystemLoader(directory)
    return ChoiceLoader([yours, ours, PrefixLoader({"schemagen": ours})])


def _printed(printable: type[str], filters: Iterable[str]) -> Callable[[Any], Any]:
    """Return the function that lets printable text and numbers through."""
    known = tuple(filters)

    def printed(value: Any) -> Any:
        if isinstance(value, (printable, int)):
            return value
        if isinstance(value, Undefined):
            str(value)  # which says what is undefined
        raise PlainText(value, known)

    return printed


def _indenting(printable: type[str], indent: Callable[..., str]) -> Callable[..., str]:
    """Return a filter that indents, and leaves text as safe to print as it was."""

    def indented(text: str, *arguments: Any, **options: Any) -> str:
        found = indent(str(text), *arguments, **options)
        return printable(found) if isinstance(text, printable) else found

    return indented
