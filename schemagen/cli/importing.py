"""Verbs about descriptions of the same data elsewhere: import."""

from __future__ import annotations

import click

from .reporting import counted, format_option, report


@click.command("import")
@click.argument("source")
@click.option(
    "--from",
    "form",
    required=True,
    type=click.Choice(["tfds", "tfmd", "feature-spec"]),
    help="A dataset of TFDS, a schema.pbtxt of TensorFlow Metadata, or a dict of "
    "tf.io features.",
)
@click.option(
    "--out", required=True, metavar="FILE", help="The schema file: schemas/x.py."
)
@click.option("--name", default="", metavar="CLASS", help="The record's class name.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@click.option(
    "--skip-refused",
    is_flag=True,
    help="Leave out what has no counterpart, with a comment.",
)
@format_option
def import_(
    source: str,
    style: str,
    form: str,
    out: str,
    name: str,
    force: bool,
    skip_refused: bool,
) -> None:
    """Write a schema file for records that SOURCE describes.

    SOURCE is the directory of a TFDS dataset or its features.json; a schema.pbtxt; or
    file.py:NAME or package.module:NAME for a dict of tf.io features, which is imported
    by a Python of its own. What is only approximated is said, here and by comments in
    the file; what has no counterpart is refused, and nothing is written.
    """
    from ..findings import Finding, Location
    from ..interop.imports import import_schema

    done = import_schema(
        source, form, out, name=name, force=force, skip_refused=skip_refused
    )
    if style != "text":
        place = Location(done.path.as_posix())
        doubtful = [("SG463", *doubt) for doubt in done.doubts]
        missing = [("SG462", *part) for part in done.left_out]
        report(
            [
                Finding(place, rule, f"{part}: {why}", severity="warning")
                for rule, part, why in (*doubtful, *missing)
            ],
            style,
        )
        return
    counts = [counted(done.fields, "field")]
    counts += [counted(len(done.doubts), "doubt")] if done.doubts else []
    counts += [f"{len(done.left_out)} left out"] if done.left_out else []
    click.echo(f"{done.path.as_posix()}: {done.class_name}, {', '.join(counts)}")
    for part, remark in done.doubts:
        click.echo(f"  doubt: {part}: {remark}")
    for part, why in done.left_out:
        click.echo(f"  left out: {part}: {why}")
