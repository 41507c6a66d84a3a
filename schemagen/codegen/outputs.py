"""Additional outputs: files that a project's own templates make of its records."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import PurePosixPath

from ..config import OutputSetting, Settings
from ..findings import Finding, Location, SchemagenError, refuse
from ..kinds.literals import comment
from ..runtime.shared.errors import did_you_mean
from ..spec.model import RecordSpec
from ..spec.serial import fingerprint, to_json
from .header import BY, digest, with_header
from .languages import language_of
from .layout import wrap
from .plan import shown_path
from .project_view import ProjectView
from .record_view import RecordView
from .render import RenderedFile, all_rendered, check_python
from .templates.environment import Templates

_PYTHON = (".py", ".pyi")


def with_outputs(
    files: tuple[RenderedFile, ...],
    specs: tuple[RecordSpec, ...],
    settings: Settings,
    templates: Templates,
    kept: tuple[str, ...] = (),
) -> tuple[RenderedFile, ...]:
    """Return files and the additional outputs of all records, sorted by path.

    A path that leads out of the directory of generated code begins with "../".

    Args:
        files: what schemagen's templates make.
        specs: all records of the project.
        settings: the project's, which have the outputs.
        templates: the project's own.
        kept: paths among the generated code that are not generated.

    Raises:
        SchemagenError: with all that is wrong with their templates and paths.
    """
    if not settings.outputs:
        return files
    wrong = [
        finding
        for row in settings.outputs
        for finding in _judged(row, settings, templates)
    ]
    if wrong:
        raise SchemagenError(wrong)
    views = tuple(RecordView(spec, fingerprint(spec)) for spec in specs)
    taken = _Taken()
    for path in (*kept, *(file.path for file in files)):
        taken.add(path)
    for row in settings.outputs:
        for path in _paths(row, views, settings):
            other = taken.by(path)
            wrong += [_collision(path, other, row, settings)] if other else []
            taken.add(path)
    if wrong:
        raise SchemagenError(wrong)
    made = all_rendered(
        job
        for row in settings.outputs
        for job in _jobs(row, views, settings, templates)
    )
    return tuple(sorted((*files, *made), key=lambda file: file.path))


def _judged(
    row: OutputSetting, settings: Settings, templates: Templates
) -> Iterator[Finding]:
    directory = templates.directory
    if directory is None or not (directory / row.template).is_file():
        shown = templates.shown
        near = did_you_mean(row.template, templates.own_names())
        yield Finding(
            row.place,
            "SG414",
            f"there is no {shown}/{row.template}"
            if shown
            else f"{row.template} is nowhere: no directory of templates is set",
            expected="a template of the project's own",
            advice=near
            or f"write {shown or 'templates'}/{row.template}"
            + ("" if shown else ', and set templates = "templates"'),
        )
    parents = PurePosixPath(row.path).parents
    roots = [settings.output, *settings.output_directories]
    if not any(PurePosixPath(root) in parents for root in roots):
        parent = posixpath.dirname(row.path.split("{")[0] + "x") or "."
        yield Finding(
            row.place,
            "SG414",
            f"{row.path} is in no directory that schemagen writes to",
            expected=f"a path below {' or '.join(roots)}",
            advice=f'add "{parent}" to output_directories'
            if parent != "."
            else "choose a directory, and list it in output_directories",
        )
    if not row.path.endswith(_PYTHON) and language_of(row.path, row.comment) is None:
        yield Finding(
            row.place,
            "SG414",
            f"how comments are written in {PurePosixPath(row.path).name} is not known, "
            "and files without a header could not be told from yours",
            expected="an ending that schemagen knows, such as .ts or .sql, or `comment`",
            advice='say it: comment = "#", or comment = "/* */"',
        )


def _paths(
    row: OutputSetting, views: Iterable[RecordView], settings: Settings
) -> Iterator[str]:
    names = [view.spec.record for view in views] if row.per == "record" else [""]
    for name in names:
        path = row.path.replace("{record}", name)
        yield posixpath.relpath(path, settings.output)


def _collision(
    path: str, other: str, row: OutputSetting, settings: Settings
) -> Finding:
    new, old = shown_path(settings.output, path), shown_path(settings.output, other)
    return Finding(
        row.place,
        "SG414",
        f"two outputs would be {new}"
        if new == old
        else f"{new} and {old} cannot be side by side",
        expected="a path for each file",
        advice="choose another path",
    )


def _jobs(
    row: OutputSetting,
    views: tuple[RecordView, ...],
    settings: Settings,
    templates: Templates,
) -> Iterator[Callable[[], RenderedFile]]:
    language = language_of(row.path, row.comment)
    python = row.path.endswith(_PYTHON) or language is None
    style = None if language is None or python else language.comment
    print_: Callable[..., str] = templates.render
    if language is not None and not python:
        print_ = templates.printer(language)
    by = f"{BY}{templates.shown}/{row.template}"

    def job(path: str, source: str, spec: str, **context: object) -> RenderedFile:
        body = print_(row.template, **context)
        source = f"{source.removesuffix('.py')}{by}"
        if python:
            text = with_header(path, wrap(body), str(comment(source)), spec)
        elif style is None:
            _check_json(body, path, row, templates)
            text = with_header(path, body, source, spec)
        else:
            source = style.harmless(source)
            text = with_header(path, body, source, spec, style.around)
        file = RenderedFile(path, text, str(comment(source)), spec)
        if path.endswith(_PYTHON):
            check_python(file, row.template, templates)
        return file

    if row.per == "record":
        for path, view in zip(_paths(row, views, settings), views, strict=True):
            seal = digest(to_json(view.spec))
            yield partial(job, path, view.spec.source, seal, record=view)
    else:
        [path] = _paths(row, views, settings)
        seal = digest("".join(to_json(view.spec) for view in views))
        source = f"{settings.schemas}/*.py"
        yield partial(job, path, source, seal, project=ProjectView(views))


def _check_json(body: str, path: str, row: OutputSetting, templates: Templates) -> None:
    """See that what a template has printed is an object of JSON, which has a header.

    Raises:
        SchemagenError: it is not.
    """
    line, words = 1, "is no object"
    try:
        if isinstance(json.loads(body), dict) and body.startswith("{"):
            return
    except ValueError as error:
        line, words = getattr(error, "lineno", 1), str(error)
    raise refuse(
        Finding(
            Location(f"{templates.shown}/{row.template}"),
            "SG412",
            f"{row.template} prints no valid JSON for {path}: line {line}: {words}",
            found=body.split("\n")[line - 1].strip(),
            expected="an object that begins the file, {...}, for the header to stand in",
            advice="correct the template; nothing is written until it is",
        )
    )


class _Taken:
    """The paths of files, for systems that tell no capital from a small letter."""

    def __init__(self) -> None:
        self._files: dict[str, str] = {}
        self._folders: dict[str, str] = {}

    def add(self, path: str) -> None:
        """Take a path."""
        folded = path.casefold()
        self._files.setdefault(folded, path)
        for folder in _folders(folded):
            self._folders.setdefault(folder, path)

    def by(self, path: str) -> str | None:
        """Return a file at a path, above it or below it, if there is one."""
        folded = path.casefold()
        above = (self._files.get(folder) for folder in (folded, *_folders(folded)))
        return next(filter(None, above), None) or self._folders.get(folded)


def _folders(path: str) -> Iterator[str]:
    while path := posixpath.dirname(path):
        yield path
