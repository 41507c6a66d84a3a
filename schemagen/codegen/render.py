"""Specs to text: every file that a project's schemas ask for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path, PurePosixPath

from ..spec.model import RecordSpec
from ..spec.serial import fingerprint, to_json
from .header import digest, with_header
from .imports import import_line
from .layout import wrap
from .literals import Code, comment
from .record_view import RecordView
from .templates import Templates

_RECORD_FILES = ("__init__.py", "serializer.py", "parser.py", "pipeline.py", "model.py")
_SHARED_SOURCE = "schemagen/support"
OURS = Templates()


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


def render(
    specs: tuple[RecordSpec, ...], templates: Templates = OURS
) -> tuple[RenderedFile, ...]:
    """Return every file that the specs ask for, sorted by path.

    Args:
        specs: all records of the project.
        templates: ours, or a project's own in place of some of them.

    Raises:
        SyntaxError: a template printed something that is not Python.
    """
    files = [_package_file(), *_shared_files()]
    for spec in specs:
        files += _record_files(spec, templates)
    for file in files:
        if file.path.endswith(".py"):
            compile(file.text, file.path, "exec", dont_inherit=True)
    return tuple(sorted(files, key=lambda file: file.path))


def _record_files(spec: RecordSpec, templates: Templates) -> Iterator[RenderedFile]:
    text = to_json(spec)
    seal = digest(text)
    view = RecordView(spec, fingerprint(spec))
    source = str(comment(spec.source))
    for name in _RECORD_FILES:
        body = wrap(templates.render(f"{name}.jinja", record=view))
        path = f"{spec.record}/{name}"
        yield RenderedFile(path, with_header(path, body, source, seal), source, seal)
    path = f"{spec.record}/spec.json"
    yield RenderedFile(path, with_header(path, text, source, seal), source, seal)


def render_training(spec: RecordSpec, output: str, templates: Templates = OURS) -> str:
    """Return a program that trains a record's model, for its user to keep and change.

    Args:
        spec: a record that has a target.
        output: the directory of generated code, relative to the project.
        templates: ours, or a project's own in place of some of them.
    """
    package = ".".join([*PurePosixPath(output).parts, spec.record])
    lines = [
        import_line(f"{package}.model", ["adapt", "build_model", "export_serving"]),
        import_line(f"{package}.pipeline", ["make_dataset"]),
    ]
    text = templates.render(
        "init/train.py.jinja",
        record=RecordView(spec, fingerprint(spec)),
        imports=Code("\n".join(lines)),
        description=f"Train a model of {spec.record} records.",
        run=f"runs/{spec.record}",
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
