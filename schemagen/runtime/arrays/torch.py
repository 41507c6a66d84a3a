"""Batches as tensors of PyTorch."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found, import-untyped, unused-ignore]
from torch import distributed
from torch.utils.data import (  # type: ignore[import-not-found, import-untyped, unused-ignore]
    IterableDataset,
    get_worker_info,
)

from ..shared.dtypes import DTYPES
from ..shared.errors import DatasetError
from ..shared.values import shortened
from .batches import Batches, State
from .collation import Collation
from .views import BatchRows


def collate(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return rows as a batch of tensors: for `DataLoader(..., collate_fn=collate)`.

    It takes rows of a split, and rows that a dataset of your own has made of them. Lists of
    numbers are padded with zeros. Where a value is None, the batch has
    `<name>_present`, bool [B]. Texts are lists. Of a split, numbers are not copied.

    Args:
        rows: dicts with the same names.

    Raises:
        DatasetError: the values of a field cannot be a tensor.
    """
    if isinstance(rows, BatchRows):
        return tensors_of(rows.columns)
    if not rows or not all(isinstance(row, Mapping) for row in rows):
        raise DatasetError(
            f"collate: expected rows, which are dicts by name, found {shortened(rows)}"
        )

    def error(numbers: Sequence[int], reason: str) -> DatasetError:
        return DatasetError(f"collate: {_place(numbers[0])}: {reason}")

    return tensors_of(Collation({}, error, _place).columns(rows, range(len(rows))))


def _place(row: int) -> str:
    return f"row {row}"


def tensors_of(batch: Mapping[str, Any]) -> dict[str, Any]:
    """Return a batch of arrays, such as one of `Split.batches`, as tensors."""
    return {name: _tensor(value) for name, value in batch.items()}


def _tensor(value: Any) -> Any:
    if isinstance(value, Mapping):
        return tensors_of(value)
    if isinstance(value, (list, tuple)):
        return [_tensor(each) for each in value]
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype.kind == "O":
        return value.tolist()
    if value.ndim and (min(value.strides) < 0 or not value.dtype.isnative):
        value = np.ascontiguousarray(value, value.dtype.newbyteorder("="))
    dtype = DTYPES.get(value.dtype.name)
    if dtype is not None and not dtype.in_numpy:  # which torch takes from numpy by bits
        bits = torch.from_numpy(value.view(f"int{8 * dtype.size}"))
        return bits.view(getattr(torch, dtype.name))
    return torch.from_numpy(value)


def batches_as_tensors(
    split: Any,
    batch_size: int,
    options: Mapping[str, Any],
    epoch: int,
    shard: tuple[int, int] | None,
) -> Any:
    """Return an `IterableDataset`; arguments are those of `Split.to_torch`."""
    return TensorBatches(split, batch_size, dict(options), epoch, shard)


