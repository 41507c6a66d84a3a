"""Specs to text: every file that a project's schemas ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib import resources
from pathlib import Path
from types import MappingProxyType

from ..findings import Finding, Location, SchemagenError, refuse
from ..spec.model import RecordSpec
from ..spec.serial import fingerprint, to_json
from .header import digest, with_header
from .layout import wrap
from .literals import comment
from .record_view import RecordView
from .templates import Templates
from .training_view import TrainingView

_RECORD_FILES = ("__init__.py", "serializer.py", "parser.py", "pipeline.py", "model.py")
_SHARED_SOURCE = "schemagen/support"
OURS = Templates()
_NOTHING: Mapping[str, bytes] = MappingProxyType({})


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
    specs: tuple[RecordSpec, ...],
    templates: Templates = OURS,
    existing: Mapping[str, bytes] = _NOTHING,
) -> tuple[RenderedFile, ...]:
    """Return every file that the specs ask for, sorted by path.

    Args:
        specs: all records of the project.
        templates: ours, or a project's own in place of some of them.
        existing: what is there, by path in the output directory. What is printed again
            with the same bytes was compiled before; compiling takes a quarter of a run.

    Raises:
        SchemagenError: the project's own templates have errors.
        SyntaxError: a template of ours printed something that is not Python.
    """
    files = [_package_file(), *_shared_files()]
    files += all_rendered(
        job for spec in specs for job in _jobs(spec, templates, existing)
    )
    return tuple(sorted(files, key=lambda file: file.path))


def all_rendered(jobs: Iterable[Callable[[], RenderedFile]]) -> list[RenderedFile]:
    """Return what functions render, or raise with everything that is wrong."""
    files: list[RenderedFile] = []
    findings: set[Finding] = set()
    for job in jobs:
        try:
            files.append(job())
        except SchemagenError as error:
            findings.update(error.findings)
    if findings:
        raise SchemagenError(findings)
    return files


def _jobs(
    spec: RecordSpec, templates: Templates, existing: Mapping[str, bytes]
) -> Iterator[Callable[[], RenderedFile]]:
    text = to_json(spec)
    seal = digest(text)
    view = RecordView(spec, fingerprint(spec))
    source = str(comment(spec.source))

    def module(name: str) -> RenderedFile:
        path, template = f"{spec.record}/{name}", f"{name}.jinja"
        body = wrap(templates.render(template, record=view))
        file = RenderedFile(path, with_header(path, body, source, seal), source, seal)
        if existing.get(path) != file.text.encode():
            check_python(file, template, templates)
        return file

    def facts() -> RenderedFile:
        path = f"{spec.record}/spec.json"
        return RenderedFile(path, with_header(path, text, source, seal), source, seal)

    yield from (partial(module, name) for name in _RECORD_FILES)
    yield facts


def check_python(file: RenderedFile, template: str, templates: Templates) -> None:
    """See that what a template has printed is Python.

    Raises:
        SchemagenError: it is not, with templates of the project's own.
        SyntaxError: it is not, with none but ours.
    """
    try:
        compile(file.text, file.path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        if templates.directory is None:
            raise
        raise refuse(_no_python(file, template, templates, error)) from None


def _no_python(
    file: RenderedFile, template: str, templates: Templates, error: Exception
) -> Finding:
    line = getattr(error, "lineno", None) or 1
    found = file.text.split("\n")[line - 1].strip()
    place = templates.place(template)
    theirs = "" if place else f", with what {templates.shown} has of its parts"
    return Finding(
        Location(place or f"schemagen/{template}"),
        "SG412",
        f"{template} prints no valid Python for {file.path}{theirs}: line {line}: "
        f"{getattr(error, 'msg', error)}",
        found=found,
        expected="a module that Python can compile",
        advice="mend the template; nothing is written until it is",
    )


def render_training(spec: RecordSpec, output: str, templates: Templates = OURS) -> str:
    """Return a program that trains a record's model, for its user to keep and change.

    Args:
        spec: a record that has a target.
        output: the directory of generated code, relative to the project.
        templates: ours, or a project's own in place of some of them.

    Raises:
        SchemagenError: the project's own template has errors.
    """
    name = "init/train.py.jinja"
    view = TrainingView(RecordView(spec, fingerprint(spec)), output)
    text = templates.render(name, training=view)
    check_python(RenderedFile("train.py", text, spec.source, "-"), name, templates)
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
