"""What can be done with a project: each use case of the command line."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path, PurePosixPath

from ..codegen.apply import apply, lock, sweep
from ..codegen.existing import read_existing
from ..codegen.header import source_of
from ..codegen.plan import COMMAND, Plan, make_plan, shown_path
from ..codegen.render import render
from ..config import FILE_NAME, Project, find_project
from ..findings import Finding, Location, SchemagenError, refuse
from ..git.attributes import ACCEPTED_BREAKS
from ..runtime.shared.errors import did_you_mean
from ..schema.failures import load_failure
from ..schema.loading import load_schemas
from ..schema.record import Record
from ..schema.source_map import SourceMap
from ..spec.model import RecordSpec
from ..spec.resolve import Resolved, resolve, spec_of_class
from .templates import templates_of


def resolve_schemas(project: Project) -> Resolved:
    """Read the schemas of a project: their specs, and where each thing is declared.

    Raises:
        SchemagenError: with everything that is wrong with them.
    """
    settings = project.settings
    places = (project.root, settings.schemas, settings.output)
    try:
        loaded = load_schemas(*places)
        resolved = resolve(loaded.records)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too: it would be the exit code
        directory = project.root / settings.schemas
        shown = SourceMap(project.root)
        finding = load_failure(error, directory, shown, settings.output)
        if finding is None:
            raise
        raise refuse(finding) from None
    findings = (*loaded.findings, *resolved.findings)
    if not findings and not loaded.records:
        findings = (_no_record(project),)
    if findings:
        raise SchemagenError(findings)
    return replace(resolved, warnings=loaded.warnings)


def _no_record(project: Project) -> Finding:
    schemas = project.settings.schemas
    found = (project.root / schemas).is_dir()
    return Finding(
        Location(schemas),
        "SG103",
        f"no record in {schemas}/*.py" if found else f"there is no directory {schemas}",
        expected="a class that derives from schemagen.Record",
        advice="run `schemagen init`, or set `schemas` in [tool.schemagen]",
    )


def load_specs(project: Project) -> tuple[RecordSpec, ...]:
    """Read the specs of a project.

    Raises:
        SchemagenError: with everything that is wrong with the schemas.
    """
    return resolve_schemas(project).specs


def plan(project: Project, *, force: bool = False, command: str = COMMAND) -> Plan:
    """Compare a project's schemas with its generated code. Writes nothing.

    Args:
        project: the project.
        force: overwrite generated files that were edited by hand.
        command: how its code is generated from where the user is, for messages.

    Raises:
        SchemagenError: the schemas or the output directory cannot be read.
    """
    resolved = resolve_schemas(project)
    templates = templates_of(project)
    try:
        existing = read_existing(project.output)
    except OSError as error:
        raise _unreadable(project, error, command) from None
    wanted = render(resolved.specs, templates, existing.files)
    there = dict(existing.files)
    there.pop(ACCEPTED_BREAKS, None)  # decisions of people are not generated code
    found = make_plan(
        wanted,
        there,
        project.settings.output,
        force=force,
        links=existing.links,
        command=command,
    )
    return replace(found, warnings=resolved.warnings)


def _unreadable(project: Project, error: OSError, command: str) -> SchemagenError:
    output = PurePosixPath(project.settings.output)
    path = Path(error.filename or project.output)
    if path != project.output and path.is_relative_to(project.output):
        shown = (output / path.relative_to(project.output).as_posix()).as_posix()
        expected, advice = "a file that can be read", "make it readable"
    else:
        shown, expected = output.as_posix(), "a directory, or nothing"
        advice = "move it away, or set `output` in [tool.schemagen]"
    return refuse(
        Finding(
            Location(shown),
            "SG403",
            f"{shown} cannot be read: {error.strerror or error}",
            expected=expected,
            advice=f"{advice}, and run `{command}`",
        )
    )


def generate_command(project: Project, directory: Path | str) -> str:
    """Return the command that generates a project's code from where the user is.

    Args:
        project: the project.
        directory: the directory in it that the user gave.
    """
    if str(directory) == ".":
        return COMMAND
    try:
        here = find_project(Path.cwd()).root
    except (SchemagenError, OSError):
        here = None
    if here == project.root:
        return COMMAND
    return f"{COMMAND} --project {shlex.quote(str(directory))}"


def generate(
    directory: Path | str = ".", *, dry_run: bool = False, force: bool = False
) -> Plan:
    """Bring a project's generated code up to date.

    Of several runs at the same time each waits for the one before.

    Args:
        directory: in the project.
        dry_run: only say what would be done.
        force: overwrite generated files that were edited by hand.

    Returns:
        What was done, or would be.

    Raises:
        SchemagenError: with everything that stands against it; nothing is changed.
    """
    project = find_project(Path(directory))
    command = generate_command(project, directory)
    if dry_run:
        return _allowed(plan(project, force=force, command=command))
    with lock(project.root) as alone:
        found = _allowed(plan(project, force=force, command=command))
        if not project.output.resolve().is_relative_to(project.root):
            if found.changes:
                raise refuse(_leaving(project, command))
            return found
        apply(found, project.output)
        if alone:
            sweep(project.output)
    return found


def _allowed(found: Plan) -> Plan:
    """Return a plan in which nothing is refused.

    Raises:
        SchemagenError: something is.
    """
    if found.refused:
        raise SchemagenError(found.refused)
    return found


def _leaving(project: Project, command: str) -> Finding:
    shown = project.settings.output
    return Finding(
        Location(shown),
        "SG311",
        f"{shown} leads out of the project by a symbolic link",
        found=project.output.resolve().as_posix(),
        expected="a directory of the project",
        advice=f"remove the link, and run `{command}`",
    )


def check(directory: Path | str = ".") -> Plan:
    """Compare a project's generated code with its schemas.

    Args:
        directory: in the project.

    Returns:
        A plan, whose `findings` say what is not up to date and why.

    Raises:
        SchemagenError: the schemas cannot be read.
    """
    project = find_project(Path(directory))
    return plan(project, command=generate_command(project, directory))


def untracked(found: Plan, directory: Path | str = ".") -> tuple[Finding, ...]:
    """Tell which generated files or schemas git does not track, and the others it does.

    Args:
        found: the plan of the project. Files that are not there are left out: they
            are missing, whatever git tracks.
        directory: in the project.

    Raises:
        SchemagenError: git does not say what it tracks.
    """
    from ..git.tracking import half_tracked, tracked_files  # only where git is asked

    project = find_project(Path(directory))
    sources = {
        shown_path(found.output, file.path): source_of(file.path, file.new)
        for file in found.files
        if file.new is not None and (project.output / file.path).exists()
    }
    looked_at = (FILE_NAME, project.settings.schemas, found.output)
    accepted = f"{found.output}/{ACCEPTED_BREAKS}"
    if (project.root / accepted).exists():
        sources[accepted] = FILE_NAME  # what was accepted belongs to the project
    tracked = tracked_files(project.root, looked_at)
    return half_tracked(sources, tracked, found.output)


def describe(directory: Path | str, record: str | None = None) -> list[RecordSpec]:
    """Return the specs of all records, or of one by its name or class name.

    Raises:
        SchemagenError: the schemas cannot be read, or the record does not exist.
    """
    project = find_project(Path(directory))
    specs = load_specs(project)
    return list(specs) if record is None else [spec_of(record, specs, project)]


def describe_class(record: object) -> RecordSpec:
    """Return the spec of a record class, wherever it is declared.

    Raises:
        SchemagenError: the class is not valid.
        TypeError: it is not a record class.
    """
    if not (isinstance(record, type) and issubclass(record, Record)):
        raise TypeError(
            f"{record!r} is neither a record class nor the name of a record; for data, "
            "call schemagen.describe_data"
        )
    return spec_of_class(record)


def spec_of(record: str, specs: tuple[RecordSpec, ...], project: Project) -> RecordSpec:
    """Return the spec of a record by its name or class name.

    Raises:
        SchemagenError: the record does not exist.
    """
    for spec in specs:
        if record in (spec.record, spec.class_name):
            return spec
    names = [spec.record for spec in specs]
    all_names = [*names, *(spec.class_name for spec in specs)]
    raise refuse(
        Finding(
            Location(project.settings.schemas),
            "SG405",
            f"no record {record!r}",
            found=record,
            expected=f"one of {', '.join(names)}",
            advice=did_you_mean(record, all_names) or "name one of these",
        )
    )
