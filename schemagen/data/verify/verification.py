"""The use case: check all files of a directory, a glob or a path."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from ...spec.model import RecordSpec
from ..limits import MAX_RECORD_BYTES
from ..listing import Listing, list_data
from ..parallel import parts_of
from ..records import Part
from ..remote_path import FilePath
from ..sources import Data, DataFile
from .files import Checked, Progress, Task, check_part, joined, judge_empty, judge_file
from .model import Verification
from .running import run
from .splits import CheckedSplit, splits_of

EXAMPLES = 3
"""How many examples of each kind of finding are kept if no one asks for more."""


def verify(
    source: str | os.PathLike[str],
    *,
    spec: RecordSpec | None = None,
    split: str | None = None,
    limit: int | None = None,
    examples: int = EXAMPLES,
    workers: int | None = None,
    max_record_bytes: int = MAX_RECORD_BYTES,
    progress: Callable[[int, int], object] | None = None,
) -> Verification:
    """Check data: framing, checksums, the manifest, and every record against a spec.

    What it finds does not depend on the number of workers.

    Args:
        source: a data directory, a file, or a glob; or the URL of one.
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
        progress: told how many bytes have been read since the last call, and how many
            there are in all.

    Raises:
        DatasetError: there is no such data, or no such split.
    """
    listing = list_data(source, split)
    splits = splits_of(listing, spec, examples)
    sizes = listing.sizes
    total = sum(size or 0 for size in sizes.values())

    def read(size: int) -> None:
        if progress is not None:
            progress(size, total)

    task = Task(Part(Path()), None, examples, False, None, max_record_bytes)
    if limit is not None:
        results = _limited(splits, sizes, limit, task, read)
    else:
        tasks = _tasks(splits, sizes, task)
        results = run(tasks, total, workers, read)
    return _verification(listing, splits, results)


def _tasks(
    splits: Iterable[CheckedSplit],
    sizes: Mapping[FilePath, int | None],
    like: Task,
) -> Iterator[Task]:
    """Yield tasks like one, for each part of each file, in order."""
    for each in splits:
        for file in each.files:
            if _is_missing(file, sizes):
                continue
            checksum = file.shard is not None
            for part in parts_of(file.path):
                yield replace(like, part=part, spec=each.spec, checksum=checksum)


def _is_missing(file: DataFile, sizes: Mapping[FilePath, int | None]) -> bool:
    """Return whether a file that the manifest lists is not there."""
    return file.shard is not None and sizes[file.path] is None


def _verification(
    listing: Listing, splits: list[CheckedSplit], results: Iterable[Checked]
) -> Verification:
    """Put the results of all tasks together.

    Args:
        listing: the files.
        splits: as `splits_of` returned them; results are added to their tallies.
        results: of all parts of all files, in order.
    """
    data = listing.data
    owners = {file.path: (each, file) for each in splits for file in each.files}
    empty = []
    for path, parts in groupby(results, key=lambda checked: checked.part.path):
        owner, file = owners[path]
        checked = joined(list(parts))
        judge_file(checked, path, file.shard, _compression(data, file))
        owner.tally.merge(checked.tally)
        owner.whole &= checked.whole
        unread = checked.damaged or not checked.whole
        if file.shard is None and not checked.tally.records and not unread:
            empty.append((owner, checked, path))
    for owner, checked, path in empty:
        # Among files with records an empty one is usual: its worker had no rows.
        if not owner.tally.records:
            judge_empty(checked, path, owner.tally)
    return Verification(
        data.where,
        tuple(each.counts for each in splits),
        tuple(
            finding
            for each in splits
            for finding in each.tally.findings(each.name, each.fields)
        ),
        data.passed_over,
    )


def _limited(
    splits: list[CheckedSplit],
    sizes: Mapping[FilePath, int | None],
    limit: int,
    like: Task,
    progress: Progress | None,
) -> Iterator[Checked]:
    """Check the first records of each split, by tasks like one."""
    for each in splits:
        left = limit
        for file in each.files:
            if _is_missing(file, sizes):
                continue
            if not left:
                each.whole = False
                break
            checksum = file.shard is not None
            part = Part(file.path)
            task = replace(
                like, part=part, spec=each.spec, checksum=checksum, most=left
            )
            checked = check_part(task, progress)
            left -= checked.tally.records
            yield checked


def _compression(data: Data, file: DataFile) -> str | None:
    if data.manifest is None or file.shard is None:
        return None
    return data.manifest.splits[file.split].compression