class TensorBatches(IterableDataset):  # type: ignore[misc]
    """The batches of an epoch, as tensors."""

    def __init__(
        self,
        split: Any,
        batch_size: int,
        options: dict[str, Any],
        epoch: int,
        shard: tuple[int, int] | None,
    ) -> None:
        if "resume" in options:
            raise TypeError("to_torch: give a state to load_state_dict of the dataset")
        self._split = split
        self._batch_size = batch_size
        self._options = options
        self._shard = shard
        self._rank = (0, 1)
        # In shared memory: workers that live on see an epoch that is set later.
        self._epoch = torch.full((), epoch, dtype=torch.int64).share_memory_()
        # How often an epoch was set: until now, and before the last loop began.
        self._sets = torch.zeros((), dtype=torch.int64).share_memory_()
        self._begun = torch.zeros((), dtype=torch.int64).share_memory_()
        self._in_workers = torch.zeros((), dtype=torch.bool).share_memory_()
        # Not in shared memory: all workers of a loop see what it was before the loop.
        self._next_epoch: int | None = None
        self._loaded: tuple[int, State] | None = None
        self._reading: _Reading | None = None
        self._read(None, (0, 1))  # refuses wrong options

    def __getstate__(self) -> dict[str, Any]:
        self._readers()
        return {**vars(self), "_reading": None}

    def _readers(self) -> tuple[int, int]:
        """Return which reader this is, and how many there are."""
        if self._shard is not None:
            return self._shard
        if distributed.is_available() and distributed.is_initialized():
            self._rank = distributed.get_rank(), distributed.get_world_size()
        return self._rank

    def _read(
        self,
        resume: State | None,
        worker: tuple[int, int],
        done: int = 0,
        epoch: int | None = None,
    ) -> _Reading:
        """Begin to read the batches of a worker, after a state and some of its batches."""
        number = int(self._epoch) if epoch is None else epoch
        given: dict[str, Any] = {"epoch": number, "shard": self._readers()}
        given |= self._options
        batches = self._split.batches(self._batch_size, **given, resume=resume)
        own = batches.of_worker(*worker, done)
        return _Reading(own, batches.state(), worker, done)

    def __len__(self) -> int:
        """Return how many batches this reader has in an epoch."""
        return len(self._read(None, (0, 1)).batches)

    def set_epoch(self, epoch: int) -> None:
        """Give the epochs that begin from now on the order of this one.

        A loaded state of another epoch is dropped.
        """
        self._epoch.fill_(epoch)
        self._sets.add_(1)
        self._next_epoch = epoch

    def __iter__(self) -> Iterator[dict[str, Any]]:
        info = get_worker_info()
        worker = (info.id, info.num_workers) if info else (0, 1)
        self._in_workers.fill_(info is not None)
        loaded, self._loaded = self._loaded, None
        if loaded is None or self._begins_epoch(*loaded):
            reading = self._read(None, worker)
        elif loaded[0] != os.getpid():
            raise DatasetError(
                "load_state_dict: the workers of the loader read the batches, and do "
                "not have the state; use StatefulDataLoader of torchdata, or num_workers=0"
            )
        else:
            reading = self._resumed(loaded[1], worker)
        sets = int(self._sets)
        if info is None:
            self._begun.fill_(sets)
            self._next_epoch = None
        self._reading = reading
        # Not as a generator: the state is that of this epoch from here on.
        return self._tensors(reading, sets)

    def _tensors(self, reading: _Reading, sets: int) -> Iterator[dict[str, Any]]:
        # Workers say it here: StatefulDataLoader asks for a batch when all of them have
        # loaded their states.
        self._begun.fill_(max(sets, int(self._begun)))
        for batch in reading.batches:
            reading.done += 1
            yield tensors_of(batch)
        reading.ended = True

    def _begins_epoch(self, process: int, state: State) -> bool:
        """Whether an epoch begins, in place of the rest of the one of a state.

        Args:
            process: which has loaded the state.
            state: the state.
        """
        if self._next_epoch not in (None, state["now"]["epoch"]):
            return True
        # One of several workers ends while others read on.
        in_worker = get_worker_info() is not None and process == os.getpid()
        return not in_worker and bool(state.get("ended"))

    def _resumed(self, state: State, worker: tuple[int, int]) -> _Reading:
        """Begin to read after a state.

        Raises:
            DatasetError: it is of another epoch, or of other workers.
        """
        if worker == (0, 1) == tuple(state["worker"]):
            return self._read(state["now"], worker, 0, state["now"]["epoch"])
        made = (tuple(state["worker"]), state["readers"], state["batch_size"])
        if made != (worker, self._readers()[1], self._batch_size):
            raise DatasetError(
                f"load_state_dict: the state was made with {state['worker'][1]} workers, "
                f"{state['readers']} readers and batches of {state['batch_size']}; now "
                f"there are {worker[1]}, {self._readers()[1]} and {self._batch_size}. "
                "With workers, all three must be the same"
            )
        first = state["first"]
        return self._read(first, worker, state["done"], first["epoch"])

    def state_dict(self) -> State:
        """Return what `load_state_dict` takes to go on after the last batch.

        Raises:
            DatasetError: workers of a loader have read, which know the state alone.
        """
        loaded = self._loaded
        if loaded is not None and not self._begins_epoch(*loaded):
            return loaded[1]
        if get_worker_info() is None and bool(self._in_workers):
            raise DatasetError(
                "state_dict: the workers of the loader read the batches, and they alone "
                "know the state; use StatefulDataLoader of torchdata, or num_workers=0"
            )
        reading = None if loaded else self._reading
        reading = reading or self._read(None, (0, 1))
        return {
            "first": reading.first,
            "now": reading.batches.state(),
            "done": reading.done,
            "ended": reading.ended,
            "worker": list(reading.worker),
            "readers": self._readers()[1],
            "batch_size": self._batch_size,
        }

    def load_state_dict(self, state: State) -> None:
        """Go on after the batches of a state in the next loop.

        If the loop of the state had ended, an epoch begins.

        Raises:
            DatasetError: it is none that `state_dict` has returned.
        """
        if not isinstance(state, Mapping) or not {*_STATE} <= state.keys():
            raise DatasetError(
                "load_state_dict: expected what state_dict() of the dataset has returned, "
                f"found {shortened(state)}"
            )
        if self._begun == self._sets:  # workers have begun the epoch that was set
            self._next_epoch = None
        self._loaded = os.getpid(), dict(state)


_STATE = ("first", "now", "done", "worker", "readers", "batch_size")


@dataclass
class _Reading:
    """What a worker reads.

    Attributes:
        batches: those of the worker.
        first: the state in which it began.
        worker: its number, and how many there are.
        done: how many of its batches come before.
        ended: whether the loop over them has ended.
    """

    batches: Batches
    first: State
    worker: tuple[int, int]
    done: int
    ended: bool = False
