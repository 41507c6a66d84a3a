"""The index of a split: where each of its records ends.

`.<split>.<crc32c>.index` has a little-endian uint64 for each record: the end of its
frame, counted through all shards in order. The manifest has the checksum of its bytes,
so a split and its index are replaced together. Until the split is published, the
lengths of a shard's frames are kept as text, next to what else is known of the shard.
"""

from __future__ import annotations

import re
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


def index_name(split: str, checksum: str) -> str:
    """Return the name of an index's file. It is hidden, so globs for shards miss it."""
    return f".{split}.{checksum}.index"


def index_files(names: Iterable[str], split: str) -> set[str]:
    """Return those of a directory's files that are named as indexes of a split."""
    pattern = re.compile(rf"\.{re.escape(split)}\.[0-9a-f]{{8}}\.index")
    return set(filter(pattern.fullmatch, names))


def pack_lengths(lengths: bytes | bytearray) -> str:
    """Return the lengths of frames, int64 [N], as text."""
    return b64encode(zlib.compress(lengths, 1)).decode()


def index_of(packed: Iterable[str | None]) -> bytes | None:
    """Return the index of a split.

    Args:
        packed: the lengths of each shard's frames; None for a shard without.

    Returns:
        The contents of its file; None if lengths are missing, as of compressed shards.
    """
    texts = list(packed)
    lengths = [
        np.frombuffer(zlib.decompress(b64decode(text)), np.int64)
        for text in texts
        if text is not None
    ]
    if len(lengths) < len(texts):
        return None
    return np.cumsum(np.concatenate(lengths)).astype("<u8").tobytes()


def ends_of(index: bytes) -> NDArray[np.int64]:
    """Return where the frames of an index end, counted through all shards: int64 [N]."""
    return np.frombuffer(index, "<u8").astype(np.int64)
