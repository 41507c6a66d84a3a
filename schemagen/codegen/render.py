"""Specs to text: every file that a project's schemas ask for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..findings import Finding, Location, refuse
from ..progress import track
from ..runtime.interface import INTERFACE
from ..spec.model import RecordSpec
from ..spec.serial import fingerprint, to_json
from .header import digest, with_header
from .imports import with_imports
from .layout import wrap
from .literals import comment
from .record_view import RecordView
from .templates import Templates
from .training_view import TrainingView

_RECORD_FILES = (
    "__init__.py",
    "fields.py",
    "serializer.py",
    "parser.py",
    "pipeline.py",
    "reader.py",
    "model.py",
)

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
    specs: tuple[RecordSpec, ...],
    templates: Templates = OURS,
    existing: Mapping[str, bytes] | None = None,
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
    source = "pyproject.toml"
    body = templates.render("package.py.jinja", interface=INTERFACE)
    text = with_header("__init__.py", body, source, "-")
    files = [RenderedFile("__init__.py", text, source, "-")]
    for spec in track(specs, "generating", "record"):
        files += _files_of(spec, templates, existing or {})
    return tuple(sorted(files, key=lambda file: file.path))


def _files_of(
    spec: RecordSpec, templates: Templates, existing: Mapping[str, bytes]
) -> Iterator[RenderedFile]:
    """Yield the files of a record."""
    text = to_json(spec)
    seal = digest(text)
    view = RecordView(spec, fingerprint(spec))
    source = str(comment(spec.source))

    def sealed(name: str, body: str) -> RenderedFile:
        path = f"{spec.record}/{name}"
        return RenderedFile(path, with_header(path, body, source, seal), source, seal)

    for name in _RECORD_FILES:
        template = f"{name}.jinja"
        printed = wrap(templates.render(template, record=view))
        file = sealed(name, with_imports(printed))
        if existing.get(file.path) != file.text.encode():
            check_python(file, template, templates)
        yield file
    yield sealed("spec.json", text)


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
        raise refuse(
            Finding(
                Location(templates.own(template) or templates.shown),
                "SG412",
                f"{template} prints no valid Python for {file.path}: {error}",
                advice="correct the template; nothing is written until it is",
            )
        ) from None


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
