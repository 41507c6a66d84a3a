"""A split in the order of its keys, from rows that an engine holds in any order.

Every step is a function of values, for an engine to run where it likes:

1. `encode_blocks` turns the rows of a partition into blocks of framed records with their
   keys. These are what moves, not single records.
2. `cut` divides a block among the shards: a shard has a range of keys. The engine brings
   together what is of one shard: its only shuffle.
3. `write_shard` sorts what has arrived, on disk if it is large, and writes the shard.

The bytes are those of `write_dataset` with `shuffle_seed`, `key_field` and `shards`,
whatever the partitions are.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import DatasetError
from ..shared.tfrecord import Framed
from ..writing.encoding import Chunk, Encoding, Refused, encode_rows
from ..writing.keys import groups_of, shard_of
from ..writing.plan import Plan
from ..writing.run import write_shard as write_chunks
from ..writing.serializer import serializer_of
from ..writing.shards import Receipt
from ..writing.shuffle import Buckets, DuplicateKeyError
from ..writing.sources import fields_of

Keys = NDArray[np.uint64]


@dataclass(frozen=True)
class Block:
    """Framed records with their keys.

    Attributes:
        keys: uint64 [records, 2], the digest of each record's key.
        sizes: int64 [records], the bytes of each record with its frame.
        data: the framed records, one after the other.
        values: the text of each record's key, one a line.
        refused: rows that were left out, counted in their partition.
    """

    keys: Keys
    sizes: NDArray[np.int64]
    data: bytes
    values: str
    refused: tuple[Refused, ...] = ()

    def __len__(self) -> int:
        return len(self.sizes)


def check_plan(plan: Plan) -> None:
    """See that a plan is one for rows that come in any order.

    Raises:
        DatasetError: it is not.
    """
    if plan.key_field is None or plan.shuffle_seed is None:
        raise DatasetError(
            f"{plan.where}: rows of an engine have no order, so the "
            "order comes from a key; pass key_field= and shuffle_seed= to plan_dataset"
        )


def encode_blocks(rows: Iterable[object], plan: Plan) -> Iterator[Block]:
    """Encode the rows of a partition, about 1 MiB at a time.

    Args:
        rows: dicts of the record's fields, or instances of the schema's class.
        plan: what to write.

    Raises:
        RecordError, TypeError: a wrong row, by its position in the partition, unless
            the plan leaves such rows out.
        DatasetError: the plan is for another schema, or has no key.
    """
    check_plan(plan)
    encoding = serializer_of(plan).encoding(plan)
    keyed = _Keyed(encoding)
    for chunk in encode_rows(keyed.passing(rows), encoding):
        assert chunk.keys is not None
        sizes = np.diff(chunk.framed.ends, prepend=0)
        values = keyed.values_of(chunk.rows, chunk.next_row)
        data = bytes(chunk.framed.data)
        yield Block(chunk.keys, sizes, data, values, chunk.refused)


class _Keyed:
    """Notes the keys of rows on their way to being encoded."""

    def __init__(self, encoding: Encoding) -> None:
        self._encoding = encoding
        self._first = 0
        self._values: list[str] = []

    def passing(self, rows: Iterable[object]) -> Iterator[object]:
        """Yield rows, as dicts where they can be."""
        for row in rows:
            fields = row
            try:
                fields = row if type(row) is dict else fields_of(row)
                value = repr(self._encoding.key_value(fields))
            except Exception:
                value = ""  # encoding it says what is wrong
            self._values.append(value)
            yield fields

    def values_of(self, rows: NDArray[np.int64], next_row: int) -> str:
        """Return the keys of some rows, and forget those before the next row."""
        found = "\n".join([self._values[row - self._first] for row in rows.tolist()])
        del self._values[: next_row - self._first]
        self._first = next_row
        return found


def joined(blocks: Sequence[Block]) -> Block:
    """Return the records of several blocks as one."""
    return Block(
        np.concatenate([block.keys for block in blocks]),
        np.concatenate([block.sizes for block in blocks]),
        b"".join([block.data for block in blocks]),
        "\n".join([block.values for block in blocks if len(block)]),
        tuple(chain.from_iterable(block.refused for block in blocks)),
    )


def cut(block: Block, shards: int) -> Iterator[tuple[int, Block]]:
    """Yield the numbers of shards, each with the records of a block that are its own.

    Rows that were left out go to the first shard, for its receipt.

    Args:
        block: the records.
        shards: how many shards there are.
    """
    numbers = shard_of(block.keys, shards)
    order = np.argsort(numbers, kind="stable")
    ends = np.cumsum(block.sizes)
    starts = ends - block.sizes
    values = block.values.split("\n")
    for shard, first, stop in groups_of(numbers[order]):
        mine = order[first:stop]
        places = zip(starts[mine].tolist(), ends[mine].tolist(), strict=True)
        data = b"".join([block.data[start:end] for start, end in places])
        texts = "\n".join([values[at] for at in mine.tolist()])
        yield shard, Block(block.keys[mine], block.sizes[mine], data, texts)
    if block.refused:
        yield 0, Block(block.keys[:0], block.sizes[:0], b"", "", block.refused)


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
                framed = Framed(block.data, np.cumsum(block.sizes))
                buckets.add(block.keys, rows, 0, framed)
                found += len(block)
            return write_chunks(plan, shard, _chunks(buckets, tuple(refused)))
        except DuplicateKeyError as error:
            value = "\n".join(values).split("\n")[error.first[1]]
            raise DatasetError(
                f"{plan.where}: key field {plan.key_field!r}: two rows have the value "
                f"{value}, expected one of its own in every row; remove one of them, or "
                "take another key field"
            ) from None


def _chunks(buckets: Buckets, refused: tuple[Refused, ...]) -> Iterator[Chunk]:
    no_rows = np.empty(0, np.int64)
    yield Chunk(None, Framed(b"", no_rows), no_rows, None, refused, 0)
    for _, framed in buckets.ordered():
        yield Chunk(None, framed, no_rows, None, (), 0)
