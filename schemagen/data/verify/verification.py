"""The use case: check all files of a directory, a glob or a path."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from ...runtime.shared.processes import in_parallel
from ...spec.model import RecordSpec
from ..limits import MAX_RECORD_BYTES
from ..listing import Listing, list_data
from ..parallel import parts_of, usual_workers
from ..records import Part
from ..remote_path import FilePath
from ..sources import Data, DataFile
from .files import Checked, Task, check_part, joined, judge_empty, judge_file
from .model import Verification
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
    splits = splits_of(listing, spec, examples, limit)
    total = sum(size or 0 for size in listing.sizes.values())

    def moved(size: int) -> None:
        if progress is not None:
            progress(size, total)

    like = Task(Part(Path()), None, examples, False, None, max_record_bytes)
    if workers is None:
        workers = usual_workers(total)
    if limit is not None:  # what a task reads depends on the one before
        workers = 1
    tasks = _tasks(splits, like)
    done = in_parallel(check_part, tasks, workers=workers, moved=moved)
    return _verification(listing, splits, done)


def _tasks(splits: Iterable[CheckedSplit], like: Task) -> Iterator[Task]:
    """Yield tasks like one, for each part of each file, in order."""
    for each in splits:
        for file in each.files:
            if each.left == 0:
                each.whole = False
                break
            task = replace(
                like, spec=each.spec, checksum=file.shard is not None, most=each.left
            )
            for part in parts_of(file.path) if each.left is None else [Part(file.path)]:
                yield replace(task, part=part)


def _verification(
    listing: Listing,
    splits: list[CheckedSplit],
    done: Iterable[tuple[int, Checked]],
) -> Verification:
    """Put the results of all tasks together.

    Args:
        listing: the files.
        splits: as `splits_of` returned them; results are added to their tallies.
        done: the number and result of each task, in any order.
    """
    data = listing.data
    owners = {file.path: (each, file) for each in splits for file in each.files}
    results = _in_order(done, {path: split for path, (split, _) in owners.items()})
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


def _in_order(
    done: Iterable[tuple[int, Checked]], owners: Mapping[FilePath, CheckedSplit]
) -> Iterator[Checked]:
    """Yield results in the order of their tasks, once what is left is counted."""
    early: dict[int, Checked] = {}
    following = 0
    for index, checked in done:
        early[index] = checked
        while following in early:
            checked = early.pop(following)
            following += 1
            owner = owners[checked.part.path]
            if owner.left is not None:
                owner.left -= checked.tally.records
            yield checked


def _compression(data: Data, file: DataFile) -> str | None:
    if data.manifest is None or file.shard is None:
        return None
    return data.manifest.splits[file.split].compression
