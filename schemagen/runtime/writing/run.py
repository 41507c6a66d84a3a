"""A run: the shards of a split, from its beginning to its publication.

`Run` is a run of one process. The processes of a run that they have joined write whole
shards (`write_shard`). Both leave durable shards, which `publish` enters into the manifest.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from itertools import count

from ..shared.errors import ChangedSourceError, DatasetError
from ..shared.processes import Advance
from ..shared.tfrecord import Framed
from ..storage import manifest
from ..storage.directory import Directory, open_directory
from ..storage.lock import Busy
from ..storage.schema import Schema
from .begin import begin, busy
from .claims import claim_of, is_going_on, read_claim, replace_claim
from .encoding import Chunk, Refused
from .plan import Plan, bucket_folder, check_open_shards, run_files
from .publish import (
    explaining,
    is_committed,
    listed_split,
    publish,
    remove_files,
    remove_run,
    unlisted,
)
from .shards import Receipt, ShardFile, keep

# How many shards may wait until they are durable while others are written.
_SYNCING = 4


def write_shard(
    plan: Plan,
    shard: int,
    chunks: Iterable[Chunk],
    advance: Advance = lambda *amounts: None,
) -> Receipt:
    """Write a shard of a run that has begun, in any process, and keep its receipt.

    Any number of processes may write the same shard, one after the other or at once.

    Args:
        plan: what is written.
        shard: the number of the shard.
        chunks: its records. If they raise an error, the file is removed.
        advance: called with numbers of records and bytes.

    Returns:
        The receipt of this attempt, or of one that has written the same.

    Raises:
        ChangedSourceError: another attempt has written something else.
        DatasetError: the run has not begun, or has ended.
        OSError: the disk refuses; nothing of the shard is left.
    """
    directory = open_directory(plan.directory)
    if not is_going_on(directory, plan):
        raise DatasetError(
            f"{plan.where}: the run has not begun here, or it was published, abandoned "
            "or replaced; processes of a run call begin(plan) first"
        )
    with explaining(directory, plan):
        file = ShardFile(directory, plan, shard)

    def add(framed: Framed) -> None:
        with explaining(directory, plan):
            file.add(framed)

    try:
        last_row, refused = add_all(add, chunks, advance)
        with explaining(directory, plan):
            file.fill()
            receipt = file.finish(last_row, refused)
    except BaseException:
        file.discard()
        raise
    with explaining(directory, plan):
        return _keep(directory, plan, receipt)


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


def _keep(directory: Directory, plan: Plan, receipt: Receipt) -> Receipt:
    """Keep the receipt of a durable shard, unless its run has ended meanwhile.

    Raises:
        ChangedSourceError: another attempt has written something else.
        DatasetError: the run was abandoned or replaced.
        OSError: the disk refuses.
    """
    try:
        kept = keep(directory, plan, receipt)
        if is_going_on(directory, plan):
            return kept
    except ChangedSourceError:
        if is_going_on(directory, plan):
            raise
    directory.remove(plan.receipt_name(receipt.shard), receipt.file)
    split = listed_split(directory, plan)
    if split is None or not receipt.is_in(split):
        raise DatasetError(
            f"{plan.where}: the run was abandoned or replaced while shard "
            f"{receipt.shard} was written; nothing of it is kept"
        )
    return receipt  # what was written too late is what was published


class Run:
    """A run of one process, which writes a split from its beginning to its publication.

    Args:
        plan: what to write.
        schema: of the records.
        open_shards: how many shards are written at a time.
        resume: go on where an interrupted run has stopped.
        keep_receipts: keep what another run can go on with.

    Attributes:
        plan: with the id of the run that it goes on with.
        receipts: of the shards that are durable, by number.
        buckets: a local folder for records on their way to their shards.

    Raises:
        DatasetError: the split exists, another writer is at it, the directory holds
            another record, or what was interrupted was another run.
    """

    def __init__(
        self,
        plan: Plan,
        schema: Schema,
        *,
        open_shards: int = 1,
        resume: bool = False,
        keep_receipts: bool = True,
    ) -> None:
        check_open_shards(plan, open_shards)
        self.plan = plan
        self._keep_receipts = keep_receipts
        self._schema = schema
        self._open_shards = open_shards
        self._directory = open_directory(plan.directory)
        self.receipts: dict[int, Receipt] = {}
        self._files: dict[int, ShardFile] = {}
        self._syncing: dict[int, Future[Receipt]] = {}
        self._ending: set[int] = set()  # shards that end with the source
        self._process = os.getpid()
        # A process that goes on with this run has files of its own, should this one live.
        self._attempt = os.urandom(6).hex()
        try:
            with self.explaining():
                self._directory.make()
                self._lock = self._directory.lock(plan.lock_name)
        except Busy:
            raise busy(self._directory, plan.split) from None
        try:
            with self.explaining():
                self.plan, self.receipts = begin(
                    *(self._directory, plan, schema, self._lock),
                    shared=False,
                    resume=resume,
                )
        except BaseException:
            self._lock.release()
            raise
        if not keep_receipts:
            self.receipts = {}
        self.buckets = bucket_folder(self._directory, plan.split, self.plan.token)
        self._sync = ThreadPoolExecutor(_SYNCING, "sync")

    @property
    def where(self) -> str:
        """The data directory, as errors name it."""
        return self._directory.where

    @property
    def is_of_this_process(self) -> bool:
        """Whether this process has begun it, not one of which it is a fork."""
        return self._process == os.getpid()

    def discard_after_gap(self) -> int:
        """Give up shards of an interrupted run that do not follow on one another.

        Returns:
            How many are left: those from 0 to the first that is missing.
        """
        leading = next(number for number in count() if number not in self.receipts)
        for shard in [shard for shard in self.receipts if shard > leading]:
            receipt = self.receipts.pop(shard)
            self._directory.remove(self.plan.receipt_name(shard), receipt.file)
        return leading

    def add(self, shard: int, framed: Framed) -> None:
        """Write records to a shard, which begins with the first call that names it.

        Raises:
            OSError: the disk refuses.
        """
        with self.explaining():
            self._file(shard).add(framed)

    def _file(self, shard: int) -> ShardFile:
        file = self._files.get(shard)
        if file is None:
            file = self._files[shard] = ShardFile(
                self._directory,
                self.plan,
                shard,
                attempt=self._attempt,
                open_shards=self._open_shards,
            )
        return file

    def finish(
        self, shard: int, *, last_row: int = -1, refused: Iterable[Refused] = ()
    ) -> None:
        """Make a shard durable, which takes its time alongside the writing of others.

        Args:
            shard: its number; without records it is an empty file.
            last_row: the position of its last record's row, after which a run may go on.
            refused: the rows that were left out.

        Raises:
            OSError: the disk refuses this shard, or one before it.
        """
        with self.explaining():
            self._submit(shard, last_row, tuple(refused), keep=self._keep_receipts)
            if len(self._syncing) > _SYNCING:
                self._collect(next(iter(self._syncing)))

    def _submit(
        self, shard: int, last_row: int, refused: tuple[Refused, ...], *, keep: bool
    ) -> None:
        """Make a shard durable in another thread, and keep its receipt if asked to."""
        file = self._file(shard)
        file.fill()

        def finish() -> Receipt:
            receipt = file.finish(last_row, refused)
            return _keep(self._directory, self.plan, receipt) if keep else receipt

        self._syncing[shard] = self._sync.submit(finish)

    def _collect(self, shard: int) -> None:
        """Wait until a shard is durable."""
        self.receipts[shard] = self._syncing[shard].result()
        del self._syncing[shard], self._files[shard]

    def publish(
        self,
        total: int,
        *,
        refused: Iterable[Refused] = (),
        report: str | os.PathLike[str] | None = None,
    ) -> int:
        """Make all shards durable and publish them.

        Args:
            total: how many there are; those that no one has written to are empty.
            refused: rows that were left out, and that no shard has in its receipt.
            report: a file for all rows that were left out.

        Returns:
            The number of records.

        Raises:
            DatasetError: there are no records; the directory has changed, so that
                the split does not belong there any more; another run has taken over.
            OSError: the disk refuses.
        """
        with self.explaining():
            self._ending = {*range(total)} - {*self.receipts} - {*self._syncing}
            for shard in sorted(self._ending):
                # A run cannot go on after it, so that its receipt is not kept.
                self._submit(shard, -1, (), keep=False)
            for shard in list(self._syncing):
                self._collect(shard)
            last = self.receipts[total - 1]
            self.receipts[total - 1] = replace(last, refused=(*last.refused, *refused))
            receipts = [self.receipts[shard] for shard in range(total)]
        records = publish(self.plan, receipts, self._schema, report)
        self.close()
        return records

    def abort(self, *, keep: bool = False) -> int:
        """Stop writing; what was published before stays.

        What is committed to be published stays too, for the next run to complete.

        Args:
            keep: leave the shards that are durable to a run with resume=True.

        Returns:
            The number of records that are kept.
        """
        if not self.is_of_this_process:
            return 0
        for shard in list(self._syncing):
            with suppress(OSError, DatasetError):
                self._collect(shard)
        for file in self._files.values():
            file.discard()
        kept = {*self.receipts} - self._ending
        records = sum(self.receipts[shard].records for shard in kept)
        keep &= self._keep_receipts and records > 0
        with suppress(OSError, DatasetError):
            keep = self._leave(keep)
        self.close()
        return records if keep else 0

    def _leave(self, keep: bool) -> bool:
        """Leave what another run can go on with; return whether `resume` is needed.

        Raises:
            OSError: the disk refuses.
        """
        directory, plan = self._directory, self.plan
        if is_committed(plan, listed_split(directory, plan)):
            self._end_claim()
            return False
        claim = claim_of(directory, plan)
        if claim is not None and not claim.is_own:
            return False  # another process goes on with this run, and needs its files
        if claim is None:  # another run has taken over
            names = unlisted(directory.names(), manifest.load(directory))
            of_runs = run_files(names, plan.split).items()
            remove_files(
                directory, [name for name, run in of_runs if run == plan.token]
            )
            return False
        if not keep:
            names = unlisted(directory.names(), manifest.load(directory))
            remove_run(directory, plan.split, plan.token, names)
            return False
        ending = self._ending & {*self.receipts}
        directory.remove(*(self.receipts[shard].file for shard in ending))
        self._end_claim()
        return True

    def _end_claim(self) -> None:
        """Say that the run has stopped, and that another one may go on with what it has."""
        split, token = self.plan.split, self.plan.token
        claim = read_claim(self._directory, split, token)
        if claim is not None:
            replace_claim(self._directory, split, replace(claim, ended=True))

    def close(self) -> None:
        """Let other runs have the split; what is written stays as it is."""
        self._sync.shutdown()
        self._lock.release()

    def explaining(self) -> AbstractContextManager[None]:
        """Say in an error of the disk what has become of the split; see `explaining`."""
        return explaining(self._directory, self.plan)
