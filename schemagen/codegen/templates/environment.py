"""Text out of templates: which are found, what they may use, what they may print.

A template can print nothing but what the functions of `literals.py` and `languages.py`
have made. Text of a schema is a plain str, and printing one is an error, so that every
piece of it passes through a function that makes it data.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property, wraps
from importlib import resources
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

from jinja2 import (
    BaseLoader,
    BytecodeCache,
    ChoiceLoader,
    Environment,
    FileSystemLoader,
    PrefixLoader,
    Undefined,
)
from jinja2 import compiler as jinja_compiler
from jinja2.bccache import Bucket
from jinja2.filters import do_indent

from ...atomic_write import write_whole
from ...findings import SchemagenError, refuse
from ...kinds.literals import Code, identifier, literal, prose
from ..languages import Foreign, Language
from .faults import NoSuchName, PlainText, finding_of


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
        shown: that directory relative to the project, for messages.
    """

    directory: Path | None = None
    shown: str = ""

    @cached_property
    def python(self) -> Environment:
        """The environment of templates that print Python."""
        return _ours() if self.directory is None else _python(self.directory)

    def own_names(self) -> tuple[str, ...]:
        """Return the names of the project's own templates, hidden files left out."""
        if self.directory is None:
            return ()
        paths = (path.relative_to(self.directory) for path in _files(self.directory))
        return tuple(path.as_posix() for path in paths)

    def place(self, name: str) -> str:
        """Return where a template of the project's own is; "" if it has none."""
        own = self.directory is not None and (self.directory / name).is_file()
        return f"{self.shown}/{name}" if own else ""

    def render(self, name: str, **context: object) -> str:
        """Render a template that prints Python.

        Raises:
            SchemagenError: the project's own templates do not fit.
        """
        return self._rendered(self.python, name, context)

    def printer(self, language: Language) -> Callable[..., str]:
        """Return the like of `render` for files of another language than Python."""
        environment = _Environment(self.directory, Foreign, language.filters)
        return lambda name, **context: self._rendered(environment, name, context)

    def _rendered(
        self, environment: Environment, name: str, context: Mapping[str, object]
    ) -> str:
        try:
            return environment.get_template(name).render(context)
        except Exception as error:
            if self.directory is None:
                raise  # our own templates are at fault
            roots = {self.directory: self.shown, templates_directory(): "schemagen"}
            raise refuse(finding_of(error, name, environment, roots)) from None


def _files(directory: Path) -> list[Path]:
    """Return the files below a directory, without hidden ones and notes."""
    return [
        path
        for path in sorted(directory.rglob("*"))
        if path.is_file()
        and path.suffix not in (".md", ".txt")
        and not any(part.startswith(".") for part in path.relative_to(directory).parts)
    ]


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
    environment.bytecode_cache = _CompiledTemplates()

    @cache
    def macros(name: str) -> object:
        return environment.get_template(name).module

    # The macros of a field's kind: one template a kind, found by its name.
    environment.globals["macros"] = lambda field: macros(field.macros)
    return environment


class _CompiledTemplates(BytecodeCache):
    """Our templates in compiled form, kept as Python keeps compiled modules.

    They are in `__pycache__` next to the templates; PYTHONDONTWRITEBYTECODE and
    PYTHONPYCACHEPREFIX apply. A file that is damaged or out of date is not used.
    """

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """Return the path of a compiled template; "" for a project's own."""
        if filename and Path(filename).is_relative_to(templates_directory()):
            return cache_from_source(filename)
        return ""

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load a compiled template, if it is there and up to date."""
        with suppress(OSError):
            data = Path(bucket.key).read_bytes()
            seal, code = data[:_SEAL_BYTES], data[_SEAL_BYTES:]
            if seal == _seal(bucket, code):
                bucket.bytecode_from_string(code)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a compiled template, where that is possible."""
        if bucket.key and not sys.dont_write_bytecode:
            code = bucket.bytecode_to_string()
            with suppress(SchemagenError):
                write_whole(Path(bucket.key), _seal(bucket, code) + code)


_SEAL_BYTES = 32

# What is compiled depends on these modules, in addition to the template.
_COMPILERS = (jinja_compiler.__file__, literal.__code__.co_filename, __file__)


def _seal(bucket: Bucket, code: bytes) -> bytes:
    """Return a hash of a compiled template and of the files that it depends on."""
    found = [(path, Path(path).stat().st_mtime_ns) for path in _COMPILERS]
    return hashlib.sha256(repr((bucket.key, found)).encode() + code).digest()


# What Jinja brings for HTML, and what would give other text in each run.
_HTML = ("e", "escape", "forceescape", "safe", "striptags", "tojson", "urlize")
_UNFIT = (*_HTML, "urlencode", "xmlattr", "random")


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
        filters: Mapping[str, Callable[..., Any]],
    ) -> None:
        # Macros, blocks and `set` join what they print by this: it is printable too.
        # Nothing is escaped as HTML, so that there is no other text that is safe.
        self.concat = lambda parts: printable("".join(parts))  # type: ignore[method-assign]
        super().__init__(
            loader=_loader(directory),
            auto_reload=directory is not None,  # ours do not change
            finalize=_printed(printable, filters),
            keep_trailing_newline=True,
            lstrip_blocks=True,
            trim_blocks=True,
            undefined=NoSuchName,
        )
        for name in _UNFIT:
            del self.filters[name]
        del self.globals["lipsum"]
        self.filters["indent"] = _indenting(printable)
        # Ours use no name that is not there: tests see to it, and each call takes time.
        for name, filter_ in filters.items():
            careful = filter_ if directory is None else _of_what_is_there(filter_)
            self.filters[name] = careful


def _loader(directory: Path | None) -> BaseLoader:
    ours = FileSystemLoader(templates_directory())
    if directory is None:
        return ours
    yours = FileSystemLoader(directory)
    return ChoiceLoader([PrefixLoader({"schemagen": ours}), yours, ours])


def _printed(printable: type[str], filters: Iterable[str]) -> Callable[[Any], Any]:
    """Return the function that lets printable text and numbers through."""
    known = tuple(filters)

    def printed(value: Any) -> Any:
        if isinstance(value, printable) or type(value) is int:
            return value
        if isinstance(value, Undefined):
            str(value)  # which says what is undefined
        raise PlainText(value, known)

    return printed


def _of_what_is_there(filter_: Callable[..., Any]) -> Callable[..., Any]:
    """Return a filter that says what is undefined, if what it is given is."""

    @wraps(filter_)
    def filtered(value: object, *arguments: Any, **options: Any) -> Any:
        if isinstance(value, Undefined):
            str(value)
        return filter_(value, *arguments, **options)

    return filtered


def _indenting(printable: type[str]) -> Callable[..., str]:
    """Return a filter that indents, and leaves text as safe to print as it was."""

    def indented(
        text: str, width: int = 4, first: bool = False, blank: bool = False
    ) -> str:
        found = do_indent(str(text), int(width), first, blank)
        return printable(found) if isinstance(text, printable) else found

    return indented
