"""Which part of the records a reader gets: its share among several, and its slice.

Slices follow the names of splits, as in TensorFlow Datasets: "train[:80%]".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ..shared.errors import DatasetError, warn
from ..shared.options import is_integer
from .finding import Splits

_NAME = re.compile(r"(?P<name>[^\[\]]+)(?:\[(?P<slice>.*)\])?", re.DOTALL)
_SLICE = re.compile(r"(?:(-?\d{1,18})(%?))?:(?:(-?\d{1,18})(%?))?", re.ASCII)


@dataclass(frozen=True)
class Slice:
    """A range of the records of a split.

    Attributes:
        first: where it begins: a number and "" or "%"; None for the first record.
        last: where it ends; None for behind the last record.
    """

    first: tuple[int, str] | None = None
    last: tuple[int, str] | None = None

    def of(self, records: int) -> range:
        """Return the numbers of its records, of so many."""

        def place(bound: tuple[int, str] | None, usual: int) -> int:
            if bound is None:
                return usual
            number, unit = bound
            at = round(number * records / 100) if unit else number
            return min(records, max(0, at + records if number < 0 else at))

        first, last = place(self.first, 0), place(self.last, records)
        return range(first, max(first, last))


def split_and_slice(split: Splits) -> tuple[Splits, Slice | None]:
    """Return the name of a split, and the slice behind it; several have none.

    Raises:
        DatasetError: it is not written as one.
    """
    if not isinstance(split, str):
        return split, None
    match = _NAME.fullmatch(split)
    if match is None or match["slice"] is None:
        return split, None
    bounds = _SLICE.fullmatch(match["slice"])
    if bounds is None:
        raise DatasetError(
            f"split={split!r}: expected a slice such as {match['name']}[:80%], "
            f"{match['name']}[80%:] or {match['name']}[100:200]"
        )
    first, first_unit, last, last_unit = bounds.groups()
    return match["name"], Slice(
        None if first is None else (int(first), first_unit),
        None if last is None else (int(last), last_unit),
    )


class InputContext(Protocol):
    """What a `tf.distribute.InputContext` says about a reader."""

    @property
    def input_pipeline_id(self) -> int:
        """Its number, from 0."""
        ...

    @property
    def num_input_pipelines(self) -> int:
        """How many readers there are."""
        ...


ShareIndex = tuple[int, int] | InputContext
"""Which share: the number of a reader from 0, and how many readers there are."""


@dataclass(frozen=True)
class FilePart:
    """Records of one file.

    Attributes:
        file: the number of the file.
        first: the number of its first record.
        stop: the number of the first record behind it; None for the end of the file.
        step: every how many records the next one is.
    """

    file: int
    first: int = 0
    stop: int | None = None
    step: int = 1


@dataclass(frozen=True)
class Share:
    """What one of several readers reads.

    Attributes:
        parts: of files, in their order.
        records: how many records these have; None if no one knows.
        fewest: how many records the reader with the fewest has; None likewise.
    """

    parts: tuple[FilePart, ...]
    records: int | None = None
    fewest: int | None = None


def share_of(
    shard: ShareIndex | None,
    files: int,
    counts: Sequence[int] | None = None,
    part: Slice | None = None,
) -> Share:
    """Divide the records of files among readers, each of which computes the same.

    Readers get whole files if these make their shares equal, to within one percent or
    a record. Otherwise each gets a range of all records, which may begin and end within
    a file: shares then differ by one record at most, and a reader passes over the
    records of others in one file only.

    Where the numbers of records are unknown, readers get whole files, or every n-th
    record of each file if there are fewer files than readers.

    Warns if there are fewer files than readers, and if readers get different numbers of
    files because the numbers of records are unknown.

    Args:
        shard: which reader asks; None for the only one.
        files: how many files there are.
        counts: how many records each has, if that is known.
        part: the slice of all records that readers divide; None for all. It is divided
            in the order of the files, for which the numbers of records have to be known.

    Raises:
        DatasetError: it is not the number of a reader.
    """
    index, readers = numbers_of(shard)
    if part is not None and counts is not None:
        own = part.of(sum(counts))
        start, stop = (
            own.start + len(own) * number // readers for number in (index, index + 1)
        )
        parts = _parts_in_range(start, stop, [range(files)], counts)
        return Share(parts, stop - start, len(own) // readers)
    if files < readers:
        warn(
            f"{files} {'file' if files == 1 else 'files'} for {readers} readers: several "
            "read the same file, and each keeps its part of the records; write "
            f"{readers} or more shards, best a multiple of {readers}"
        )
    whole = [range(reader, files, readers) for reader in range(readers)]
    if counts is None:
        return _share_of_unknown(index, files, whole)
    sizes = [sum(counts[file] for file in own) for own in whole]
    if _are_equal(sizes):
        parts = tuple(map(FilePart, whole[index]))
        return Share(parts, sizes[index], min(sizes))
    total = sum(counts)
    start, stop = (total * number // readers for number in (index, index + 1))
    return Share(
        _parts_in_range(start, stop, whole, counts), stop - start, total // readers
    )


def _are_equal(sizes: Sequence[int]) -> bool:
    """Tell whether shares differ by one percent at most, or by a single record."""
    return max(sizes) - min(sizes) <= max(1, max(sizes) // 100)


def _share_of_unknown(index: int, files: int, whole: Sequence[range]) -> Share:
    """Divide files whose numbers of records no one knows."""
    readers = len(whole)
    if files < readers:
        # Each file begins with another reader, as those who begin get a record more.
        parts = (FilePart(f, (index - f) % readers, step=readers) for f in range(files))
        return Share(tuple(parts))
    most, fewest = len(whole[0]), len(whole[-1])
    if (most - fewest) * 100 > most:
        warn(
            f"{files} files for {readers} readers: no manifest says how many records each "
            f"has, so readers get whole files, from {fewest} to {most} of them; "
            f"name a directory with a manifest, or write a multiple of {readers} shards"
        )
    return Share(tuple(map(FilePart, whole[index])))


def _parts_in_range(
    start: int, stop: int, whole: Sequence[range], counts: Sequence[int]
) -> tuple[FilePart, ...]:
    """Return the parts of files with a range of all records.

    Records are numbered through the first reader's files, then the second one's, and so
    on: each then reads about the files that it would read as whole ones.
    """
    parts, before = [], 0
    for file in (file for own in whole for file in own):
        first, last = max(0, start - before), min(counts[file], stop - before)
        if first < last:
            # Up to the end of the file means all of it, and so finds a wrong count.
            parts.append(FilePart(file, first, None if last == counts[file] else last))
        before += counts[file]
    return tuple(sorted(parts, key=lambda part: part.file))


def numbers_of(shard: ShareIndex | None) -> tuple[int, int]:
    """Return the number of a reader, and how many there are.

    Raises:
        DatasetError: it is not the number of a reader.
    """
    if shard is None:
        return 0, 1
    if not isinstance(shard, tuple) and hasattr(shard, "input_pipeline_id"):
        return shard.input_pipeline_id, shard.num_input_pipelines
    numbers = shard if isinstance(shard, tuple) else ()
    if len(numbers) != 2 or not all(map(is_integer, numbers)):
        raise DatasetError(
            f"shard={shard!r}: expected (index, count), or a tf.distribute.InputContext"
        )
    index, count = map(int, numbers)
    if not 0 <= index < count:
        raise DatasetError(
            f"shard={shard!r}: expected an index from 0 to count - 1, such as (0, 2) and "
            "(1, 2) for two readers"
        )
    return index, count
