"""Commands about formats of other tools: export, import."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..data.formatting import plural
from ..interop.exports import TARGETS
from .completion import complete_paths, complete_records
from .help import Command
from .printing import echo
from .reporting import (
    format_option,
    leave,
    print_document,
    project_option,
    report,
    table_option,
)

if TYPE_CHECKING:
    from ..interop.imports import ImportedSchema


@click.command(
    cls=Command,
    examples=[
        (
            "Make a data directory one that TensorFlow Datasets reads",
            "schemagen export pet_photo --to tfds --data data/pets --out data/pets",
        ),
        (
            "Describe the files of a data directory by Croissant",
            "schemagen export pet_photo --to croissant --data data/pets "
            "--out croissant.json --set license=CC-BY-4.0",
        ),
    ],
)
@click.argument("record", shell_complete=complete_records)
@click.option(
    "--to",
    required=True,
    type=click.Choice(TARGETS),
    help="What to write.",
)
@click.option(
    "--out",
    required=True,
    metavar="PATH",
    type=click.Path(),
    help="The file to write; for tfds a directory, which may be that of --data.",
)
@click.option(
    "--data",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="The record's data directory: tfds needs it, croissant describes its files.",
)
@click.option(
    "--set",
    "properties",
    multiple=True,
    metavar="NAME=VALUE",
    help="A property of a Croissant description, such as license=CC-BY-4.0.",
)
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@project_option
@table_option("Lines for people, or data.")
def export(
    project: str,
    record: str,
    to: str,
    out: str,
    data: str | None,
    properties: tuple[str, ...],
    force: bool,
    style: str,
) -> None:
    """Describe RECORD for TFDS, TFMD or Croissant.

    Approximations are listed, a line for each field; see docs/interop.md.
    """
    from ..interop.exports.writing import export_spec
    from ..use_cases.generate import describe

    given = dict(_pair(each) for each in properties)
    (spec,) = describe(project, record)
    found = export_spec(spec, to, out, data=data, given=given, force=force)
    if style == "json":
        from ..documents import text_of
        from ..use_cases.steps import Steps

        print_document(text_of(Steps(exported=found)))
        return
    for path in found.files:
        echo(f"wrote {path}")
    for note in found.notes:
        echo(f"note: {note}")


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name or not value:
        raise click.UsageError(f"--set takes NAME=VALUE, not {text!r}")
    return name, value


@click.command(
    "import",
    cls=Command,
    examples=[
        (
            "Make a schema of a dataset of TensorFlow Datasets",
            "schemagen import data/mnist/3.0.1 --from tfds --out schemas/digit.py",
        ),
        (
            "Make a schema of the dict of tf.io features in a Python file",
            "schemagen import reader.py --from feature-spec --out schemas/photo.py",
        ),
    ],
)
@click.argument("source", shell_complete=complete_paths)
@click.option(
    "--from",
    "form",
    required=True,
    type=click.Choice(["tfds", "tfmd", "feature-spec"]),
    help="A dataset of TFDS, a schema.pbtxt of TensorFlow Metadata, or a dict of tf.io "
    "features.",
)
@click.option(
    "--out",
    required=True,
    metavar="FILE",
    shell_complete=complete_paths,
    help="The schema file: schemas/x.py.",
)
@click.option("--name", default="", metavar="CLASS", help="The record's class name.")
@click.option("--force", is_flag=True, help="Overwrite FILE.")
@format_option
def import_(
    source: str,
    style: str,
    form: str,
    out: str,
    name: str,
    force: bool,
) -> None:
    """Write a schema file for records that SOURCE describes.

    SOURCE is the directory of a TFDS dataset or its features.json; a schema.pbtxt; or a
    dict of tf.io features. FILE.py or FILE.py:NAME is a literal dict in a file, which
    is parsed and never run. Approximations are listed, and marked by comments in the
    schema file. A part without a counterpart is left out, with a comment; the exit code
    is then 1.
    """
    from ..findings import Finding, Location
    from ..interop.imports import import_schema

    done = import_schema(source, form, out, name=name, force=force)
    if style == "text":
        _print_imported(done)
    else:
        place = Location(done.path.as_posix())
        doubts = [
            Finding(place, "SG463", f"{part}: {remark}", severity="warning")
            for part, remark in done.doubts
        ]
        left_out = [
            Finding(place, "SG462", f"{part}: {why}") for part, why in done.left_out
        ]
        report([*doubts, *left_out], style)
    if done.left_out:
        leave()


def _print_imported(done: ImportedSchema) -> None:
    counts = [plural(done.fields, "field")]
    counts += [plural(len(done.doubts), "doubt")] if done.doubts else []
    counts += [f"{len(done.left_out)} left out"] if done.left_out else []
    echo(f"{done.path.as_posix()}: {done.class_name}, {', '.join(counts)}")
    for part, remark in done.doubts:
        echo(f"  doubt: {part}: {remark}")
    for part, why in done.left_out:
        echo(f"  left out: {part}: {why}")
