"""Making schemas of data: infer and adopt."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..data.formatting import plural, shell_word
from .completion import complete_paths
from .help import Command
from .printing import echo
from .reporting import (
    data_argument,
    html_option,
    leave,
    print_sealing,
    project_option,
    record_limit,
    report,
    saying_not_sealed,
    sealing_options,
    split_option,
)

if TYPE_CHECKING:
    from ..data.tables import TableFiles
    from ..use_cases.adopt import Checked, FirstRecords, Generated
    from ..use_cases.infer import Inferred

_MOST_SHOWN = 5


def schema_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what commands take that write the schema of some data."""
    for option in (
        click.option("--force", is_flag=True, help="Overwrite FILE."),
        click.option(
            "--merge",
            is_flag=True,
            help="Declare one record of files that share few keys.",
        ),
        click.option(
            "--name",
            metavar="CLASS",
            help="The record's name.  [default: FILE's, or that in the manifest]",
        ),
        click.option(
            "--out",
            required=True,
            metavar="FILE",
            shell_complete=complete_paths,
            help="The schema file to write.",
        ),
        data_argument,
    ):
        command = option(command)
    return command


@click.command(
    cls=Command,
    examples=[
        (
            "Write a schema of the first 10,000 records",
            "schemagen infer 'old/train-*' --out schemas/photo.py",
        ),
        (
            "Write a schema of the rows of a table",
            "schemagen infer train.parquet --out schemas/house.py",
        ),
    ],
)
@schema_options
@split_option
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=10_000,
    show_default=True,
    metavar="N",
    help="Read N records or rows, the first ones of each file; 0 for all.",
)
def infer(data: str, out: str, split: str | None, limit: int, **options: Any) -> None:
    """Write the schema file of the records in DATA, or of the rows of a table.

    DATA is a data directory, a glob or a file, or the URL of one. Files of a table
    end with .parquet, .csv, .feather or .arrow, and need pyarrow. Open
    questions are marked in the schema by comments that begin with "doubt:".
    """
    from ..use_cases.infer import infer as infer_schema

    steps = _steps_before_generate(Path(out))
    options["max_record_bytes"] = record_limit()
    found = infer_schema(data, out, split=split, limit=limit or None, **options)
    _print_inferred(found)
    if found.doubts:
        echo(
            f'  {plural(found.doubts, "doubt")}: answer the comments with "doubt:", '
            "and delete them"
        )
    steps.append("run `schemagen generate`")
    if found.table is not None:
        if len(found.table.splits) > 1:
            splits = " and ".join(found.table.splits)
            echo(f"  note: files of the splits {splits}: choose one with --split")
        echo(f"Next: {', then '.join(steps)}, then write the rows:")
        for line in _program(found.table, found.spec.record, Path(out)):
            echo(f"    {line}")
        return
    if found.read:
        record = found.spec.record
        of_split = "" if split is None else f" --split {shell_word(split)}"
        of_data = f"{shell_word(data)}{of_split}"
        steps.append(f"run `schemagen verify {of_data} --record {record}`")
    echo(f"Next: {', then '.join(steps)}.")
    if found.foreign or found.damages:
        leave()


def _program(table: TableFiles, record: str, out: Path) -> Iterator[str]:
    """Yield the lines of a program that writes the rows of a table."""
    from ..config import find_project

    places = _projects(out)
    output = find_project(places[0]).output.name if places else "generated"
    split = table.splits[0] if len(table.splits) == 1 else "train"
    text = " ".join((*table.options, table.expression))
    names = dict.fromkeys(re.findall(r"\b(glob|pyarrow\.\w+)\.", text))
    yield from (f"import {name}" for name in names)
    yield f"from {output}.{record}.serializer import write_dataset"
    yield from table.options
    yield f"write_dataset({table.expression}, 'data', {split!r})"


def _steps_before_generate(out: Path) -> list[str]:
    """Return what makes a schema file one of a project, if it will not be."""
    from ..config import schemas_for

    directory, places = out.resolve().parent, _projects(out)
    schemas = schemas_for(places[0] if places else Path())
    steps = [] if places else ["run `schemagen init`"]
    if not directory.is_relative_to(schemas):
        where = os.path.relpath(schemas)
        steps.append(f"move {out} to {where}/, where schemas are looked for")
    return steps


def _projects(out: Path) -> list[Path]:
    """Return places in the projects that a schema file may be of, the first one's first."""
    from ..config import settings_directory

    places = (out.resolve().parent, Path())
    return [place for place in places if settings_directory(place)]


