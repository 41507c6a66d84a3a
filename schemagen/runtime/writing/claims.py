"""Claims: files that say which runs are writing a split.

A lock ends with its process, but holds on one machine alone. A claim is seen by all
machines that share a directory, and outlives its run. It has the run's plan, so that other
processes can join the run, or go on where it was interrupted. The claim of several processes
says when the split is published, and stays until the next run of the split begins: processes
that are late, or start again, learn from it that nothing is left to do.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any

from ..shared.errors import DatasetError
from ..storage.directory import Directory
from ..storage.lock import Lock
from ..storage.manifest import Manifest
from .plan import Plan, claim_name, receipts_in, run_files, shards_of_runs


@dataclass(frozen=True)
class Claim:
    """A run, as its claim describes it.

    Attributes:
        token: of the run.
        host: the machine; "" if the claim is incomplete, since its run was killed
            while it was written; "?" if it is in a form that is not known here.
        process: the process there; 0 likewise.
        since: when the run began; "" likewise.
        plan: the run's plan, as a JSON object; None likewise.
        shared: whether several processes write the split, so that the run ends with its
            publication alone.
        ended: whether the run has stopped, and may be gone on with.
        published: the number of records, if the run has published the split.
    """

    token: str
    host: str = ""
    process: int = 0
    since: str = ""
    plan: dict[str, Any] | None = None
    shared: bool = False
    ended: bool = False
    published: int | None = None

    def __str__(self) -> str:
        if self.shared and self.plan is not None:
            return f"run {self.plan.get('run')!r}, begun on {self.host} at {self.since}"
        if self.host in ("", "?"):
            return "a run of an unknown process"
        return f"process {self.process} on {self.host} since {self.since}"

    def to_bytes(self) -> bytes:
        """Return the contents of the claim's file."""
        facts = {
            name: value for name, value in asdict(self).items() if value is not None
        }
        facts["id"] = facts.pop("token")
        return (json.dumps(facts) + "\n").encode()

    def refusal(self, directory: Directory, split: str) -> DatasetError:
        """Return the error of another run that this one is in the way of."""
        if self.shared:
            advice = (
                "its processes pass the same run=; wait until it is published, or, if it "
                "was abandoned, call abandon(plan) or pass take_over=True"
            )
        else:
            advice = "wait for it, or, if it has died, pass take_over=True"
        return DatasetError(
            f"{directory.where}: split {split!r} is being written by {self}, as "
            f"{claim_name(split, self.token)} says; {advice}"
        )

    @cached_property
    def begun(self) -> Plan:
        """The plan that the run has begun with.

        Raises:
            DatasetError: the claim does not have one, or that of another version.
        """
        return Plan.from_entries(self.plan)

    @property
    def is_own(self) -> bool:
        """Whether this process may publish the run: a run of one process it has begun."""
        me = (socket.gethostname(), os.getpid())
        return self.shared or (self.host, self.process) == me

    @property
    def has_ended(self) -> bool:
        """Whether the run says itself that it has stopped or published the split."""
        return self.ended or self.published is not None

    def published_in(self, found: Manifest | None, split: str) -> int | None:
        """Return the number of records if the run has published a split that is there.

        Args:
            found: the directory's manifest, if it has one.
            split: the split's name.
        """
        held = found.splits.get(split) if found else None
        return self.published if held and held.records == self.published else None

    def is_joined(self, plan: Plan) -> bool:
        """Whether it is the claim of this run, which is not published yet."""
        is_of_run = self.token == plan.token and self.plan is not None
        return is_of_run and self.published is None

    def is_dead(self, lock: Lock) -> bool:
        """Whether the run is known to have ended without removing its claim.

        Args:
            lock: a lock that the run would hold. Whether it does can be asked on its
                own machine alone, and only where there are locks.
        """
        is_here = self.host in ("", socket.gethostname())
        return self.has_ended or (lock.held and is_here and not self.shared)


