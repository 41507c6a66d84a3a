"""One pass over the files of some data, for checks, statistics and inferred schemas."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..runtime.cells.columns import Columns, Rows
from ..runtime.cells.decoding import NO_PLAN, CheckPlan, decode
from ..runtime.cells.serialized import Records
from ..runtime.native import crc32c, follow_lengths
from ..runtime.shared.platforms import usable_cores
from ..runtime.shared.processes import Advance, in_parallel
from ..runtime.shared.tfrecord import FRAMING, HEADER_SIZE, MOST_RECORD_BYTES
from ..runtime.sources.generation import Generation
from ..runtime.sources.shards import File
from .checks import Tally, check_of
from .files import compression_of
from .framing import Damage, FileRange, scan, whole_range
from .sources import Data
from .statistics.declared import Numbered, declared_by
from .statistics.measuring import Measuring
from .statistics.model import RecordStatistics, merged_records

if TYPE_CHECKING:
    from ..runtime.records.checking import RecordCheck
    from ..spec.model import RecordSpec


# Bits are coefficients of polynomials, the highest bit that of x ** 0.
_POLYNOMIAL, _BYTE = 0x82F6_3B78, 1 << 23  # the second one is x ** 8


def combined(first: int, second: int, size: int) -> int:
    """Return the checksum of bytes whose first and second part have these.

    A checksum is linear: what the first part adds to that of the whole is its own
    checksum, moved on by as many zeros as the second part has bytes.

    Args:
        first: the CRC-32C of the first part.
        second: that of the second part.
        size: how many bytes the second part has.
    """
    moved, factor = first, _BYTE
    while size:
        if size & 1:
            moved = _product(moved, factor)
        factor = _product(factor, factor)
        size >>= 1
    return moved ^ second


def _product(one: int, other: int) -> int:
    """Multiply two polynomials, modulo that of the checksum."""
    found = 0
    for bit in range(31, -1, -1):
        if other >> bit & 1:
            found ^= one
        one = one >> 1 ^ (_POLYNOMIAL if one & 1 else 0)
    return found


RANGE_BYTES = 1 << 26
"""About how many bytes of one file make a part."""

# Below this a process takes longer to start than it helps.
_WORTH_BYTES = 1 << 28


def ranges_of(file: FileRange, part_bytes: int = RANGE_BYTES) -> list[FileRange]:
    """Cut a whole file at the beginnings of records.

    Files that are small, compressed, remote or unreadable are one part. So is all that follows
    a damaged length, as the next record is not known.
    """
    if not isinstance(file.path, Path):
        return [file]
    with suppress(OSError, ValueError), file.open() as opened:
        large = os.fstat(opened.fileno()).st_size >= 2 * part_bytes
        if large and compression_of(opened.read(HEADER_SIZE) or b"") == "":
            with mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return list(_cut(file, data, part_bytes))
    return [file]


def _cut(file: FileRange, data: mmap.mmap, part_bytes: int) -> Iterator[FileRange]:
    memory, first, start = np.frombuffer(data, np.uint8), 0, 0
    while len(data) - start >= 2 * part_bytes:
        count, stop = follow_lengths(memory, start, start + part_bytes)
        # The length that follows has to be right, too.
        if not follow_lengths(memory, stop, stop + 1)[0]:
            break
        yield replace(file, start=start, stop=stop, first=first)
        start, first = stop, first + count
    del memory  # which keeps the file mapped
    yield replace(file, start=start, first=first)


def usual_workers(size: int) -> int:
    """Return how many processes to use for so many bytes: one for each core."""
    if size < _WORTH_BYTES:
        return 1
    return usable_cores()


# So many damages of a file are kept.
_MOST_DAMAGES = 10

# Small files make one task together, up to so many bytes. To open a file and begin with its
# records takes about as long as to read some more.
_TASK_BYTES = 1 << 25
_FILE_BYTES = 1 << 16

# Statistics of a split are merged when there are so many.
_MOST_PARTS = 8


@dataclass(frozen=True)
class Wanted:
    """What a pass finds out.

    Attributes:
        examples: how many examples of each kind of finding to keep; None for no checks.
        statistics: whether to measure records.
        digests: whether statistics have digests of records and values, in which
            duplicates show.
        limit: only so many records of each group, the first ones; None for all.
        max_record_bytes: longer records are damages and are not read.
        lengths: whether to keep the lengths of records, for an index.
        rows: the keys of which statistics have a sample of rows; none for no sample.
        groups: the keys of which digests have all values, also those that repeat.
        numbered: fields under numbered keys, further than those of the specs.
    """

    examples: int | None = None
    statistics: bool = False
    digests: bool = False
    limit: int | None = None
    max_record_bytes: int = MOST_RECORD_BYTES
    lengths: bool = False
    rows: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    numbered: Numbered = field(default_factory=dict)


@dataclass(frozen=True)
class FileGroup:
    """Files of one split whose records should be of one spec.

    Attributes:
        split: its name.
        spec: what the records should be; None if no one knows.
        files: in order.
    """

    split: str
    spec: RecordSpec | None
    files: Sequence[File]


@dataclass
class Scanned:
    """A file, or a part of it, that was read.

    Attributes:
        range: which bytes of which file.
        tally: what is wrong, and how many records there are.
        damages: the first places at which no record can be read.
        damaged: how many such places there are.
        over_limit: whether a record takes more than the limit, so that the file may
            hold more good records than were read.
        readable: False if it is missing, or cannot be read.
        complete: whether it was read to its end, and not to a limit.
        crc32c: of its bytes on disk.
        lengths: those of the frames of its good records, int64 [N] each, if wanted.
        start: its first bytes, which tell the compression.
    """

    range: FileRange
    tally: Tally
    damages: list[Damage] = field(default_factory=list)
    damaged: int = 0
    over_limit: bool = False
    readable: bool = True
    complete: bool = True
    crc32c: int = 0
    lengths: list[Rows] = field(default_factory=list)
    start: bytes = b""

    @property
    def whole(self) -> bool:
        """Whether all of it was read."""
        return self.readable and self.complete

    @property
    def compression(self) -> str | None:
        """Its name by the first bytes, "" for none; None for other bytes."""
        return compression_of(self.start)

    def add_damage(self, damage: Damage) -> None:
        """Count a place at which no record can be read."""
        self.damaged += 1
        self.over_limit |= damage.kind == "limit"
        if damage.kind == "unreadable":
            self.readable = False
            if isinstance(self.range.path, Path) and self.range.path.is_symlink():
                to = os.readlink(self.range.path)
                damage = replace(damage, cause=f"a link to {to}, which was not copied?")
        self.damages += [damage][: _MOST_DAMAGES - len(self.damages)]
        self.tally.add_damage(damage)


def read_files(
    files: Sequence[Scanned],
    limit: int | None = None,
    *,
    spread: bool = False,
    plan: CheckPlan = NO_PLAN,
    max_record_bytes: int = MOST_RECORD_BYTES,
    advance: Advance = lambda *amounts: None,
    on_data: Callable[[Scanned, memoryview], object] | None = None,
) -> Iterator[tuple[int, Columns]]:
    """Yield the good records of files in runs. It never raises, whatever they hold.

    Args:
        files: those of which nothing was read yet. Damages, and how many records were
            read, are noted in them.
        limit: the most records of all files together; None for all.
        spread: whether every file gives its share of the limit, of which small files
            leave the rest to those behind them; otherwise the first files give it.
        plan: what to compare records with.
        max_record_bytes: longer records are damages and are not read.
        advance: called with numbers of bytes as they are read.
        on_data: given all bytes of each file as they are read.

    Yields:
        The place of a file in `files`, and columns of some of its records.
    """
    left = limit
    for number, scanned in enumerate(files):
        most = left
        if most is not None and spread:
            most = -(-most // (len(files) - number))
        runs = scan(
            scanned.range,
            advance=advance,
            on_data=on_data and partial(on_data, scanned),
            max_record_bytes=max_record_bytes,
        )
        for records in _noted(scanned, runs, most):
            columns = decode(records, plan)
            scanned.tally.count(columns)
            yield number, columns
        if left is not None:
            left -= scanned.tally.records


def _noted(
    scanned: Scanned, runs: Iterable[Records | Damage], most: int | None
) -> Iterator[Records]:
    """Yield no more than so many records, and note what else is to be known."""
    left = most
    if left == 0:
        scanned.complete = False
        return
    for run in runs:
        if isinstance(run, Damage):
            scanned.add_damage(run)
            continue
        if left is not None and len(run) > left:
            scanned.complete = False
            if left:
                yield run.only(slice(left))
            return
        yield run
        if left is not None:
            left -= len(run)


@dataclass(frozen=True)
class Pass:
    """What one pass has found.

    Attributes:
        files: what was read, by path, in the order of groups.
        statistics: of each split, if they were wanted.
    """

    files: Mapping[str, Scanned]
    statistics: Mapping[str, RecordStatistics]


def read_data(
    data: Data,
    groups: Sequence[FileGroup],
    wanted: Wanted,
    *,
    workers: int | None,
    progress: Callable[[int, int], object] | None,
) -> Pass:
    """Read files once. What is found does not depend on the number of workers.

    Args:
        data: of which they are.
        groups: the files to read.
        wanted: what to find out.
        workers: how many processes read; None for one each core, if there is enough to
            do.
        progress: called with the bytes that were read since the last call, and with
            how many there are in all.

    Raises:
        DatasetError: a worker died, or a split was written again meanwhile. Damage of
            files is in what is returned, and so are files that changed.
    """
    tasks = [task for group in groups for task in _tasks(data, group, wanted)]
    pieces = [piece for task in tasks for piece in task.pieces]
    total = sum(piece.bytes for piece in pieces)
    if workers is None:
        workers = usual_workers(total + _FILE_BYTES * len(pieces))

    def advance(size: int) -> None:
        if progress is not None:
            progress(size, total)

    parts: list[Scanned] = []
    statistics: dict[str, list[RecordStatistics]] = {g.split: [] for g in groups}
    done = in_parallel(_read, tasks, workers=workers, advance=advance, in_order=True)
    for index, (scanned, measured) in done:
        parts += scanned
        some = statistics[tasks[index].split]
        some += measured
        if len(some) >= _MOST_PARTS:
            some[:] = [merged_records(some)]
    Generation(data.shards).check()
    return Pass(
        {
            path: _joined(list(own))
            for path, own in groupby(parts, key=lambda each: str(each.range.path))
        },
        {name: merged_records(some) for name, some in statistics.items()},
    )


class _Piece(NamedTuple):
    """A file or a part of it, the file's place in its split, and the bytes on disk."""

    range: FileRange
    rank: int
    bytes: int


