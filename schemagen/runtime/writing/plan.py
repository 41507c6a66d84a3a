"""The plan of a split: its options, checked before anything is touched, and its names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from google_crc32c import value as crc32c  # type: ignore[import-untyped, unused-ignore]

from ..shared.errors import DatasetError
from ..shared.values import described, shortened

if TYPE_CHECKING:
    from ..storage.directory import Directory

DEFAULT_SHARD_BYTES = 128 * 1024 * 1024

_SPLIT_NAME = re.compile(r"\w[\w.]*(-[\w.]+)*", re.ASCII)
_MOST_SHARDS = 99_999

# File systems take names of 255 bytes; a shard's has this and some more.
_LONGEST_SPLIT = 150

# Names that files of other splits have.
_TAKEN = re.compile(r"manifest|.*-\d{5,}-of-\d{5,}", re.ASCII)


@dataclass(frozen=True)
class Packing:
    """How shards are stored.

    Attributes:
        compression: "", "GZIP" or "ZLIB".
        level: 1 (fast) to 9 (small).
        open_shards: how many shards are written at a time.
    """

    compression: str = ""
    level: int = 6
    open_shards: int = 1


def check_destination(directory: object, split: object) -> None:
    """Refuse what does not say where a split goes.

    Args:
        directory: a path or a URL.
        split: its name.

    Raises:
        TypeError: an argument is of another type, such as rows.
        DatasetError: not a name of a split; says which names are.
    """
    if not isinstance(directory, (str, os.PathLike)):
        raise TypeError(
            f"directory is {described(directory)}, expected a path or a URL"
        )
    if not isinstance(split, str):
        raise TypeError(f"split is {described(split)}, expected a name, as text")
    if not _SPLIT_NAME.fullmatch(split):
        raise DatasetError(
            f"split {shortened(split)}: expected letters, digits, '_', '.' and inner '-'"
        )
    if len(split) > _LONGEST_SPLIT:
        raise DatasetError(
            f"split {shortened(split)}: expected at most {_LONGEST_SPLIT} characters"
        )
    if _TAKEN.fullmatch(split):
        raise DatasetError(
            f"split {split!r}: expected another name, since files of the directory have "
            "names like this"
        )


def check_sharding(shards: int | None, shard_bytes: int) -> None:
    """Refuse numbers and sizes of shards that are out of range.

    Raises:
        DatasetError: naming the range.
    """
    if shards is not None and not (_is_int(shards) and 1 <= shards <= _MOST_SHARDS):
        raise DatasetError(f"shards={shards!r}: expected 1 to {_MOST_SHARDS}, or None")
    if not _is_int(shard_bytes) or shard_bytes < 1:
        raise DatasetError(f"shard_bytes={shard_bytes!r}: expected an integer from 1")
    if shards is not None and shard_bytes != DEFAULT_SHARD_BYTES:
        raise DatasetError(
            f"shard_bytes={shard_bytes} and shards={shards}: expected one of them, "
            "the number of files or their size"
        )


def check_records(where: str, split: str, records: int, *, allow_empty: bool) -> None:
    """Refuse to publish a split without records, unless that is wanted.

    Raises:
        DatasetError: there are none.
    """
    if not records and not allow_empty:
        raise DatasetError(
            f"{where}: split {split!r} has no records, so nothing was published; was "
            "the source of the rows used up before? To publish an empty split, pass "
            "allow_empty=True"
        )


def check_keys(key_field: str | None, shuffle_seed: int | None) -> None:
    """Refuse a key field without a shuffle, in which keys are compared.

    Raises:
        DatasetError: there is none.
    """
    if key_field is not None and shuffle_seed is None:
        raise DatasetError(
            f"key_field={key_field!r} without shuffle_seed: keys are compared while "
            "shuffling; pass shuffle_seed too"
        )


def _is_int(value: object) -> TypeGuard[int]:
    """Tell an integer from True, which equals 1, and from floats and text."""
    return type(value) is int


def check_workers(workers: object) -> None:
    """Refuse what is no number of processes.

    Raises:
        DatasetError: naming the range.
    """
    if not _is_int(workers) or workers < 1:
        raise DatasetError(f"workers={workers!r}: expected an integer from 1")


def check_refusing(on_error: object, refused: object) -> None:
    """Refuse what does not say what becomes of wrong rows.

    Raises:
        DatasetError: saying what to ask for.
    """
    if on_error not in ("raise", "skip"):
        raise DatasetError(f"on_error={on_error!r}: expected 'raise' or 'skip'")
    if refused is not None and on_error == "raise":
        raise DatasetError(
            f"refused={str(refused)!r} is for on_error='skip': otherwise no row is left "
            "out"
        )


def packing_of(
    compression: str | None, level: int | None, *, open_shards: int
) -> Packing:
    """Return how shards are to be stored.

    Args:
        compression: None, "GZIP" or "ZLIB".
        level: 1 (fast) to 9 (small); None for 6.
        open_shards: how many shards are written at a time.

    Raises:
        DatasetError: an argument has another value.
    """
    if compression not in (None, "GZIP", "ZLIB"):
        raise DatasetError(
            f"compression={compression!r}: expected None, 'GZIP' or 'ZLIB'"
        )
    if level is not None and not (_is_int(level) and 1 <= level <= 9):
        raise DatasetError(f"compression_level={level!r}: expected 1 to 9, or None")
    if level is not None and compression is None:
        raise DatasetError(
            f"compression_level={level} without compression: pass compression='GZIP' "
            "or 'ZLIB' with it"
        )
    return Packing(compression or "", level or 6, open_shards)


# Names.

SUFFIXES = {"": "", "GZIP": ".gz", "ZLIB": ".zlib"}
"""What a shard's name ends in after `.tfrecord`, by its compression."""


