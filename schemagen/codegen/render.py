"""Specs to text: the only module that knows Jinja.

A template can print nothing but `Code`. Text of a schema is a plain str, and
printing one is an error, so that every piece of it passes through a function of
`literals.py` that makes it data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ..spec.model import RecordSpec
from ..spec.serial import fingerprint, to_json
from .header import digest, with_header
from .imports import import_line
from .layout import wrap
from .literals import Code, comment, identifier, literal, prose
from .record_view import RecordView

_RECORD_FILES = ("__init__.py", "serializer.py", "parser.py", "pipeline.py", "model.py")
_SHARED_SOURCE = "schemagen/support"


@dataclass(frozen=True)
class RenderedFile:
    """One generated file in memory.

    Attributes:
        path: relative to the output directory, with forward slashes.
        text: its contents.
        source: what it is generated from, relative to the project.
        spec: the hash of its spec; "-" for shared code.
    """

    path: str
    text: str
    source: str
    spec: str


def render(specs: tuple[RecordSpec, ...]) -> tuple[RenderedFile, ...]:
    """Return every file that the specs ask for, sorted by path.

    Raises:
        SyntaxError: a template printed something that is not Python.
    """
    files = [_package_file(), *_shared_files()]
    for spec in specs:
        files += _record_files(spec)
    for file in files:
        if file.path.endswith(".py"):
            compile(file.text, file.path, "exec", dont_inherit=True)
    return tuple(sorted(files, key=lambda file: file.path))


def _record_files(spec: RecordSpec) -> Iterator[RenderedFile]:
    text = to_json(spec)
    seal = digest(text)
    view = RecordView(spec, fingerprint(spec))
    source = str(comment(spec.source))
    for name in _RECORD_FILES:
        template = _environment().get_template(f"{name}.jinja")
        body = wrap(template.render(record=view))
        path = f"{spec.record}/{name}"
        yield RenderedFile(path, with_header(path, body, source, seal), source, seal)
    path = f"{spec.record}/spec.json"
    yield RenderedFile(path, with_header(path, text, source, seal), source, seal)


def render_training(spec: RecordSpec, output: str) -> str:
    """Return a program that trains a record's model, for its user to keep and change.

    Args:
        spec: a record that has a target.
        output: the directory of generated code, relative to the project.
    """
    package = ".".join([*PurePosixPath(output).parts, spec.record])
    lines = [
        import_line(f"{package}.model", ["adapt", "build_model", "export_serving"]),
        import_line(f"{package}.pipeline", ["make_dataset"]),
    ]
    text = (
        _environment()
        .get_template("init/train.py.jinja")
        .render(
            record=RecordView(spec, fingerprint(spec)),
            imports=Code("\n".join(lines)),
            description=f"Train a model of {spec.record} records.",
            run=f"runs/{spec.record}",
        )
    )
    compile(text, "train.py", "exec", dont_inherit=True)
    return text


def _package_file() -> RenderedFile:
    body = '"""Code that schemagen generated from this project\'s schemas."""\n'
    source = "pyproject.toml"
    text = with_header("__init__.py", body, source, "-")
    return RenderedFile("__init__.py", text, source, "-")


@cache
def _shared_files() -> tuple[RenderedFile, ...]:
    """Return the shared code, copied as it is below a header."""
    root = Path(str(resources.files("schemagen").joinpath("support")))
    files = []
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        source = f"{_SHARED_SOURCE}/{name}"
        body = path.read_text(encoding="utf-8")
        text = with_header(name, body, source, "-")
        files.append(RenderedFile(f"_support/{name}", text, source, "-"))
    return tuple(files)


def templates_directory() -> Path:
    """Return where the templates are: in the wheel, or at the checkout's top."""
    package = Path(str(resources.files("schemagen")))
    shipped = package / "templates"
    return shipped if shipped.is_dir() else package.parent / "templates"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(templates_directory()),
        autoescape=True,
        finalize=_only_code,
        keep_trailing_newline=True,
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters.update(
        literal=literal,
        identifier=identifier,
        prose=prose,
        comment=comment,
        spaces=lambda _, count: Code(" " * count),
    )
    # The macros of a field's kind: one template a kind, found by its name.
    environment.globals["macros"] = lambda field: (
        environment.get_template(field.macros).module
    )
    return environment


def _only_code(value: Any) -> Any:
    """Let Code and macros' output through, and nothing else that is text."""
    if isinstance(value, (Markup, int)):
        return value
    raise TypeError(f"a template prints {value!r}, which no literal function has made")
