"""A split in the order of its keys, from rows that an engine holds in any order.

Every step is a function of values, for an engine to run where it likes:

1. `encode_blocks` turns the rows of a partition into blocks of framed records with their
   keys. These are what moves, not single records.
2. `count_keys` counts the keys of blocks by their first bits. The counts of all blocks add
   up, and `boundary_bins` says which few bins hold a boundary between shards.
3. `keys_in` returns the keys in these bins, and `splitters_of` the exact boundaries with
   the number of records of each shard.
4. `cut` divides a block among the shards, and the engine brings together what is of one
   shard: its only shuffle.
5. `write_shard` sorts what has arrived, on disk if it is large, and writes the shard.

The bytes are those of `write_dataset` with `shuffle_seed`, `key_field` and `shards`,
whatever the partitions are.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import ChangedSourceError, DatasetError
from ..shared.tfrecord import Framed
from ..writing.encoding import Encoding, Refused, encode_rows
from ..writing.shards import equal_counts
from ..writing.shuffle import Buckets, DuplicateKeyError
from ..writing.sources import fields_of
from .parts import Piece, write_framed
from .plans import Plan, serializer_of
from .receipts import Receipt

BINS = 1 << 16
"""The number of bins in which keys are counted, by their first 16 bits."""

Counts = NDArray[np.int64]
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


@dataclass(frozen=True)
class Splitters:
    """The boundaries between shards.

    Attributes:
        keys: uint64 [shards - 1, 2], the first key of each shard but the first.
        sizes: int64 [shards], the records of each shard.
    """

    keys: Keys
    sizes: NDArray[np.int64]


def check_plan(plan: Plan) -> None:
    """See that a plan is one for rows that come in any order.

    Raises:
        DatasetError: it is not.
    """
    if plan.key_field is None or plan.shuffle_seed is None:
        raise DatasetError(
            f"{plan.where}: rows of an engine have no order of their own, so that the "
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


def count_keys(blocks: Iterable[Block]) -> Counts:
    """Count the keys of blocks by their first bits: int64 [BINS]. Counts add up."""
    counts: Counts = np.zeros(BINS, np.int64)
    for block in blocks:
        counts += np.bincount(_bins(block.keys), minlength=BINS)
    return counts


def boundary_bins(counts: Counts, shards: int) -> NDArray[np.int64]:
    """Return the bins that hold a boundary between two shards, sorted.

    Args:
        counts: of all keys.
        shards: into how many shards of nearly equal size they go.
    """
    bounds = _bounds(counts, shards)
    inside = bounds[(bounds > 0) & (bounds < counts.sum())]
    return np.unique(np.searchsorted(np.cumsum(counts), inside, "right"))


def keys_in(blocks: Iterable[Block], bins: NDArray[np.int64]) -> Keys:
    """Return those keys of blocks that are in some bins: uint64 [n, 2]."""
    found = [np.empty((0, 2), np.uint64)]
    for block in blocks:
        found.append(block.keys[np.isin(_bins(block.keys), bins)])
    return np.concatenate(found)


def splitters_of(counts: Counts, keys: Keys, shards: int) -> Splitters:
    """Return the boundaries between shards.

    A shard without records has the first key of the next one that has some. Where the
    two sides of a boundary have equal keys, all of them go behind it, so that the shard
    that has them can name their value.

    Args:
        counts: of all keys.
        keys: all keys that are in `boundary_bins`, in any order.
        shards: how many there are.
    """
    keys = keys[np.lexsort([keys[:, 1], keys[:, 0]])]
    # The rank of a key among all keys: those of lower bins, and its place in its own.
    bins = _bins(keys)
    before = np.cumsum(counts) - counts
    places = np.arange(len(keys)) - np.searchsorted(bins, bins, "left")
    ranks = before[bins] + places
    records = int(counts.sum())
    bounds = _bounds(counts, shards)
    found: Keys = np.full((max(0, len(bounds)), 2), np.iinfo(np.uint64).max, np.uint64)
    starts = np.full(len(bounds), records, np.int64)
    for at, bound in enumerate(bounds.tolist()):
        if bound == 0:
            found[at], starts[at] = 0, 0
        elif bound < records:
            found[at] = keys[int(np.searchsorted(ranks, bound))]
            starts[at] = ranks[_first_not_before(keys, found[at])]
    return Splitters(found, np.diff(starts, prepend=0, append=records))


def _bounds(counts: Counts, shards: int) -> NDArray[np.int64]:
    """Return the rank of the first record of each shard but the first."""
    sizes = equal_counts(int(counts.sum()), shards)
    return np.cumsum(np.array(sizes[:-1], np.int64))


def cut(block: Block, splitters: Splitters) -> Iterator[tuple[int, Block]]:
    """Yield the numbers of shards, each with the records of a block that are its own.

    Rows that were left out go to the first shard, for its receipt.
    """
    order = np.lexsort([block.keys[:, 1], block.keys[:, 0]])
    keys = block.keys[order]
    ends = np.cumsum(block.sizes)
    starts = ends - block.sizes
    values = block.values.split("\n")
    inner = [_first_not_before(keys, splitter) for splitter in splitters.keys]
    refused = block.refused
    for shard, (first, last) in enumerate(pairwise([0, *inner, len(keys)])):
        if first < last or (shard == 0 and refused):
            mine = order[first:last]
            places = zip(starts[mine].tolist(), ends[mine].tolist(), strict=True)
            data = b"".join([block.data[start:end] for start, end in places])
            texts = "\n".join([values[at] for at in mine.tolist()])
            left_out = refused if shard == 0 else ()
            yield (
                shard,
                Block(keys[first:last], block.sizes[mine], data, texts, left_out),
            )


def _first_not_before(keys: Keys, splitter: Keys) -> int:
    """Return where in sorted keys the first one is that is not before another key."""
    high, low = splitter
    first = int(np.searchsorted(keys[:, 0], high, "left"))
    last = int(np.searchsorted(keys[:, 0], high, "right"))
    return first + int(np.searchsorted(keys[first:last, 1], low, "left"))


def _bins(keys: Keys) -> NDArray[np.intp]:
    return (keys[:, 0] >> np.uint64(48)).astype(np.intp)


def write_shard(
    plan: Plan,
    shard: int,
    blocks: Iterable[Block],
    splitters: Splitters,
    scratch: str | None = None,
) -> Receipt:
    """Write a shard from the blocks that are its own, in any order.

    Args:
        plan: what to write.
        shard: its number.
        blocks: from `cut`.
        splitters: from `splitters_of`.
        scratch: a local directory for sorting, such as one that the engine removes if
            this process is killed; None for the system's.

    Raises:
        DatasetError: two rows have the same key; the error has its value.
        ChangedSourceError: there are not as many records as were counted: the engine has
            computed the rows twice, and they were not the same.
        OSError: the disk refuses.
    """
    expected = int(splitters.sizes[shard])
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
            buckets.seal()
            if found != expected:
                raise ChangedSourceError(
                    f"{plan.where}: shard {shard} has {found} records, expected "
                    f"{expected}: the rows were computed twice and differ; make their "
                    "source give the same rows each time, or store them first"
                )
            return write_framed(plan, shard, _pieces(buckets, tuple(refused)))
        except DuplicateKeyError as error:
            value = "\n".join(values).split("\n")[error.first[1]]
            raise DatasetError(
                f"{plan.where}: key field {plan.key_field!r}: two rows have the value "
                f"{value}, expected one of its own in every row; remove one of them, or "
                "take another key field"
            ) from None


def _pieces(buckets: Buckets, refused: tuple[Refused, ...]) -> Iterator[Piece]:
    yield Framed(b"", np.empty(0, np.int64)), refused
    for framed in buckets.ordered():
        yield framed, ()
