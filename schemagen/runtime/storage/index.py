"""The index of a split: where each of its records ends.

`.<split>.<crc32c>.index`, in a remote directory `.<split>.<crc32c>.<run>.index`, has a little-endian uint64 for each record: the end of its
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


def index_name(split: str, checksum: str, run: str | None = None) -> str:
    """Return the name of an index's file. It is hidden, so globs for shards miss it.

    Args:
        split: the split's name.
        checksum: of the index.
        run: of the run that has written it, where names tell generations apart.
    """
    return ".".join(["", split, checksum, *([run] if run else []), "index"])


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


def index_of(lengths: Iterable[NDArray[np.int64]]) -> bytes:
    """Return the index of a split: the contents of its file.

    Args:
        lengths: those of the frames of one shard after the other, int64 [N] each.
    """
    return np.cumsum(np.concatenate(list(lengths))).astype("<u8").tobytes()


def ends_of(index: bytes) -> NDArray[np.int64]:
    """Return where the frames of an index end, counted through all shards: int64 [N]."""
    return np.frombuffer(index, "<u8").astype(np.int64)
