"""Which part of the records each of several readers gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol

from ..shared.errors import DatasetError, warn


class InputContext(Protocol):
    """What a `tf.distribute.InputContext` says of a reader."""

    @property
    def input_pipeline_id(self) -> int:
        """Its number, from 0."""
        ...

    @property
    def num_input_pipelines(self) -> int:
        """How many readers there are."""
        ...


Shard = tuple[int, int] | InputContext
"""The number of a reader from 0, and how many readers there are."""


@dataclass(frozen=True)
class Share:
    """What one of several readers reads.

    Attributes:
        files: the numbers of its files.
        firsts: for each of them the number of the first record that is its own.
        step: every how many records the next one is.
    """

    files: tuple[int, ...]
    firsts: tuple[int, ...]
    step: int = 1

    def records(self, counts: Sequence[int]) -> int:
        """Return how many records it has, where each of all files has so many."""
        return sum(
            len(range(first, counts[file], self.step))
            for file, first in zip(self.files, self.firsts, strict=True)
        )


def share_of(
    shard: Shard | None, files: int, counts: Sequence[int] | None = None
) -> Share:
    """Divide files among readers, or their records if there are too few of them.

    Warns in the latter case, where every reader has to read all files.

    Args:
        shard: which reader asks; None for the only one.
        files: how many files there are.
        counts: how many records each has, if that is known.

    Raises:
        DatasetError: it is no number of a reader.
    """
    index, readers = numbers_of(shard)
    if files >= readers:
        own = tuple(range(index, files, readers))
        return Share(own, (0,) * len(own))
    warn(
        f"{files} {'file' if files == 1 else 'files'} for {readers} readers: each reads "
        f"all of them and keeps its part of the records; write {readers} or more "
        f"shards, best a multiple of {readers}"
    )
    # Records are dealt as if all files were one, so that readers get equally many.
    before = accumulate(counts[:-1], initial=0) if counts else range(files)
    firsts = tuple((index - start) % readers for start in before)
    return Share(tuple(range(files)), firsts, readers)


def numbers_of(shard: Shard | None) -> tuple[int, int]:
    """Return the number of a reader, and how many there are.

    Raises:
        DatasetError: it is no number of a reader.
    """
    if shard is None:
        return 0, 1
    if not isinstance(shard, tuple) and hasattr(shard, "input_pipeline_id"):
        return shard.input_pipeline_id, shard.num_input_pipelines
    numbers = shard if isinstance(shard, tuple) else ()
    if len(numbers) != 2 or any(type(number) is not int for number in numbers):
        raise DatasetError(
            f"shard={shard!r}: expected (index, count), or a tf.distribute.InputContext"
        )
    index, count = numbers
    if not 0 <= index < count:
        raise DatasetError(
            f"shard={shard!r}: expected an index from 0 to count - 1, such as (0, 2) and "
            "(1, 2) for two readers"
        )
    return index, count
