"""The end of each run: an exit code, and with `--format json` a document."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import StringIO
from typing import TextIO

import click

from ..atomic_write import writing_advice
from ..findings import COMMAND_LINE, ExitCode, Finding, SchemagenError
from ..interrupts import INTERRUPTED
from .printing import echo
from .reporting import Output, report

# What the machine refuses, whatever the program does.
_REFUSALS = {
    errno.EACCES,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EIO,
    errno.EMFILE,
    errno.ENFILE,
    errno.ENOSPC,
    errno.EPERM,
    errno.EPIPE,
    errno.EROFS,
}

_BUG = (
    "This is a bug in schemagen. Nothing was half-written. Please report it with the "
    "lines above and the schema that shows it."
)


@contextmanager
def ending(output: Output) -> Iterator[None]:
    """Turn each error into findings, words for people and an exit code.

    Raises:
        SystemExit: with the exit code.
    """
    code: int
    try:
        try:
            yield
            return
        except (SystemExit, click.exceptions.Exit):
            raise
        except SchemagenError as error:
            code = ExitCode.REFUSED
            report(error.findings, output.style)
        except click.ClickException as error:
            code = ExitCode.REFUSED
            shown = StringIO()
            error.show(file=shown)
            echo(shown.getvalue(), err=True, nl=False)
            _document(output, "SG408", error.format_message(), "see --help")
        except (click.Abort, KeyboardInterrupt):
            code = INTERRUPTED
            _document(
                output, "SG409", "the command was interrupted", "run the command again"
            )
        except Exception as error:
            if isinstance(error, OSError) and error.errno in _REFUSALS:
                raise
            code = ExitCode.BUG
            echo(traceback.format_exc(), err=True, nl=False)
            echo(_BUG, err=True)
            bug = f"a bug in schemagen: {type(error).__name__}: {error}"
            advice = "report it with what stderr says and the schema that shows it"
            _document(output, "SG410", bug, advice)
    except OSError as error:
        code = ExitCode.REFUSED
        _refused(error, output)
    raise SystemExit(code) from None


def _document(output: Output, rule: str, message: str, advice: str) -> None:
    """Print a finding for programs, where people already have a message."""
    if output.style != "text" and not output.printed:
        report([Finding(COMMAND_LINE, rule, message, advice=advice)], output.style)


def _refused(error: OSError, output: Output) -> None:
    """Say in one line what the machine has refused; nothing if no one reads it."""
    if error.errno != errno.EPIPE:
        reason = error.strerror or str(error)
        message = f"the output cannot be written: {reason}"
        if error.filename is not None:
            message = f"{error.filename} cannot be read or written: {reason}"
        with suppress(OSError):
            echo(f"Error: {message}", err=True)
        with suppress(OSError):
            advice = f"{writing_advice(error)} and run the command again"
            _document(output, "SG403", message, advice)
    _discard_unwritable(sys.stdout)
    _discard_unwritable(sys.stderr)


def _discard_unwritable(stream: TextIO | None) -> None:
    """Drop what a stream still holds, or Python would try to write it at its end."""
    if stream is None:
        return
    try:
        stream.flush()
    except OSError:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
