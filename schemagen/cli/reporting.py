"""What commands share: options, and the printing of findings."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from ..findings import ExitCode
from .completion import complete_paths, complete_splits
from .printing import echo, echo_document, paint

if TYPE_CHECKING:
    from ..findings import Finding
    from ..spec.model import RecordSpec
    from ..use_cases.seal import Sealing


@dataclass
class Output:
    """What a run prints.

    Attributes:
        style: "text", "json" or "github".
        project: a directory in the project.
        printed: whether the document for programs has been printed.
    """

    style: str
    project: str = "."
    printed: bool = False


def report(findings: Iterable[Finding], style: str) -> None:
    """Print findings: as data to stdout, for people to stderr."""
    from ..findings import RENDERERS, render_text

    context = click.get_current_context(silent=True)
    if style == "github" and context is not None:
        from ..config import settings_directory
        from ..git import in_repository

        start = Path(context.obj.project).resolve()
        findings = in_repository(findings, settings_directory(start) or start)
    if style != "text":
        print_document(RENDERERS[style](findings))
        return
    text = render_text(findings, paint)
    if text:
        echo(text, err=True)


def print_document(text: str) -> None:
    """Print what programs read: one document a run."""
    context = click.get_current_context(silent=True)
    if context is not None:
        context.obj.printed = True
    if text:
        echo_document(text)


def terminal_columns() -> int:
    """Return the columns of a line: those of the terminal; in pipes and files no limit."""
    from shutil import get_terminal_size

    from ..display.terminal import UNBOUNDED

    columns = get_terminal_size((UNBOUNDED, 24)).columns
    return max(60, columns if columns == UNBOUNDED else min(columns, 160))


def _noted_project(ctx: click.Context, param: click.Parameter, project: str) -> str:
    """Return the project, and keep it for the paths of annotations."""
    if isinstance(ctx.obj, Output):  # not where a shell completes
        ctx.obj.project = project
    return project


project_option = click.option(
    "--project",
    default=".",
    show_default=True,
    type=click.Path(exists=True, file_okay=False),
    callback=_noted_project,
    help="A directory in the project.",
)


format_option = click.option(
    "--format",
    "style",
    type=click.Choice(["text", "json", "github"]),
    default="text",
    show_default=True,
    help="How findings are printed.",
)


def table_option(help_text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option of commands that print a table for people, or data."""
    return click.option(
        "--format",
        "style",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help=help_text,
    )


tracked_option = click.option(
    "--tracked",
    is_flag=True,
    help="Also exit with 1 if git tracks a generated file without its schema, or the "
    "reverse.",
)


def _only_data(
    ctx: click.Context, param: click.Parameter, data: tuple[str, ...]
) -> str:
    """Return the data that a command line names.

    Raises:
        UsageError: it names several, as where the shell has expanded a glob.
    """
    if len(data) == 1:
        return data[0]
    raise click.UsageError(
        f"DATA is one directory, one file or one glob, not {len(data)} arguments. "
        "Quote a glob, so that the shell does not expand it."
    )


# DATA of commands that take one: several arguments get a message that says what to do.
data_argument = click.argument(
    "data",
    metavar="DATA",
    nargs=-1,
    required=True,
    callback=_only_data,
    shell_complete=complete_paths,
)


split_option = click.option(
    "--split", metavar="NAME", shell_complete=complete_splits, help="Only this split."
)


limit_option = click.option(
    "--limit",
    type=click.IntRange(min=0),
    metavar="N",
    help="Only the first N records of each split; 0 for all.",
)


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what commands take that read all of some data, and the limit on records."""

    @wraps(command)
    def reading(*arguments: Any, limit: int | None, **options: Any) -> Any:
        options |= {"limit": limit or None, "max_record_bytes": record_limit()}
        return command(*arguments, **options)

    for option in (
        click.option(
            "--workers",
            type=click.IntRange(min=1),
            metavar="N",
            help="How many processes read; one for each core if not given.",
        ),
        limit_option,
        split_option,
    ):
        reading = option(reading)
    return reading


def record_limit() -> int:
    """Return the most bytes of a record that is read, which the project may set.

    Raises:
        SchemagenError: the settings cannot be used.
    """
    from .. import config

    return config.record_limit(Path(click.get_current_context().obj.project))


html_option = click.option(
    "--html",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write a page with pictures, plots and the findings of verify.",
)


def print_written(path: str, size: int) -> None:
    """Print where a page is, and its size in bytes."""
    from ..data import formatting
    from ..findings import printable

    echo(f"wrote {printable(path)} ({formatting.size(size)})", err=True)


def sealing_options(
    help_text: str,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the options of commands that seal files: --seal and --accept.

    Args:
        help_text: of --seal.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in (
            click.option(
                "--accept",
                is_flag=True,
                help="Seal files also if some are empty, lack keys that others have, or "
                "hold other records.",
            ),
            click.option("--seal", is_flag=True, help=help_text),
        ):
            command = option(command)
        return command

    return decorate


@contextmanager
def saying_not_sealed(*, wanted: bool) -> Iterator[None]:
    """Print that nothing is sealed if the request cannot be carried out.

    Args:
        wanted: whether files were to be sealed, and a person reads the output.
    """
    from ..findings import SchemagenError

    try:
        yield
    except SchemagenError:
        if wanted:
            echo("not sealed: the error says why")
        raise


def print_sealing(sealing: Sealing, *, err: bool = False) -> None:
    """Print which manifests were written and how to read the files, or why none was.

    Args:
        sealing: what came of it.
        err: print to stderr.
    """
    from ..data.layouts import split_order
    from ..findings import printable

    if sealing.reasons:
        echo(printable(sealing.text), err=err)
    changes = (change for each in sealing.sealed for change in each.changes)
    for change in dict.fromkeys(changes):
        echo(f"the schema has changed: {printable(change)}", err=err)
    for each in sealing.sealed:
        names = sorted(each.splits, key=split_order)
        counts = [f"{printable(name)} {each.splits[name]:,}" for name in names]
        noun = "record" if [*each.splits.values()] == [1] else "records"
        echo(f"sealed {printable(each.path)}: {', '.join(counts)} {noun}", err=err)
    if sealing.call:
        echo(f"read with {printable(sealing.call)}", err=err)


def spec_of_record(record: str | None, project: str) -> RecordSpec | None:
    """Return what the project's schema says about a record; None if none is named."""
    if record is None:
        return None
    from ..use_cases import generate as use_cases

    (spec,) = use_cases.describe(project, record)
    return spec


def leave() -> NoReturn:
    """End with the exit code of findings."""
    sys.exit(ExitCode.FINDINGS)
