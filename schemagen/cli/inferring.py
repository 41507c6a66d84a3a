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
    limit_option,
    print_document,
    print_sealing,
    project_option,
    record_limit,
    report,
    saying_not_sealed,
    sealing_options,
    split_option,
    table_option,
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
@limit_option
@table_option("Text for people, or data.")
def infer(
    data: str,
    out: str,
    split: str | None,
    limit: int | None,
    style: str,
    **options: Any,
) -> None:
    """Write the schema file of the records in DATA, or of the rows of a table.

    DATA is a data directory, a glob or a file, or the URL of one. Files of a table
    end with .parquet, .csv, .feather or .arrow, and need pyarrow. Without --limit, it
    reads 10,000 records or rows, the first ones of each file. Open questions are
    marked in the schema by comments that begin with "doubt:".
    """
    from ..use_cases.infer import infer as infer_schema

    steps = _steps_before_generate(Path(out))
    options["max_record_bytes"] = record_limit()
    found = infer_schema(data, out, split=split, limit=limit, **options)
    if style == "json":
        _print_steps(inferred=found)
    else:
        _print_inferred(found)
        _print_next(found, data, Path(out), split, steps)
    if found.foreign or found.damages:
        leave()


def _print_steps(**done: Any) -> None:
    """Print what was done, by step, as JSON."""
    from ..documents import text_of
    from ..use_cases.steps import Steps

    print_document(text_of(Steps(**done)))


def _print_next(
    found: Inferred, data: str, out: Path, split: str | None, steps: list[str]
) -> None:
    """Print what to do with a schema file.

    Args:
        found: what was inferred.
        data: the data.
        out: the schema file.
        split: the only split that was read; None for all.
        steps: what to do before code is generated.
    """
    if found.doubts:
        echo(
            f"  {plural(len(found.doubts), 'doubt')}: answer the comments with "
            '"doubt:", and delete them'
        )
    steps.append("run `schemagen generate`")
    if found.table is not None:
        if len(found.table.splits) > 1:
            splits = " and ".join(found.table.splits)
            echo(f"  note: files of the splits {splits}: choose one with --split")
        echo(f"Next: {', then '.join(steps)}, then write the rows:")
        for line in _program(found.table, found.spec.record, out):
            echo(f"    {line}")
        return
    if found.read:
        record = found.spec.record
        of_split = "" if split is None else f" --split {shell_word(split)}"
        of_data = f"{shell_word(data)}{of_split}"
        steps.append(f"run `schemagen verify {of_data} --record {record}`")
    echo(f"Next: {', then '.join(steps)}.")


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
    left_out = (f"{key!a}: {why}" for key, why in found.left_out.items())
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
@table_option("Text for people, or data.")
def adopt(data: str, out: str, project: str, style: str, **options: Any) -> None:
    """Infer a schema, generate its code, and check all records.

    Also writes the settings of a project if there are none, reads some records with the
    generated code, and lists what you have to decide in the schema. The files of DATA
    are not changed.

    With --seal, readers compare the files and their schema from then on, as they do with
    files that schemagen has written.
    """
    from ..use_cases.adopt import adopt as adopting

    if options["accept"] and not options["seal"]:
        raise click.UsageError("--accept needs --seal.")
    options["max_record_bytes"] = record_limit()
    done: dict[str, Any] = {}
    text = style == "text"
    with saying_not_sealed(wanted=options["seal"] and text):
        for name, step in adopting(data, Path(out), Path(project), **options):
            done[name] = step
            if text and name in _PRINTERS:
                _PRINTERS[name](step)
    if text:
        _print_adopted(done, data)
    else:
        _print_steps(**done)
    if not all(step.is_clean for step in done.values()):
        leave()


def _print_adopted(done: dict[str, Any], data: str) -> None:
    """Print what is left to do, and what came of sealing the files."""
    inferred, sealing = done["inferred"], done.get("sealing")
    record = inferred.spec.record
    again = f"`schemagen verify {shell_word(data)} --record {record} --seal`"
    _print_doubts(inferred, again if sealing and sealing.sealed else "")
    if sealing:
        print_sealing(sealing)


def _print_generated(done: Generated) -> None:
    from ..use_cases.plan_text import roles_text

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


_PRINTERS: dict[str, Callable[[Any], None]] = {
    "inferred": _print_inferred,
    "generated": _print_generated,
    "checked": _print_checked,
    "read": _print_records,
}
"""What prints the steps of `adopt` as they are done."""


def _print_doubts(inferred: Inferred, seal_again: str) -> None:
    """Print what is left to decide, and what to do then.

    Args:
        inferred: the schema file.
        seal_again: the command that seals the data with a changed schema; "" if it is not
            sealed.
    """
    from ..findings import printable

    out, doubts = inferred.path, inferred.doubts
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
