"""Adopt existing data: infer its schema, generate the code, and check all records."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..config import Project, find_project, settings_directory
from ..data.checks.model import Verification
from ..data.infer import DOUBT
from ..data.listing import Listing, list_data
from ..data.verify import verify
from ..findings import Finding, Location, refuse
from ..progress import Bar, step
from ..runtime.storage.opening import is_remote
from ..spec.model import RecordSpec
from .generate import generate
from .infer import Inferred, infer
from .init import init
from .inspect import inspect_and_verify

RECORDS = 10
"""How many records the generated pipeline is tried on."""

_MOST_FILES = 20
_PROGRAM = "schemagen.use_cases.first_records"


@dataclass(frozen=True)
class Doubt:
    """A comment of a schema that its user has to decide upon.

    Attributes:
        line: its line, from 1.
        field: the field below it; the class, if it is above the class.
        text: what is doubtful.
    """

    line: int
    field: str
    text: str


@dataclass(frozen=True)
class FirstRecords:
    """What the generated pipeline delivers.

    Attributes:
        records: how many records were read.
        features: name, dtype and shape of each feature and target of the last one.
        problem: why there are no more; "".
    """

    records: int = 0
    features: tuple[tuple[str, str, str], ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class Adopted:
    """Data that has a schema and generated code.

    Attributes:
        inferred: the schema file.
        settings: the files of a new project; empty if there was one.
        output: the directory of the generated code, as the settings have it.
        changes: how many generated files were written.
        verification: what is wrong with the data.
        report_bytes: the size of the HTML report; 0 without one.
        first_records: what the generated pipeline reads.
        doubts: what is left to decide in the schema.
    """

    inferred: Inferred
    settings: tuple[str, ...]
    output: str
    changes: int
    verification: Verification
    report_bytes: int
    first_records: FirstRecords
    doubts: tuple[Doubt, ...]


def adopt(
    data: str,
    out: Path | str,
    directory: Path | str = ".",
    *,
    name: str | None = None,
    merge: bool = False,
    force: bool = False,
    html: str | None = None,
) -> Adopted:
    """Infer a schema, generate its code, and check all records.

    Args:
        data: a data directory, a glob, or a file.
        out: the schema file to write.
        directory: in the project, which is made if there is none.
        name: the name of the class; None to derive it from the file's.
        merge: declare one record of files that share few keys.
        force: overwrite the schema file.
        html: the HTML report to write; None for none.

    Raises:
        SchemagenError: the data holds no records, or the schema cannot be written.
        DatasetError: the data or the report cannot be read or written.
    """
    if html is not None:
        from ..data.report.writing import check_target

        check_target(html)
    out, directory = Path(out), Path(directory)
    _check_schema_path(out, directory)
    inferred = infer(data, out, name=name, merge=merge, force=force)
    is_new = settings_directory(directory) is None
    settings = init(directory) if is_new else ()
    project, plan = find_project(directory), generate(directory)
    listing = list_data(data)
    verification, report_bytes = _verified(listing, inferred.spec, html)
    paths = [str(file.path) for file in listing.data.files]
    return Adopted(
        inferred,
        settings,
        project.settings.output,
        len(plan.changes),
        verification,
        report_bytes,
        _first_records(project, inferred.spec.record, paths),
        _doubts_in(out.read_text(encoding="utf-8")),
    )


def _verified(
    listing: Listing, spec: RecordSpec, html: str | None
) -> tuple[Verification, int]:
    """Check all records; return the size of the HTML report, too."""
    if html is None:
        with Bar("verifying") as bar:
            return verify(listing, spec=spec, progress=bar), 0
    from ..data.report.writing import write_report

    statistics, verification = inspect_and_verify(listing, spec, workers=None)
    specs = dict.fromkeys(statistics.splits, spec)
    return verification, write_report(html, statistics, specs, verification)


def _check_schema_path(out: Path, directory: Path) -> None:
    """Check that a schema file is where its project looks for schemas.

    Raises:
        SchemagenError: it is not, so that nothing would be generated from it.
    """
    root = settings_directory(directory)
    if root is None:
        schemas = directory.resolve() / "schemas"
    else:
        project = find_project(root)
        schemas = project.root / project.settings.schemas
    if out.resolve().parent.is_relative_to(schemas):
        return
    raise refuse(
        Finding(
            Location(os.fspath(out)),
            "SG442",
            f"{out} is not in the directory of schemas",
            expected=f"a file in {os.path.relpath(schemas)}",
            advice="give --out a path in it, or name the project by --project",
        )
    )


def _doubts_in(text: str) -> tuple[Doubt, ...]:
    """Return the doubts of a schema file, in its order."""
    lines, found = text.split("\n"), []
    for number, line in enumerate(lines, 1):
        start, mark, said = line.partition(f"# {DOUBT}")
        if not mark or start.strip():
            continue
        more = []
        for other in lines[number:]:
            match = re.fullmatch(r"\s*#   (.*)", other)
            if match is None:
                break
            more.append(match[1])
        below = (other.strip() for other in lines[number:])
        code = next((other for other in below if other and other[0] != "#"), "")
        name = re.match(r"(?:class )?(\w+)", code)
        found.append(Doubt(number, name[1] if name else "", " ".join([said, *more])))
    return tuple(found)


def _first_records(project: Project, record: str, paths: Sequence[str]) -> FirstRecords:
    """Read the first records of some files with the generated pipeline.

    It runs in a process of its own, as a program of the user does.
    """
    output = project.output.resolve()
    chosen = [
        name if is_remote(name) else os.path.abspath(name)
        for name in paths[:_MOST_FILES]
    ]
    command = [
        *(sys.executable, "-m", _PROGRAM, str(RECORDS)),
        *(f"{output.name}.{record}.pipeline", *chosen),
    ]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    with step("reading with the generated pipeline"):
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            cwd=output.parent,  # which is first on the path of modules
            env=environment,
            check=False,
        )
    answer = (done.stdout.strip().split("\n") or [""])[-1]
    if done.returncode or not answer:
        return FirstRecords(problem=_last_line(done.stderr) or "no answer")
    found = json.loads(answer)
    features: Sequence[Sequence[str]] = found["features"]
    return FirstRecords(
        found["records"],
        tuple((name, dtype, shape) for name, dtype, shape in features),
        found["problem"],
    )


def _last_line(text: str) -> str:
    return next((line.strip() for line in text.split("\n")[::-1] if line.strip()), "")