def create_claim(
    directory: Directory, plan: Plan, *, shared: bool, again: bool = False
) -> None:
    """Claim a split for a run, unless another process of the run was sooner.

    Of runs that create their claims first and list all claims afterwards, no two can miss
    each other.

    Args:
        directory: the data directory.
        plan: of the run.
        shared: whether other processes will join the run.
        again: put it in the place of a claim of the same run.

    Raises:
        OSError: the disk refuses.
    """
    since = datetime.now().astimezone().isoformat(" ", "seconds")
    claim = Claim(
        *(plan.token, socket.gethostname(), os.getpid(), since),
        plan=plan.to_entries(),
        shared=shared,
    )
    write = directory.replace if again else directory.create_whole
    write(plan.claim_name, claim.to_bytes())


def replace_claim(directory: Directory, split: str, claim: Claim) -> None:
    """Put a claim in the place of what it was, durably.

    Raises:
        OSError: the disk refuses.
    """
    directory.replace(claim_name(split, claim.token), claim.to_bytes())
    directory.sync()


def claims_of(directory: Directory, split: str, names: Iterable[str]) -> list[Claim]:
    """Return the claims of all runs that have files in a directory.

    A run claims its split before it has other files. So a run without a claim has ended,
    if a file of it was listed before.

    Args:
        directory: the data directory.
        split: the split's name.
        names: the directory's files.
    """
    tokens = sorted({*run_files(names, split).values()} - {""})
    read = directory.for_each(lambda token: read_claim(directory, split, token), tokens)
    return [claim for claim in read if claim is not None]


def read_claim(directory: Directory, split: str, token: str) -> Claim | None:
    """Return the claim of a run; None if it has none."""
    text = directory.read(claim_name(split, token))
    return None if text is None else _claim_of(token, text)


# It is read before and after each shard, and then mostly says the same.
@lru_cache(maxsize=8)
def _claim_of(token: str, text: bytes) -> Claim:
    """Return what a claim's file says."""
    try:
        held = json.loads(text)
        plan = held.get("plan")
        if not isinstance(plan, dict | None):
            raise ValueError(f"plan is {plan!r}")
        return Claim(
            *(token, str(held["host"]), int(held["process"]), str(held["since"]), plan),
            shared=held["shared"],
            ended=held["ended"],
            published=held.get("published"),
        )
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError):
        return Claim(token, "?" if text.endswith((b"\n", b"}")) else "")


def unfinished_shards(directory: Directory, names: Sequence[str]) -> set[str]:
    """Return the shards of runs that have begun, and have not published them.

    In a remote directory they have the names of published shards. Such a run has a claim,
    which does not say that it is published, or receipts.

    Args:
        directory: the data directory.
        names: its files, hidden ones too.
    """
    runs, there = shards_of_runs(names), {*names}

    def is_unfinished(split: str, token: str) -> bool:
        if claim_name(split, token) in there:
            claim = read_claim(directory, split, token)
            return claim is None or claim.published is None
        return bool(receipts_in(names, split, token))

    unfinished = {run for run in {*runs.values()} if is_unfinished(*run)}
    return {name for name, run in runs.items() if run in unfinished}


def claim_of(directory: Directory, plan: Plan) -> Claim | None:
    """Return the claim of a run; None if it has not begun here, or was abandoned.

    Raises:
        DatasetError: the run was begun with another plan.
    """
    claim = read_claim(directory, plan.split, plan.token)
    if claim is None or claim.plan is None:
        return None
    begun = claim.begun
    # Machines may see one directory under several paths, and a process that starts again
    # may be told to take over what its run has taken over before.
    options = (each.name for each in fields(plan))
    names = [name for name in options if name not in ("directory", "take_over")]
    if different := plan.differences(begun, names, "here"):
        advice = "use the same options and the same generated code in all processes of the run"
        if claim.published is not None:
            advice = "it has published the split: to write it again, pass another run="
        raise DatasetError(
            f"{plan.where}: the run was begun with {different}; {advice}"
        )
    return claim


def is_going_on(directory: Directory, plan: Plan) -> bool:
    """Whether a run has begun, and is neither published nor abandoned.

    Raises:
        DatasetError: the run was begun with another plan.
    """
    claim = claim_of(directory, plan)
    return claim is not None and claim.published is None
