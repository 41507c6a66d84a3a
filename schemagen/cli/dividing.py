"""Options of verbs that read a part of the data on each of several machines."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from .reporting import only_data

if TYPE_CHECKING:
    from ..data.part_files import PartSize
    from ..data.shares import Share

# Options of a report, which is made when parts are merged.
_OF_REPORTS = {"style", "records", "html"}

# What --merge takes in addition; all else is in the part files.
_OF_MERGING = {"data", "merge", "project"}


class _Part(click.ParamType):  # type: ignore[type-arg]
    """A share of the data such as 2/3."""

    name = "part"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Share:
        from ..data.shares import Share, share_from

        if isinstance(value, Share):
            return value
        try:
            return share_from(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def dividing_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --part, --out and --merge.

    Of these and DATA, the command gets `data`, a single one unless it merges; `share`
    and `out`, or None; and `parts`, the part files to merge, or none.
    """

    @click.option(
        "--part",
        type=_Part(),
        metavar="I/N",
        help="Read only one of N parts, 1/N to N/N, of about equal size.",
    )
    @click.option(
        "--out",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="With --part: the file to write, which --merge reads.",
    )
    @click.option(
        "--merge",
        is_flag=True,
        help="DATA are the files of all parts: report what they found together.",
    )
    @click.pass_context
    @wraps(command)
    def divided(
        ctx: click.Context,
        /,
        data: tuple[str, ...],
        part: Share | None,
        out: str | None,
        merge: bool,
        **options: Any,
    ) -> Any:
        if merge:
            _refuse_options(
                ctx,
                lambda name: name not in _OF_MERGING | _OF_REPORTS,
                "--merge: the part files say how they were read",
            )
            return command(data="", share=None, out=None, parts=data, **options)
        if len(data) > 1 and all(name.endswith(".json") for name in data):
            raise click.UsageError("Part files are merged with --merge.")
        only = only_data(data)
        if (part is None) != (out is None):
            raise click.UsageError("--part and --out go together.")
        if part is not None:
            _refuse_options(
                ctx,
                _OF_REPORTS.__contains__,
                "--part, but with --merge, which reports",
            )
            _refuse_options(
                ctx, "limit".__eq__, "--part: the first records are not divided"
            )
        return command(data=only, share=part, out=out, parts=(), **options)

    return divided


def _refuse_options(
    ctx: click.Context, refused: Callable[[str], bool], reason: str
) -> None:
    for param in ctx.command.params:
        name = param.name or ""
        given = ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if given and refused(name):
            raise click.UsageError(f"{param.opts[0]} does not go with {reason}.")


def say_written(out: str, share: Share, size: PartSize) -> None:
    """Say which part was written."""
    from ..data import formatting
    from ..findings import printable

    files = formatting.plural(size.files, "file")
    records = formatting.plural(size.records, "record")
    click.echo(
        f"wrote {printable(out)}: part {share}, {records} in {files}, "
        f"{formatting.size(size.bytes)} read",
        err=True,
    )
