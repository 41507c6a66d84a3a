"""The index of a split: where each of its records ends.

`.<split>.<crc32c>.index`, in a remote directory `.<split>.<crc32c>.<run>.index`, has a
little-endian uint64 for each record: the end of its frame, counted through all shards in
order. The manifest has the checksum of its bytes, so a split and its index are replaced
together, and one for the part of each shard, which can be read by itself. Until the split
is published, the lengths of a shard's frames are kept as text, next to what else is known
of the shard.
"""

from __future__ import annotations

import re
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .manifest import SplitEntry, checksum_of

ENTRY_BYTES = 8
"""How many bytes an index has for each record."""


def index_name(name: str, split: SplitEntry) -> str:
    """Return the name of an index's file. It is hidden, so globs for shards miss it.

    Args:
        name: of the split.
        split: the split, with an index.
    """
    run = [split.run] if split.run else []
    return ".".join(["", name, split.index or "", *run, "index"])


def index_files(names: Iterable[str], split: str) -> set[str]:
    """Return those of a directory's files that are named as indexes of a split."""
    pattern = re.compile(
        rf"\.{re.escape(split)}\.[0-9a-f]{{8}}(\.[0-9a-f]{{12}})?\.index"
    )
    return set(filter(pattern.fullmatch, names))


def pack_lengths(lengths: bytes | bytearray) -> str:
    """Return the lengths of frames, int64 [N], as text."""
    return b64encode(zlib.compress(lengths, 1)).decode()


def unpacked_lengths(packed: str) -> NDArray[np.int64]:
    """Return the lengths of frames: int64 [N]."""
    return np.frombuffer(zlib.decompress(b64decode(packed)), np.int64)


def indexed(
    split: SplitEntry, lengths: Iterable[NDArray[np.int64]]
) -> tuple[SplitEntry, bytes]:
    """Return a split with the checksums of its index, and the contents of its file.

    Args:
        split: whose shards have all records.
        lengths: those of the frames of one shard after the other, int64 [N] each.
    """
    index = np.cumsum(np.concatenate(list(lengths))).astype("<u8").tobytes()
    return with_checksums(split, index), index


def with_checksums(split: SplitEntry, index: bytes) -> SplitEntry:
    """Return a split with the checksums of its index.

    Args:
        split: whose shards have all records.
        index: the contents of its file.
    """
    shards, start = [], 0
    for shard in split.shards:
        stop = start + shard.records * ENTRY_BYTES
        shards.append(replace(shard, index=checksum_of(index[start:stop])))
        start = stop
    return replace(split, shards=tuple(shards), index=checksum_of(index))


def ends_of(index: bytes) -> NDArray[np.int64]:
    """Return where the frames of an index end, counted through all shards: int64 [N]."""
    return np.frombuffer(index, "<u8").astype(np.int64)
