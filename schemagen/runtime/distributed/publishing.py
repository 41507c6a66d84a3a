"""Publishing what many processes have written: once, however often it is asked for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..shared.errors import DatasetError
from ..storage import manifest
from ..storage.directory import Directory
from ..storage.manifest import Manifest, Split, of_schema
from ..storage.opening import open_directory
from ..storage.schema import Schema
from ..writing.plan import check_records
from ..writing.publication import LOCK, load_or_new, remove_run, settle, token_of
from ..writing.publication import publish as publish_files
from ..writing.refused import Report
from .claims import is_begun, is_missing
from .plans import Plan
from .receipts import Receipt, one_for_each, receipts_in


def publish(
    plan: Plan,
    receipts: Iterable[Receipt] | None,
    schema: Schema,
    refused: str | os.PathLike[str] | None,
) -> int:
    """Publish a split; arguments, result and errors are those of `PartWriter`."""
    directory = open_directory(plan.directory)
    if is_missing(directory):
        raise DatasetError(f"{plan.where}: there is no such directory, so no run began")
    is_begun(directory, plan)
    # Another publisher may end the run while this one waits; this tells what it was.
    given = None if receipts is None else list(receipts)
    before = receipts_in(directory, plan, moved=True) if given is None else given
    with (
        Report(refused, plan.split) as report,
        directory.lock(LOCK, wait=True),
    ):
        settled = settle(directory, plan.split, overwrite=plan.overwrite)
        mine = settled.get(plan.split)
        if mine is not None and token_of(plan.split, mine) == plan.token:
            for receipt in before:
                report.add(receipt.refused)
            return mine.records
        if given is None:
            if not is_begun(directory, plan):
                records = _published_before(directory, plan, before)
                remove_run(directory, plan.split, plan.token)
                return records
            # Without files there are only receipts of what was published already.
            given = receipts_in(directory, plan) or before
        chosen = one_for_each(plan, given)
        for receipt in chosen:
            report.add(receipt.refused)
        new = _manifest(plan, schema, chosen)
        records = new.splits[plan.split].records
        check_records(
            directory.where, plan.split, records, allow_empty=plan.allow_empty
        )
        _publish(directory, plan, new, chosen)
    return records


def _manifest(plan: Plan, schema: Schema, receipts: Iterable[Receipt]) -> Manifest:
    """Return a manifest with the split alone."""
    shards = tuple(receipt.listed(plan) for receipt in receipts)
    shuffled = plan.shuffle_seed is not None or None
    split = Split(plan.compression or "", shards, shuffled=shuffled)
    return replace(of_schema(schema), splits={plan.split: split})


def _publish(
    directory: Directory, plan: Plan, new: Manifest, chosen: Sequence[Receipt]
) -> None:
    """Publish durable files in a directory that is locked, unless that was done."""
    files = [receipt.file for receipt in chosen]
    listed = load_or_new(directory, new).splits.get(plan.split)
    is_moved = not set(files) & set(directory.names())
    if is_moved and listed and listed.shards == new.splits[plan.split].shards:
        remove_run(directory, plan.split, plan.token)
        return
    if not is_begun(directory, plan):
        raise DatasetError(
            f"{plan.where}: the run has not begun here, or it was abandoned or replaced "
            "by another run; nothing is published"
        )
    publish_files(
        directory,
        plan.split,
        new,
        files,
        lengths=[receipt.lengths for receipt in chosen] if plan.index else None,
        overwrite=plan.overwrite,
    )
    remove_run(directory, plan.split, plan.token)


def _published_before(
    directory: Directory, plan: Plan, receipts: Iterable[Receipt]
) -> int:
    """Return how many records a run has published that has ended.

    Args:
        directory: the data directory.
        plan: of the run.
        receipts: those that it had a moment ago.

    Raises:
        DatasetError: the run has ended, and it is not known how: the split may be that
            of another run.
    """
    found = manifest.load(directory)
    split = found and found.splits.get(plan.split)
    if found and split and found.fingerprint_of(plan.split) == plan.fingerprint:
        names = [plan.shard_name(shard) for shard in range(plan.shards)]
        is_like = [shard.file for shard in split.shards] == names
        written = [receipt.listed(plan) for receipt in receipts]
        is_mine = bool(written) and all(each in split.shards for each in written)
        # Where a split was to be replaced, one of the same form may be the old one.
        is_mine |= not plan.overwrite and split.records == plan.rows
        if is_like and is_mine:
            return split.records
    held = f"has {split.records} records" if split else "does not exist"
    raise DatasetError(
        f"{plan.where}: there is nothing of this run: it was published or abandoned, "
        f"another run has replaced it, or it never began; the split {held}. To publish, "
        "write the shards first, with the same run="
    )
