"""Commands that look at data of any origin: inspect, diff."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from ..rules import JUDGEMENTS
from .completion import complete_paths, complete_records
from .help import Command
from .printing import echo
from .reporting import (
    data_argument,
    format_option,
    html_option,
    leave,
    print_document,
    print_written,
    project_option,
    reading_options,
    report,
    spec_of_record,
    terminal_columns,
)

if TYPE_CHECKING:
    from ..data.profile.profile import Profile
    from ..findings import Finding
    from ..spec.model import RecordSpec
    from ..use_cases.inspect import Report


def _fail_on_option(
    help_text: str, names: Collection[str]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option that lists what fails; its help ends with the names."""

    def chosen(
        ctx: click.Context, param: click.Parameter, value: str | None
    ) -> tuple[str, ...]:
        from ..runtime.shared.errors import with_suggestion

        found = () if value is None else tuple(map(str.strip, value.split(",")))
        for name in found:
            if name not in names:
                words = f"{name!r} is not one of {', '.join(names)}"
                words = with_suggestion(words, name, names)
                raise click.BadParameter(words, ctx, param)
        return found

    def completed(
        ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from ..use_cases.explain import titles

        others, comma, last = incomplete.rpartition(",")
        return [
            CompletionItem(f"{others}{comma}{name}", help=titles()[name])
            for name in names
            if name.startswith(last) and name not in others.split(",")
        ]

    return click.option(
        "--fail-on",
        metavar="NAMES",
        callback=chosen,
        shell_complete=completed,
        help=f"{help_text} {', '.join(names)}.",
    )


@click.command(
    cls=Command,
    examples=[
        ("Show what files of unknown origin hold", "schemagen inspect 'old/train-*'"),
        (
            "Write a page with pictures, plots and findings",
            "schemagen inspect data/pets --html pets.html",
        ),
        (
            "Print a dataset card to publish with the data",
            "schemagen inspect data/pets --markdown",
        ),
        (
            "Fail a build if records of train are in test",
            "schemagen inspect data/pets --fail-on leakage,missing-classes",
        ),
        (
            "Find owners with records in two splits",
            "schemagen inspect data/pets --group owner",
        ),
    ],
)
@data_argument
@reading_options
@click.option(
    "--records",
    type=click.IntRange(min=0, max=24),
    default=3,
    show_default=True,
    metavar="N",
    help="How many records to show of each split, spread over it.",
)
@html_option
@click.option(
    "--markdown",
    "--md",
    is_flag=True,
    help="Print a dataset card, to publish with the data.",
)
@click.option(
    "--record",
    metavar="R",
    shell_complete=complete_records,
    help="The record of the project that describes the data, in place of the manifest's.",
)
@click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="FIELD",
    help="Find values of this field, such as a speaker, that are in two splits; may be "
    "repeated.",
)
@_fail_on_option("Exit with 1 on findings out of:", JUDGEMENTS)
@project_option
@format_option
def inspect(
    data: str,
    split: str | None,
    records: int,
    html: str | None,
    markdown: bool,
    record: str | None,
    fail_on: tuple[str, ...],
    project: str,
    style: str,
    **reading: Any,
) -> None:
    """Show what TFRecord files hold, without a schema.

    DATA is a data directory, a glob or a file, or the URL of one. Exit code 1 if there
    is damage, or files of other messages, which `verify` describes; the same with
    --html, whose page shows all that `verify` finds. --markdown prints a dataset card:
    splits, fields, values, classes, and how to read the files.

    --fail-on makes findings of leakage (records, identifying values or groups in two
    splits), duplicates (records twice in one), drift (splits that differ),
    missing-classes, and target-leakage (inputs that tell the target). The settings
    [tool.schemagen.thresholds] have their limits, for all fields and for single ones;
    `schemagen explain leakage` describes one. With --format github, only findings are
    printed, or the text if the exit code has another cause.
    """
    if markdown and style != "text":
        raise click.UsageError(f"--markdown and --format {style} exclude each other.")
    from ..config import thresholds_for

    reading["thresholds"] = thresholds_for(Path(project))
    profile = _read(data, split, html, spec_of_record(record, project), reading)
    findings = _findings(profile, fail_on)
    fails = bool(findings) or not profile.statistics.sound
    if html is None or style == "json" or markdown:
        shown = _shown(style, findings, fails=fails)
        _print_profile(profile, findings, shown, records, markdown=markdown)
    if style != "json":
        report(findings, style)
    if fails:
        leave()


def _shown(style: str, findings: Sequence[Finding], *, fails: bool) -> str:
    """Return how data is shown: GitHub gets the text if no finding explains the exit code."""
    return "text" if style == "github" and fails and not findings else style


