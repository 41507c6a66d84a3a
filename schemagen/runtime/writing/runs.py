"""Beginning, joining and giving up a run: one run at a time writes a split."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from time import monotonic, sleep

from ..shared.errors import DatasetError, warn
from ..storage import manifest
from ..storage.directory import Directory
from ..storage.lock import Busy, Lock
from ..storage.locked import locked
from ..storage.manifest import of_schema
from ..storage.opening import open_directory
from ..storage.schema import Schema
from .claims import Claim, claim_of, claims_of, create_claim
from .names import (
    bucket_folders,
    claim_name,
    files_of_runs,
    journal_name,
    lock_name,
    receipt_name,
    shards_with_receipts,
)
from .plan import BYTES, Plan
from .publication import (
    LOCK,
    check_place,
    remove_run,
    settle,
    token_of,
)
from .receipts import Receipt, receipts_of, whole

# How long to wait for another process that begins the same run, in seconds.
_PATIENCE, _PAUSE = 10.0, 0.05


def begin(
    plan: Plan, schema: Schema, lock: Lock, *, resume: bool
) -> tuple[Plan, dict[int, Receipt]]:
    """Begin a run of one process, or go on with one that was interrupted.

    What an interrupted run has committed is published first. What else runs have left of
    the split, and this one does not go on with, is removed.

    Args:
        plan: what to write.
        schema: of the records.
        lock: the split's, which other runs on this machine would hold.
        resume: whether to go on where a run has stopped.

    Returns:
        The plan, with the id of the run that it goes on with; and what that has written.

    Raises:
        DatasetError: the directory has the split, or other records; another run is at
            it; or what was interrupted was another plan.
        OSError: the disk refuses.
    """
    directory = open_directory(plan.directory)
    nothing = "it is complete, and there is nothing to resume" if resume else ""
    with _place_of(directory, plan, schema, lock, nothing) as place:
        kept = dict[int, Receipt]()
        for claim in place.claims:
            left = _left(directory, plan, claim, place.names)
            if left and resume:
                plan, kept = _resumed(directory, plan, claim), left
            elif left:
                records = sum(receipt.records for receipt in left.values())
                warn(
                    f"{directory.where}: removing what an interrupted run had finished: "
                    f"split {plan.split!r} with {records} records (resume=True would "
                    "have gone on there)"
                )
        place.clear(plan, kept)
    _claim(directory, plan, lock, shared=False, again=bool(kept))
    return plan, kept


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
            directory.make()
            with directory.lock(lock_name(plan.split)) as lock:
                if not _is_joined(directory, plan):
                    _begin_shared(directory, plan, schema, lock)
        except Busy:
            # A process of this run may be beginning it.
            if monotonic() > until:
                raise busy(directory, plan.split) from None
            sleep(_PAUSE)


def _is_joined(directory: Directory, plan: Plan) -> bool:
    """Whether a run has begun.

    Raises:
        DatasetError: it was begun with another plan, or has published the split.
    """
    claim = claim_of(directory, plan)
    if claim is None or claim.published is None:
        return claim is not None
    records = claim.published_in(manifest.load(directory), plan.split)
    if records is None:
        return False  # what it has published is gone
    raise DatasetError(
        f"{plan.where}: split {plan.split!r} exists with {records} records; this run has "
        "published it, and nothing is left to do"
    )


def _begin_shared(directory: Directory, plan: Plan, schema: Schema, lock: Lock) -> None:
    with _place_of(directory, plan, schema, lock) as place:
        mine = [claim for claim in place.claims if claim.id == plan.token]
        if any(claim.plan and claim.published is None for claim in mine):
            return  # another process of this run was sooner, where there are no locks
        place.clear(plan, {})
    _claim(directory, plan, lock, shared=True, again=False)


def busy(directory: Directory, split: str) -> DatasetError:
    """Return the error of a split whose lock another process has."""
    claims = claims_of(directory, split, directory.names())
    who = [str(claim) for claim in claims if not claim.has_ended] or ["another process"]
    return DatasetError(
        f"{directory.where}: split {split!r} is being written by {who[-1]}; wait until "
        "it ends"
    )


@dataclass(frozen=True)
class _Place:
    """A directory in which a run begins.

    Attributes:
        directory: locked, if runs have left anything of the split.
        names: what they have left, listed before the claims were read.
        claims: those of these runs, all of which have ended or are taken over.
    """

    directory: Directory
    names: Sequence[str]
    claims: Sequence[Claim]

    def clear(self, plan: Plan, kept: dict[int, Receipt]) -> None:
        """Remove what runs have left of the split, before anything is written.

        A disk that is full has room again then. Runs that have begun since the listing
        lose nothing.

        Args:
            plan: of the run that begins.
            kept: the shards that it goes on with.
        """
        mine = {claim_name(plan.split, plan.token)} if kept else set()
        for receipt in kept.values():
            mine |= {receipt.file, receipt_name(plan.split, receipt.shard, plan.token)}
        claims = {claim_name(plan.split, claim.id) for claim in self.claims} - mine
        # Without its claim a run that is alive after all publishes nothing.
        self.directory.for_each(self.directory.remove, sorted(claims))
        left = [name for name in self.names if name not in mine | claims]
        self.directory.for_each(self.directory.remove, left)
        for folder in bucket_folders(self.directory, plan.split):
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _place_of(
    directory: Directory, plan: Plan, schema: Schema, lock: Lock, nothing: str = ""
) -> Iterator[_Place]:
    """See that no other run is at work, and that the directory has a place for the split.

    Args:
        directory: the data directory, in which committed splits are settled first.
        plan: of the run that begins.
        schema: of the records.
        lock: as for `begin`.
        nothing: what to say about a split that is there.

    Raises:
        DatasetError: as for `begin`.
    """
    found, names = manifest.load(directory), directory.names()
    if not files_of_runs(names, plan.split) and not (found and found.unsettled):
        check_place(directory, plan, of_schema(schema), found, names, nothing)
        yield _Place(directory, [], [])
        return
    with locked(directory, LOCK) as directory:
        found, settled = settle(directory, plan.split, overwrite=plan.overwrite)
        for name, split in settled.items():
            warn(
                f"{directory.where}: an interrupted run had committed split {name!r} "
                f"with {split.records} records; its publication is completed now"
            )
        names = directory.names()
        claims = claims_of(directory, plan.split, names)
        for claim in claims:
            if claim.is_dead(lock) or claim.id == plan.token:
                continue
            if not plan.take_over:
                raise claim.refusal(directory, plan.split)
            warn(
                f"{directory.where}: taking split {plan.split!r} over from {claim}; if "
                "that is still at work, it publishes nothing"
            )
        _check_0_2_0(directory, plan, names)
        check_place(directory, plan, of_schema(schema), found, names, nothing)
        yield _Place(directory, [*files_of_runs(names, plan.split)], claims)


def _check_0_2_0(directory: Directory, plan: Plan, names: Sequence[str]) -> None:
    """Refuse to remove what 0.2.0 had committed, and has not published.

    Raises:
        DatasetError: it was interrupted while it published this split.
    """
    name = journal_name(plan.split)
    if name not in names or plan.overwrite:
        return
    if b'{"publishing"' in (directory.read(name) or b""):
        raise DatasetError(
            f"{directory.where}/{name}: version 0.2.0 was interrupted while it published "
            f"split {plan.split!r}; complete it by writing any split there with 0.2.0, or "
            "replace it with overwrite=True"
        )


def _left(
    directory: Directory, plan: Plan, claim: Claim, names: Sequence[str]
) -> dict[int, Receipt]:
    """Return the receipts of whole shards that a run of one process has left."""
    if claim.plan is None or claim.shared:
        return {}
    run = replace(plan, run=str(claim.plan.get("run")))
    shards = shards_with_receipts(names, plan.split, claim.id)
    found = whole(directory, receipts_of(directory, run, shards))
    return {receipt.shard: receipt for receipt in found}


def _resumed(directory: Directory, plan: Plan, claim: Claim) -> Plan:
    """Return a plan with the id of an interrupted run, which must have had the same.

    Raises:
        DatasetError: it had another one; says in which options they differ.
    """
    before = Plan.from_entries(claim.plan)
    if different := plan.differences(before, BYTES, "now"):
        raise DatasetError(
            f"{directory.where}: split {plan.split!r} cannot be resumed: found "
            f"{different}; ask for the same, or begin again with resume=False"
        )
    return replace(plan, run=before.run)


def _claim(
    directory: Directory, plan: Plan, lock: Lock, *, shared: bool, again: bool
) -> None:
    """Create the claim, and see that no other run has done so at the same time.

    Args:
        directory: the data directory.
        plan: of the run.
        lock: as for `begin`.
        shared: whether other processes will join the run.
        again: whether the run goes on with one that has a claim.

    Raises:
        DatasetError: one has, where there are no locks.
        OSError: the disk refuses.
    """
    create_claim(directory, plan, shared=shared, again=again)
    if lock.held:
        return
    try:
        for claim in claims_of(directory, plan.split, directory.names()):
            if claim.id != plan.token and not claim.has_ended:
                raise claim.refusal(directory, plan.split)
    except BaseException:
        with suppress(OSError):
            directory.remove(claim_name(plan.split, plan.token))
        raise


def abandon(plan: Plan) -> None:
    """Give a run up: remove its claim and all that it has written.

    Doing so twice is not an error. What is published stays, and so does the claim of a
    run that has published it.

    Raises:
        DatasetError: the run is being published.
        OSError: the disk refuses.
    """
    directory = open_directory(plan.directory)
    if not directory.exists():
        return
    with locked(directory, LOCK) as directory:
        found = manifest.load(directory)
        waiting = found.unsettled.get(plan.split) if found else None
        if waiting is not None and token_of(plan.split, waiting) == plan.token:
            raise DatasetError(
                f"{plan.where}: its publication has begun; publish(plan) completes it"
            )
        remove_run(directory, plan.split, plan.token, directory.names())
