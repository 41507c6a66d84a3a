"""Ending the command at Ctrl-C, from its first moment on, without a traceback.

This module imports next to nothing: until `end_at_interrupts` has been called, Ctrl-C
shows Python's traceback.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # that of typing takes time to import
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType
    from typing import Any, NoReturn

_exit = os._exit  # while schemas are loaded, that of os raises

INTERRUPTED = 130
"""The exit code that shells report of a program that Ctrl-C has ended."""

DOCUMENT = """\
{
  "findings": [
    {
      "advice": "run the command again",
      "expected": "",
      "files": [],
      "found": "",
      "location": {
        "column": 1,
        "line": 1,
        "path": "command line",
        "source": ""
      },
      "message": "the command was interrupted",
      "rule": "SG409",
      "severity": "error"
    }
  ],
  "version": 1
}
"""
"""What an interrupted command prints with `--format json`."""


def end_at_interrupts(arguments: Sequence[str]) -> None:
    """End this process with exit code 130 at Ctrl-C.

    While modules are imported it ends at once: nothing is written then, and code of
    others may swallow the exception. At other times KeyboardInterrupt is raised, so
    that temporary files are removed and other processes ended.

    Args:
        arguments: of the command; with `--format json` it prints a document.
    """
    document = DOCUMENT if asked_format(arguments) == "json" else ""
    try:
        import signal
    except KeyboardInterrupt:
        _end(document)
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return  # started in the background, say, where Ctrl-C is for others

    def interrupt(signum: int, frame: FrameType | None) -> None:
        if _is_importing(frame):
            _end(document)
        raise KeyboardInterrupt

    def report(unraisable: Any) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            _end(document)
        sys.__unraisablehook__(unraisable)

    sys.unraisablehook = report
    signal.signal(signal.SIGINT, interrupt)


def ignore_interrupts() -> None:
    """Let the process end with the exit code that it has: its work is done."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


def asked_format(arguments: Sequence[str]) -> str:
    """Return the value of `--format`, also where the rest is wrong.

    It is "text" if there is none, or one that no command knows.
    """
    found = "text"
    for argument, following in zip(arguments, [*arguments[1:], ""], strict=False):
        if argument == "--":
            break
        if argument == "--format":
            found = following
        elif argument.startswith("--format="):
            found = argument.removeprefix("--format=")
    return found if found in ("json", "github") else "text"


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _end(document: str) -> NoReturn:
    try:
        os.write(1, document.encode())
    finally:
        _exit(INTERRUPTED)
