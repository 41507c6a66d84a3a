"""What can be done with a project: each use case of the command line."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from .codegen import diff
from .codegen.apply import apply, sweep
from .codegen.existing import read_existing
from .codegen.outputs import Outputs, read_outputs, with_outputs
from .codegen.plan import COMMAND, Plan, make_plan
from .codegen.render import RenderedFile, render, render_training
from .codegen.templates import templates_directory
from .codegen.turns import turn
from .config import FILE_NAME, Project, find_project, read_settings
from .evolution.acceptance import FILE_NAME as ACCEPTED_BREAKS
from .findings import Finding, Location, SchemagenError, refuse
from .own_templates import outputs_of, templates_of, warnings_of
from .schema.loading import load_schemas
from .spec.model import RecordSpec
from .spec.resolve import Resolved, resolve
from .spec.serial import from_json
from .support.errors import did_you_mean


def resolve_schemas(project: Project) -> Resolved:
    """Read the schemas of a project: their specs, and where each thing is declared.

    Raises:
        SchemagenError: with everything that is wrong with them.
    """
    settings = project.settings
    loaded = load_schemas(project.root, settings.schemas, settings.output)
    resolved = resolve(loaded.records)
    findings = (*loaded.findings, *resolved.findings)
    if not findings and not loaded.records:
        there = (project.root / settings.schemas).is_dir()
        findings = (
            Finding(
                Location(settings.schemas),
                "SG103",
                f"no record in {settings.schemas}/*.py"
                if there
                else f"there is no directory {settings.schemas}",
                expected="a class that derives from schemagen.Record",
                advice="run `schemagen init`, or set `schemas` in [tool.schemagen]",
            ),
        )
    if findings:
        raise SchemagenError(findings)
    return resolved


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
    specs = load_specs(project)
    outputs = outputs_of(project)
    shown = project.settings.output
    try:
        existing = read_existing(project.output)
        rendered = _rendered(specs, outputs, existing.files)
        wanted = (file.path for file in rendered)
        existing.files.update(read_outputs(project.root, outputs, wanted))
    except OSError as error:
        raise _unreadable(project, error, command) from None
    # What people have decided is no generated code.
    existing.files.pop(ACCEPTED_BREAKS, None)
    found = make_plan(
        rendered,
        existing.files,
        shown,
        force=force,
        links=existing.links,
        command=command,
        rerender=lambda text: _rendered((from_json(text),), outputs, existing.files),
    )
    return replace(found, warnings=warnings_of(outputs))


def _rendered(
    specs: tuple[RecordSpec, ...], outputs: Outputs, existing: Mapping[str, bytes]
) -> tuple[RenderedFile, ...]:
    """Return all files that specs ask for, additional outputs included."""
    rendered = render(specs, outputs.templates, existing)
    return with_outputs(rendered, specs, outputs, kept=(ACCEPTED_BREAKS,))


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
    with turn(project.root) as alone:
        found = _allowed(plan(project, force=force, command=command))
        if not project.output.resolve().is_relative_to(project.root):
            if found.changes:
                raise refuse(_leaving(project, command))
            return found
        apply(found, project.output)
        sweep(found, project.output, alone=alone)
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


def unified_diff(found: Plan) -> str:
    """Return what a plan would change, as a unified diff."""
    return diff.unified_diff(found)


@dataclass(frozen=True)
class Started:
    """What `init` has made: paths relative to the directory."""

    files: tuple[str, ...]


_TRAINING = "train.py"

_TABLE = """[tool.schemagen]
schemas = "schemas"    # where records are declared
output = "generated"   # where their code is written; commit both
"""


def init(directory: Path | str = ".") -> Started:
    """Make a directory a project: settings, and a schema to start from.

    What is there is kept: the settings are added to a pyproject.toml that exists,
    and no schema is written where there are some.

    Raises:
        SchemagenError: the directory has settings already.
    """
    root = Path(directory)
    settings = root / FILE_NAME
    text, table = read_settings(settings) if settings.exists() else ("", None)
    if table is not None:
        raise refuse(
            Finding(
                Location(FILE_NAME),
                "SG404",
                f"{FILE_NAME} already has [tool.schemagen]",
                advice="run `schemagen generate`; there is nothing to set up",
            )
        )
    written = [FILE_NAME]
    schema = root / "schemas" / "pet_photo.py"
    try:
        if not any(schema.parent.glob("*.py")):
            schema.parent.mkdir(parents=True, exist_ok=True)
            example = templates_directory() / "init" / "pet_photo.py"
            schema.write_text(example.read_text(encoding="utf-8"), encoding="utf-8")
            written.append("schemas/pet_photo.py")
        line_end = "\r\n" if "\r\n" in text else "\n"
        separator = "\n" if text.endswith("\n") else "\n\n" if text else ""
        with settings.open("a", encoding="utf-8", newline=line_end) as file:
            file.write(separator + _TABLE)
    except OSError as error:
        raise refuse(
            Finding(
                Location(FILE_NAME),
                "SG403",
                f"the project cannot be written: {error}",
                advice="make the directory writable and run the command again",
            )
        ) from None
    return Started(tuple(written))


def init_training(record: str, directory: Path | str = ".") -> Started:
    """Write `train.py`, which trains a record's model, for its user to keep and change.

    Args:
        record: a record's name or class name. Its code need not be generated yet.
        directory: in the project.

    Raises:
        SchemagenError: the schemas cannot be read, there is no such record, it has no
            target, or there is a `train.py`.
    """
    project = find_project(Path(directory))
    specs = load_specs(project)
    spec = _spec_of(record, specs, project)
    if not spec.with_role("target"):
        raise refuse(
            Finding(
                Location(spec.source),
                "SG406",
                f"{spec.class_name} has no target, and so no loss to train with",
                expected="a field that the model learns to predict, such as a Label",
                advice='give a field role="target", or train on what build_model() '
                "returns by a program of your own",
            )
        )
    text = render_training(spec, project.settings.output, templates_of(project))
    path = project.root / _TRAINING
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise refuse(
            Finding(
                Location(_TRAINING),
                "SG404",
                f"{_TRAINING} exists, and is yours",
                advice="rename it to have another one written",
            )
        ) from None
    except OSError as error:
        raise refuse(
            Finding(
                Location(_TRAINING),
                "SG403",
                f"{_TRAINING} cannot be written: {error.strerror or error}",
                advice="make the directory writable and run the command again",
            )
        ) from None
    return Started((_TRAINING,))


def describe(directory: Path | str, record: str | None = None) -> list[RecordSpec]:
    """Return the specs of all records, or of one by its name or class name.

    Raises:
        SchemagenError: the schemas cannot be read, or there is no such record.
    """
    project = find_project(Path(directory))
    specs = load_specs(project)
    return list(specs) if record is None else [_spec_of(record, specs, project)]


def _spec_of(
    record: str, specs: tuple[RecordSpec, ...], project: Project
) -> RecordSpec:
    """Return the spec of a record by its name or class name.

    Raises:
        SchemagenError: there is no such record.
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
