"""Reading the records to infer from: the first ones of each file, up to a limit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from ...progress import Bar
from ...runtime.reading.columns import Columns
from ...runtime.reading.decoding import decode
from ...runtime.reading.records import Records
from ..framing import Advance, scan
from ..limits import MAX_RECORD_BYTES
from ..records import Damage
from ..remote_path import FilePath, size_of
from .file_groups import FileKeys


@dataclass
class Reading:
    """Reads records, and counts them.

    Attributes:
        max_record_bytes: the most bytes of a record; longer ones are damages.
        files: how many files.
        records: how many records.
        whole: whether every file was read to its end.
        damages: the places at which no record can be read.
        file_keys: the keys of each file.
    """

    max_record_bytes: int = MAX_RECORD_BYTES
    files: int = 0
    records: int = 0
    whole: bool = True
    damages: list[Damage] = field(default_factory=list)
    file_keys: list[FileKeys] = field(default_factory=list)

    def batches(
        self, paths: Sequence[FilePath], limit: int | None
    ) -> Iterator[Columns]:
        """Yield the columns of some records, spread over the files.

        Args:
            paths: the files.
            limit: the most records; None for all.
        """
        self.files = len(paths)
        with _bar(paths, limit) as bar:
            for number, path in enumerate(paths):
                left = None
                if limit is not None:
                    left = -(-(limit - self.records) // (len(paths) - number))
                file = FileKeys(path)
                self.file_keys.append(file)
                advance = bar if limit is None else lambda _: None
                for records in self._records(path, left, advance):
                    self.records += len(records)
                    batch = decode(records)
                    file.add(batch)
                    yield batch
                    if limit is not None:
                        bar(len(records))

    def _records(
        self, path: FilePath, left: int | None, advance: Advance
    ) -> Iterator[Records]:
        if left is not None and left <= 0:
            self.whole = False
            return
        for found in scan(
            path, advance=advance, max_record_bytes=self.max_record_bytes
        ):
            if isinstance(found, Damage):
                self.damages.append(found)
            elif left is None:
                yield found
            elif len(found):
                yield found.only(slice(left))
                left -= len(found)
                if left <= 0:
                    # Reading on just to know whether this is all is not worth it.
                    self.whole = False
                    return


def _bar(paths: Sequence[FilePath], limit: int | None) -> Bar:
    """Return a bar of records up to a limit, or of the bytes of all files."""
    if limit is not None:
        return Bar("reading", limit, "record")
    total = 0
    for path in paths:
        with suppress(OSError):
            total += size_of(path) or 0
    return Bar("reading", total)
