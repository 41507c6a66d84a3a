"""Specs to text: every file that a project's schemas ask for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from ..findings import Finding, Location, SchemagenError, refuse
from ..kinds.literals import comment
from ..progress import track
from ..runtime.interface import INTERFACE
from ..spec.model import RecordSpec
from ..spec.serial import fingerprint, to_json
from .header import digest, with_header
from .imports import COPY, RUNTIME, import_line, unknown_names, with_imports
from .layout import wrap
from .project_view import TrainingView
from .record_view import RecordView
from .templates.environment import Templates

_RECORD_FILES = ("__init__.py", "serializer.py", "parser.py", "pipeline.py", "model.py")

# The package of the runtime, as a record's modules import it, for each setting.
_ROOTS = {"installed": RUNTIME, "vendored": f"..{COPY}"}

# The names of the runtime that users import from the output package.
_PUBLIC = {
    "shared.errors": ["DatasetError", "RecordError", "SchemaMismatchError"],
    "storage.integrity": ["check_files"],
}

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
    runtime: str = "installed",
) -> tuple[RenderedFile, ...]:
    """Return every file that the specs ask for, sorted by path.

    Args:
        specs: all records of the project.
        templates: ours, or a project's own in place of some of them.
        existing: what is there, by path in the output directory. What is printed again
            with the same bytes was compiled before; compiling takes a quarter of a run.
        runtime: "installed", or "vendored" for code that imports a copy in the output
            directory, which is not among the files returned.

    Raises:
        SchemagenError: the project's own templates have errors.
        SyntaxError: a template of ours printed something that is not Python.
    """
    files = [_package_file(runtime)]
    files += all_rendered(
        job
        for spec in track(specs, "generating", "record")
        for job in _jobs(spec, templates, existing or {}, runtime)
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
    spec: RecordSpec, templates: Templates, existing: Mapping[str, bytes], runtime: str
) -> Iterator[Callable[[], RenderedFile]]:
    text = to_json(spec)
    seal = digest(text)
    view = RecordView(spec, fingerprint(spec))
    source = str(comment(spec.source))

    def module(name: str) -> RenderedFile:
        path, template = f"{spec.record}/{name}", f"{name}.jinja"
        body = wrap(templates.render(template, record=view))
        body = with_imports(body, _ROOTS[runtime])
        file = RenderedFile(path, with_header(path, body, source, seal), source, seal)
        if existing.get(path) != file.text.encode():
            check_python(file, template, templates)
            if templates.directory is not None:
                _check_names(file, template, templates)
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


def _check_names(file: RenderedFile, template: str, templates: Templates) -> None:
    """Check that a module of a project's own templates defines or imports what it uses.

    Raises:
        SchemagenError: it does not.
    """
    names = unknown_names(file.text)
    if names:
        place = templates.place(template) or f"{templates.shown}/{template}"
        raise refuse(
            Finding(
                Location(place),
                "SG412",
                f"{file.path} would use names that nothing defines or imports: "
                f"{', '.join(names)}",
                expected="names of the runtime, which are imported by themselves, or "
                "names that your templates define or import",
                advice="compare your templates with those of this version: "
                "`schemagen templates list` shows which were ejected from an older one",
            )
        )


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
        advice="correct the template; nothing is written until it is",
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


def _package_file(runtime: str) -> RenderedFile:
    """Return the package of all records, which has the names that users import."""
    root = _ROOTS[runtime].replace("..", ".")
    lines = [
        *[import_line(f"{root}.interface", ["require"])] * (runtime == "installed"),
        *(import_line(f"{root}.{module}", names) for module, names in _PUBLIC.items()),
    ]
    names = sorted(name for names in _PUBLIC.values() for name in names)
    body = "\n".join(
        [
            '"""Code that schemagen generated from this project\'s schemas.',
            "",
            "Import the errors of generated code from here, and `check_files`, which compares",
            "data with the checksums in its manifest.",
            '"""',
            "",
            *lines,
            "",
            "__all__ = [",
            *(f"    {json.dumps(name)}," for name in names),
            "]",
            "",
        ]
    )
    if runtime == "installed":
        body += f"\nrequire({INTERFACE})  # the interface of the runtime\n"
    source = "pyproject.toml"
    text = with_header("__init__.py", body, source, "-")
    return RenderedFile("__init__.py", text, source, "-")
