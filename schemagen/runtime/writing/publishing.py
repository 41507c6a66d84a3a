"""Publishing what a run has written: once, however often it is asked for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..shared.errors import DatasetError
from ..storage.directory import Directory
from ..storage.locked import locked
from ..storage.manifest import Manifest, Split, of_schema
from ..storage.opening import open_directory
from ..storage.schema import Schema
from .claims import claim_of
from .plan import Plan
from .publication import (
    LOCK,
    check_place,
    publish_files,
    remove_lock,
    remove_run,
    settle,
)
from .receipts import (
    Receipt,
    check_receipts,
    one_for_each,
    receipts_of,
    whole,
)
from .refused import check_report, report


def publish(
    plan: Plan,
    receipts: Iterable[Receipt] | None,
    schema: Schema,
    refused: str | os.PathLike[str] | None = None,
) -> int:
    """Publish a split; arguments, result and errors are those of `PartWriter`."""
    directory = open_directory(plan.directory)
    if not directory.exists():
        raise DatasetError(
            f"{plan.where}: the directory does not exist, so no run has begun"
        )
    check_report(refused)
    # Another publisher may end the run while this one waits; these tell what it was.
    given = (
        receipts_of(directory, plan, plan.numbers)
        if receipts is None
        else check_receipts(receipts)
    )
    with locked(directory, LOCK) as directory:
        found, _ = settle(directory, plan.split, overwrite=plan.overwrite)
        names = directory.names()
        claim = claim_of(directory, plan)
        if claim is None or not claim.is_own:
            raise _not_begun(plan, found)
        if claim.published is None:
            there = whole(directory, given) if receipts is None else given
            given = one_for_each(plan, plan.shards or len(given), there)
            report(refused, plan.split, given)
            records = _publish(directory, plan, schema, given, found, names).records
        elif claim.published_in(found, plan.split) is None:
            raise _not_begun(plan, found)
        else:
            records = claim.published
            # What a publisher before this one has reported stays.
            report(refused if given else None, plan.split, given)
        moved = {receipt.file for receipt in given}
        left = [name for name in names if name not in moved]
        remove_run(directory, plan.split, plan.token, left)
        if claim.shared:
            remove_lock(directory, plan.split, names)
    return records


def _publish(
    directory: Directory,
    plan: Plan,
    schema: Schema,
    receipts: Sequence[Receipt],
    found: Manifest | None,
    names: Sequence[str],
) -> Split:
    """Publish the shards of a run, in a directory that is locked and settled."""
    shards = tuple(
        receipt.listed(plan.shard_name(at, len(receipts)))
        for at, receipt in enumerate(receipts)
    )
    split = Split(
        plan.compression or "",
        shards,
        shuffled=plan.shuffle_seed is not None or None,
    )
    new = replace(of_schema(schema), splits={plan.split: split})
    current = check_place(directory, plan, new, found, names)
    if not split.records and not plan.allow_empty:
        raise DatasetError(
            f"{directory.where}: split {plan.split!r} has no records, so nothing was "
            "published; was the source of the rows consumed before? To publish an empty "
            "split, pass allow_empty=True"
        )
    publish_files(
        directory,
        plan.split,
        new,
        [receipt.file for receipt in receipts],
        lengths=[receipt.lengths for receipt in receipts] if plan.index else None,
        current=current,
        names=names,
    )
    return split


def _not_begun(plan: Plan, found: Manifest | None) -> DatasetError:
    split = found.splits.get(plan.split) if found else None
    held = f"has {split.records} records" if split else "does not exist"
    return DatasetError(
        f"{plan.where}: nothing to publish: the run never began, was abandoned, or "
        f"another run took the split over; the split {held}. Write it again"
    )
