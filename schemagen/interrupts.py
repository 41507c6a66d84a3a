"""Ending the command at Ctrl-C, from its first moment on, without a traceback.

This module imports next to nothing: until `end_at_interrupts` has been called, Ctrl-C
shows Python's traceback.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # that of typing takes time to import
if TYPE_CHECKING:
    from types import FrameType

_exit = os._exit  # while schemas are loaded, that of os raises

INTERRUPTED = 130
"""The exit code that shells report of a program that Ctrl-C has ended."""


def end_at_interrupts() -> None:
    """End this process with exit code 130 at Ctrl-C.

    While modules are imported it ends at once: nothing is written then, and code of
    others may swallow the exception. At other times KeyboardInterrupt is raised, so
    that temporary files are removed and other processes ended.
    """
    import signal

    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return  # started in the background, say, where Ctrl-C is for others

    def interrupt(signum: int, frame: FrameType | None) -> None:
        if _is_importing(frame):
            _exit(INTERRUPTED)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
