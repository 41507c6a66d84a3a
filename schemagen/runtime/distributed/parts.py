"""Writing shards of a plan: durable files under temporary names, and their receipts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from ..shared.errors import DatasetError
from ..shared.tfrecord import Framed
from ..storage import manifest
from ..storage.directory import Directory
from ..storage.opening import open_directory
from ..writing.encoding import Chunk, Refused, encode_rows
from ..writing.keys import shuffled_positions
from ..writing.plan import temporary_name
from ..writing.shards import write_shard_file
from ..writing.sources import Indexed, Parts, Source, source_of
from .claims import is_begun
from .plans import Plan, Serializer
from .receipts import Receipt, check_agreement, receipt_name, receipts_in, save_receipt

Piece = tuple[Framed, tuple[Refused, ...]]
"""Records in the order in which they are written, and rows that were left out."""


def write_part(source: Any, plan: Plan, shard: int, serializer: Serializer) -> Receipt:
    """Write a shard from a source; arguments and errors are those of `PartWriter`."""
    encoding = serializer.encoding(plan)
    rows = source_of(source)
    _check_source(rows, plan, shard)
    found = _written(open_directory(plan.directory), plan, shard)
    if found is not None:
        return found
    try:
        chunks = _chunks(rows, plan, shard, encoding)
        return write_framed(plan, shard, _pieces(chunks))
    except Exception as error:
        error.add_note(f"while shard {shard} was written, of {plan}")
        raise


def _check_source(source: Source, plan: Plan, shard: int) -> None:
    if type(shard) is not int or not 0 <= shard < plan.shards:
        raise DatasetError(
            f"{plan.where}: shard={shard!r}: expected 0 to {plan.shards - 1}"
        )
    if plan.key_field is not None:
        raise DatasetError(
            f"{plan.where}: the order depends on key_field={plan.key_field!r}, so a "
            "shard has rows from everywhere; write from rows with an engine, or leave "
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
    elif not isinstance(source, Indexed):
        raise DatasetError(
            f"{plan.where}: the source gives rows one after the other, expected one "
            "with a length and rows by index, or a list with a function for each shard"
        )
    elif plan.rows is None:
        raise DatasetError(
            f"{plan.where}: the plan does not say how many rows the source has; pass "
            "rows=len(source) to plan_dataset"
        )
    elif source.length != plan.rows:
        raise DatasetError(
            f"{plan.where}: the source has {source.length} rows, expected "
            f"{plan.rows}; pass the same source in all processes"
        )


def _chunks(source: Source, plan: Plan, shard: int, encoding: Any) -> Iterator[Chunk]:
    if isinstance(source, Parts):
        return encode_rows(source.rows(shard), encoding, part=shard, shard=shard)
    assert isinstance(source, Indexed)
    if plan.shuffle_seed is None:
        block = source.block(shard, plan.shards)
        return encode_rows(source.at(block), encoding, part=shard, first=block.start)
    positions = shuffled_positions(
        source.length, plan.shards, shard, plan.shuffle_seed
    ).tolist()
    return encode_rows(source.at(positions), encoding, positions=positions)


def _pieces(chunks: Iterable[Chunk]) -> Iterator[Piece]:
    for chunk in chunks:
        yield chunk.framed, chunk.refused


def write_framed(plan: Plan, shard: int, pieces: Iterable[Piece]) -> Receipt:
    """Write a shard from framed records.

    Any number of processes may write the same shard, one after the other or at once.

    Args:
        plan: what is written.
        shard: the number of the shard.
        pieces: its records.

    Returns:
        The receipt of this attempt, or of one that has written the same.

    Raises:
        ChangedSourceError: another attempt has written something else.
        DatasetError: the run has not begun, or has ended.
        OSError: the disk refuses.
    """
    directory = open_directory(plan.directory)
    _check_begun(directory, plan)
    name = temporary_name(plan.split, shard, plan.token + os.urandom(6).hex())
    refused: list[Refused] = []

    def records() -> Iterator[Framed]:
        for framed, left_out in pieces:
            refused.extend(left_out)
            yield framed

    held = write_shard_file(directory, name, plan.packing, records())
    receipt = Receipt(
        plan.run,
        shard,
        name,
        held.records,
        held.bytes,
        held.crc32c,
        held.tail,
        held.lengths,
        tuple(refused),
    )
    return _kept(directory, plan, receipt)


def _kept(directory: Directory, plan: Plan, receipt: Receipt) -> Receipt:
    """Keep a shard that is durable, unless another attempt was sooner."""
    for other in receipts_in(directory, plan, [receipt.shard]):
        if other.agrees_with(receipt):
            directory.remove(receipt.file)
            # A third one may differ from both, such as where an engine tries again.
            return _written(directory, plan, receipt.shard) or other
    save_receipt(directory, receipt)
    if not is_begun(directory, plan):
        # The run has ended while this was written; nothing of it may stay.
        directory.remove(receipt_name(receipt.file))
        directory.remove(receipt.file)
        _check_published(directory, plan, receipt)
        return receipt
    found = _written(directory, plan, receipt.shard)
    return found or receipt


def _written(directory: Directory, plan: Plan, shard: int) -> Receipt | None:
    """Return the receipt of a shard that is written, or None.

    Raises:
        ChangedSourceError: it was written twice, and differs.
    """
    found = receipts_in(directory, plan, [shard])
    for other in found[1:]:
        check_agreement(plan, found[0], other)
    return found[0] if found else None


def _check_begun(directory: Directory, plan: Plan) -> None:
    if not is_begun(directory, plan):
        raise DatasetError(
            f"{plan.where}: the run has not begun here, or it was published, abandoned "
            "or replaced; call begin(plan) first"
        )


def _check_published(directory: Directory, plan: Plan, receipt: Receipt) -> None:
    """See that what was written too late is what was published.

    Raises:
        DatasetError: it is not.
    """
    found = manifest.load(directory)
    split = found and found.splits.get(plan.split)
    if not split or receipt.listed(plan) not in split.shards:
        raise DatasetError(
            f"{plan.where}: the run was abandoned or replaced while shard "
            f"{receipt.shard} was written; nothing of it is kept"
        )
