"""The steps of writing one split with an engine, which each engine binds to its own API.

The program that starts the engine calls `begin` and `publish`. Between them, tasks write
the shards, in one of two ways:

- From a source that every task can open: `write_part` for each shard.
- From rows that the engine holds in any order: `encode` turns the rows of a partition into
  blocks of records with their keys, and `cut` divides these among the shards, each of which
  has a range of keys. The engine brings together what is of one shard, its only shuffle,
  and `write_shard` sorts and writes it.

The files are those of `write_dataset` with the same options, whatever the partitions are.
A task that runs again writes the same, or is refused.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import DatasetError
from ..shared.tfrecord import Framed
from ..shared.tfrecord import joined as joined_records
from ..writing import publish as publishing
from ..writing import run
from ..writing.begin import join
from ..writing.columns import CHUNK_BYTES as CHUNK_BYTES
from ..writing.columns import CHUNK_ROWS as CHUNK_ROWS
from ..writing.encoding import Chunk, Encoding, Refused, encode_rows
from ..writing.frames import rows_of_frame
from ..writing.keys import digest_of, groups_of, shard_of
from ..writing.plan import Plan as Plan
from ..writing.serializer import serializer_of
from ..writing.shards import Receipt as Receipt
from ..writing.shuffle import Buckets, DuplicateKeyError
from ..writing.sources import RowSource as RowSource

CUT_BYTES = 16 << 20
"""How many bytes are divided among the shards at once.

