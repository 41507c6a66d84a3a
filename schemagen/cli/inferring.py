"""Making schemas of data: infer and adopt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ..data.formatting import plural, shell_word
from .completion import complete_paths, complete_splits
from .help import Verb
from .reporting import (
    data_argument,
    leave,
    max_record_option,
    project_option,
    refusing_data,
    report,
)

if TYPE_CHECKING:
    from ..use_cases.adopt import Adopted, Doubt
    from ..use_cases.infer import Inferred

_MOST_SHOWN = 5

out_option = click.option(
    "--out",
    required=True,
    metavar="FILE",
    shell_complete=complete_paths,
    help="The schema file to write.",
)


@click.command(
    cls=Verb,
    examples=[
        (
            "Write a schema of the first 10,000 records",
            "schemagen infer 'old/train-*' --out schemas/photo.py",
        ),
    ],
)
@data_argument
@out_option
@click.option("--name", metavar="CLASS", help="The record's name.  [default: FILE's]")
@click.option(
    "--split",
    metavar="SPLIT",
    shell_complete=complete_splits,
    help="Only the files of this split.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=10_000,
    show_default=True,
    metavar="N",
    help="Read N records, the first ones of each file; 0 for all.",
)
@max_record_option
@click.option(
    "--merge", is_flag=True, help="Declare one record of files that share few keys."
)
@click.option("--force", is_flag=True, help="Overwrite FILE.")
def infer(
    data: str,
    out: str,
    name: str | None,
    split: str | None,
    limit: int,
    max_record_bytes: int,
    merge: bool,
    force: bool,
) -> None:
    """Write the schema file of the records in DATA.

    DATA is a data directory, a glob or a file, or the URL of one. What the data does
    not tell is marked in the schema by comments that begin with "doubt:".
    """
    from ..findings import ExitCode
    from ..use_cases.infer import infer as infer_schema

    found = infer_schema(
        data,
        out,
        name=name,
        split=split,
        limit=limit or None,
        merge=merge,
        force=force,
        max_record_bytes=max_record_bytes,
    )
    _print_inferred(found)
    if found.doubts:
        click.echo(
            f'  {plural(found.doubts, "doubt")}: see the comments with "doubt:", and '
            "take each out once it is settled"
        )
    following = "run `schemagen generate`"
    if found.read:
        record = found.spec.record
        of_split = "" if split is None else f" --split {shell_word(split)}"
        of_data = f"{shell_word(data)}{of_split}"
        following += f", then `schemagen verify {of_data} --record {record}`"
    click.echo(f"Next: {following}.")
    if found.foreign or found.damages:
        leave(ExitCode.FINDINGS)


def _print_inferred(found: Inferred) -> None:
    """Print what was inferred."""
    from ..data.layouts import import_command, listed_names
    from ..findings import printable

    fields = plural(len(found.spec.fields), "field")
    if not found.read:
        click.echo(
            f"wrote {found.path}: {found.spec.class_name}, {fields}, the schema that "
            "wrote this data, by its manifest"
        )
        return
    click.echo(
        f"wrote {found.path}: {found.spec.class_name}, {fields}, from {found.read}"
    )
    for gap in found.gaps[:_MOST_SHOWN]:
        click.echo(f"  note: {printable(gap.split)}: {printable(gap.text)}")
    if found.tfds:
        command = import_command(found.tfds, str(found.path))
        click.echo("  note: features.json knows more than the records; to use it:")
        click.echo(f"    {command}")
    if found.other_files:
        click.echo(f"  not looked at: {listed_names(found.other_files)}")
    if found.malformed:
        records = plural(found.malformed, "record is", "records are")
        click.echo(f"  {records} not a tf.train.Example")
    if found.damages:
        first = found.damages[0]
        places = plural(len(found.damages), "place")
        click.echo(
            f"  {places} could not be read, the first at record {first.record:,} of "
            f"{printable(first.file)}: {first.found}"
        )
        hint = 'make_dataset(on_corrupt="skip") reads the other records'
        click.echo(f"  {first.cause if first.kind == 'limit' else hint}")
    left_out = (f"{key!a}: {why}" for key, why in (found.left_out or {}).items())
    _list("left out", [*left_out], "more key")
    for said in found.lacking:
        click.echo(f"  warning: {printable(said)}")
    foreign = (f"{printable(file)}: {what}" for file, what in found.foreign.items())
    _list("not a tf.train.Example:", [*foreign], "more file")


def _list(what: str, items: Sequence[str], more: str) -> None:
    """Print the first items, and how many more there are."""
    for item in items[:_MOST_SHOWN]:
        click.echo(f"  {what} {item}")
    if len(items) > _MOST_SHOWN:
        click.echo(f"  {what} {plural(len(items) - _MOST_SHOWN, more)}")


@click.command(
    cls=Verb,
    examples=[
        (
            "Infer a schema, generate its code, and check all records",
            "schemagen adopt 'old/train-*' --out schemas/photo.py",
        )
    ],
)
@data_argument
@out_option
@click.option("--name", metavar="CLASS", help="The record's name.  [default: FILE's]")
@click.option(
    "--merge", is_flag=True, help="Declare one record of files that share few keys."
)
@click.option("--force", is_flag=True, help="Overwrite FILE.")
@click.option(
    "--html",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write the report of `inspect --html`, too.",
)
@project_option
def adopt(
    data: str,
    out: str,
    name: str | None,
    merge: bool,
    force: bool,
    html: str | None,
    project: str,
) -> None:
    """Infer a schema, generate its code, and check all records.

    Also writes the settings of a project if there are none, reads some records with the
    generated pipeline, and lists what you have to decide in the schema. The files of
    DATA are not changed.
    """
    from ..data import formatting
    from ..data.verify.rendering import summary
    from ..findings import ExitCode, printable
    from ..use_cases import adopt as use_cases

    with refusing_data(data):
        done = use_cases.adopt(
            data, out, project, name=name, merge=merge, force=force, html=html
        )
    _print_inferred(done.inferred)
    for path in done.settings:
        click.echo(f"wrote {path}")
    click.echo(f"generated {plural(done.changes, 'file')} in {done.output}/")
    report([each.finding() for each in done.verification.findings], "text")
    click.echo(summary(done.verification))
    _print_first_records(done)
    if html is not None:
        size = formatting.size(done.report_bytes)
        click.echo(f"wrote {printable(html)} ({size})")
    _print_doubts(out, done.doubts)
    problem = done.first_records.problem
    if done.verification.findings or problem or done.inferred.foreign:
        leave(ExitCode.FINDINGS)


def _print_first_records(done: Adopted) -> None:
    """Print what the generated pipeline reads."""
    from ..findings import printable

    read = done.first_records
    if read.records:
        pipeline = f"{done.output}/{done.inferred.spec.record}/pipeline.py"
        click.echo(f"read {plural(read.records, 'record')} with {pipeline}, such as")
        width = max((len(feature) for feature, *_ in read.features), default=0)
        for feature, dtype, shape in read.features:
            click.echo(f"    {feature:{width}}  {dtype} {shape}")
    if read.problem:
        click.echo(f"the generated pipeline cannot read on: {printable(read.problem)}")


def _print_doubts(out: str, doubts: Sequence[Doubt]) -> None:
    """Print what is left to decide, and what to do then."""
    from ..findings import printable

    if doubts:
        click.echo(f"{plural(len(doubts), 'doubt')} to settle in {out}:")
    for doubt in doubts:
        click.echo(f"  {out}:{doubt.line}: {doubt.field}")
        click.echo(f"      {printable(doubt.text)}")
    following = "commit the schema and the generated code."
    if doubts:
        following = (
            f"delete each comment that is settled, `schemagen generate`, {following}"
        )
    click.echo(f"Next: {following}")
