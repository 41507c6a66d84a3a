"""From a source to its chunks, in this process or in several.

Encoding is a pure function of rows, and chunks come in the order of rows, so the bytes
of all chunks together do not depend on the number of processes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from ..shared.errors import DatasetError
from ..shared.processes import Moved, in_parallel
from ..storage.journal import Finished
from ..storage.opening import open_directory
from .encoding import Chunk, Encoding, Refused, encode_rows
from .plan import Packing, temporary_name
from .shards import write_shard_file
from .sources import Indexed, Parts, Source, check_start

# How many rows another process encodes at a time, and sends back: few enough for their
# bytes to fit into memory.
_TASK_ROWS = 64


def check_source(source: Source, workers: int, *, shuffled: bool) -> None:
    """Refuse a source of which only one process can take rows.

    Raises:
        DatasetError: it is one, and there are several processes.
    """
    if workers > 1 and not isinstance(source, Indexed):
        if isinstance(source, Parts) and not shuffled:
            return
        what = "functions with shuffle_seed" if isinstance(source, Parts) else "rows"
        raise DatasetError(
            f"workers={workers}: the source gives {what} one after the other, which one "
            "process reads; pass a sequence, whose rows have an index, or leave workers out"
        )


def chunks(
    source: Source,
    encoding: Encoding,
    *,
    workers: int = 1,
    blocks: int = 1,
    parts: Sequence[int] | None = None,
    skip: int = 0,
) -> Iterator[Chunk]:
    """Encode the rows of a source.

    Args:
        source: where the rows come from.
        encoding: how rows become records.
        workers: how many processes encode; several for an indexed source only.
        blocks: cut an indexed source into this many parts of nearly equal size.
        parts: the sources or blocks to go through; None for all of them.
        skip: begin at the row at this position; not for a list of sources.

    Yields:
        The chunks of one part after the other, each in the order of its rows. The
        last chunk of each part has `last` set if one process encodes.

    Raises:
        RecordError, TypeError: as `encode_rows`, for the first wrong row.
        DatasetError: a worker has died, or cannot be given what it needs.
        Exception: whatever the source raises, with the position as note.
    """
    if parts is None:
        parts = range(len(source) if isinstance(source, Parts) else blocks)
    if isinstance(source, Indexed):
        check_start(skip, source.length)
        if workers > 1:
            work = _Rows(source, encoding)
            starts = range(skip, source.length, _TASK_ROWS)
            found = in_parallel(
                work, starts, workers=workers, method=None, in_order=True
            )
            return chain.from_iterable(each for _, each in found)
        return _blocks(source, encoding, blocks, parts, skip)
    return _following(source, encoding, parts, skip)


def _blocks(
    source: Indexed, encoding: Encoding, blocks: int, parts: Sequence[int], skip: int
) -> Iterator[Chunk]:
    for part in parts:
        block = source.block(part, blocks)
        start = max(skip, block.start)
        rows = source.rows(part, start, max(skip, block.stop))
        yield from encode_rows(rows, encoding, part=part, first=start)


def _following(
    source: Source, encoding: Encoding, parts: Sequence[int], skip: int
) -> Iterator[Chunk]:
    for part in parts:
        shard = part if isinstance(source, Parts) else None
        rows = source.rows(part, skip)
        yield from encode_rows(rows, encoding, part=part, shard=shard, first=skip)


@dataclass(frozen=True)
class _Rows:
    """Encodes a few rows, in any process."""

    source: Indexed
    encoding: Encoding

    def __call__(self, start: int, moved: Moved) -> list[Chunk]:
        stop = min(self.source.length, start + _TASK_ROWS)
        rows = self.source.rows(0, start, stop)
        return list(encode_rows(rows, self.encoding, first=start))


@dataclass(frozen=True)
class WholeShards:
    """Writes the shard of each part of a source, in any process.

    Attributes:
        directory: the data directory, a path or a URL.
        split: the split's name.
        token: the run's, which temporary names have.
        packing: how shards are stored.
        source: the rows.
        encoding: how rows become records.
        parts: into how many parts the source falls.
    """

    directory: str
    split: str
    token: str
    packing: Packing
    source: Indexed | Parts
    encoding: Encoding
    parts: int

    def __call__(
        self, shard: int, moved: Moved
    ) -> tuple[Finished, tuple[Refused, ...]]:
        """Write a shard, durable under its temporary name.

        Args:
            shard: its number.
            moved: told of records, and of their bytes.

        Returns:
            The shard, and the rows that were left out.
        """
        refused: list[Refused] = []
        last_row = -1

        def pieces() -> Iterator[Chunk]:
            nonlocal last_row
            for chunk in chunks(
                self.source, self.encoding, blocks=self.parts, parts=[shard]
            ):
                yield chunk
                refused.extend(chunk.refused)
                if len(chunk.rows):
                    last_row = int(chunk.rows[-1])
                moved(len(chunk.framed), len(chunk.framed.data))

        name = temporary_name(self.split, shard, self.token)
        directory = open_directory(self.directory)
        framed = (chunk.framed for chunk in pieces())
        contents = write_shard_file(directory, name, self.packing, framed)
        return Finished(shard, contents, 0, last_row), tuple(refused)