class _Task(NamedTuple):
    """What one process reads at a time: pieces of a split."""

    split: str
    spec: RecordSpec | None
    pieces: Sequence[_Piece]
    wanted: Wanted


def _tasks(data: Data, group: FileGroup, wanted: Wanted) -> Iterator[_Task]:
    """Yield what to read: with a limit, a group by one process.

    Small files go together, and large ones are cut; their sizes alone determine how, so
    sums are rounded alike for any number of processes.
    """
    same = [file.path for file in data.files if file.split == group.split]
    ranks = {path: rank for rank, path in enumerate(same)}
    held: list[_Piece] = []
    total = 0
    for file in group.files:
        size, rank, whole = file.size, ranks[file.path], whole_range(file)
        large = wanted.limit is None and size >= 2 * RANGE_BYTES
        if held and (large or total >= _TASK_BYTES) and wanted.limit is None:
            yield _Task(group.split, group.spec, held, wanted)
            held, total = [], 0
        if not large:
            held.append(_Piece(whole, rank, size))
            total += size + _FILE_BYTES
            continue
        for part in ranges_of(whole):
            stop = size if part.stop is None else part.stop
            piece = _Piece(part, rank, stop - part.start)
            yield _Task(group.split, group.spec, [piece], wanted)
    if held:
        yield _Task(group.split, group.spec, held, wanted)


