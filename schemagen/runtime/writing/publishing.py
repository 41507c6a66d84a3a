"""Publishing what a run has written: once, however often it is asked for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..shared.errors import DatasetError
from ..storage.directory import Directory
from ..storage.manifest import Manifest, Split, of_schema
from ..storage.opening import open_directory
from ..storage.schema import Schema
from .claims import Claim, claim_of
from .plan import Plan
from .publication import (
    LOCK,
    check_place,
    publish_files,
    remove_lock,
    remove_run,
    settle,
    token_of,
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
    with directory.lock(LOCK, wait=True):
        found, settled = settle(directory, plan.split, overwrite=plan.overwrite)
        names = directory.names()
        claim = claim_of(directory, plan)
        mine = settled.get(plan.split)
        if mine is None or token_of(plan.split, mine) != plan.token:
            mine = published(plan, found, given, names)
        if mine is not None:
            report(refused, plan.split, given)
        elif claim is None:
            raise _not_begun(plan, found)
        else:
            there = whole(directory, given) if receipts is None else given
            given = one_for_each(plan, plan.shards or len(given), there)
            report(refused, plan.split, given)
            mine = _publish(directory, plan, schema, claim, given, found, names)
        moved = {receipt.file for receipt in given}
        left = [name for name in names if name not in moved]
        remove_run(directory, plan.split, plan.token, left)
        if claim is None or claim.shared:
            remove_lock(directory, plan.split, names)
    return mine.records


def _publish(
    directory: Directory,
    plan: Plan,
    schema: Schema,
    claim: Claim,
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
        # A rank that starts again can tell by it that nothing is left to replace.
        run=plan.token if claim.shared and plan.overwrite else None,
    )
    new = replace(of_schema(schema), splits={plan.split: split})
    current = check_place(directory, plan, new, found, names)
    if not split.records and not plan.allow_empty:
        raise DatasetError(
            f"{directory.where}: split {plan.split!r} has no records, so nothing was "
            "published; was the source of the rows used up before? To publish an empty "
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


def published(
    plan: Plan,
    found: Manifest | None,
    receipts: Sequence[Receipt],
    names: Sequence[str],
) -> Split | None:
    """Return the split as the manifest lists it, if this run has published it before.

    Args:
        plan: of the run.
        found: the directory's manifest, if it has one.
        receipts: those that the run has now, or had a moment ago.
        names: the directory's files.
    """
    split = found.splits.get(plan.split) if found else None
    if found is None or split is None:
        return None
    if split.run == plan.token:
        return split
    if receipts:
        shards = len(split.shards)
        written = {
            receipt.listed(plan.shard_name(receipt.shard, shards))
            for receipt in receipts
        }
        # An equal split of an earlier run is there next to the files of this one.
        is_moved = {receipt.file for receipt in receipts}.isdisjoint(names)
        return split if is_moved and written <= set(split.shards) else None
    # Where a split was to be replaced, one of the same form may be the old one.
    is_like = len(split.shards) == plan.shards and split.records == plan.rows
    is_like &= found.fingerprint_of(plan.split) == plan.fingerprint
    return split if is_like and not plan.overwrite else None


def _not_begun(plan: Plan, found: Manifest | None) -> DatasetError:
    split = found.splits.get(plan.split) if found else None
    held = f"has {split.records} records" if split else "does not exist"
    return DatasetError(
        f"{plan.where}: this run no longer exists: it was published or abandoned, "
        f"another run has replaced it, or it never began; the split {held}. To publish, "
        "write the shards first, with the same run="
    )
