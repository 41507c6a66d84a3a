"""Writing a split record by record or batch by batch."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar, NoReturn, Self

from ..shared.errors import DatasetError, warn
from ..shared.options import check_flags, options_by_name
from ..shared.tfrecord import Framed, frame_records
from ..storage.schema import Schema
from .layout import BySize, Layout, RoundRobinLayout
from .plan import DEFAULT_SHARD_BYTES

if TYPE_CHECKING:
    from .run import Run

# How many records or bytes of them wait to be framed together.
_WAITING_RECORDS = 256
_WAITING_BYTES = 1 << 20

_ONE_PROCESS = (
    "a Writer belongs to the process that made it, and rows of another one would be lost; "
    "there, write shards of their own: write_part, or a source for each worker with "
    "write_dataset(workers=...)"
)


class ShardedWriter:
    """Writes the records of one split into shards; base class of generated writers.

    Use it as a context manager. On exit it publishes everything that was written; after
    an error it publishes nothing. A refused row raises an error and is not written;
    callers may catch the error and continue.

    A writer belongs to the process that made it: in another one, each method raises. Threads
    may share it.

    A run that was interrupted leaves the shards that it had finished, which `resume` goes
    on with:

        with Writer("data", "train", resume=True) as writer:
            for row in rows[writer.written :]:
                writer.write(**row)

    Args:
        directory: the data directory, or an fsspec URL of one; created if missing.
        split: the split's name, such as "train".
        shards: spread the records over this many files in turn; None starts a new
            file whenever one has `shard_bytes`.
        shard_bytes: where to start a new file, before compression.
        compression: None, "GZIP", "ZLIB" or "ZSTD".
        compression_level: 1 (fast) to 9 (small), to 19 of "ZSTD"; None for 6, or 3.
        overwrite: replace the split if the directory already has it.
        take_over: end a run of another machine that has died while it wrote the split.
        allow_empty: publish the split even if it has no records.
        index: write an index next to the shards, with which `open_split` finds any
            record at once.
        resume: go on after the last finished shard of an interrupted run with the same
            options. Without `shards` only, since of shards that are written in turn none
            is finished before the end.

    Attributes:
        schema: the schema of the records, set by the subclass.
        written: how many records the interrupted run had finished; those that come next
            are written behind them. 0 if there is nothing to go on with.

    Raises:
        DatasetError: the split exists, another writer is writing it, the directory
            holds other records, or an argument is out of range.
    """

    schema: ClassVar[Schema]

    @options_by_name
    def __init__(
        self,
        directory: str | os.PathLike[str],
        split: str,
        *,
        shards: int | None = None,
        shard_bytes: int = DEFAULT_SHARD_BYTES,
        compression: str | None = None,
        compression_level: int | None = None,
        overwrite: bool = False,
        take_over: bool = False,
        allow_empty: bool = False,
        index: bool = True,
        resume: bool = False,
    ) -> None:
        # These import much that serializing does without.
        from .plan import plan_of
        from .run import Run

        check_flags(resume=resume)

        plan = plan_of(
            self.schema,
            type(self).__module__,
            directory,
            split,
            shards=shards,
            shard_bytes=shard_bytes,
            compression=compression,
            compression_level=compression_level,
            overwrite=overwrite,
            take_over=take_over,
            allow_empty=allow_empty,
            index=index,
        )
        self._split = split
        self._shards = shards
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._closed = False
        self._failure: BaseException | None = None
        self._mutex = RLock()  # threads may share a writer
        self._run = Run(
            plan,
            self.schema,
            open_shards=shards or 1,
            resume=resume,
            keep_receipts=shards is None,
        )
        first = self._run.discard_after_gap()
        self.written = sum(each.records for each in self._run.receipts.values())
        self._records = self._in_shards = self.written
        self._last = first  # the shard that got the latest record
        self._layout: Layout = (
            RoundRobinLayout(shards) if shards else BySize(shard_bytes, first)
        )
        # Not a method: it must not keep alive what it waits for.
        self._abandoned = weakref.finalize(self, _abandon, self._run, split)

    def __reduce__(self) -> NoReturn:
        """Refuse to go to another process.

        Raises:
            DatasetError: always.
        """
        raise DatasetError(f"split {self._split!r}: {_ONE_PROCESS}")

    @property
    def records(self) -> int:
        """How many records have been written so far, by an interrupted run too."""
        return self._records

    def append(self, record: bytes) -> None:
        """Write one serialized record.

        Raises:
            DatasetError: the writer is closed, or of another process.
            OSError: the file system reports an error; nothing of this split will be published.
        """
        self._check_process()
        with self._mutex:
            self._check_open()
            self._waiting.append(record)
            self._waiting_bytes += len(record)
            self._records += 1
            if (
                len(self._waiting) >= _WAITING_RECORDS
                or self._waiting_bytes >= _WAITING_BYTES
            ):
                self._write_waiting()

    def extend(self, records: Sequence[bytes]) -> None:
        """Write serialized records; errors are those of `append`."""
        self.extend_framed([frame_records(records)])

    def extend_framed(self, runs: Iterable[Framed]) -> None:
        """Write records that are framed already; errors are those of `append`."""
        self._check_process()
        with self._mutex:
            self._check_open()
            self._write_waiting()
            for framed in runs:
                with self._failing():
                    self._write(framed)
                self._records += len(framed)

    def _check_process(self) -> None:
        if not self._run.is_of_this_process:
            raise DatasetError(f"split {self._split!r}: {_ONE_PROCESS}")

    def _check_open(self) -> None:
        if self._closed:
            raise DatasetError(f"split {self._split!r}: the writer is closed")

    def _write_waiting(self) -> None:
        if self._waiting:
            waiting, self._waiting, self._waiting_bytes = self._waiting, [], 0
            with self._failing():
                self._write(frame_records(waiting))

    def _write(self, framed: Framed) -> None:
        for shard, records in self._layout.assign(framed):
            if self._layout.in_order and shard > self._last:
                self._run.finish(self._last, last_row=self._in_shards - 1)
            self._run.add(shard, records)
            self._in_shards += len(records)
            self._last = shard

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """End the writing if records are written in part, whatever the error."""
        try:
            yield
        except BaseException as error:
            self._fail(error)
            raise

    def close(self) -> None:
        """Publish the split: make its files durable, name them, enter them.

        Raises:
            DatasetError: an earlier error has ended the writing, there are no
                records, the directory has changed so that the split does not belong
                there any more, or the writer is of another process.
            OSError: the file system reports an error; nothing of this split has been published.
        """
        self._check_process()
        with self._mutex:
            self._close()

    def _close(self) -> None:
        if self._failure is not None:
            raise DatasetError(
                f"split {self._split!r}: an earlier error ended the writing, and "
                f"nothing was published: {self._failure}"
            )
        if self._closed:
            return
        self._write_waiting()
        with self._failing():
            for shard, records in self._layout.flush():
                self._run.add(shard, records)
            self._run.publish(self._shards or self._last + 1)
        self._closed = True
        self._abandoned.detach()

    def abort(self) -> None:
        """Remove what was written; what was published before stays.

        Raises:
            DatasetError: the writer is of another process.
        """
        self._check_process()
        with self._mutex:
            self._end(keep=False)

    def _fail(self, error: BaseException) -> None:
        """End the writing after an error; finished shards are left to `resume`."""
        if self._closed:
            return
        self._failure = error
        if self._run.is_of_this_process and (kept := self._end(keep=True)):
            error.add_note(kept_shards(self._split, kept))

    def _end(self, *, keep: bool) -> int:
        """Stop writing, and return how many records are kept."""
        if self._closed:
            return 0
        self._closed = True
        self._abandoned.detach()
        return self._run.abort(keep=keep)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Publish the split, or nothing of it if there was an error."""
        if error is None:
            self.close()
        else:
            self._fail(error)


def kept_shards(split: str, records: int) -> str:
    """Say what an interrupted run has left, and what becomes of it."""
    return (
        f"{records} records of split {split!r} are in finished shards: resume=True goes on "
        "after them, and a run without it removes them"
    )


def _abandon(run: Run, split: str) -> None:
    """Clean up after a writer that no one closed, and say that its records are lost."""
    if run.is_of_this_process:
        warn(
            f"{run.where}: split {split!r}: the writer was never closed, and its "
            "records are not published; write in a `with` block or call close()"
        )
        run.abort()
