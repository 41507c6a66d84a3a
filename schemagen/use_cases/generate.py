"""What can be done with a project: each use case of the command line."""

from __future__ import annotations

import os
import shlex
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from ..codegen.apply import apply, lock, read_existing, sweep
from ..codegen.header import source_of
from ..codegen.plan import COMMAND, Action, GenerationPlan, make_plan, shown_path
from ..codegen.render import render
from ..config import FILE_NAME, Project, find_project
from ..findings import Finding, Location, SchemagenError, refuse, refused
from ..git import ACCEPTED_BREAKS
from ..runtime.shared.errors import did_you_mean
from ..schema.loading import load_failure, load_schemas
from ..schema.source_map import SourceMap
from ..spec.checks import default_targets
from ..spec.model import RecordSpec
from ..spec.resolve import Resolved, resolve
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
    if findings:
        raise SchemagenError(findings)
    if not loaded.records:
        raise SchemagenError((_no_record(project), *loaded.warnings))
    return replace(resolved, warnings=loaded.warnings)


def _no_record(project: Project) -> Finding:
    schemas = project.settings.schemas
    found = (project.root / schemas).is_dir()
    return Finding(
        Location(schemas),
        "SG103",
        f"no record in {schemas}/*.py"
        if found
        else f"directory {schemas} does not exist",
        expected="a class that derives from schemagen.Record",
        advice="write one, or begin with `schemagen init` in an empty directory; `schemas` "
        "in [tool.schemagen] says where schemas are",
    )


def load_specs(project: Project) -> tuple[RecordSpec, ...]:
    """Read the specs of a project.

    Raises:
        SchemagenError: with everything that is wrong with the schemas.
    """
    return resolve_schemas(project).specs


def plan(
    project: Project, *, force: bool = False, command: str = COMMAND
) -> GenerationPlan:
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
        path = os.path.relpath(error.filename or project.output, project.root)
        raise refused(
            path,
            f"{path} cannot be read: {error.strerror or error}",
            rule="SG403",
            expected="a directory of generated files, or nothing",
            advice=f"make it readable or move it away, and run `{command}`",
        ) from None
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
    created = {file.path for file in found.files if file.action is Action.CREATE}
    new = [spec for spec in resolved.specs if f"{spec.record}/spec.json" in created]
    return replace(
        found,
        warnings=resolved.warnings,
        new=tuple(new),
        new_warnings=tuple(
            warning
            for spec in new
            for warning in default_targets(resolved.records[spec.record])
        ),
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
) -> GenerationPlan:
    """Bring a project's generated code up to date, as `schemagen generate` does.

    Of several runs at the same time each waits for the one before.

    Args:
        directory: a directory of the project.
        dry_run: return the plan without writing anything.
        force: overwrite generated files that were edited by hand.

    Returns:
        The plan that was carried out, or would be.

    Raises:
        SchemagenError: the schemas cannot be read, or files must not be overwritten;
            nothing is changed.
    """
    project = find_project(Path(directory))
    command = generate_command(project, directory)
    with nullcontext() if dry_run else lock(project.root) as alone:
        found = plan(project, force=force, command=command)
        if found.refused:
            raise SchemagenError(found.refused)
        if dry_run:
            return found
        is_inside = project.output.resolve().is_relative_to(project.root)
        if found.changes and not is_inside:
            shown = project.settings.output
            raise refused(
                shown,
                f"{shown} points outside the project through a symbolic link",
                rule="SG311",
                found=project.output.resolve().as_posix(),
                expected="a directory of the project",
                advice=f"remove the link, and run `{command}`",
            )
        if is_inside:
            apply(found, project.output)
            if alone:
                sweep(project.output)
    return found


def check(directory: Path | str = ".") -> GenerationPlan:
    """Compare a project's generated code with its schemas, as `schemagen check` does.

    Args:
        directory: a directory of the project.

    Returns:
        A plan. Its `findings` say which files are not up to date, and why.

    Raises:
        SchemagenError: the schemas cannot be read.
    """
    project = find_project(Path(directory))
    return plan(project, command=generate_command(project, directory))


def untracked(
    found: GenerationPlan, directory: Path | str = "."
) -> tuple[Finding, ...]:
    """Tell which generated files or schemas git does not track, and the others it does.

    Args:
        found: the plan of the project. Files that are missing are left out: they
            are missing, whatever git tracks.
        directory: in the project.

    Raises:
        SchemagenError: git does not say what it tracks.
    """
    from ..git import half_tracked, tracked_files

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
    raise refused(
        project.settings.schemas,
        f"no record {record!r}",
        rule="SG405",
        found=record,
        expected=f"one of {', '.join(names)}",
        advice=did_you_mean(record, all_names) or "name one of these",
    )