def shard_name(split: str, index: int, total: int, compression: str) -> str:
    """Return a shard's file name, such as `train-00000-of-00008.tfrecord`."""
    return f"{split}-{index:05d}-of-{total:05d}.tfrecord{SUFFIXES[compression]}"


def temporary_name(split: str, index: int, token: str) -> str:
    """Return the hidden name under which a run with this token writes a shard."""
    return f".{split}-{index:05d}.{token}.tmp"


def bucket_folder(directory: Directory, split: str) -> Path:
    """Return where a split's records may be put in order, on this machine."""
    if directory.local is not None:
        return directory.local / f".{split}.shuffle"
    import tempfile  # seldom needed, and slow to import

    tag = f"{crc32c(directory.where.encode()):08x}"
    return Path(tempfile.gettempdir()) / f"schemagen-{tag}-{split}.shuffle"


def temporary_files(names: Iterable[str], split: str) -> dict[str, str]:
    """Return those of a directory's files that runs have written for a split.

    Returns:
        The token of the run by the file's name, without what tells its attempts apart;
        "" for what is a journal, a marker or an index before it has its name.
    """
    pattern = re.compile(
        rf"\.{re.escape(split)}(?:-\d{{5,}}\.([0-9a-f]{{12}})[0-9a-f]*"
        r"(?:\.receipt)?(?:\.[0-9a-f]{12})?(?:\.tmp|\.receipt)"
        r"|\.(?:journal|run\.[0-9a-f]{12}|[0-9a-f]{8}\.index)\.[0-9a-f]{12}\.tmp)"
    )
    found = {name: pattern.fullmatch(name) for name in names}
    return {name: match[1] or "" for name, match in found.items() if match}


def shard_files(names: Iterable[str], split: str) -> set[str]:
    """Return those of a directory's files that are named as shards of a split."""
    pattern = re.compile(
        re.escape(split) + r"-\d{5,}-of-\d{5,}\.tfrecord(\.gz|\.zlib)?"
    )
    return set(filter(pattern.fullmatch, names))
