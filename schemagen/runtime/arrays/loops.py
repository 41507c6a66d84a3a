"""Which epoch a loop over a dataset of PyTorch reads, also in the workers of a loader.

A loader starts its workers for each loop, or keeps them. Each worker begins the loop by
itself, at its own time, and all of them must read the same epoch. So the epoch that was
asked for, and the loops that have begun, are in memory that they share.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from multiprocessing import current_process, parent_process
from typing import Any

import torch  # type: ignore[import-not-found, import-untyped, unused-ignore]
from torch.utils.data import (  # type: ignore[import-not-found, import-untyped, unused-ignore]
    get_worker_info,
)

from ..shared.errors import DatasetError

# The table has the last sixteen loops. Two that begin at the same time, as of two loaders
# over one dataset, have the same number, and places of their own by their keys.
_NUMBERS, _KEYS = 16, 16


@dataclass(frozen=True)
class Loop:
    """A loop over a dataset.

    Attributes:
        number: of the loop, from 1.
        call: which call of `set_epoch` or `load_state_dict` was the last one before it.
        epoch: which one it reads.
        resumes: whether it begins after the state of that call.
        is_restored: whether it begins after states that the workers were given.
        has_read: whether it has delivered a batch.
        key: what its workers have in common, and no other ones.
    """

    number: int
    call: int
    epoch: int
    resumes: bool = False
    is_restored: bool = False
    has_read: bool = False
    key: tuple[int, int, int] = (0, 0, 0)

    @property
    def is_of_workers(self) -> bool:
        """Whether workers of a loader read."""
        return self.key[:2] != (0, 0)

    @property
    def place(self) -> int:
        """Where it is in the table."""
        return self.number % _NUMBERS * _KEYS + hash(self.key) % _KEYS


class Loops:
    """The loops over a dataset: each reads the epoch after that of the one before.

    Workers may begin a loop at the same time, without a lock: each of them finds the loop
    in the table, or writes what any other of them would write.

    Args:
        epoch: that of the first loop.
    """

    def __init__(self, epoch: int) -> None:
        self._memory = torch.zeros((_NUMBERS * _KEYS + 1, 9), dtype=torch.int64)
        self._call[1] = epoch
        self._begun = 0  # by this process
        self._share()

    @property
    def _table(self) -> Any:
        """The loops: [loops, 9]."""
        return self._memory[1:]

    @property
    def _call(self) -> Any:
        """The last call.

        Its number, its epoch, whether it has named that, and whether it has a state: [4].
        """
        return self._memory[0, :4]

    def _share(self) -> None:
        self._memory = self._memory.clone().share_memory_()
        self._owner = os.getpid()

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if not self._memory.is_shared():  # a copy, which is not for a worker
            self._share()

    def _check_owner(self) -> None:
        """Count alone in a process that was given the dataset, such as another rank.

        Raises:
            DatasetError: this is a worker, and its loader is in such a process.
        """
        if get_worker_info() is None:
            if self._owner != os.getpid():
                self._share()
            return
        parent = parent_process()
        if parent is not None and parent.pid != self._owner:
            raise DatasetError(
                "to_torch: the dataset was made in another process than its loader; call "
                "to_torch in the process that has the loader"
            )

    def name(self, epoch: int) -> int:
        """Let the next loop read an epoch, and return the number of the call.

        A state of another epoch is dropped.
        """
        asked = self.next()
        return self._ask(epoch, True, asked.resumes and asked.epoch == epoch)

    def resume(self, epoch: int, *, is_begun: bool) -> int | None:
        """Let the next loop read the rest of an epoch.

        Args:
            epoch: which one.
            is_begun: whether some of it was read. If not, an epoch that was named is read.

        Returns:
            The number of the call; None if it changes nothing.
        """
        call, _, named, _ = self._call.tolist()
        if named and not is_begun and not self._has_begun(self.last(), call):
            return None
        return self._ask(epoch, False, True)

    def _ask(self, epoch: int, named: bool, resumes: bool) -> int:
        self._check_owner()
        call = int(self._call[0]) + 1
        self._call[1:] = torch.tensor([epoch, named, resumes])
        self._call[0] = call
        return call

    def last(self, epoch: int | None = None) -> Loop:
        """Return the loop that began last; its number is 0 if there is none.

        Args:
            epoch: the one that it reads; None for any.

        Raises:
            DatasetError: none has read the epoch.
        """
        self._check_owner()
        loops = self._loops()
        if epoch is not None:
            loops = [loop for loop in loops if loop.number and loop.epoch == epoch]
            if not loops:
                raise DatasetError(f"epoch={epoch}: no loop has read it lately")
        return max(loops, key=lambda loop: loop.number)

    def next(self) -> Loop:
        """Return the loop that begins next."""
        return self._behind(self.last())

    def begin(self, restored: int | None = None) -> Loop:
        """Begin a loop, or join the other workers in it.

        Args:
            restored: the epoch of a state that this worker was given; None without one.
        """
        key = self._key()
        loops = self._loops()  # once: others may begin it meanwhile
        for loop in loops:
            if loop.number and loop.key == key:
                return loop
        last = max(loops, key=lambda loop: loop.number)
        found = replace(self._behind(last), key=key)
        if restored is not None:
            found = replace(found, epoch=restored, resumes=False, is_restored=True)
        row = self._table[found.place]
        row[0] = 0  # while it is written, no worker finds it
        row[1:6] = torch.tensor(
            [found.call, found.epoch, found.resumes, found.is_restored, False]
        )
        row[6:] = torch.tensor(key)
        row[0] = found.number
        return found

    def has_read(self, loop: Loop) -> None:
        """Note that a loop has delivered a batch."""
        self._table[loop.place, 5] = True

    def _behind(self, last: Loop) -> Loop:
        """Return the loop that begins after another one."""
        call, epoch, _, resumes = self._call.tolist()
        if self._has_begun(last, call):
            return Loop(last.number + 1, call, last.epoch + 1)
        return Loop(last.number + 1, call, epoch, bool(resumes))

    def _has_begun(self, loop: Loop, call: int) -> bool:
        """Tell whether a loop, or one before it, reads what a call has asked for.

        With the states of a loop that had ended, StatefulDataLoader starts workers, and
        then others without states: an epoch that was named is for those.
        """
        _, epoch, named, _ = self._call.tolist()
        for_others = loop.is_restored and not (loop.has_read and loop.epoch == epoch)
        return loop.number > 0 and loop.call == call and not (named and for_others)

    def _loops(self) -> list[Loop]:
        table = self._table.tolist()
        # A place with an older number is about to be written.
        oldest = max(number for number, *_ in table) - _NUMBERS + 2
        return [_loop_of(row) for row in table if row[0] >= oldest]

    def _key(self) -> tuple[int, int, int]:
        """Return what the workers of the loop that begins now have in common.

        These are the number of the first worker among the processes of its parent, the
        seed that the loader has drawn, and how often a worker that is kept has begun.
        """
        self._check_owner()
        self._begun += 1
        info = get_worker_info()
        if info is None:
            return 0, 0, self._begun
        process = current_process().name.replace(":", "-").rpartition("-")[2]
        first = int(process) - info.id if process.isdecimal() else 0
        return first, info.seed - info.id, self._begun


def _loop_of(row: list[int]) -> Loop:
    """Return a loop by its row of the table."""
    number, call, epoch, resumes, is_restored, has_read, *key = row
    first, seed, begun = key
    return Loop(
        number=number,
        call=call,
        epoch=epoch,
        resumes=bool(resumes),
        is_restored=bool(is_restored),
        has_read=bool(has_read),
        key=(first, seed, begun),
    )
