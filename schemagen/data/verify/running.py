"""Doing tasks in several processes, with their results in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..parallel import in_parallel, usual_workers
from .files import Checked, Progress, Task, check_part


def run(
    tasks: Iterable[Task], total: int, workers: int | None, progress: Progress
) -> Iterator[Checked]:
    """Yield what comes out of each task, in the order of the tasks.

    Args:
        tasks: what to do; asked for one by one.
        total: about how many bytes that is.
        workers: how many processes; None for one each core, or none but this one
            where there is little to do.
        progress: told how many bytes have been read.

    Raises:
        DatasetError: a process was ended from outside.
    """
    if workers is None:
        workers = usual_workers(total)
    early: dict[int, Checked] = {}
    following = 0
    done = in_parallel(check_part, tasks, workers=workers, moved=progress)
    for index, checked in done:
        early[index] = checked
        while following in early:
            yield early.pop(following)
            following += 1
