"""A shard: its file while it is written, and the receipt of what it holds.

The receipt of a shard is a file with a fixed name, so that no one lists the directory to
find it. It has one line, and another one if an attempt has written something else.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from ..native import crc32c
from ..shared.compression import COMPRESSIONS
from ..shared.errors import ChangedSourceError, DatasetError
from ..shared.tfrecord import Framed
from ..shared.values import described
from ..shared.wire import Buffer
from ..storage.directory import Directory
from ..storage.index import pack_lengths
from ..storage.manifest import TAIL_BYTES, Shard, SplitEntry
from .encoding import Refused
from .plan import Plan, run_files

# A shard goes to the disk in pieces of 256 KiB, or smaller ones if many are open.
_BUFFER = 1 << 18
_BUFFERS = 32 << 20


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """A written shard of a run.

    Attributes:
        run: the id of the run.
        shard: its number.
        file: the name that this attempt at writing it has given it: a hidden one until
            `publish`, or in a remote directory the final one.
        records: how many it holds.
        bytes: its size on disk.
        crc32c: the CRC-32C of its bytes on disk, eight hex digits.
        last: the last four bytes, before compression: its last record's checksum.
        tail: its last bytes on disk, in hex, as manifests list them.
        lengths: those of its frames, as `storage.index` packs them; None if it is
            compressed.
        last_row: the position of its last record's row; -1 if that says nothing.
        refused: the rows that were left out, in order.
    """

    run: str
    shard: int
    file: str
    records: int
    bytes: int
    crc32c: str
    last: str
    tail: str
    lengths: str | None
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

    def is_in(self, split: SplitEntry) -> bool:
        """Whether a split has the contents of the shard, under whatever name."""
        return any(
            self.listed(shard.file) == replace(shard, hidden=None, index=None)
            for shard in split.shards[self.shard : self.shard + 1]
        )

    def to_json(self) -> str:
        """Return the receipt as JSON."""
        refused = [asdict(row) for row in self.refused]
        return json.dumps({**vars(self), "refused": refused}, sort_keys=True)

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


class ShardFile:
    """A shard while it is written, which counts what goes into it.

    Args:
        directory: the data directory.
        plan: of the run.
        shard: its number.
        attempt: of this process, as for `Plan.file_name`; drawn if left out.
        open_shards: how many shards are written at a time.

    Raises:
        OSError: the file cannot be made.
    """

    def __init__(
        self,
        directory: Directory,
        plan: Plan,
        shard: int,
        *,
        attempt: str = "",
        open_shards: int = 1,
    ) -> None:
        self.shard = shard
        self._plan = plan
        self._name = plan.file_name(shard, attempt or os.urandom(6).hex())
        self._file = directory.create(self._name)
        self._buffer = min(_BUFFER, _BUFFERS // open_shards)
        self._records = 0
        self._bytes = 0
        self._checksum = 0
        self._last = b""
        self._tail = b""
        self._pending = bytearray()
        self._lengths = bytearray()
        self._stream = None
        if plan.compression:
            # Without a name and a time inside: equal records make equal files.
            found = COMPRESSIONS[plan.compression]
            self._stream = found.compressor(plan.compression_level or found.level)

    def add(self, framed: Framed) -> None:
        """Take some records.

        Raises:
            OSError: the disk refuses.
        """
        if not len(framed):
            return
        self._records += len(framed)
        self._last = bytes(framed.data[-4:])
        if self._stream is None:
            lengths = framed.ends.copy()
            lengths[1:] -= framed.ends[:-1]
            self._lengths += lengths.tobytes()
            self._take(framed.data)
        else:
            self._take(self._stream.compress(framed.data))

    def _take(self, data: Buffer) -> None:
        """Take bytes as they are on disk."""
        if len(data) >= self._buffer:
            self._flush()
            self._put(data)
            return
        self._pending += data
        if len(self._pending) >= self._buffer:
            self._flush()

    def _flush(self) -> None:
        if self._pending:
            pending, self._pending = self._pending, bytearray()
            self._put(pending)

    def _put(self, data: Buffer) -> None:
        self._checksum = crc32c(data, self._checksum)
        self._file.write(data)
        self._bytes += len(data)
        self._tail = (self._tail + bytes(data[-TAIL_BYTES:]))[-TAIL_BYTES:]

    def fill(self) -> None:
        """Hand all bytes to the system; nothing may be added afterwards."""
        if self._stream is not None:
            self._take(self._stream.flush())
        self._flush()

    def finish(self, last_row: int, refused: tuple[Refused, ...]) -> Receipt:
        """Make the file durable, after `fill`.

        Args:
            last_row: as in the receipt.
            refused: likewise.

        Raises:
            OSError: the disk refuses.
        """
        self._file.finish()
        return Receipt(
            run=self._plan.run,
            shard=self.shard,
            file=self._name,
            records=self._records,
            bytes=self._bytes,
            crc32c=f"{self._checksum:08x}",
            last=self._last.hex(),
            tail=self._tail.hex(),
            lengths=pack_lengths(self._lengths) if self._stream is None else None,
            last_row=last_row,
            refused=refused,
        )

    def discard(self) -> None:
        """Close the file and remove it."""
        self._file.discard()


def read_receipts(
    directory: Directory, plan: Plan, shards: Iterable[int]
) -> list[Receipt]:
    """Return the receipts of some shards, wherever their files are now."""

    def read(shard: int) -> list[Receipt]:
        text = directory.read(plan.receipt_name(shard)) or b""
        try:
            found = [Receipt.from_json(line) for line in text.decode().splitlines()]
        except ValueError:
            return []  # cut off by a kill: its shard is written again
        return [receipt for receipt in found if receipt.run == plan.run]

    return [receipt for found in directory.for_each(read, shards) for receipt in found]


def whole(directory: Directory, receipts: Iterable[Receipt]) -> list[Receipt]:
    """Return the receipts whose files are there with their sizes."""
    given = list(receipts)
    sizes = directory.for_each(lambda receipt: directory.size(receipt.file), given)
    return [
        receipt
        for receipt, size in zip(given, sizes, strict=True)
        if size == receipt.bytes
    ]


def written(directory: Directory, plan: Plan, shard: int) -> Receipt | None:
    """Return the receipt of a shard that is written, or None.

    Raises:
        ChangedSourceError: it was written twice, and differs.
    """
    found = whole(directory, read_receipts(directory, plan, [shard]))
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
    name = plan.receipt_name(receipt.shard)
    if directory.create_whole(name, receipt.to_json().encode()):
        directory.sync()
        return receipt
    others = whole(directory, read_receipts(directory, plan, [receipt.shard]))
    if any(other.agrees_with(receipt) for other in others):
        directory.remove(receipt.file)
    else:
        lines = [each.to_json() for each in (*others, receipt)]
        directory.replace(name, "\n".join(lines).encode())
        directory.sync()
    return written(directory, plan, receipt.shard) or receipt


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
    given = list(receipts)
    runs = run_files((receipt.file for receipt in given), plan.split)
    for receipt in given:
        is_of_plan = runs.get(receipt.file) == plan.token
        if receipt.run != plan.run or not 0 <= receipt.shard < shards or not is_of_plan:
            raise DatasetError(
                f"{plan.where} with {shards} shards: found a receipt of shard "
                f"{receipt.shard} of run {receipt.run!r} with the file {receipt.file}, "
                "expected receipts of this run and split"
            )
        first = chosen.setdefault(receipt.shard, receipt)
        if first is not receipt:
            _check_agreement(plan, first, receipt)
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
