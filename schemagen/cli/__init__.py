"""The command line: options in, findings and an exit code out."""

from __future__ import annotations

import errno
import gc
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from .changes import breaking, explain
from .exporting import export
from .generating import check, describe, generate, init
from .importing import import_
from .inferring import infer
from .inspecting import inspect
from .reporting import format_of, report
from .templates import templates
from .verifying import verify

# What shells report of a program that Ctrl-C has ended.
_INTERRUPTED = 130


class _Group(click.Group):
    """Turns what goes wrong into the documented exit codes."""

    def invoke(self, ctx: click.Context) -> Any:
        from ..findings import ExitCode, SchemagenError

        try:
            with _collecting_rarely():
                return super().invoke(ctx)
        except SchemagenError as error:
            report(error.findings, format_of(ctx))
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


@contextmanager
def _collecting_rarely() -> Iterator[None]:
    """Look for garbage after a million objects, not after each 700.

    Classes, trees and texts are there until the end. To look through them again and
    again takes a sixth of a run.
    """
    before = gc.get_threshold()
    gc.set_threshold(1_000_000)
    try:
        yield
    finally:
        gc.set_threshold(*before)


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


for _verb in (
    init,
    generate,
    check,
    breaking,
    explain,
    describe,
    export,
    templates,
    inspect,
    verify,
    inspect,
    infer,
    import_,
):
    main.add_command(_verb)
