"""From a source to its chunks, in this process or in several.

Encoding is a pure function of rows, and the chunks are put in the order of rows, so
that the bytes of all chunks together do not depend on the number of workers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..errors import DatasetError
from .encoding import Chunk, Encoding, encode_rows
from .sources import Indexed, Parts, Source


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
        workers: how many processes encode; with 1 it is this one.
        blocks: cut an indexed source into this many parts of nearly equal size.
        parts: the sources or blocks to go through; None for all of them.
        skip: begin at the row at this position; not for a list of sources.

    Yields:
        The chunks of one part after the other, each in the order of its rows. With
        several workers and a source for each shard, chunks of different parts come
        as they are made. The last chunk of each part has `last` set.

    Raises:
        RecordError, TypeError: as `encode_rows`, for the first wrong row. With
            several workers and a source for each shard, for the first that was found.
        DatasetError: a worker has died, or cannot be given what it needs.
        Exception: whatever the source raises, with the position as note.
    """
    if type(workers) is not int or workers < 1:
        raise DatasetError(f"workers={workers!r}: expected an integer from 1")
    if parts is None:
        parts = range(len(source) if isinstance(source, Parts) else blocks)
    return _here(source, encoding, blocks, parts, skip)


def _here(
    source: Source, encoding: Encoding, blocks: int, parts: Sequence[int], skip: int
) -> Iterator[Chunk]:
    for part in parts:
        start, stop, shard = skip, None, None
        if isinstance(source, Indexed):
            block = source.block(part, blocks)
            start, stop = max(skip, block.start), max(skip, block.stop)
        elif isinstance(source, Parts):
            shard = part
        rows = source.rows(part, start, stop)
        yield from encode_rows(rows, encoding, part=part, shard=shard, first=start)