def _read(
    task: _Task, advance: Advance
) -> tuple[list[Scanned], list[RecordStatistics]]:
    """Return what each file or part of one holds, and the statistics of all records."""
    wanted, measuring = task.wanted, None
    if wanted.statistics:
        measuring = Measuring(
            declared_by(task.spec, wanted.numbered),
            digests=wanted.digests,
            groups=wanted.groups,
            rows=wanted.rows,
        )
    check = None if wanted.examples is None else _check_of(task.spec)
    files = [Scanned(each.range, Tally(wanted.examples or 0)) for each in task.pieces]

    def on_data(scanned: Scanned, data: memoryview) -> None:
        scanned.start += data[: HEADER_SIZE - len(scanned.start)].tobytes()
        scanned.tally.bytes += len(data)
        if check:
            scanned.crc32c = crc32c(data, scanned.crc32c)

    for number, columns in read_files(
        files,
        wanted.limit,
        plan=check.plan if check else NO_PLAN,
        max_record_bytes=wanted.max_record_bytes,
        advance=advance,
        on_data=on_data,
    ):
        if wanted.lengths:
            records = columns.records
            files[number].lengths.append(records.stops - records.starts + FRAMING)
        if check:
            files[number].tally.add_records(check, columns)
        if measuring:
            measuring.add(columns, task.pieces[number].rank)
    for scanned in files:
        if not scanned.complete and not scanned.start:
            with suppress(OSError), scanned.range.open() as file:
                scanned.start = file.read(HEADER_SIZE) or b""
    return files, [measuring.found()] if measuring else []


@lru_cache(maxsize=8)
def _check_of(spec: RecordSpec | None) -> RecordCheck:
    return check_of(spec)


def _joined(parts: list[Scanned]) -> Scanned:
    """Put the parts of one file together."""
    first, *others = parts
    for part in others:
        size = part.tally.bytes
        first.tally.merge(part.tally)
        first.damages += part.damages[: _MOST_DAMAGES - len(first.damages)]
        first.damaged += part.damaged
        first.over_limit |= part.over_limit
        first.readable &= part.readable
        first.complete &= part.complete
        first.lengths += part.lengths
        first.crc32c = combined(first.crc32c, part.crc32c, size)
    return first
