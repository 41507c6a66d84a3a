"""What is wrong with a file as a whole, by its name and the manifest."""

from __future__ import annotations

import os
from functools import partial

from ...runtime.reading.columns import WRITE_EXAMPLES
from ...runtime.shared.compression import COMPRESSIONS
from ...runtime.sources.shards import File
from ...runtime.storage.manifest import Shard
from ..checks.tally import Tally
from ..keyed import EXPECTED, NO_KEY, WITHOUT_FEATURE
from ..one_pass import Scanned

_BY_SUFFIX = {
    suffix: name for name, each in COMPRESSIONS.items() for suffix in each.suffixes
}
_WORDS = {"": "uncompressed records", **{name: f"{name} data" for name in COMPRESSIONS}}


def judge_file(scanned: Scanned, file: File) -> None:
    """Compare a file as a whole with its name and its entry in the manifest.

    Args:
        scanned: all of it; findings are added to its tally.
        file: what the manifest and its name say.
    """
    tally, where = scanned.tally, file.path
    if not scanned.whole and not tally.bytes:
        return  # it could not be read, which has been said
    wanted, whose = file.compression, "as the manifest says"
    if wanted is None:
        suffix = os.path.splitext(file.path)[1]
        wanted, whose = _BY_SUFFIX.get(suffix), "as its name says"
    found = scanned.compression
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
    if file.listed is not None and scanned.whole:
        _compare(scanned, where, file.listed)


def judge_empty(scanned: Scanned, tally: Tally) -> None:
    """Add the finding of a file without records, of a split without records."""
    size = scanned.tally.bytes
    found = f"{_WORDS[scanned.compression or '']} without a record"
    tally.add_file(
        "SG505",
        "file has no records",
        "one record or more",
        str(scanned.part.path),
        found if size else "a file of 0 bytes",
        "the writer was killed before it wrote, or had nothing to write",
    )


def _compare(scanned: Scanned, where: str, shard: Shard) -> None:
    """Compare a file with its entry in the manifest."""
    tally = scanned.tally
    add = partial(tally.add_file, "SG503", "file differs from the manifest")
    if tally.bytes != shard.bytes:
        cause = _REPLACED
        if tally.bytes < shard.bytes:
            whole = tally.bytes and not scanned.damaged
            cause = _WHOLE if whole else "the copy is incomplete: copy it again"
        words = f"{tally.bytes} bytes, and the manifest lists {shard.bytes}"
        add("as many bytes as the manifest lists", where, words, cause)
    elif f"{scanned.crc32c:08x}" != shard.crc32c:
        cause = _REPLACED if not scanned.damaged else "copy it again"
        words = f"{scanned.crc32c:08x}, and the manifest lists {shard.crc32c}"
        expected = "bytes with the checksum that the manifest lists"
        add(expected, where, f"the CRC-32C {words}", cause)
    if tally.records != shard.records and not scanned.over_limit:
        words = f"{tally.records} good records, and the manifest lists {shard.records}"
        add("as many records as the manifest lists", where, words)


_WHOLE = (
    "it ends with a complete record, so it is another or an older file and not an "
    "incomplete copy; copy it again"
)
_REPLACED = "the file was changed or replaced after it was written: copy it again"
