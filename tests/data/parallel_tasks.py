"""What test_parallel.py has processes do; they import this module, and little else."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

from schemagen.runtime.shared.errors import DatasetError

Moved = Callable[[int], object]


def squared(task: int, moved: Moved) -> tuple[int, int]:
    moved(task)
    return task * task, os.getpid()


def fails_on_three(task: int, moved: Moved) -> int:
    if task == 3:
        raise DatasetError("three")
    return task


def dies_on_three(task: int, moved: Moved) -> int:
    if task == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return task


def leaves_on_three(task: int, moved: Moved) -> int:
    if task == 3:
        os._exit(5)
    return task


def reads_for_minutes(seconds: int, moved: Moved) -> None:
    for _ in range(10 * seconds):
        time.sleep(0.1)
        moved(1)
