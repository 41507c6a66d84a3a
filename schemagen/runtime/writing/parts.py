"""Writing shards of a plan: durable files under temporary names, and their receipts.

Ranks, engines and worker processes write whole shards like this.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import DatasetError
from ..shared.processes import Advance
from ..shared.tfrecord import Framed
from ..storage import manifest
from ..storage.directory import Directory
from ..storage.opening import open_directory
from .chunks import chunks_of, positions_by_shard
from .claims import is_going_on
from .encoding import Chunk, Encoding, Refused
from .names import receipt_name, temporary_name
from .plan import Plan
from .receipts import Receipt, keep, written
from .shards import ShardFile
from .sources import Indexed, Parts, RowSource, Source, source_of


@dataclass(frozen=True)
class Filled:
    """A shard of which all bytes are with the system.

    Attributes:
        plan: of the run.
        directory: the data directory.
        shard: its number.
        name: its temporary name.
        file: the file.
        last_row: as in the receipt.
        refused: as in the receipt.
    """

    plan: Plan
    directory: Directory
    shard: int
    name: str
    file: ShardFile
    last_row: int
    refused: tuple[Refused, ...]

    def receipt(self) -> Receipt:
        """Make the shard durable, and return its receipt.

        Raises:
            OSError: the disk refuses; nothing of the shard is left.
        """
        return Receipt(
            **vars(self.file.finish()),
            run=self.plan.run,
            shard=self.shard,
            file=self.name,
            last_row=self.last_row,
            refused=self.refused,
        )

    def finish(self) -> Receipt:
        """Make the shard durable, and keep its receipt in the directory.

        Returns:
            The receipt of this attempt, or of one that has written the same.

        Raises:
            ChangedSourceError: another attempt has written something else.
            DatasetError: the run was abandoned or replaced meanwhile.
            OSError: the disk refuses.
        """
        directory, plan, receipt = self.directory, self.plan, self.receipt()
        kept = keep(directory, plan, receipt)
        if not is_going_on(directory, plan):
            # The run has ended while this was written; nothing may stay.
            directory.remove(receipt_name(plan.split, self.shard, plan.token))
            directory.remove(receipt.file)
            _check_published(directory, plan, receipt)
        return kept


def add_all(
    add: Callable[[Framed], object], chunks: Iterable[Chunk], advance: Advance
) -> tuple[int, tuple[Refused, ...]]:
    """Add the records of a shard to its file.

    Args:
        add: takes framed records.
        chunks: the records.
        advance: called with numbers of records and bytes.

    Returns:
        The position of the last record's row, -1 without records; and the rows that were
        left out.
    """
    last_row, refused = -1, list[Refused]()
    for chunk in chunks:
        add(chunk.framed)
        refused += chunk.refused
        if len(chunk.rows):
            last_row = int(chunk.rows[-1])
        advance(len(chunk.framed), len(chunk.framed.data))
    return last_row, tuple(refused)


def fill(
    plan: Plan,
    shard: int,
    chunks: Iterable[Chunk],
    advance: Advance = lambda *amounts: None,
) -> Filled:
    """Write the records of a shard to a file of a temporary name.

    Any number of processes may write the same shard, one after the other or at once.

    Args:
        plan: what is written.
        shard: the number of the shard.
        chunks: its records. If they raise an error, the file is removed.
        advance: as for `add_all`.

    Raises:
        DatasetError: the run has not begun, or has ended.
        OSError: the disk refuses.
    """
    directory = open_directory(plan.directory)
    if not is_going_on(directory, plan):
        raise DatasetError(
            f"{plan.where}: the run has not begun here, or it was published, abandoned "
            "or replaced; processes of a run call begin(plan) first"
        )
    name = temporary_name(plan.split, shard, plan.token, os.urandom(6).hex())
    file = ShardFile(directory.create(name), plan.packing)
    try:
        last_row, refused = add_all(file.add, chunks, advance)
        file.fill()
    except BaseException:
        file.discard()
        raise
    return Filled(plan, directory, shard, name, file, last_row, refused)


@dataclass(frozen=True)
class ShardsOf:
    """Writes the shards of a source, in worker processes.

    Attributes:
        source: the rows, by index or from a function for each shard.
        plan: what is written.
        encoding: how rows become records.
    """

    source: Indexed | Parts
    plan: Plan
    encoding: Encoding

    def __call__(self, shard: int, advance: Advance) -> Receipt:
        """Write a shard, durable and with its receipt; errors as `fill` and `finish`."""
        chunks = chunks_of(self.source, self.plan, shard, self.encoding)
        return fill(self.plan, shard, chunks, advance).finish()


def write_part(
    source: RowSource, plan: Plan, shard: int, encoding: Encoding
) -> Receipt:
    """Write a shard from a source; result and errors are those of `PartWriter`."""
    return write_parts(source, plan, [shard], encoding)[0]


def write_parts(
    source: RowSource, plan: Plan, shards: Sequence[int], encoding: Encoding
) -> list[Receipt]:
    """Write some shards from a source; result and errors are those of `PartWriter`."""
    given = source_of(source)
    directory = open_directory(plan.directory)
    receipts = list[Receipt]()
    positions: dict[int, NDArray[np.int64]] | None = None
    for at, shard in enumerate(shards):
        rows = _checked(given, plan, shard)
        receipt = written(directory, plan, shard)
        if receipt is None:
            if positions is None:  # one pass over all keys is for all of the shards
                positions = positions_by_shard(rows, plan, shards[at:])
            mine = positions.pop(shard, None)
            try:
                chunks = chunks_of(rows, plan, shard, encoding, mine)
                receipt = fill(plan, shard, chunks).finish()
            except Exception as error:
                error.add_note(f"while shard {shard} was written, of {plan}")
                raise
        receipts.append(receipt)
    return receipts


def _checked(source: Source, plan: Plan, shard: Any) -> Indexed | Parts:
    if type(shard) is not int or shard not in plan.numbers:
        raise DatasetError(
            f"{plan.where}: shard={shard!r}: expected 0 to {len(plan.numbers) - 1}"
        )
    if plan.key_field is not None:
        raise DatasetError(
            f"{plan.where}: the order depends on key_field={plan.key_field!r}, so each "
            "shard has rows of the whole source; write from rows with an engine, or leave "
            "key_field out"
        )
    if isinstance(source, Parts):
        if len(source) != plan.shards:
            raise DatasetError(
                f"{plan.where}: the source has {len(source)} functions, expected one "
                f"for each of {plan.shards} shards"
            )
        if plan.shuffle_seed is not None:
            raise DatasetError(
                f"{plan.where}: shuffle_seed needs a source with a length and rows by "
                "index, found a function for each shard"
            )
        return source
    if not isinstance(source, Indexed):
        raise DatasetError(
            f"{plan.where}: the source gives rows one after the other, expected one "
            "with a length and rows by index, or a list with a function for each shard"
        )
    if plan.rows is None:
        raise DatasetError(
            f"{plan.where}: the plan does not say how many rows the source has; pass "
            "rows=len(source) to plan_dataset"
        )
    if source.length != plan.rows:
        raise DatasetError(
            f"{plan.where}: the source has {source.length} rows, expected "
            f"{plan.rows}; pass the same source in all processes"
        )
    return source


def _check_published(directory: Directory, plan: Plan, receipt: Receipt) -> None:
    """See that what was written too late is what was published.

    Raises:
        DatasetError: it is not.
    """
    found = manifest.load(directory)
    split = found and found.splits.get(plan.split)
    name = plan.shard_name(receipt.shard, len(plan.numbers))
    if not split or receipt.listed(name) not in split.settled.shards:
        raise DatasetError(
            f"{plan.where}: the run was abandoned or replaced while shard "
            f"{receipt.shard} was written; nothing of it is kept"
        )
