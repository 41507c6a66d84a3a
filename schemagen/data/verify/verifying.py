"""The use case: check all files of a directory, a glob or a path."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...runtime.shared.tfrecord import MOST_RECORD_BYTES
from ...runtime.sources.shards import File
from ...runtime.storage.manifest import CheckedFile
from ..one_pass import Pass, Scanned, Wanted, read_data
from ..sources import Data, find_data
from .files import judge_empty, judge_file
from .splits import CheckedSplit, splits_of
from .verification import Verification

if TYPE_CHECKING:
    from ...spec.model import RecordSpec

EXAMPLES = 3
"""How many examples of each kind of finding are kept if no one asks for more."""


def verify(
    source: str | os.PathLike[str] | Data,
    *,
    spec: RecordSpec | None = None,
    split: str | None = None,
    limit: int | None = None,
    examples: int = EXAMPLES,
    workers: int | None = None,
    max_record_bytes: int = MOST_RECORD_BYTES,
    progress: Callable[[int, int], object] | None = None,
    lengths: bool = False,
) -> Verification:
    """Check data: framing, checksums, the manifest, and every record against a spec.

    What it finds does not depend on the number of workers.

    Args:
        source: a data directory, a file, or a glob; or the URL of one; or the files,
            already found.
        spec: what the records should be, if not what the manifest says wrote them.
            Without either only framing, checksums and protobuf messages are checked.
        split: only this split.
        limit: check no more than the first records of each split; what needs whole
            files is then left out.
        examples: how many places to keep of each kind of finding.
        workers: how many processes read files; None for one each processor, if there
            is enough to do. Programs that are started as scripts need the usual
            `if __name__ == "__main__"` around the call.
        max_record_bytes: longer records are findings and are not read.
        progress: called with the bytes that were read since the last call, and with
            how many there are in all.
        lengths: keep the lengths of records, for an index.

    Raises:
        DatasetError: the data or the split does not exist.
    """
    data = source if isinstance(source, Data) else find_data(source, split)
    splits = splits_of(data, spec, examples)
    found = read_data(
        data,
        [each.group for each in splits],
        Wanted(
            examples, limit=limit, max_record_bytes=max_record_bytes, lengths=lengths
        ),
        workers=workers,
        progress=progress,
    )
    return verification_of(data, splits, found)


def verification_of(
    data: Data, splits: Sequence[CheckedSplit], found: Pass
) -> Verification:
    """Return what is wrong with files that were read and checked.

    Args:
        data: the files.
        splits: as `splits_of` returned them; what was found is added to their tallies.
        found: the pass over their groups.
    """
    files = []
    for split in splits:
        empty = []
        for file in split.files:
            scanned = found.files[file.path]
            judge_file(scanned, file)
            files.append(_checked(file, scanned))
            split.tally.merge(scanned.tally)
            split.whole &= scanned.whole
            unread = scanned.damaged or not scanned.whole
            if file.listed is None and not scanned.tally.records and not unread:
                empty.append(scanned)
        # Among files with records an empty one is usual: its worker had no rows.
        for scanned in empty if not split.tally.records else ():
            judge_empty(scanned, split.tally)
    return Verification(
        data.where,
        tuple(each.counts for each in splits),
        tuple(finding for each in splits for finding in each.findings),
        data.other_files,
        tuple(files),
    )


def _checked(file: File, scanned: Scanned) -> CheckedFile:
    return CheckedFile(
        file.path,
        file.split,
        scanned.tally.records,
        scanned.tally.bytes,
        scanned.crc32c,
        scanned.compression or "",
        scanned.lengths,
    )