def _print_inferred(found: Inferred) -> None:
    """Print what was inferred."""
    from ..data.layouts import import_command, listed_names
    from ..findings import printable

    fields = plural(len(found.spec.fields), "field")
    if not found.read:
        echo(
            f"wrote {found.path}: {found.spec.class_name}, {fields}, the schema that "
            "wrote this data, by its manifest"
        )
        return
    echo(f"wrote {found.path}: {found.spec.class_name}, {fields}, from {found.read}")
    for gap in found.gaps[:_MOST_SHOWN]:
        echo(f"  note: {printable(gap.split)}: {printable(gap.text)}")
    if found.tfds:
        command = import_command(found.tfds, str(found.path))
        echo("  note: features.json has more details than the records; to use it:")
        echo(f"    {command}")
    if found.other_files:
        echo(f"  not looked at: {listed_names(found.other_files)}")
    if found.malformed:
        records = plural(found.malformed, "record is", "records are")
        echo(f"  {records} not a tf.train.Example")
    if found.damages:
        first = found.damages[0]
        places = plural(found.damaged, "place")
        echo(
            f"  {places} could not be read, the first at record {first.record:,} of "
            f"{printable(first.file)}: {first.found}"
        )
        hint = 'make_dataset(on_corrupt="skip") reads the other records'
        echo(f"  {first.cause if first.kind == 'limit' else hint}")
    left_out = (f"{key!a}: {why}" for key, why in (found.left_out or {}).items())
    _list("left out", [*left_out], "more key")
    for said in found.lacking:
        echo(f"  warning: {printable(said)}")
    foreign = (f"{printable(file)}: {what}" for file, what in found.foreign.items())
    _list("not a tf.train.Example:", [*foreign], "more file")


def _list(what: str, items: Sequence[str], more: str) -> None:
    """Print the first items, and how many more there are."""
    for item in items[:_MOST_SHOWN]:
        echo(f"  {what} {item}")
    if len(items) > _MOST_SHOWN:
        echo(f"  {what} {plural(len(items) - _MOST_SHOWN, more)}")


@click.command(
    cls=Command,
    examples=[
        (
            "Infer a schema, generate its code, and check all records",
            "schemagen adopt 'old/train-*' --out schemas/photo.py",
        ),
        (
            "Also seal the files, so that readers compare them",
            "schemagen adopt old --out schemas/photo.py --seal",
        ),
    ],
)
@schema_options
@sealing_options(
    "If nothing is wrong, write a manifest with the schema next to the files."
)
@html_option
@project_option
def adopt(data: str, out: str, project: str, **options: Any) -> None:
    """Infer a schema, generate its code, and check all records.

    Also writes the settings of a project if there are none, reads some records with the
    generated code, and lists what you have to decide in the schema. The files of DATA
    are not changed.

    With --seal, readers compare the files and their schema from then on, as they do with
    files that schemagen has written.
    """
    from ..use_cases.adopt import Checked, FirstRecords, Generated
    from ..use_cases.adopt import adopt as adopting
    from ..use_cases.infer import Inferred
    from ..use_cases.seal import Sealing

    is_clean, record, sealing = True, "", Sealing()
    if options["accept"] and not options["seal"]:
        raise click.UsageError("--accept needs --seal.")
    options["max_record_bytes"] = record_limit()
    with saying_not_sealed(wanted=options["seal"]):
        for done in adopting(data, Path(out), Path(project), **options):
            match done:
                case Inferred():
                    _print_inferred(done)
                    record = done.spec.record
                    is_clean = is_clean and not (done.foreign or done.lost)
                case Generated():
                    _print_generated(done)
                case Checked():
                    _print_checked(done)
                    is_clean = is_clean and not done.verification.findings
                case Sealing():
                    sealing = done
                    is_clean = is_clean and not done.reasons
                case FirstRecords():
                    _print_records(done)
                    is_clean = is_clean and not done.problem
    again = f"`schemagen verify {shell_word(data)} --record {record} --seal`"
    _print_doubts(Path(out), again if sealing.sealed else "")
    print_sealing(sealing)
    if not is_clean:
        leave()


def _print_generated(done: Generated) -> None:
    from .plan_text import roles_text

    for path in done.written:
        echo(f"wrote {path}")
    changed = plural(len(done.plan.changes), "file")
    echo(f"generated {changed} in {done.project.settings.output}/")
    roles = roles_text(done.plan)
    if roles:
        echo(roles)


def _print_checked(done: Checked) -> None:
    from ..data.formatting import size
    from ..data.verify.verification import summary
    from ..findings import printable

    report([each.finding() for each in done.verification.findings], "text")
    echo(summary(done.verification))
    if done.report is not None:
        echo(f"wrote {printable(done.report.path)} ({size(done.report.bytes)})")


def _print_records(read: FirstRecords) -> None:
    from ..findings import printable

    if read.records:
        records = plural(read.records, "record")
        echo(f"read {records} with {read.module}, such as")
        width = max((len(feature) for feature, *_ in read.features), default=0)
        for feature, dtype, shape in read.features:
            echo(f"    {feature:{width}}  {dtype} {shape}")
    if read.problem:
        problem = printable(read.problem)
        echo(f"{read.module} cannot read on: {problem}")


def _print_doubts(out: Path, seal_again: str) -> None:
    """Print what is left to decide, and what to do then.

    Args:
        out: the schema file.
        seal_again: the command that seals the data with a changed schema; "" if it is not
            sealed.
    """
    from ..findings import printable
    from ..use_cases.adopt import doubts_in

    doubts = doubts_in(out.read_text())
    if doubts:
        echo(f"{plural(len(doubts), 'doubt')} to answer in {out}:")
    for doubt in doubts:
        echo(f"  {out}:{doubt.line}: {doubt.field}")
        echo(f"      {printable(doubt.text)}")
    following = "commit the schema and the generated code."
    if doubts:
        steps = ["delete each comment that you have answered", "`schemagen generate`"]
        steps += [seal_again, following] if seal_again else [following]
        following = ", ".join(steps)
    echo(f"Next: {following}")
