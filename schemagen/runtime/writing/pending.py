"""A split while it is written: hidden files until all of it can be published."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from functools import partial
from itertools import count
from typing import Any

from ..shared.errors import DatasetError
from ..shared.tfrecord import Framed
from ..storage.journal import Finished, Journal, JournalFile
from ..storage.lock import Busy
from ..storage.manifest import Manifest, Split
from ..storage.opening import open_directory
from . import publication
from .leftovers import Leftovers
from .markers import has_marker, remove_marker
from .plan import Packing, bucket_folder, check_records, shard_name, temporary_name
from .shards import ShardFile

# How many shards may wait until they are durable while others are written.
_SYNCING = 4


class PendingSplit:
    """The shards of one split until they are published.

    Args:
        directory: the data directory; made if it is not there.
        split: the split's name.
        mine: a manifest of this record's, without splits.
        packing: how shards are stored.
        request: what the shards' bytes depend on; a run goes on only where one with
            an equal request has stopped.
        overwrite: replace the split if the directory already has it.
        allow_empty: publish the split even if it has no records.
        index: write an index next to the shards.
        resume: go on where an interrupted run has stopped.

    Attributes:
        finished: the shards that are durable, by number.
        split: the split's name.
        packing: how shards are stored.
        token: what the temporary names of the run's files have.
        shuffled: whether all records have been put into buckets.
        total: the number of shards, if an interrupted run had finished all of them;
            else None.
        buckets: a local folder for records on their way to their shards.

    Raises:
        DatasetError: the split exists, another writer is at it, the directory holds
            another record, or what was interrupted was another run.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        split: str,
        mine: Manifest,
        *,
        packing: Packing,
        request: dict[str, Any],
        overwrite: bool,
        allow_empty: bool,
        index: bool,
        resume: bool = False,
    ) -> None:
        self._directory = open_directory(directory)
        self.split = split
        self._mine = mine
        self.packing = packing
        self._overwrite = overwrite
        self._allow_empty = allow_empty
        self._index = index
        self._request = {**request, **asdict(packing)}
        self._files: dict[int, ShardFile] = {}
        self._syncing: dict[int, Future[Finished]] = {}
        self._ending: set[int] = set()  # shards that end with the source
        self._committing = False
        self._process = os.getpid()
        self.buckets = bucket_folder(self._directory, split)
        self._leftovers = Leftovers(self._directory, split, mine, self.buckets)
        self._leftovers.check(overwrite=overwrite, resume=resume)
        try:
            with self.telling():
                self._directory.make()
                self._lock = self._directory.lock(f".{split}.lock")
        except Busy as busy:
            raise DatasetError(
                f"{self.where}: another writer is writing split {split!r}: {busy}; wait until it ends"
            ) from None
        try:
            # Checked again, now that no one else is at it.
            with self.telling():
                run = self._leftovers.begin(
                    self._request, self._lock, overwrite=overwrite, resume=resume
                )
        except BaseException:
            self._lock.release()
            raise
        self.finished = dict(run.finished)
        self.shuffled = run.shuffled
        self.total = run.total
        self._published = self._leftovers.published(run)
        self.token = run.token
        self._take_over()
        self._sync = ThreadPoolExecutor(_SYNCING, "sync")

    @property
    def where(self) -> str:
        """The data directory, as errors name it."""
        return self._directory.where

    @property
    def is_of_this_process(self) -> bool:
        """Whether this process has begun it, not one of which it is a fork."""
        return self._process == os.getpid()

    @property
    def durable(self) -> int:
        """What the latest durable shard says that comes after it."""
        return max((shard.next for shard in self.finished.values()), default=0)

    def keep_leading(self) -> int:
        """Give up shards of an interrupted run that do not follow on one another.

        Returns:
            How many are left: those from 0 to the first that is missing.
        """
        leading = next(number for number in count() if number not in self.finished)
        for shard in [shard for shard in self.finished if shard > leading]:
            self._directory.remove(self._temporary(shard))
            del self.finished[shard]
        self._take_over()
        return leading

    def start_over(self) -> None:
        """Give up all that an interrupted run has left."""
        for shard in self.finished:
            self._directory.remove(self._temporary(shard))
        shutil.rmtree(self.buckets, ignore_errors=True)
        self.finished, self.shuffled = {}, False
        self._take_over()

    def _take_over(self) -> None:
        run = Journal(self.token, self._request, self.finished, self.shuffled)
        self._journal = JournalFile(self._directory, self.split, run)

    def _temporary(self, shard: int) -> str:
        return temporary_name(self.split, shard, self.token)

    def add(self, shard: int, framed: Framed) -> None:
        """Write records to a shard, which begins with the first call that names it.

        Raises:
            OSError: the disk refuses.
        """
        with self.telling():
            self._file(shard).add(framed)

    def _file(self, shard: int) -> ShardFile:
        file = self._files.get(shard)
        if file is None:
            hidden = self._directory.create(self._temporary(shard))
            file = ShardFile(hidden, self.packing)
            self._files[shard] = file
        return file

    def finish(self, shard: int, *, next_row: int = 0, last_row: int = -1) -> None:
        """Make a shard durable, which takes its time alongside the writing of others.

        Args:
            shard: its number; without records it is an empty file.
            next_row: where to go on after it.
            last_row: the position of its last record's row.

        Raises:
            OSError: the disk refuses this shard, or one before it.
        """
        with self.telling():
            self._finish(shard, next_row, last_row)
            if len(self._syncing) > _SYNCING:
                self._collect(next(iter(self._syncing)))
                self._check_marker()
                self._journal.write()

    def _finish(self, shard: int, next_row: int = 0, last_row: int = -1) -> None:
        file = self._file(shard)
        file.fill()
        done = partial(_finished, file, shard, next_row, last_row)
        self._syncing[shard] = self._sync.submit(done)

    def _collect(self, shard: int) -> None:
        """Wait until a shard is durable, and note it if a run can go on after it."""
        self.finished[shard] = self._syncing[shard].result()
        del self._syncing[shard], self._files[shard]
        if shard not in self._ending:  # a run cannot go on after it alone
            self._journal.finished(self.finished[shard])

    def take(self, shard: Finished) -> None:
        """Note a shard that another process has made durable under its temporary name.

        Raises:
            DatasetError: another run has taken over.
            OSError: the disk refuses.
        """
        with self.telling():
            self.finished[shard.shard] = shard
            self._journal.finished(shard)
            self._check_marker()
            self._journal.write()

    def remove(self, shards: Iterable[int]) -> None:
        """Remove what other processes have left of shards that are not finished."""
        with suppress(OSError):
            for shard in shards:
                self._directory.remove(self._temporary(shard))

    def note_shuffled(self) -> None:
        """Note that all records are in buckets."""
        self.shuffled = True
        with self.telling():
            self._journal.shuffled()
            self._check_marker()
            self._journal.write()

    def publish(self, total: int) -> int:
        """Make all shards durable and publish them.

        Args:
            total: how many there are; those that no one has written to are empty.

        Returns:
            The number of records.

        Raises:
            DatasetError: there are no records; the directory has changed, so that
                the split does not belong there any more; another run has taken over.
            OSError: the disk refuses.
        """
        if self._published is None:
            with self.telling():
                self._published = self._publish(total)
        self._close()
        return self._published.records

    def _publish(self, total: int) -> Split:
        self._ending = {*range(total)} - {*self.finished} - {*self._syncing}
        for shard in sorted(self._ending):
            self._finish(shard)
        for shard in list(self._syncing):
            self._collect(shard)
        compression = self.packing.compression
        contents = [self.finished[at].contents for at in range(total)]
        shards = tuple(
            held.listed(shard_name(self.split, at, total, compression))
            for at, held in enumerate(contents)
        )
        split = Split(compression, shards, shuffled=self.shuffled or None)
        check_records(
            self.where, self.split, split.records, allow_empty=self._allow_empty
        )
        new = replace(self._mine, splits={self.split: split})
        self._check_marker()
        self._journal.finished(*(self.finished[at] for at in sorted(self._ending)))
        self._journal.all_finished(total)
        self._ending = set()
        self._committing = True
        files = [self._temporary(at) for at in range(total)]
        with self._directory.lock(publication.LOCK, wait=True):
            publication.publish(
                self._directory,
                self.split,
                new,
                files,
                lengths=[held.lengths for held in contents] if self._index else None,
                overwrite=self._overwrite,
            )
        shutil.rmtree(self.buckets, ignore_errors=True)
        self._journal.remove()
        remove_marker(self._directory, self.split, self.token)
        return split

    def _check_marker(self) -> None:
        """See that no other run has taken over, and the journal with it."""
        if not has_marker(self._directory, self.split, self.token):
            raise DatasetError(
                f"{self.where}: another run has taken over split {self.split!r} with "
                "overwrite=True; nothing of this one is published"
            )

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
            with suppress(OSError):
                self._collect(shard)
        for file in self._files.values():
            file.discard()
        kept = [self.finished[shard] for shard in {*self.finished} - self._ending]
        records = sum(shard.contents.records for shard in kept)
        keep &= self.shuffled or records > 0
        with suppress(OSError, DatasetError):
            keep = self._leave(keep)
        self._close()
        return records if keep else 0

    def _leave(self, keep: bool) -> bool:
        """Leave what another run can go on with; return whether `resume` is needed.

        Without its marker the run has ended. While something of it is left that the
        journal does not tell, the marker stays.

        Raises:
            OSError: the disk refuses.
        """
        is_mine = has_marker(self._directory, self.split, self.token)
        if self._listed() is not None:
            keep = False
        elif keep and is_mine:
            self._journal.write()
        else:
            keep = False
            self._leftovers.remove(self.token, is_replaced=not is_mine)
        remove_marker(self._directory, self.split, self.token)
        return keep

    def _close(self) -> None:
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
            told = f"{error.strerror}; {self._state()}"
            raise OSError(error.errno, told, error.filename) from error

    def _state(self) -> str:
        split = f"split {self.split!r}"
        with suppress(OSError, DatasetError):
            mine = self._listed()
            if mine is not None and mine == mine.settled:
                return f"{split} is published, but may be lost in a power cut"
            if mine is not None:
                return (
                    f"{split} is complete, but not all of it has its name; the next run "
                    f"that writes to {self.where} publishes it"
                )
            existing = publication.load_or_new(self._directory, self._mine)
            if found := existing.splits.get(self.split):
                return (
                    f"nothing new of {split} was published, and the {found.records} "
                    "records that it had before are still there"
                )
        return f"nothing of {split} was published"

    def _listed(self) -> Split | None:
        """Return the split as the manifest lists it, if this run has committed it."""
        return self._leftovers.listed(self.finished) if self._committing else None


def _finished(file: ShardFile, shard: int, next_row: int, last_row: int) -> Finished:
    return Finished(shard, file.finish(), next_row, last_row)