def _read(
    data: str,
    split: str | None,
    html: str | None,
    spec: RecordSpec | None,
    reading: dict[str, Any],
) -> Profile:
    """Read data, and write the report if one is asked for."""
    from ..data.sources import find_data
    from ..use_cases.refusing import refusing_data

    if html is None:
        from ..data.inspect.inspecting import inspect_data

        with refusing_data(data):
            return inspect_data(data, split, spec=spec, **reading)
    from ..data.report.page import check_target
    from ..use_cases.inspect import write_report

    check_target(html)
    with refusing_data(data):
        written = write_report(html, find_data(data, split), spec, **reading)
    _print_report(written)
    return written.profile


def _findings(profile: Profile, names: Sequence[str]) -> list[Finding]:
    """Return what fails out of some names, and print what could not be judged."""
    if not names:
        return []
    from ..data.profile.judging import judged, unjudged

    for text in unjudged(profile, names):
        echo(text, err=True)
    return [each.finding() for each in judged(profile, names)]


def _print_report(report: Report) -> None:
    """Print where a report is, and how many findings it shows."""
    from ..data import formatting

    print_written(report.path, report.bytes)
    kinds = len(report.verification.findings)
    if kinds:
        some = formatting.plural(kinds, "kind of finding", "kinds of findings")
        echo(f"`schemagen verify` has {some}: the page shows them", err=True)


def _print_profile(
    profile: Profile,
    findings: Sequence[Finding],
    style: str,
    records: int,
    *,
    markdown: bool,
) -> None:
    """Print what was found as data, as a dataset card, or as text."""
    if style == "json":
        from ..data.inspect.document import document_of
        from ..documents import text_of

        print_document(text_of(document_of(profile, findings, records=records)))
    elif markdown:
        from ..data.inspect.card import card

        echo(card(profile), nl=False)
    elif style == "text":
        from ..data.inspect.text import inspection_text

        columns = terminal_columns()
        echo(inspection_text(profile, columns=columns, records=records), nl=False)


@click.command(
    cls=Command,
    examples=[
        ("Compare two versions of a dataset", "schemagen diff data/v1 data/v2"),
        (
            "Find records that were changed, by an identifier",
            "schemagen diff data/v1 data/v2 --key id",
        ),
        (
            "Fail a build if test records of one version are in train of the other",
            "schemagen diff data/v1 data/v2 --fail-on leakage",
        ),
    ],
)
@click.argument("one", metavar="A", shell_complete=complete_paths)
@click.argument("other", metavar="B", shell_complete=complete_paths)
@click.option(
    "--key",
    default="",
    metavar="FIELD",
    help="Match records by this field.  [default: by all of their bytes]",
)
@html_option
@reading_options
@_fail_on_option(
    "Exit with 1 only on damage, or findings between A and B out of:",
    [name for name in JUDGEMENTS if name != "target-leakage"],
)
@project_option
@format_option
def diff(
    one: str,
    other: str,
    key: str,
    html: str | None,
    fail_on: tuple[str, ...],
    project: str,
    style: str,
    **reading: Any,
) -> None:
    """Compare two datasets: schemas, counts, distributions, records, and values.

    A and B are data directories, files or quoted globs, or URLs. Splits of equal names
    are compared; if each has one split, these. --key shows which fields and values of
    records changed.

    Exit code 1 if anything differs: a change of the schema that `breaking` would
    report, a class, key, split or record that one of them lacks, or a distribution by
    a distance of 0.1 or more; and if anything was not read, such as damaged or missing
    files, or records beyond --limit.

    --fail-on makes findings of drift and missing-classes between the versions of a
    split, duplicates in B, and leakage: records, or identifying values, of a split of
    one dataset in another split of the other. With --format github, only findings are
    printed, or the text if the exit code has another cause.
    """
    from ..config import thresholds_for
    from ..use_cases.diff import diff as use_case
    from ..use_cases.refusing import refusing_data

    reading["thresholds"] = thresholds_for(Path(project))
    if html is not None:
        from ..data.report.page import check_target, write_report

        check_target(html)
    with refusing_data(one):
        found = use_case(one, other, key, **reading)
        if html is not None:
            size = write_report(html, found.profile, None, found)
            print_written(html, size)
    findings = _findings(found.profile, fail_on)
    fails = bool(findings) or not (found.sound if fail_on else found.same)
    if style == "json":
        from ..data.inspect.document import document_of
        from ..documents import text_of

        print_document(text_of(document_of(found.profile, findings, diff=found)))
    elif _shown(style, findings, fails=fails) == "text":
        from ..data.inspect.text import diff_blocks
        from ..display.terminal import terminal_text

        echo(terminal_text([*diff_blocks(found)], terminal_columns()), nl=False)
    if style != "json":
        report(findings, style)
    if fails:
        leave()
