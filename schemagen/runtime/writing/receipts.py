"""Receipts: what a run has written of a split, for those that publish it or go on with it.

The receipt of a shard is a file with a fixed name, so that no one lists the directory to
find it. It has one line, and another one if an attempt has written something else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from ..shared.errors import ChangedSourceError, DatasetError
from ..shared.values import described
from ..storage.directory import Directory
from ..storage.manifest import Shard
from .encoding import Refused
from .names import files_of_runs, receipt_name
from .plan import Plan
from .shards import Contents


@dataclass(frozen=True, kw_only=True)
class Receipt(Contents):
    """A shard that is durable under a temporary name.

    Attributes:
        run: the id of the run.
        shard: its number.
        file: its temporary name, which each attempt at writing it has for its own.
        last_row: the position of its last record's row; -1 if that says nothing.
        refused: the rows that were left out, in order.
    """

    run: str
    shard: int
    file: str
    last_row: int = -1
    refused: tuple[Refused, ...] = ()

    def agrees_with(self, other: Receipt) -> bool:
        """Whether both say the same of a shard, whichever attempt has written it.

        How engines count the rows that are left out may differ from attempt to attempt.
        """
        mine, others = (replace(each, file="", refused=()) for each in (self, other))
        return mine == others

    def listed(self, name: str) -> Shard:
        """Return the manifest's entry of the shard, for its file's name."""
        return Shard(name, self.records, self.bytes, self.crc32c, self.tail)

    def to_json(self) -> str:
        """Return the receipt as JSON."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a receipt.

        Raises:
            ValueError: it is not the JSON of a receipt.
        """
        try:
            entries: dict[str, Any] = json.loads(text)
            refused = tuple(Refused(**row) for row in entries.pop("refused"))
            return cls(refused=refused, **entries)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a receipt: {error}") from None


def receipts_of(
    directory: Directory, plan: Plan, shards: Iterable[int]
) -> list[Receipt]:
    """Return the receipts of some shards, wherever their files are now."""
    read = directory.for_each(lambda shard: _read(directory, plan, shard), shards)
    return [receipt for receipts in read for receipt in receipts]


def whole(directory: Directory, receipts: Iterable[Receipt]) -> list[Receipt]:
    """Return the receipts whose files are there with their sizes."""
    given = list(receipts)
    sizes = directory.for_each(lambda receipt: directory.size(receipt.file), given)
    return [
        receipt
        for receipt, size in zip(given, sizes, strict=True)
        if size == receipt.bytes
    ]


def _read(directory: Directory, plan: Plan, shard: int) -> list[Receipt]:
    text = directory.read(receipt_name(plan.split, shard, plan.token)) or b""
    try:
        found = [Receipt.from_json(line) for line in text.decode().splitlines()]
    except ValueError:
        return []  # cut off by a kill: its shard is written again
    return [receipt for receipt in found if receipt.run == plan.run]


def written(directory: Directory, plan: Plan, shard: int) -> Receipt | None:
    """Return the receipt of a shard that is written, or None.

    Raises:
        ChangedSourceError: it was written twice, and differs.
    """
    found = whole(directory, _read(directory, plan, shard))
    for other in found[1:]:
        _check_agreement(plan, found[0], other)
    return found[0] if found else None


def keep(directory: Directory, plan: Plan, receipt: Receipt) -> Receipt:
    """Keep the receipt of a durable shard, unless another attempt was sooner.

    Returns:
        The receipt that is kept, of a shard with the same contents.

    Raises:
        ChangedSourceError: another attempt has written something else.
        OSError: the disk refuses.
    """
    name = receipt_name(plan.split, receipt.shard, plan.token)
    if directory.create_whole(name, receipt.to_json().encode()):
        directory.sync()
        return receipt
    others = whole(directory, _read(directory, plan, receipt.shard))
    if any(other.agrees_with(receipt) for other in others):
        directory.remove(receipt.file)
    else:
        lines = [each.to_json() for each in (*others, receipt)]
        directory.replace(name, "\n".join(lines).encode())
        directory.sync()
    return written(directory, plan, receipt.shard) or receipt


def check_receipts(given: Iterable[object]) -> list[Receipt]:
    """Return what a caller gives as receipts.

    Raises:
        TypeError: it is not a receipt.
    """
    found = list[Receipt]()
    for receipt in given:
        if not isinstance(receipt, Receipt):
            raise TypeError(
                f"receipts have {described(receipt)}, expected what write_part or "
                "Receipt.from_json returns"
            )
        found.append(receipt)
    return found


def one_for_each(plan: Plan, shards: int, receipts: Iterable[Receipt]) -> list[Receipt]:
    """Return one receipt for each shard of a plan, in order.

    Args:
        plan: of the run.
        shards: how many there are.
        receipts: in any order, some perhaps several times.

    Raises:
        ChangedSourceError: two receipts of a shard differ.
        DatasetError: a shard has none, or a receipt is of another run.
    """
    chosen: dict[int, Receipt] = {}
    for receipt in receipts:
        is_of_plan = plan.token in files_of_runs([receipt.file], plan.split).values()
        if receipt.run != plan.run or not 0 <= receipt.shard < shards or not is_of_plan:
            raise DatasetError(
                f"{plan.where} with {shards} shards: found a receipt of shard "
                f"{receipt.shard} of run {receipt.run!r} with the file {receipt.file}, "
                "expected receipts of this run and split"
            )
        _check_agreement(plan, chosen.setdefault(receipt.shard, receipt), receipt)
    missing = [shard for shard in range(shards) if shard not in chosen]
    if missing:
        shown = ", ".join(map(str, missing[:10])) + ", ..." * (len(missing) > 10)
        raise DatasetError(
            f"{plan.where}: {len(missing)} of {shards} shards are missing: {shown}; "
            "they were not written, or their files are gone or have other sizes than "
            "their receipts say; write them with write_part or write_parts, then publish "
            "again"
        )
    return [chosen[shard] for shard in range(shards)]


def _check_agreement(plan: Plan, first: Receipt, second: Receipt) -> None:
    """See that two attempts at a shard have written the same.

    Raises:
        ChangedSourceError: they have not.
    """
    if not first.agrees_with(second):
        raise ChangedSourceError(
            f"{plan.where}: shard {first.shard} was written twice with different "
            f"contents: {first.records} records with CRC-32C {first.crc32c}, and "
            f"{second.records} with {second.crc32c}; the source gave other rows the "
            "second time. Make it give the same rows each time, call abandon(plan), and "
            "write the split again with a new plan"
        )