With many shards, the parts of a smaller block would be single records.
"""

_NO_ROWS: NDArray[np.int64] = np.empty(0, np.int64)


# In the program that starts the engine.


def check_keyed(plan: Plan) -> None:
    """See that a plan is one for rows that come in any order.

    Raises:
        DatasetError: it is not.
    """
    if plan.key_field is None or plan.shuffle_seed is None:
        raise DatasetError(
            f"{plan.where}: rows of an engine have no order, so the "
            "order comes from a key; pass key_field= and shuffle_seed= to plan_dataset"
        )


def begin(plan: Plan) -> Plan:
    """Claim the split for the run of a plan.

    Returns:
        The plan for workers, which have a working directory of their own.

    Raises:
        DatasetError: the split exists, another run or writer is writing it, or the
            directory holds other records; or the plan is for another schema.
        OSError: the disk refuses.
    """
    if "://" not in plan.directory:
        plan = replace(plan, directory=os.path.abspath(plan.directory))
    serializer = serializer_of(plan)
    serializer.check(plan)
    join(plan, serializer.schema)
    return plan


def publish(
    plan: Plan, receipts: Iterable[Receipt], refused: str | os.PathLike[str] | None
) -> int:
    """Publish the split, and return its number of records.

    Args:
        plan: what was written.
        receipts: of all shards, in any order, some perhaps several times.
        refused: a file for the errors of rows that were left out, as JSON lines.

    Raises:
        ChangedSourceError: a shard was written twice, with different rows.
        DatasetError: a shard is missing, or the run was abandoned or replaced.
        OSError: the disk refuses.
    """
    return publishing.publish(plan, receipts, serializer_of(plan).schema, refused)


# In tasks.


def write_part(source: RowSource, plan: Plan, shard: int) -> Receipt:
    """Write a shard from a source; errors are those of `Serializer.write_part`."""
    return serializer_of(plan).write_part(source, plan, shard)


@dataclass(frozen=True)
class Block:
    """Records with their keys.

    Attributes:
        keys: uint64 [records, 2], the digest of each record's key.
        framed: the records.
        values: the text of each record's key, one a line.
        refused: rows that were left out, counted in their partition.
    """

    keys: NDArray[np.uint64]
    framed: Framed
    values: str
    refused: tuple[Refused, ...] = ()

    def __len__(self) -> int:
        return len(self.keys)

    def __sizeof__(self) -> int:
        """Return its bytes, by which Dask decides what a worker keeps in memory."""
        return len(self.framed.data) + self.keys.nbytes + len(self.values)

    @classmethod
    def empty(cls, refused: tuple[Refused, ...] = ()) -> Block:
        """Return a block without records."""
        return cls(np.empty((0, 2), np.uint64), Framed(b"", _NO_ROWS), "", refused)


def encode(
    rows: Iterable[object], plan: Plan, partition: int | None = None
) -> Iterator[Block]:
    """Encode the rows of a partition, about 1 MiB at a time.

    Args:
        rows: dicts of the record's fields, or instances of the schema's class; or a frame
            of pandas.
        plan: what to write.
        partition: the number of the partition, which errors then get as a note.

    Raises:
        RecordError, TypeError: a wrong row, by its position in the partition, unless
            the plan leaves such rows out.
        DatasetError: the plan is for another schema.
    """
    serializer = serializer_of(plan)
    encoding = _Noting.of(serializer.encoding(plan))
    try:
        for chunk in encode_rows(rows_of_frame(rows, serializer.schema.spec), encoding):
            assert chunk.keys is not None
            values = [encoding.values[high, low] for high, low in chunk.keys.tolist()]
            encoding.values.clear()
            yield Block(chunk.keys, chunk.framed, "\n".join(values), chunk.refused)
    except Exception as error:
        if partition is not None:
            error.add_note(f"in partition {partition} of the rows")
        raise


@dataclass(frozen=True)
class _Noting(Encoding):
    """An encoding that notes the text of each key by its digest."""

    values: dict[tuple[int, int], str] = field(default_factory=dict)

    @classmethod
    def of(cls, encoding: Encoding) -> _Noting:
        return cls(encoding.record, encoding.skip, encoding.key_field, encoding.seed)

    def key_of(self, fields: Mapping[str, Any]) -> tuple[int, int]:
        value = self.key_value(fields)
        key = digest_of(value, self.seed)
        self.values[key] = repr(value)
        return key


def cut(blocks: Iterable[Block], shards: int) -> Iterator[tuple[int, Block]]:
    """Divide blocks among the shards, those of about 16 MiB at once.

    Rows that were left out go to the first shard, for its receipt.

    Args:
        blocks: the records.
        shards: how many shards there are.

    Yields:
        The number of a shard with records that are its own.
    """
    waiting, size = list[Block](), 0
    for block in blocks:
        waiting.append(block)
        size += len(block.framed.data)
        if size >= CUT_BYTES:
            yield from _cut(_joined(waiting), shards)
            waiting, size = [], 0
    if waiting:
        yield from _cut(_joined(waiting), shards)


def cut_up(blocks: Iterable[Block], shards: int) -> list[list[Block]]:
    """Return for each shard the blocks that are its own; arguments are those of `cut`."""
    found: list[list[Block]] = [[] for _ in range(shards)]
    for shard, block in cut(blocks, shards):
        found[shard].append(block)
    return found


def _joined(blocks: Sequence[Block]) -> Block:
    return Block(
        np.concatenate([block.keys for block in blocks]),
        joined_records([block.framed for block in blocks]),
        "\n".join([block.values for block in blocks if len(block)]),
        tuple(chain.from_iterable(block.refused for block in blocks)),
    )


def _cut(block: Block, shards: int) -> Iterator[tuple[int, Block]]:
    numbers = shard_of(block.keys, shards)
    order = np.argsort(numbers, kind="stable")
    data, ends = memoryview(block.framed.data), block.framed.ends
    sizes = np.diff(ends, prepend=0)
    starts = ends - sizes
    values = block.values.split("\n")
    for shard, first, stop in groups_of(numbers[order]):
        mine = order[first:stop]
        places = zip(starts[mine].tolist(), ends[mine].tolist(), strict=True)
        records = b"".join([data[start:end] for start, end in places])
        texts = "\n".join([values[at] for at in mine.tolist()])
        framed = Framed(records, np.cumsum(sizes[mine]))
        yield shard, Block(block.keys[mine], framed, texts)
    if block.refused:
        yield 0, Block.empty(block.refused)


def write_shard(
    plan: Plan,
    shard: int,
    blocks: Iterable[Block],
    scratch: str | None = None,
) -> Receipt:
    """Write a shard from the blocks that are its own, in any order.

    Args:
        plan: what to write.
        shard: its number.
        blocks: from `cut`.
        scratch: a local directory for sorting, such as one that the engine removes if
            this process is killed; None for the system's.

    Raises:
        DatasetError: two rows have the same key; the error has its value.
        ChangedSourceError: another attempt has written other records.
        OSError: the disk refuses.
    """
    refused: list[Refused] = []
    values: list[str] = []
    with tempfile.TemporaryDirectory(prefix="schemagen-", dir=scratch) as folder:
        buckets = Buckets(Path(folder) / "buckets", key_field=plan.key_field)
        try:
            found = 0
            for block in blocks:
                refused += block.refused
                if not len(block):
                    continue
                values.append(block.values)
                rows = np.arange(found, found + len(block), dtype=np.int64)
                buckets.add(block.keys, rows, 0, block.framed)
                found += len(block)
            chunks = _chunks(buckets, tuple(refused))
            return run.write_shard(plan, shard, chunks)
        except DuplicateKeyError as error:
            value = "\n".join(values).split("\n")[error.first[1]]
            raise DatasetError(
                f"{plan.where}: key field {plan.key_field!r}: two rows have the value "
                f"{value}, expected one of its own in every row; remove one of them, or "
                "take another key field"
            ) from None


def _chunks(buckets: Buckets, refused: tuple[Refused, ...]) -> Iterator[Chunk]:
    yield Chunk(None, Framed(b"", _NO_ROWS), _NO_ROWS, None, refused)
    for _, framed in buckets.ordered():
        yield Chunk(None, framed, _NO_ROWS, None, ())
