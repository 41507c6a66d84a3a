"""Starting worker processes, with what they need and without a Ctrl-C."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler

from ..shared.errors import DatasetError
from .encoding import Encoding
from .sources import Indexed, Parts


@contextmanager
def interrupts_later(method: str) -> Iterator[None]:
    """Let no Ctrl-C come between, neither here nor in processes that are started.

    They inherit what is blocked, until they ignore it: a Ctrl-C goes to them too. Here
    it may come all the same in a program with several threads, of which this blocks it
    in one; then starting is broken off and what was started is ended.
    Those of a fork server do not: everybody's come from it, and would block it too.

    Args:
        method: how processes are started.

    Raises:
        KeyboardInterrupt: at the end, if one has come meanwhile.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        # These start processes too, and not in between: the one would unblock the
        # signal, and the other have it blocked for good.
        if method != "fork":
            from multiprocessing import resource_tracker

            resource_tracker.ensure_running()
        if method == "forkserver":
            from multiprocessing import forkserver

            forkserver.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def start_process(
    process: BaseProcess,
    context: BaseContext,
    source: Parts | Indexed | None,
    encoding: Encoding,
) -> None:
    """Start a process of the context that is given the source and the encoding.

    Raises:
        DatasetError: one of them cannot be sent to it.
        OSError: there can be no more processes.
    """
    try:
        process.start()
    except OSError:
        raise
    except Exception as error:
        needs: dict[str, object] = {
            "the source": source and getattr(source, "items", source),
            "serialize": encoding.serialize,
        }
        for name, value in needs.items():
            try:
                ForkingPickler.dumps(value)
            except Exception as refusal:
                raise DatasetError(
                    f"{name} cannot be sent to worker processes, which the start "
                    f"method {context.get_start_method()!r} asks for ({refusal}); "
                    "define its functions and classes at the top level of a module "
                    "that can be imported, or use workers=1"
                ) from error
        raise
