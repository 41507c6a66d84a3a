"""Reading the records to infer from: the first ones of each file, up to a limit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...progress import Bar
from ...runtime.reading.columns import Columns
from ...runtime.shared.tfrecord import MOST_RECORD_BYTES
from ...runtime.sources.shards import File
from ..checks import Tally
from ..foreign import keyed_of
from ..framing import Damage, whole_of
from ..one_pass import Scanned, read_files
from .file_groups import FileKeys


class Reading:
    """The records that are read of some files.

    Args:
        files: the files.
        limit: the most records, spread over the files; None for all.
        max_record_bytes: the most bytes of a record; longer ones are damages.

    Attributes:
        files: the files with the keys that were found in them.
    """

    def __init__(
        self,
        files: Sequence[File],
        limit: int | None = None,
        max_record_bytes: int = MOST_RECORD_BYTES,
    ) -> None:
        self.files = [
            FileKeys(Scanned(whole_of(file), Tally(0)), file.split) for file in files
        ]
        self._bytes = sum(file.size for file in files)
        self._limit = limit
        self._max_record_bytes = max_record_bytes

    def batches(self) -> Iterator[Columns]:
        """Read the files once, and yield the columns of some records at a time.

        Records of another message, which may happen to be read as Examples, are left
        out if no other ones are next to them.
        """
        limit = self._limit
        with self._bar() as bar:
            for number, columns in read_files(
                [file.scanned for file in self.files],
                limit,
                spread=True,
                max_record_bytes=self._max_record_bytes,
                advance=bar if limit is None else lambda *amounts: None,
            ):
                self.files[number].add(columns)
                keyed = keyed_of(columns)
                if keyed.records or not keyed.other:
                    yield columns
                if limit is not None:
                    bar(len(columns.records))

    def _bar(self) -> Bar:
        """Return a bar of records up to a limit, or of the bytes of all files."""
        if self._limit is not None:
            return Bar("reading", self._limit, "record")
        return Bar("reading", self._bytes)

    @property
    def records(self) -> int:
        """How many records were read."""
        return sum(file.records for file in self.files)

    @property
    def whole(self) -> bool:
        """Whether every file was read to its end."""
        return all(file.scanned.complete for file in self.files)

    @property
    def damages(self) -> list[Damage]:
        """The first places of each file at which no record can be read."""
        return [damage for file in self.files for damage in file.scanned.damages]

    @property
    def damaged(self) -> int:
        """How many such places there are."""
        return sum(file.scanned.damaged for file in self.files)
