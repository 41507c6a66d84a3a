"""Beginning a run: one at a time writes a split.

A run of one process begins and has the split's lock to its end (`begin`). Several processes
`join` a run, which has the claim alone.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from time import monotonic, sleep

from ..shared.errors import DatasetError, warn
from ..storage import manifest
from ..storage.directory import Directory, open_directory
from ..storage.lock import Busy, Lock
from ..storage.manifest import Manifest, of_schema
from ..storage.schema import Schema
from .claims import Claim, claim_of, claims_of, create_claim
from .plan import BYTES, Plan, bucket_folders, claim_name, receipts_in, run_files
from .publish import (
    LOCK,
    check_place,
    clean_up,
    explaining,
    remove_files,
    settle,
    unknown_shards,
    unlisted,
)
from .shards import Receipt, read_receipts, whole

# How long to wait for another process that begins the same run, in seconds.
_PATIENCE, _PAUSE = 10.0, 0.05


def join(plan: Plan, schema: Schema) -> None:
    """Begin a run of several processes, or join it: all but the first find its claim.

    Raises:
        DatasetError: the directory has the split, or other records; another run or
            writer is at it; or this run was begun with another plan.
        OSError: the disk refuses.
    """
    directory = open_directory(plan.directory)
    until = monotonic() + _PATIENCE
    while not _is_joined(directory, plan):
        try:
            with explaining(directory, plan):
                directory.make()
                with directory.lock(plan.lock_name) as lock:
                    if not _is_joined(directory, plan):
                        begin(directory, plan, schema, lock, shared=True)
        except Busy:
            # A process of this run may be beginning it.
            if monotonic() > until:
                raise busy(directory, plan.split) from None
            sleep(_PAUSE)


def _is_joined(directory: Directory, plan: Plan) -> bool:
    """Whether a run has begun.

    Raises:
        DatasetError: it was begun with another plan, or has published the split; what a
            publisher has left that was killed is removed.
    """
    claim = claim_of(directory, plan)
    if claim is None or claim.published is None:
        return claim is not None
    records = claim.published_in(manifest.load(directory), plan.split)
    if records is None:
        return False  # what it has published is gone
    clean_up(directory, plan)
    raise DatasetError(
        f"{plan.where}: split {plan.split!r} exists with {records} records; this run has "
        "published it, and nothing is left to do"
    )


def busy(directory: Directory, split: str) -> DatasetError:
    """Return the error of a split whose lock another process has."""
    claims = claims_of(directory, split, directory.names())
    who = [str(claim) for claim in claims if not claim.has_ended] or ["another process"]
    return DatasetError(
        f"{directory.where}: split {split!r} is being written by {who[-1]}; wait until "
        "it ends"
    )


def begin(
    directory: Directory,
    plan: Plan,
    schema: Schema,
    lock: Lock,
    *,
    shared: bool,
    resume: bool = False,
) -> tuple[Plan, dict[int, Receipt]]:
    """Claim a split, or go on with a run that was interrupted.

    What interrupted runs have committed is published first. What else they have left of
    the split, and this one does not go on with, is removed.

    Args:
        directory: the data directory.
        plan: what to write.
        schema: of the records.
        lock: the split's, which other runs on this machine would hold.
        shared: whether other processes will join the run.
        resume: whether to go on where a run of one process has stopped.

    Returns:
        The plan, with the id of the run that it goes on with; and what that has written.

    Raises:
        DatasetError: the directory has the split, or other records; another run is at
            it; or what was interrupted was another plan.
        OSError: the disk refuses.
    """
    mine = of_schema(schema)
    done = (
        "it is complete, so leave it out when you resume the others" if resume else ""
    )
    found, names = manifest.load(directory), directory.names()
    kept = dict[int, Receipt]()
    left = run_files(unlisted(names, found), plan.split)
    if not left and not (found and found.unsettled):
        check_place(directory, plan, mine, found, names, done)
        _clear(directory, plan, lock, [], unlisted(names, found), kept)
    else:
        with directory.locked(LOCK) as held:
            found = _settle(held, plan)
            names = held.names()
            claims = claims_of(held, plan.split, names)
            if shared and any(claim.is_joined(plan) for claim in claims):
                return plan, {}  # another process was sooner, where there are no locks
            _take_over(held, plan, claims, lock)
            check_place(held, plan, mine, found, names, done)
            if not shared:
                plan, kept = _left(held, plan, claims, names, resume=resume)
            _clear(held, plan, lock, claims, unlisted(names, found), kept)
    create_claim(directory, plan, shared=shared, again=bool(kept))
    if not lock.held:
        _check_alone(directory, plan)
    return plan, kept


def _settle(directory: Directory, plan: Plan) -> Manifest | None:
    """Complete what interrupted runs have committed, with a warning of each."""
    found, settled = settle(directory, plan.split, overwrite=plan.overwrite)
    for name, split in settled.items():
        warn(
            f"{directory.where}: an interrupted run had committed split {name!r} "
            f"with {split.records} records; its publication is completed now"
        )
    return found


def _take_over(
    directory: Directory, plan: Plan, claims: Sequence[Claim], lock: Lock
) -> None:
    """See that other runs of the split have ended, or are to be taken over.

    Raises:
        DatasetError: one may be at work.
    """
    for claim in claims:
        if claim.is_dead(lock) or claim.token == plan.token:
            continue
        if not plan.take_over:
            raise claim.refusal(directory, plan.split)
        warn(
            f"{directory.where}: taking split {plan.split!r} over from {claim}; if "
            "that is still at work, it publishes nothing"
        )


def _left(
    directory: Directory,
    plan: Plan,
    claims: Sequence[Claim],
    names: Sequence[str],
    *,
    resume: bool,
) -> tuple[Plan, dict[int, Receipt]]:
    """Return the plan of an interrupted run and its whole shards, to go on with it.

    Without `resume` there is a warning of what will be removed.

    Raises:
        DatasetError: the run had another plan; says in which options they differ.
    """
    kept = dict[int, Receipt]()
    for claim in claims:
        if claim.plan is None or claim.shared:
            continue
        run = replace(plan, run=str(claim.plan.get("run")))
        shards = receipts_in(names, plan.split, claim.token)
        left = whole(directory, read_receipts(directory, run, shards))
        if left and resume:
            if different := plan.differences(claim.begun, BYTES, "now"):
                raise DatasetError(
                    f"{directory.where}: split {plan.split!r} cannot be resumed: found "
                    f"{different}; ask for the same, or begin again with resume=False"
                )
            plan, kept = run, {receipt.shard: receipt for receipt in left}
        elif left:
            records = sum(receipt.records for receipt in left)
            warn(
                f"{directory.where}: removing what an interrupted run had finished: "
                f"split {plan.split!r} with {records} records (resume=True would "
                "have gone on there)"
            )
    return plan, kept


def _clear(
    directory: Directory,
    plan: Plan,
    lock: Lock,
    claims: Sequence[Claim],
    names: Sequence[str],
    kept: dict[int, Receipt],
) -> None:
    """Remove what runs have left of a split, before anything is written.

    A disk that is full has room again then. Runs that have begun since the listing lose
    nothing.

    Args:
        directory: the data directory, locked.
        plan: of the run that begins.
        lock: the split's.
        claims: of runs that have ended or are taken over.
        names: the directory's files that its manifest does not list, listed before the
            claims were read.
        kept: the shards that the run goes on with.
    """
    mine = {plan.claim_name} if kept else set()
    for shard, receipt in kept.items():
        mine |= {receipt.file, plan.receipt_name(shard)}
    # Shards of which no run is known go when the split is replaced.
    mine |= {*unknown_shards(directory, names, plan.split)}
    ended = {claim_name(plan.split, claim.token): claim for claim in claims}
    # Without its claim a run that is alive after all publishes nothing. Others go last, since
    # they tell whose shards are left.
    dead = {name for name, claim in ended.items() if claim.is_dead(lock)} - mine
    directory.remove(*sorted({*ended} - dead - mine))
    left = run_files(names, plan.split).keys() - mine - {*ended}
    remove_files(directory, sorted(left))
    directory.remove(*sorted(dead))
    for folder in bucket_folders(directory, plan.split):
        shutil.rmtree(folder, ignore_errors=True)


def _check_alone(directory: Directory, plan: Plan) -> None:
    """See that no other run has claimed the split at the same time; else unclaim it.

    Raises:
        DatasetError: one has, where there are no locks.
        OSError: the disk refuses.
    """
    try:
        for claim in claims_of(directory, plan.split, directory.names()):
            if claim.token != plan.token and not claim.has_ended:
                raise claim.refusal(directory, plan.split)
    except BaseException:
        with suppress(OSError):
            directory.remove(plan.claim_name)
        raise
