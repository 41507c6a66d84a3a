"""Batches as tensors of PyTorch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import torch  # type: ignore[import-not-found, import-untyped, unused-ignore]
from torch import distributed
from torch.utils._pytree import (  # type: ignore[import-not-found, import-untyped, unused-ignore]
    register_pytree_node,
)
from torch.utils.data import (  # type: ignore[import-not-found, import-untyped, unused-ignore]
    IterableDataset,
    get_worker_info,
)
from torch.utils.data._utils.collate import (  # type: ignore[import-not-found, import-untyped, unused-ignore]
    default_collate_fn_map,
)

from ..shared.dtypes import DTYPES
from ..shared.errors import DatasetError
from ..shared.options import integer
from ..shared.values import shortened
from .batches import Batches, State
from .collation import Collation
from .loops import Loop, Loops
from .views import BatchRows, View


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
    if isinstance(rows[0], TensorBatch):
        _refuse_batches(rows)

    def error(numbers: Sequence[int], reason: str) -> DatasetError:
        return DatasetError(f"collate: {_place(numbers[0])}: {reason}")

    return tensors_of(Collation({}, error, _place).columns(rows, range(len(rows))))


def _place(row: int) -> str:
    return f"row {row}"


def drawn_seed() -> int:
    """Return a seed from the random numbers of PyTorch, such as those of a worker."""
    return int(torch.empty((), dtype=torch.int64).random_())


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


class TensorBatch(dict[str, Any]):
    """A batch of tensors. A loader with `batch_size=None` makes a dict of it."""

    def __copy__(self) -> dict[str, Any]:
        return dict(self)


def _refuse_batches(_batches: Sequence[Any], **_: Any) -> NoReturn:
    raise DatasetError(
        "to_torch: the loader makes batches of batches; give the DataLoader batch_size=None"
    )


default_collate_fn_map[TensorBatch] = _refuse_batches

# PyTorch takes subclasses of dict for single values.
register_pytree_node(
    TensorBatch,
    lambda batch: ([*batch.values()], [*batch]),
    lambda values, names: dict(zip(names, values, strict=True)),
)


class TensorBatches(IterableDataset):  # type: ignore[misc]
    """The batches of epochs, as tensors: each loop reads the next epoch.

    Args:
        split: the split.
        view: its records.
        batch_size: records in a batch.
        options: of `Split.batches`.
        epoch: that of the first loop.
        shard: which reader this is, of how many; None for the rank.
    """

    def __init__(
        self,
        split: Any,
        view: View,
        batch_size: int,
        options: Mapping[str, Any],
        epoch: int,
        shard: tuple[int, int] | None,
    ) -> None:
        if "resume" in options:
            raise TypeError("to_torch: give a state to load_state_dict of the dataset")
        self._split = split
        self._view = view
        self._batch_size = batch_size
        self._options = dict(options)
        self._shard = shard
        self._rank = (0, 1)
        self._loops = Loops(integer("epoch", epoch, 0))
        # The number of the call of `load_state_dict`, and its state.
        self._loaded: tuple[int, State] | None = None
        # The state that StatefulDataLoader has given to this worker.
        self._restored: WorkerState | None = None
        self._current: _LoopBatches | None = None
        # This refuses wrong options.
        self._about = self._batches(epoch).reader.description

    def __repr__(self) -> str:
        return f"batches {self._about}"

    def __getstate__(self) -> dict[str, Any]:
        self._readers()
        return {**vars(self), "_current": None}

    def _readers(self) -> tuple[int, int]:
        """Return which reader this is, and how many there are."""
        if self._shard is not None:
            return self._shard
        if distributed.is_available() and distributed.is_initialized():
            self._rank = distributed.get_rank(), distributed.get_world_size()
        return self._rank

    def _batches(self, epoch: int, resume: State | None = None) -> Batches:
        """Return the batches of an epoch, or those after a state."""
        given: dict[str, Any] = {"epoch": epoch, "shard": self._readers()}
        found: Batches = self._split.batches(
            self._batch_size, **given, **self._options, resume=resume
        )
        return found

    def _batches_of(self, loop: Loop) -> Batches:
        """Return the batches of this reader in a loop.

        Raises:
            DatasetError: a worker that began before the state was loaded does not have it.
        """
        if not loop.resumes:
            return self._batches(loop.epoch)
        if self._loaded is None or self._loaded[0] != loop.call:
            raise DatasetError(
                "load_state_dict: the loop began with a state that is not here: another "
                "one was loaded since, or persistent workers of the loader are older than "
                "it; make another loader"
            )
        return self._batches(loop.epoch, self._loaded[1])

    def __len__(self) -> int:
        """Return how many batches the next loop delivers to this reader."""
        return len(self._batches_of(self._loops.next()))

    def set_epoch(self, epoch: int) -> None:
        """Let the next loop read an epoch, and the loops behind it those that follow.

        A loaded state of another epoch is dropped.

        Args:
            epoch: from 0.
        """
        call = self._loops.name(integer("epoch", epoch, 0))
        if self._loaded is not None:
            self._loaded = call, self._loaded[1]

    def __iter__(self) -> Iterator[TensorBatch]:
        info = get_worker_info()
        if info is None:
            return self._read_alone()
        # Not in a generator: StatefulDataLoader asks for the state before the first batch.
        self._current, restored, self._restored = None, self._restored, None
        try:
            loop = self._loops.begin(restored["epoch"] if restored else None)
            worker = info.id, info.num_workers
            self._current = self._loop_batches(loop, restored, worker)
        except DatasetError as error:
            if restored is None:  # here it would end a persistent worker
                return _raising(error)
            raise
        return self._tensors(self._current)

    def _read_alone(self) -> Iterator[TensorBatch]:
        """Read in the process of the loop, where a loop begins with its first batch."""
        loop = self._loops.begin()
        batches = self._batches_of(loop)
        self._current = _LoopBatches(loop, batches, batches)
        yield from self._tensors(self._current)

    def _tensors(self, current: _LoopBatches) -> Iterator[TensorBatch]:
        for batch in current.own:
            self._loops.has_read(current.loop)
            yield TensorBatch(tensors_of(batch))
        current.has_ended = True

    def _loop_batches(
        self, loop: Loop, restored: WorkerState | None, worker: tuple[int, int]
    ) -> _LoopBatches:
        """Return what a worker of a loader reads in a loop.

        Raises:
            DatasetError: a state of it was made by other workers.
        """
        if restored is None:
            batches = self._batches_of(loop)
            return _LoopBatches(loop, batches, batches.of_worker(*worker), worker)
        now = [*worker, self._readers()[1], self._batch_size]
        if restored["worker"] != now:
            _, *made = restored["worker"]
            raise DatasetError(
                "load_state_dict: the state was made by StatefulDataLoader with {} workers, "
                "{} readers and batches of {}; now there are {}, {} and {}. ".format(
                    *made, *now[1:]
                )
                + _BY_COUNT
            )
        state = {name: value for name, value in restored.items() if name not in _WORKER}
        batches = self._batches(loop.epoch, state)
        own = batches.of_worker(*worker, restored["done"])
        return _LoopBatches(loop, batches, own, worker, restored["done"])

    def state_dict(
        self, after: int | None = None, *, epoch: int | None = None
    ) -> State:
        """Return what `load_state_dict` takes to go on after some batches.

        It is the same for each rank, and JSON.

        Args:
            after: how many batches each rank has had in the loop; None for those that were
                delivered here. Where workers of a loader read, it must be given, as only
                the loop knows how many it has had.
            epoch: that of the loop; None for the loop that began last. Give it with
                `after` where the program looks at batches in another loop meanwhile.

        Raises:
            DatasetError: `after` must be given, or there are not so many batches.
        """
        current = self._current
        if get_worker_info() is not None:
            if current is None:  # its first batch is an error
                return {}
            done = current.done + current.own.taken
            readers = self._readers()[1]
            worker = [*current.worker, readers, self._batch_size]
            return {**current.batches.state_after(0), "worker": worker, "done": done}
        if after is not None:
            return self._state_after(after, epoch)
        if epoch is not None:
            raise TypeError("state_dict: give after=count with epoch")
        asked = self._loops.next()
        if asked.resumes and self._loaded:
            return self._loaded[1]
        if self._loops.last().is_of_workers:
            raise DatasetError(
                "state_dict: workers of the loader read the batches, so the dataset does "
                "not know how many the loop has had; count them, and pass "
                "state_dict(after=count)"
            )
        if current is None or current.has_ended:
            return self._batches(asked.epoch).state()
        return current.batches.state()

    def _state_after(self, after: int, epoch: int | None) -> State:
        count, last = integer("after", after, 0), self._loops.last(epoch)
        if last.is_restored:
            raise DatasetError(
                "state_dict: StatefulDataLoader has begun the loop after a state of its "
                "own; use its state_dict"
            )
        if self._view.skips and count:
            raise DatasetError(
                "state_dict: with on_corrupt='skip' a batch may be left out, so the count of "
                "batches does not say where the loop is; use num_workers=0 and no after=, or "
                "StatefulDataLoader of torchdata"
            )
        batches = self._batches_of(last if last.number else self._loops.next())
        if count > len(batches):
            raise DatasetError(
                f"state_dict: after={count}: the loop has {len(batches)} batches"
            )
        return batches.state_after(count)

    def load_state_dict(self, state: State) -> None:
        """Go on after the batches of a state in the next loop.

        The number of ranks and workers and the batch size may be others.

        Args:
            state: what `state_dict` has returned.

        Raises:
            DatasetError: it was not returned by `state_dict`, or was made with other data
                or options.
        """
        if not isinstance(state, Mapping) or not {"epoch", "read"} <= state.keys():
            raise DatasetError(
                "load_state_dict: expected what state_dict() of the dataset returns in this "
                f"version, found {shortened(state)}"
            )
        if ("worker" in state) != (get_worker_info() is not None):
            raise DatasetError(
                "load_state_dict: the state was made by StatefulDataLoader with another "
                f"number of workers. {_BY_COUNT}"
            )
        if "worker" in state:
            self._restored = dict(state)
            return
        given = self._batches(state["epoch"], state).state()
        is_begun = any(each for _, each in given["read"])
        call = self._loops.resume(state["epoch"], is_begun=is_begun)
        if call is not None:
            self._loaded = call, dict(state)


def _raising(error: DatasetError) -> Iterator[TensorBatch]:
    """Raise an error when the first batch is asked for."""
    yield from ()
    raise error


_BY_COUNT = (
    "To go on with others, save dataset.state_dict(after=count) after so many batches of "
    "the loop, and give it to dataset.load_state_dict"
)

WorkerState = State
"""The state of a worker: that of its reader when the loop began, and its own batches."""

_WORKER = ("worker", "done")


@dataclass
class _LoopBatches:
    """What this process reads in a loop.

    Attributes:
        loop: which one.
        batches: those of the reader.
        own: those of this worker.
        worker: its number, and how many there are.
        done: how many of its batches come before.
        has_ended: whether all were delivered.
    """

    loop: Loop
    batches: Batches
    own: Batches
    worker: tuple[int, int] = (0, 1)
    done: int = 0
    has_ended: bool = False
