"""Checking one file, or a part of it: every record, and the file as a whole."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

from ...runtime.codecs.checking import WRITE_EXAMPLES, RecordCheck
from ...runtime.reading.decoding import decode
from ...runtime.shared.tfrecord import extend_crc32c
from ...runtime.storage.manifest import Shard
from ...spec.model import RecordSpec
from ..framing import Moved, scan
from ..keyed import EXPECTED, NO_KEY, WITHOUT_FEATURE
from ..limits import MAX_RECORD_BYTES
from ..records import Damage, Part
from ..remote_path import FilePath
from ..stream import compression_of
from .checksums import combined
from .record import check_of
from .tally import Tally

# How many bytes tell the compression.
_START = 12

_BY_SUFFIX = {".gz": "GZIP", ".gzip": "GZIP", ".zlib": "ZLIB"}
_WORDS = {"": "uncompressed records", "GZIP": "GZIP data", "ZLIB": "ZLIB data"}


@dataclass(frozen=True)
class Task:
    """What one process does at a time.

    Attributes:
        part: what to check.
        spec: what its records should be; None if no one knows.
        examples: how many examples of each kind of finding to keep.
        checksum: whether the file's own checksum is asked for.
        most: how many records to check; None for all.
        max_record_bytes: the most bytes of a record; longer ones are findings.
    """

    part: Part
    spec: RecordSpec | None
    examples: int
    checksum: bool
    most: int | None = None
    max_record_bytes: int = MAX_RECORD_BYTES


@dataclass
class Checked:
    """What has come out of it.

    Attributes:
        part: what was checked.
        tally: what is wrong, and how many records there are.
        damaged: how many records could not be read.
        over_limit: whether one of these takes more than the limit, so that the file
            may hold more good records than were read.
        crc32c: of the part's bytes on disk.
        whole: whether it was read to its end.
        start: its first bytes, which tell the compression.
    """

    part: Part
    tally: Tally
    damaged: int = 0
    over_limit: bool = False
    crc32c: int = 0
    whole: bool = True
    start: bytes = b""

    @property
    def compression(self) -> str | None:
        """What its first bytes say: "", "GZIP" or "ZLIB"; None for neither."""
        return compression_of(self.start)


@lru_cache(maxsize=8)
def _check_of(spec: RecordSpec | None) -> RecordCheck:
    return check_of(spec)


def check_part(task: Task, progress: Moved) -> Checked:
    """Check a part of a file. It never raises, whatever the file holds.

    Args:
        task: what to do.
        progress: told how many bytes have been read, as they are.
    """
    part, tally = task.part, Tally(task.examples)
    checked = Checked(part, tally)
    check = _check_of(task.spec)

    def seen(data: memoryview) -> None:
        checked.start += data[: _START - len(checked.start)].tobytes()
        tally.bytes += len(data)
        if task.checksum:
            checked.crc32c = extend_crc32c(checked.crc32c, data)

    limit = task.max_record_bytes
    for found in scan(part, moved=progress, seen=seen, max_record_bytes=limit):
        if isinstance(found, Damage):
            checked.over_limit |= found.kind == "limit"
            if found.kind != "unreadable":
                checked.damaged += 1
            else:
                checked.whole = False
                if isinstance(part.path, Path) and part.path.is_symlink():
                    to = os.readlink(part.path)
                    cause = f"a link to {to}, which was not copied?"
                    found = replace(found, cause=cause)
            tally.add_damage(found)
            continue
        if task.most is not None:
            found = found.only(slice(task.most - tally.records))
        tally.add_records(check, decode(found))
        if tally.records == task.most:
            checked.whole = False
            break
    return checked


def joined(parts: list[Checked]) -> Checked:
    """Put the parts of one file together."""
    first, *others = parts
    for part in others:
        first.tally.merge(part.tally)
        first.damaged += part.damaged
        first.over_limit |= part.over_limit
        first.crc32c = combined(first.crc32c, part.crc32c, part.tally.bytes)
        first.whole &= part.whole
    return first


def judge_file(
    checked: Checked,
    path: FilePath,
    shard: Shard | None,
    compression: str | None,
) -> None:
    """Compare a file as a whole with what its name and the manifest say of it.

    Args:
        checked: all of it; findings are added to its tally.
        path: the file.
        shard: what the manifest says of it.
        compression: what the manifest says of its split's; None without one.
    """
    tally, where = checked.tally, str(path)
    if not checked.whole and not tally.bytes:
        return  # it could not be read, which has been said
    wanted, whose = compression, "as the manifest says"
    if wanted is None:
        wanted, whose = _BY_SUFFIX.get(path.suffix), "as its name says"
    found = checked.compression
    if tally.bytes and wanted is not None and found not in (None, wanted):
        assert found is not None
        tally.add_file(
            "SG509",
            "compression does not match",
            f"{_WORDS[wanted]}, {whose}",
            where,
            _WORDS[found],
            "the file was renamed, or compressed or inflated after it was written",
        )
    if tally.records and not tally.keyed.records:
        other = tally.keyed.other or WITHOUT_FEATURE
        tally.add_file("SG513", NO_KEY, EXPECTED, where, other, WRITE_EXAMPLES)
    if shard is not None and checked.whole:
        _compare(checked, where, shard)


def judge_empty(checked: Checked, path: FilePath, tally: Tally) -> None:
    """Add the finding of a file without records, of a split without records."""
    size = checked.tally.bytes
    found = f"{_WORDS[checked.compression or '']} without a record"
    tally.add_file(
        "SG505",
        "file has no records",
        "one record or more",
        str(path),
        found if size else "a file of 0 bytes",
        "the writer was killed before it wrote, or had nothing to write",
    )


def _compare(checked: Checked, where: str, shard: Shard) -> None:
    """Compare a file with what the manifest says of it."""
    tally = checked.tally
    add = partial(tally.add_file, "SG503", "file differs from the manifest")
    if tally.bytes != shard.bytes:
        cause = _REPLACED
        if tally.bytes < shard.bytes:
            whole = tally.bytes and not checked.damaged
            cause = _WHOLE if whole else "the copy was broken off: copy it again"
        words = f"{tally.bytes} bytes, and the manifest lists {shard.bytes}"
        add("as many bytes as the manifest lists", where, words, cause)
    elif f"{checked.crc32c:08x}" != shard.crc32c:
        cause = _REPLACED if not checked.damaged else "copy it again"
        words = f"{checked.crc32c:08x}, and the manifest lists {shard.crc32c}"
        expected = "bytes with the checksum that the manifest lists"
        add(expected, where, f"the CRC-32C {words}", cause)
    if tally.records != shard.records and not checked.over_limit:
        words = f"{tally.records} good records, and the manifest lists {shard.records}"
        add("as many records as the manifest lists", where, words)


_WHOLE = (
    "it ends with a whole record: rather another file, or an older one, than a copy that "
    "was broken off; copy it again"
)
_REPLACED = "the file was changed or replaced after it was written: copy it again"
