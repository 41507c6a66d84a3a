"""A run of one process: hidden files until all of the split can be published."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import count

from ..shared.errors import DatasetError
from ..shared.tfrecord import Framed
from ..storage import manifest
from ..storage.lock import Busy
from ..storage.manifest import Split
from ..storage.opening import open_directory
from ..storage.schema import Schema
from .claims import claim_of, end_claim
from .encoding import Refused
from .names import (
    bucket_folder,
    files_of_runs,
    lock_name,
    receipt_name,
    temporary_name,
)
from .parts import Filled
from .plan import Plan, check_open_shards
from .publication import remove_run, token_of
from .publishing import publish
from .receipts import Receipt
from .runs import begin, busy
from .shards import ShardFile

# How many shards may wait until they are durable while others are written.
_SYNCING = 4


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
        self._packing = replace(plan.packing, open_shards=open_shards)
        self._directory = open_directory(plan.directory)
        self.receipts: dict[int, Receipt] = {}
        self._files: dict[int, ShardFile] = {}
        self._syncing: dict[int, Future[Receipt]] = {}
        self._ending: set[int] = set()  # shards that end with the source
        self._process = os.getpid()
        # A process that goes on with this run has files of its own, should this one live.
        self._attempt = os.urandom(6).hex()
        try:
            with self.telling():
                self._directory.make()
                self._lock = self._directory.lock(lock_name(plan.split))
        except Busy:
            raise busy(self._directory, plan.split) from None
        try:
            with self.telling():
                self.plan, self.receipts = begin(
                    plan, schema, self._lock, resume=resume
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

    def keep_leading(self) -> int:
        """Give up shards of an interrupted run that do not follow on one another.

        Returns:
            How many are left: those from 0 to the first that is missing.
        """
        leading = next(number for number in count() if number not in self.receipts)
        for shard in [shard for shard in self.receipts if shard > leading]:
            receipt = self.receipts.pop(shard)
            name = receipt_name(self.plan.split, shard, self.plan.token)
            self._directory.remove(name)
            self._directory.remove(receipt.file)
        return leading

    def add(self, shard: int, framed: Framed) -> None:
        """Write records to a shard, which begins with the first call that names it.

        Raises:
            OSError: the disk refuses.
        """
        with self.telling():
            self._file(shard).add(framed)

    def _temporary(self, shard: int) -> str:
        plan = self.plan
        return temporary_name(plan.split, shard, plan.token, self._attempt)

    def _file(self, shard: int) -> ShardFile:
        file = self._files.get(shard)
        if file is None:
            hidden = self._directory.create(self._temporary(shard))
            file = self._files[shard] = ShardFile(hidden, self._packing)
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
        with self.telling():
            filled = self._filled(shard, last_row, tuple(refused))
            finish = filled.finish if self._keep_receipts else filled.receipt
            self._syncing[shard] = self._sync.submit(finish)
            if len(self._syncing) > _SYNCING:
                self._collect(next(iter(self._syncing)))

    def _filled(
        self, shard: int, last_row: int, refused: tuple[Refused, ...]
    ) -> Filled:
        file, name = self._file(shard), self._temporary(shard)
        file.fill()
        return Filled(self.plan, self._directory, shard, name, file, last_row, refused)

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
        with self.telling():
            self._ending = {*range(total)} - {*self.receipts} - {*self._syncing}
            for shard in sorted(self._ending):
                # A run cannot go on after it, so that its receipt is not kept.
                filled = self._filled(shard, -1, ())
                self._syncing[shard] = self._sync.submit(filled.receipt)
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
        if self._is_committed(self._listed()):
            end_claim(directory, plan)
            return False
        claim = claim_of(directory, plan)
        if claim is not None and not claim.is_own:
            return False  # another process goes on with this run, and needs its files
        if claim is None:  # another run has taken over
            names = files_of_runs(directory.names(), plan.split)
            left = [name for name, token in names.items() if token == plan.token]
            directory.for_each(directory.remove, left)
            return False
        if not keep:
            remove_run(directory, plan.split, plan.token, directory.names())
            return False
        for shard in self._ending & {*self.receipts}:
            directory.remove(self.receipts[shard].file)
        end_claim(directory, plan)
        return True

    def close(self) -> None:
        """Let other runs have the split; what is written stays as it is."""
        self._sync.shutdown()
        self._lock.release()

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Say in an error of the disk what has become of the split.

        Not around a source of rows, whose errors are its own.
        """
        try:
            yield
        except Busy:
            raise
        except OSError as error:
            message = f"{error.strerror}; {self._state()}"
            raise OSError(error.errno, message, error.filename) from error

    def _state(self) -> str:
        split = f"split {self.plan.split!r}"
        with suppress(OSError, DatasetError):
            held = self._listed()
            if self._is_committed(held):
                return (
                    f"{split} is complete, but some files still have hidden names; the next run "
                    f"that writes to {self.where} publishes it"
                )
            if held is not None and self._is_published(held):
                return f"{split} is published, but may be lost in a power cut"
            if held is not None:
                return (
                    f"nothing new of {split} was published, and the {held.records} "
                    "records that it had before are still there"
                )
        return f"nothing of {split} was published"

    def _listed(self) -> Split | None:
        """Return the split as the manifest lists it."""
        found = manifest.load(self._directory)
        return found.splits.get(self.plan.split) if found else None

    def _is_committed(self, held: Split | None) -> bool:
        """Whether a split has the files of this run by their hidden names."""
        return held is not None and token_of(self.plan.split, held) == self.plan.token

    def _is_published(self, held: Split) -> bool:
        """Whether a split has the files of this run, which all have their names."""
        names = {*self._directory.names()}
        shards = len(held.shards)
        return shards == len(self.receipts) and all(
            receipt.listed(self.plan.shard_name(shard, shards)) == held.shards[shard]
            and receipt.file not in names
            for shard, receipt in self.receipts.items()
        )
