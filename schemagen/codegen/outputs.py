"""Additional outputs: files that a project's own templates make of its records."""

from __future__ import annotations

import json
import os
import posixpath
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from ..findings import Finding, Location, SchemagenError, refuse
from ..kinds.literals import comment
from ..runtime.shared.errors import did_you_mean
from ..spec.model import RecordSpec
from ..spec.serial import fingerprint, to_json
from .existing import Existing
from .header import BY, digest, with_header
from .languages import language_of
from .layout import wrap
from .output_paths import Taken, link_on_the_way, outputs_below
from .plan import shown_path
from .project_view import ProjectView
from .record_view import RecordView
from .render import RenderedFile, all_rendered, check_python
from .templates.environment import Templates

_PYTHON = (".py", ".pyi")


@dataclass(frozen=True)
class Output:
    """What a template of the project's own makes.

    Attributes:
        template: its name.
        path: where the file is written, relative to the project; `{record}` is the
            record's name.
        per: "record" for a file for each record, "project" for one of all.
        comment: how the file's language writes comments, if its ending does not tell.
        place: where it is set.
    """

    template: str
    path: str
    per: str
    comment: str | None
    place: Location


@dataclass(frozen=True)
class Outputs:
    """All additional outputs of a project, and where they may be.

    Attributes:
        output: the directory of generated code, relative to the project.
        directories: those next to it.
        rows: the outputs.
        templates: the project's own.
        schemas: the directory of schemas, the source of what all records make.
    """

    output: str
    directories: tuple[str, ...]
    rows: tuple[Output, ...]
    templates: Templates
    schemas: str


def with_outputs(
    files: tuple[RenderedFile, ...],
    specs: tuple[RecordSpec, ...],
    outputs: Outputs,
    kept: tuple[str, ...] = (),
) -> tuple[RenderedFile, ...]:
    """Return files and the additional outputs of all records, sorted by path.

    A path that leads out of the directory of generated code begins with "../".

    Args:
        files: what schemagen's templates make.
        specs: all records of the project.
        outputs: the additional outputs.
        kept: paths among the generated code that are not generated.

    Raises:
        SchemagenError: with all that is wrong with their templates and paths.
    """
    if not outputs.rows:
        return files
    wrong = [finding for row in outputs.rows for finding in _judged(row, outputs)]
    if wrong:
        raise SchemagenError(wrong)
    views = tuple(RecordView(spec, fingerprint(spec)) for spec in specs)
    taken = Taken()
    for path in (*kept, *(file.path for file in files)):
        taken.add(path)
    for row in outputs.rows:
        for path in _paths(row, views, outputs):
            other = taken.by(path)
            wrong += [_collision(path, other, row, outputs)] if other else []
            taken.add(path)
    if wrong:
        raise SchemagenError(wrong)
    made = all_rendered(
        job for row in outputs.rows for job in _jobs(row, views, outputs)
    )
    return tuple(sorted((*files, *made), key=lambda file: file.path))


def _judged(row: Output, outputs: Outputs) -> Iterator[Finding]:
    directory = outputs.templates.directory
    if directory is None or not (directory / row.template).is_file():
        shown = outputs.templates.shown
        near = did_you_mean(row.template, outputs.templates.own_names())
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
    roots = [outputs.output, *outputs.directories]
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


def _paths(row: Output, views: Iterable[RecordView], outputs: Outputs) -> Iterator[str]:
    names = [view.spec.record for view in views] if row.per == "record" else [""]
    for name in names:
        path = row.path.replace("{record}", name)
        yield posixpath.relpath(path, outputs.output)


def _collision(path: str, other: str, row: Output, outputs: Outputs) -> Finding:
    new, old = shown_path(outputs.output, path), shown_path(outputs.output, other)
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
    row: Output, views: tuple[RecordView, ...], outputs: Outputs
) -> Iterator[Callable[[], RenderedFile]]:
    language = language_of(row.path, row.comment)
    python = row.path.endswith(_PYTHON) or language is None
    style = None if language is None or python else language.comment
    print_: Callable[..., str] = outputs.templates.render
    if language is not None and not python:
        print_ = outputs.templates.printer(language)
    by = f"{BY}{outputs.templates.shown}/{row.template}"

    def job(path: str, source: str, spec: str, **context: object) -> RenderedFile:
        body = print_(row.template, **context)
        source = f"{source.removesuffix('.py')}{by}"
        if python:
            text = with_header(path, wrap(body), str(comment(source)), spec)
        elif style is None:
            _check_json(body, path, row, outputs)
            text = with_header(path, body, source, spec)
        else:
            source = style.harmless(source)
            text = with_header(path, body, source, spec, style.around)
        file = RenderedFile(path, text, str(comment(source)), spec)
        if path.endswith(_PYTHON):
            check_python(file, row.template, outputs.templates)
        return file

    if row.per == "record":
        for path, view in zip(_paths(row, views, outputs), views, strict=True):
            seal = digest(to_json(view.spec))
            yield partial(job, path, view.spec.source, seal, record=view)
    else:
        [path] = _paths(row, views, outputs)
        seal = digest("".join(to_json(view.spec) for view in views))
        source = f"{outputs.schemas}/*.py"
        yield partial(job, path, source, seal, project=ProjectView(views))


def _check_json(body: str, path: str, row: Output, outputs: Outputs) -> None:
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
            Location(f"{outputs.templates.shown}/{row.template}"),
            "SG412",
            f"{row.template} prints no valid JSON for {path}: line {line}: {words}",
            found=body.split("\n")[line - 1].strip(),
            expected="an object that begins the file, {...}, for the header to stand in",
            advice="correct the template; nothing is written until it is",
        )
    )


def read_outputs(root: Path, outputs: Outputs, wanted: Iterable[str]) -> Existing:
    """Return the additional outputs that are there, next to the generated code.

    Those are the files at wanted paths, and all that bear the header of such an output:
    a record that is gone, or an output that is no longer set, leaves them behind.

    Args:
        root: the project's directory.
        outputs: where they may be.
        wanted: the paths of all files, relative to the generated code.

    Returns:
        Their paths are relative to the generated code.

    Raises:
        SchemagenError: a directory leads out of its place by a symbolic link.
        OSError: a file cannot be read.
    """
    _refuse_links(root, outputs)
    base = root / outputs.output
    places = {
        Path(os.path.normpath(base / path)) for path in wanted if path.startswith("../")
    }
    for name in outputs.directories:
        places.update(outputs_below(root / name))
    files: dict[str, bytes] = {}
    links: set[str] = set()
    for place in places:
        path = os.path.relpath(place, base).replace(os.sep, "/")
        if place.is_symlink():
            links.add(path)
        if place.is_file() or path in links:
            files[path] = place.read_bytes() if place.is_file() else b""
    return Existing(files, frozenset(links))


def _refuse_links(root: Path, outputs: Outputs) -> None:
    """See that no directory on the way to an output is a link to elsewhere.

    Raises:
        SchemagenError: one is.
    """
    folders = {name: Location("pyproject.toml") for name in outputs.directories}
    for row in outputs.rows:
        folders[posixpath.dirname(row.path).replace("{record}", "*")] = row.place
    for folder, place in folders.items():
        link = link_on_the_way(root, folder)
        if link is not None:
            shown = link.relative_to(root).as_posix()
            raise refuse(
                Finding(
                    place,
                    "SG414",
                    f"{shown} is a symbolic link, and might lead out of the project",
                    found=os.readlink(link),
                    expected="a directory",
                    advice="make a directory of it, or write elsewhere",
                )
            )
