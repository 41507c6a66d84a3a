"""Adopt: what `infer`, `init`, `generate` and `verify` leave to do for existing data."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple

from ..codegen.plan import GenerationPlan
from ..config import Project, find_project, schemas_for, settings_directory
from ..data.formatting import shell_word
from ..data.layouts import listed_names
from ..data.sources import find_data
from ..data.tables import table_files
from ..data.verify import Verification, verify
from ..data.verify.verification import data_of
from ..documents import AsObject, ShownAs
from ..findings import refused
from ..progress import Bar, step
from ..runtime.shared.tfrecord import MOST_RECORD_BYTES
from ..runtime.storage.directory import is_remote
from .generate import generate
from .infer import Inferred, infer
from .init import init
from .inspect import Report, write_report
from .refusing import refusing_data
from .seal import Sealing, accepted, seal_verified

RECORDS = 10
"""How many records the generated code is tried on."""

_MOST_FILES = 20
_PROGRAM = "schemagen.use_cases.first_records"


class Delivered(NamedTuple):
    """A feature or a target, with dtype and shape."""

    name: str
    dtype: str
    shape: str


@dataclass(frozen=True)
class FirstRecords:
    """What the generated code delivers.

    Attributes:
        module: the pipeline, or without TensorFlow the reader, as a path in the project.
        records: how many records were read.
        features: the features and targets of the last one.
        problem: why there are no more; "".
    """

    module: str
    records: int = 0
    features: tuple[Annotated[Delivered, AsObject()], ...] = ()
    problem: str = ""

    @property
    def is_clean(self) -> bool:
        """Whether they could be read."""
        return not self.problem


@dataclass(frozen=True)
class Generated:
    """The code that was generated.

    Attributes:
        project: the project; in JSON, its directory.
        written: the files of a new project.
        plan: what was generated; in JSON, the files that were written or deleted, below
            the output directory.
    """

    project: Annotated[Project, ShownAs(attrgetter("root"), Path)]
    written: tuple[str, ...]
    plan: Annotated[
        GenerationPlan,
        ShownAs(lambda plan: [each.path for each in plan.changes], list[str]),
    ]
    is_clean: ClassVar[bool] = True


@dataclass(frozen=True)
class Checked:
    """All records against the schema.

    Attributes:
        verification: what is wrong with them; in JSON, as `verify` prints it.
        report: the HTML report; None if none was asked for; in JSON, its path.
    """

    verification: Annotated[Verification, ShownAs(data_of, dict[str, Any])]
    report: Annotated[Report, ShownAs(attrgetter("path"), str)] | None = None

    @property
    def is_clean(self) -> bool:
        """Whether nothing is wrong."""
        return self.verification.clean


def adopt(
    data: str,
    out: Path,
    directory: Path,
    *,
    html: str | None = None,
    seal: bool = False,
    accept: bool = False,
    max_record_bytes: int = MOST_RECORD_BYTES,
    **declaring: Any,
) -> Iterator[tuple[str, Inferred | Generated | Checked | Sealing | FirstRecords]]:
    """Infer a schema, generate its code, and check all records with both.

    Args:
        data: a data directory, a file or a glob, or the URL of one.
        out: the schema file.
        directory: in the project; without one, this directory becomes one.
        html: write the HTML report to this file.
        seal: write manifests next to the files if nothing is wrong.
        accept: seal files also if they are empty, lack keys or hold other records.
        max_record_bytes: longer records are damages and are not read.
        **declaring: `name`, `merge` and `force`, as `infer` takes them.

    Yields:
        The name of each step, as in `Steps`, and its result, when it is done.

    Raises:
        SchemagenError: a step is refused. What earlier steps have written stays.
    """
    if html is not None:
        from ..data.report.page import check_target

        check_target(html)
    _check_records(data, out)
    _check_schema_path(out, directory)
    inferred = infer(data, out, max_record_bytes=max_record_bytes, **declaring)
    yield "inferred", inferred
    written = () if settings_directory(directory) is not None else init(directory)
    project = find_project(directory)
    yield "generated", Generated(project, written, generate(directory))
    with refusing_data(data):
        files = find_data(data)
        reading: dict[str, Any] = {
            "lengths": seal,
            "max_record_bytes": max_record_bytes,
        }
        if html is None:
            with Bar("verifying") as bar:
                found = verify(files, spec=inferred.spec, progress=bar, **reading)
            checked = Checked(found)
        else:
            report = write_report(html, files, inferred.spec, **reading)
            checked = Checked(report.verification, report)
    if accept:
        checked = replace(checked, verification=accepted(checked.verification))
    yield "checked", checked
    if seal:
        with refusing_data(data):
            yield "sealing", seal_verified(checked.verification, inferred.spec)
    paths = [file.path for file in files.files]
    with step("reading with the generated code"):
        read = _first_records(project, inferred.spec.record, paths)
    yield "read", read


def _check_records(data: str, out: Path) -> None:
    """Check that data holds records, and not the rows of a table.

    Raises:
        SchemagenError: it is a table, whose files no reader can read.
    """
    with refusing_data(data):
        table = table_files(data)
    if table is None:
        return
    command = f"schemagen infer {shell_word(data)} --out {shell_word(str(out))}"
    raise refused(
        data,
        "these files hold a table, and no records to adopt",
        rule="SG442",
        found=listed_names([path.name for path in table.paths]),
        expected="TFRecord files",
        advice=f"run `{command}`, and write the rows with `write_dataset`",
    )


def _check_schema_path(out: Path, directory: Path) -> None:
    """Check that a schema file is where its project looks for schemas.

    Raises:
        SchemagenError: it is not, so nothing would be generated from it.
    """
    schemas = schemas_for(directory)
    if out.resolve().parent.is_relative_to(schemas):
        return
    raise refused(
        out,
        f"{out} is not in the directory of schemas",
        rule="SG442",
        expected=f"a file in {os.path.relpath(schemas)}",
        advice="give --out a path in it, or name the project by --project",
    )


def _first_records(
    project: Project, record: str, paths: Iterable[object]
) -> FirstRecords:
    """Read the first records of some files with the generated code.

    It runs in a process of its own, as a program of the user does.

    Args:
        project: its generated code is imported.
        record: the record's name.
        paths: the files; the first ones are read.
    """
    output = project.output.resolve()
    directory = f"{project.settings.output}/{record}"
    chosen = [
        name if is_remote(name) else os.path.abspath(name)
        for name in map(str, list(paths)[:_MOST_FILES])
    ]
    command = [
        *(sys.executable, "-m", _PROGRAM, str(RECORDS)),
        *(f"{output.name}.{record}", *chosen),
    ]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=output.parent,  # which is first on the path of modules
        env=environment,
        check=False,
    )
    if done.returncode:
        problem = _last_line(done.stderr) or "no answer"
        return FirstRecords(f"{directory}/pipeline.py", problem=problem)
    found = json.loads(_last_line(done.stdout))
    features = tuple(Delivered(*each) for each in found["features"])
    module = f"{directory}/{found['module']}.py"
    return FirstRecords(module, found["records"], features, found["problem"])


def _last_line(text: str) -> str:
    return text.strip().split("\n")[-1]
