"""The command line: options in, findings and an exit code out."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from .codegen.plan import Plan
    from .findings import Finding

_FORMATS = click.Choice(["text", "json", "github"])

# What shells report of a program that Ctrl-C has ended.
_INTERRUPTED = 130


class _Group(click.Group):
    """Turns what goes wrong into the documented exit codes."""

    def invoke(self, ctx: click.Context) -> Any:
        from .findings import ExitCode, SchemagenError

        try:
            return super().invoke(ctx)
        except SchemagenError as error:
            report(error.findings, _format_of(ctx))
            raise SystemExit(ExitCode.REFUSED) from None
        except (click.exceptions.Exit, click.ClickException, click.Abort):
            raise
        except KeyboardInterrupt:
            raise SystemExit(_INTERRUPTED) from None
        except Exception as error:
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                raise  # who reads the output has seen enough; click ends quietly
            import traceback

            traceback.print_exc()
            click.echo(
                "This is a bug in schemagen. Nothing was half-written. Please report "
                "it with the lines above and the schema that shows it.",
                err=True,
            )
            raise SystemExit(ExitCode.BUG) from None


def _format_of(ctx: click.Context) -> str:
    return str(ctx.meta.get("schemagen.format", "text"))


def report(findings: Iterable[Finding], style: str) -> None:
    """Print findings: as data to stdout, for people to stderr."""
    from .findings import RENDERERS

    text = RENDERERS[style](findings)
    if text:
        click.echo(text, err=style == "text")


def _project_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--project",
        default=".",
        show_default=True,
        type=click.Path(exists=True, file_okay=False),
        help="A directory in the project.",
    )(command)


def _format_option(command: Callable[..., Any]) -> Callable[..., Any]:
    @click.option(
        "--format",
        "style",
        type=_FORMATS,
        default="text",
        show_default=True,
        help="How findings are printed.",
    )
    @click.pass_context
    @wraps(command)
    def with_format(ctx: click.Context, /, style: str, **options: Any) -> Any:
        ctx.meta["schemagen.format"] = style
        return command(style=style, **options)

    return with_format


@click.group(
    cls=_Group,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 88},
)
@click.version_option(package_name="schemagen")
def main() -> None:
    """Generate the code that reads and writes TensorFlow training data.

    Records are declared once, as classes in schema files. From each one follow a
    serializer, a parser, a tf.data pipeline and a Keras model.

    Exit codes: 0 clean; 1 findings; 2 the request cannot be carried out; 3 a bug;
    130 interrupted.
    """
    for stream in (sys.stdout, sys.stderr):
        # What a terminal's encoding lacks is shown escaped: no name ends a run.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@main.command()
@click.argument("directory", default=".", type=click.Path(exists=True, file_okay=False))
@click.option(
    "--train",
    metavar="RECORD",
    help="In a project: write train.py, which trains a model of RECORD.",
)
def init(directory: str, train: str | None) -> None:
    """Make DIRECTORY a project, with a schema to start from."""
    from . import project

    if train is None:
        started = project.init(directory)
        following = "edit the schema, then run `schemagen generate`."
    else:
        started = project.init_training(train, directory)
        following = "see `python train.py --help`; the file is yours to change."
    for path in started.files:
        click.echo(f"wrote {path}")
    click.echo(f"Next: {following}")


@main.command()
@_project_option
@_format_option
@click.option("--dry-run", is_flag=True, help="Say what would be done; write nothing.")
@click.option(
    "--force", is_flag=True, help="Overwrite generated files that were edited by hand."
)
@click.option(
    "--watch", is_flag=True, help="Generate again whenever a schema is saved."
)
def generate(project: str, style: str, dry_run: bool, force: bool, watch: bool) -> None:
    """Write the code for every record in the schema files.

    With --watch it runs until Ctrl-C, which ends it with exit code 0.
    """
    from . import project as use_cases

    if watch:
        if dry_run:
            raise click.UsageError("--watch writes; leave out --dry-run or --watch.")
        from .watching import watch as keep_generating

        options = ["--format", style, *(["--force"] if force else [])]
        keep_generating(project, options, lambda text: click.echo(text, err=True))
        return
    found = use_cases.generate(project, dry_run=dry_run, force=force)
    report(found.warnings, style)
    if style == "text":
        _tell_changes(found, dry_run=dry_run)


def _tell_changes(found: Plan, *, dry_run: bool) -> None:
    for file in found.changes:
        verb = f"would {file.action.value}" if dry_run else f"{file.action.value}d"
        click.echo(f"{verb} {file.path}")
    unchanged = len(found.files) - len(found.changes)
    changed = _counted(len(found.changes), "file")
    click.echo(f"{changed} changed, {unchanged} up to date")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


@main.command()
@_project_option
@_format_option
@click.option("--diff", is_flag=True, help="Show what `generate` would change.")
def check(project: str, style: str, diff: bool) -> None:
    """Tell whether the generated code is what the schemas ask for."""
    from . import project as use_cases
    from .findings import ExitCode

    found = use_cases.check(project)
    if diff:
        text = _coloured(use_cases.unified_diff(found))
        click.echo(text, nl=False, err=style != "text")
    report((*found.findings, *found.warnings), style)
    if found.findings:
        _leave(ExitCode.FINDINGS)
    if style == "text":
        click.echo(f"{len(found.files)} files up to date")


_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def _coloured(diff: str) -> str:
    """Return a diff with colours, which click leaves out where there is no terminal."""
    if os.environ.get("NO_COLOR"):
        return diff
    return "".join(
        click.style(line, bold=True)
        if line.startswith(("--- ", "+++ "))
        else click.style(line, fg=_COLOURS[line[0]])
        if line[0] in _COLOURS
        else line
        for line in diff.splitlines(keepends=True)
    )


@main.command()
@click.option(
    "--against",
    required=True,
    metavar="REF|FILE|DATA",
    help="A git revision, such as main, or main... for where the branch began; a "
    "spec.json; or a data directory.",
)
@click.option(
    "--mode",
    type=click.Choice(["backward", "forward", "full"]),
    default="backward",
    show_default=True,
    help="New code with old data and programs, old code with new data, or both.",
)
@click.option(
    "--accept",
    multiple=True,
    metavar="ID",
    help="Record a break as accepted: SG221, or SG221:pet_photo.breed.",
)
@click.option("--reason", metavar="TEXT", help="Why it may be; goes with --accept.")
@_project_option
@_format_option
def breaking(
    project: str,
    style: str,
    against: str,
    mode: str,
    accept: tuple[str, ...],
    reason: str | None,
) -> None:
    """Tell what the schemas break since a revision.

    Findings are of three axes: wire, data does not parse; meaning, it parses and says
    something else; api, programs that use the generated code have to change.
    """
    from .breaking import breaking as compare
    from .evolution.comparison import Mode
    from .findings import ExitCode

    if bool(accept) != bool(reason and reason.strip()):
        raise click.UsageError("--accept and --reason go together")
    found = compare(
        against, project, mode=Mode(mode), accept=accept, reason=reason or ""
    )
    if found.findings or style != "text":
        report(found.findings, style)
    if style == "text":
        warnings = len(found.findings) - found.breaks
        counts = [_counted(found.breaks, "break")]
        counts += [_counted(warnings, "warning")] if warnings else []
        counts += [f"{found.accepted} accepted"] if found.accepted else []
        records = _counted(found.records, "record")
        click.echo(f"{records} compared with {found.where}: {', '.join(counts)}")
    if found.breaks:
        _leave(ExitCode.FINDINGS)


@main.command()
@click.argument("rule", metavar="ID")
def explain(rule: str) -> None:
    """Say what the rule ID is about, and what to do."""
    from .explain import explained

    try:
        click.echo(explained(rule), nl=False)
    except LookupError as error:
        raise click.UsageError(str(error.args[0])) from None


@main.command()
@click.argument("record", required=False)
@_project_option
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="A table for people, or the spec.",
)
def describe(record: str | None, project: str, style: str) -> None:
    """Show how RECORD, or every record, is stored and read."""
    from . import project as use_cases
    from .codegen.describe import describe_text
    from .spec.serial import dumps, to_data

    specs = use_cases.describe(project, record)
    if style == "json":
        data: dict[str, Any] = {"version": 1, "records": [to_data(s) for s in specs]}
        click.echo(dumps(data), nl=False)
    else:
        click.echo("\n".join(map(describe_text, specs)), nl=False)


@main.group()
def templates() -> None:
    """List the templates, or take one over to change it."""


@templates.command("list")
@_project_option
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="A table for people, or data.",
)
def list_(project: str, style: str) -> None:
    """Show every template: what it makes, what it is given, and whose it is."""
    from . import own_templates

    click.echo(own_templates.listing(project, style), nl=False)


@templates.command()
@click.argument("name")
@_project_option
def eject(name: str, project: str) -> None:
    """Copy the template NAME into the project, to be changed there."""
    from . import own_templates

    done = own_templates.eject(name, project)
    click.echo(f"wrote {done.path}")
    if done.setting:
        click.echo('added templates = "templates" to [tool.schemagen]')
    if done.to_add:
        click.echo(f"Next: add {done.to_add} to [tool.schemagen] in pyproject.toml.")


def _leave(code: int) -> NoReturn:
    sys.exit(code)


if __name__ == "__main__":
    main()
