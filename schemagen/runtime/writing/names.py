"""Names of a split's files: shards, and the hidden files of the runs that write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ..native import crc32c

if TYPE_CHECKING:
    from ..storage.directory import Directory

SUFFIXES = {"": "", "GZIP": ".gz", "ZLIB": ".zlib"}
"""What a shard's name ends in after `.tfrecord`, by its compression."""

# A run's token, and what `Directory.replace` adds to a name while it writes.
_TOKEN = "[0-9a-f]{12}"
_BEING_REPLACED = rf"\.{_TOKEN}\.tmp"


def shard_name(split: str, shard: int, shards: int, compression: str) -> str:
    """Return a shard's file name, such as `train-00000-of-00008.tfrecord`."""
    return f"{split}-{shard:05d}-of-{shards:05d}.tfrecord{SUFFIXES[compression]}"


def shard_files(names: Iterable[str], split: str) -> set[str]:
    """Return those of a directory's files that are named as shards of a split."""
    pattern = re.compile(
        re.escape(split) + r"-\d{5,}-of-\d{5,}\.tfrecord(\.gz|\.zlib)?"
    )
    return set(filter(pattern.fullmatch, names))


def temporary_name(split: str, shard: int, token: str, attempt: str = "") -> str:
    """Return the hidden name under which a run with this token writes a shard.

    Args:
        split: the split's name.
        shard: the shard's number.
        token: of the run.
        attempt: hexadecimal digits; where processes may write one shard at the same
            time, each has its own.
    """
    return f".{split}-{shard:05d}.{token}{attempt}.tmp"


def receipt_name(split: str, shard: int, token: str) -> str:
    """Return the name of the file with a shard's receipt."""
    return f".{split}-{shard:05d}.{token}.receipt"


def shards_with_receipts(names: Iterable[str], split: str, token: str) -> list[int]:
    """Return the shards of which a directory has receipts of a run."""
    pattern = re.compile(rf"\.{re.escape(split)}-(\d{{5,}})\.{token}\.receipt")
    return [int(match[1]) for match in map(pattern.fullmatch, names) if match]


def claim_name(split: str, token: str) -> str:
    """Return the name of the file with which a run claims a split."""
    return f".{split}.run.{token}"


def lock_name(split: str) -> str:
    """Return the name of a split's lock, which a run of one process holds."""
    return f".{split}.lock"


def journal_name(split: str) -> str:
    """Return the name of the file in which 0.2.0 noted what it had written."""
    return f".{split}.journal"


def files_of_runs(names: Iterable[str], split: str) -> dict[str, str]:
    """Return those of a directory's files that are hidden files of a split's runs.

    Returns:
        The token of the run by the file's name; "" where the name has none.
    """
    split = re.escape(split)
    pattern = re.compile(
        rf"\.{split}(?:-\d{{5,}}\.({_TOKEN})[0-9a-f]*\.(?:tmp|receipt)"
        rf"|\.run\.({_TOKEN})|\.journal)(?:{_BEING_REPLACED})?"
        rf"|\.{split}\.[0-9a-f]{{8}}\.index{_BEING_REPLACED}"
    )
    found = {name: pattern.fullmatch(name) for name in names}
    return {name: match[1] or match[2] or "" for name, match in found.items() if match}


def bucket_folder(directory: Directory, split: str, token: str) -> Path:
    """Return where a run may put a split's records in order, on this machine."""
    where, prefix = _place_of_buckets(directory, split)
    return where / f"{prefix}.{token}.shuffle"


def bucket_folders(directory: Directory, split: str) -> list[Path]:
    """Return what runs have left on this machine of putting a split in order."""
    where, prefix = _place_of_buckets(directory, split)
    pattern = re.compile(rf"{re.escape(prefix)}(\.{_TOKEN})?\.shuffle")
    found = where.iterdir() if where.is_dir() else ()
    return [path for path in found if pattern.fullmatch(path.name)]


def _place_of_buckets(directory: Directory, split: str) -> tuple[Path, str]:
    if directory.local is not None:
        return directory.local, f".{split}"
    import tempfile  # seldom needed, and slow to import

    tag = f"{crc32c(directory.where.encode()):08x}"
    return Path(tempfile.gettempdir()), f"schemagen-{tag}-{split}"
