"""Receipts: what a process has written of a plan, told to the one that publishes it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from multiprocessing.pool import ThreadPool
from typing import Any, Self

from ..shared.errors import ChangedSourceError, DatasetError
from ..shared.values import described
from ..storage.directory import Directory
from ..storage.manifest import Shard
from ..writing.encoding import Refused
from .plans import Plan

_THREADS = 16


@dataclass(frozen=True)
class Receipt:
    """A shard that is durable under a temporary name.

    Attributes:
        run: the id of the run.
        shard: its number.
        file: its temporary name, which each attempt at writing it has for its own.
        records: how many it holds.
        bytes: its size on disk.
        crc32c: the CRC-32C of its bytes on disk, eight hex digits.
        tail: its last bytes on disk, in hex, as manifests list them.
        lengths: those of its frames, as `storage.index` packs them; None if it is
            compressed.
        refused: the rows that were left out, in order.
    """

    run: str
    shard: int
    file: str
    records: int
    bytes: int
    crc32c: str
    tail: str | None
    lengths: str | None
    refused: tuple[Refused, ...] = ()

    def agrees_with(self, other: Receipt) -> bool:
        """Whether both say the same of a shard, whichever attempt has written it.

        How engines count the rows that are left out may differ from attempt to attempt.
        """
        mine, others = (replace(each, file="", refused=()) for each in (self, other))
        return mine == others

    def listed(self, plan: Plan) -> Shard:
        """Return what the manifest says of the shard."""
        name = plan.shard_name(self.shard)
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


def receipt_name(file: str) -> str:
    """Return the name of the file with the receipt of a temporary file."""
    return file.removesuffix(".tmp") + ".receipt"


def save_receipt(directory: Directory, receipt: Receipt) -> None:
    """Write a receipt next to its shard, so that a run that starts again finds it."""
    directory.replace(receipt_name(receipt.file), receipt.to_json().encode())
    directory.sync()


def receipts_in(
    directory: Directory,
    plan: Plan,
    shards: Sequence[int] | None = None,
    *,
    moved: bool = False,
) -> list[Receipt]:
    """Return the receipts of a run whose shards are there with their sizes.

    Args:
        directory: the data directory.
        plan: of the run.
        shards: which shards; None for all.
        moved: return those too whose shards are not there under temporary names.
    """
    pattern = re.compile(
        rf"\.{re.escape(plan.split)}-(\d{{5,}})\.{plan.token}[0-9a-f]{{12}}\.receipt"
    )
    wanted = None if shards is None else set(shards)
    found = [(pattern.fullmatch(name), name) for name in directory.names()]
    names = [
        name
        for match, name in found
        if match and (wanted is None or int(match[1]) in wanted)
    ]
    if not names:
        return []
    with ThreadPool(min(_THREADS, len(names))) as pool:
        read = pool.map(lambda name: _read(directory, plan, name, moved), names)
    return [receipt for receipt in read if receipt is not None]


def _read(directory: Directory, plan: Plan, name: str, moved: bool) -> Receipt | None:
    text = directory.read(name)
    try:
        receipt = None if text is None else Receipt.from_json(text.decode())
    except ValueError:
        return None  # its shard is written again
    if receipt is None or receipt.run != plan.run:
        return None
    is_there = moved or directory.size(receipt.file) == receipt.bytes
    return receipt if is_there else None


def one_for_each(plan: Plan, receipts: Iterable[Receipt]) -> list[Receipt]:
    """Return one receipt for each shard of a plan, in order.

    Raises:
        ChangedSourceError: two receipts of a shard differ.
        TypeError: what is given is not a receipt.
        DatasetError: a shard has none, or a receipt is of another run.
    """
    chosen: dict[int, Receipt] = {}
    for receipt in receipts:
        if not isinstance(receipt, Receipt):
            raise TypeError(
                f"receipts have {described(receipt)}, expected what write_part or "
                "Receipt.from_json returns"
            )
        if receipt.run != plan.run or not 0 <= receipt.shard < plan.shards:
            raise DatasetError(
                f"{plan.where} with {plan.shards} shards: found a receipt of shard "
                f"{receipt.shard} of run {receipt.run!r}, expected receipts of this run"
            )
        check_agreement(plan, chosen.setdefault(receipt.shard, receipt), receipt)
    missing = [shard for shard in range(plan.shards) if shard not in chosen]
    if missing:
        shown = ", ".join(map(str, missing[:10])) + ", ..." * (len(missing) > 10)
        raise DatasetError(
            f"{plan.where}: {len(missing)} of {plan.shards} shards are missing: {shown}; "
            "they were not written, or their files are gone or have other sizes than "
            "their receipts say; write them with write_part or write_parts, then publish "
            "again"
        )
    return [chosen[shard] for shard in range(plan.shards)]


def check_agreement(plan: Plan, first: Receipt, second: Receipt) -> None:
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
