"""Claims: files that say which runs are writing a split.

A lock ends with its process, but holds on one machine alone. A claim is seen by all
machines that share a directory, and outlives its run. It has the run's plan, so that other
processes can join the run, or go on where it was interrupted.
"""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from ..shared.errors import DatasetError
from ..storage.directory import Directory
from ..storage.lock import Lock
from .names import claim_name
from .plan import Plan


@dataclass(frozen=True)
class Claim:
    """A run, as its claim describes it.

    Attributes:
        id: the run's token.
        host: the machine; "" if the claim is incomplete, since its run was killed
            while it was written; "?" if it is in a form that is not known here.
        process: the process there; 0 likewise.
        since: when the run began; "" likewise.
        plan: the run's plan, as a JSON object; None likewise.
        shared: whether several processes write the split, so that the run ends with its
            publication alone.
        ended: whether the run has stopped, and may be gone on with.
    """

    id: str
    host: str = ""
    process: int = 0
    since: str = ""
    plan: dict[str, Any] | None = None
    shared: bool = False
    ended: bool = False

    def __str__(self) -> str:
        if self.shared and self.plan is not None:
            return f"run {self.plan.get('run')!r}, begun on {self.host} at {self.since}"
        if self.host in ("", "?"):
            return "a run of an unknown process"
        return f"process {self.process} on {self.host} since {self.since}"

    def refusal(self, directory: Directory, split: str) -> DatasetError:
        """Return the error of another run that this one is in the way of."""
        if self.shared:
            advice = (
                "its processes pass the same run=; wait until it is published, or, if it "
                "has been given up, call abandon(plan) or pass overwrite=True"
            )
        else:
            advice = "wait for it, or, if it has died, pass overwrite=True"
        return DatasetError(
            f"{directory.where}: split {split!r} is being written by {self}, as "
            f"{claim_name(split, self.id)} says; {advice}"
        )

    def is_dead(self, lock: Lock) -> bool:
        """Whether the run is known to have ended without removing its claim.

        Args:
            lock: a lock that the run would hold. Whether it does can be asked on its
                own machine alone, and only where there are locks.
        """
        is_here = self.host in ("", socket.gethostname())
        return self.ended or (lock.held and is_here and not self.shared)


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
    write(claim_name(plan.split, plan.token), _text(claim))


def end_claim(directory: Directory, plan: Plan) -> None:
    """Say that a run has stopped, and that another one may go on with what it has.

    Raises:
        OSError: the disk refuses.
    """
    claim = read_claim(directory, plan.split, plan.token)
    if claim is not None:
        text = _text(replace(claim, ended=True))
        directory.replace(claim_name(plan.split, plan.token), text)
        directory.sync()


def _text(claim: Claim) -> bytes:
    return (json.dumps(asdict(claim)) + "\n").encode()


def claims_of(directory: Directory, split: str, names: Iterable[str]) -> list[Claim]:
    """Return the claims of a split among the files of a directory."""
    pattern = re.compile(re.escape(claim_name(split, "")) + r"([0-9a-f]{12,})")
    ids = [match[1] for match in map(pattern.fullmatch, names) if match]
    read = [read_claim(directory, split, id) for id in ids]
    return [claim for claim in read if claim is not None]


def read_claim(directory: Directory, split: str, id: str) -> Claim | None:
    """Return the claim of a run; None if it has none."""
    text = directory.read(claim_name(split, id))
    if text is None:
        return None
    try:
        held = json.loads(text)
        plan = held.get("plan")
        return Claim(
            *(id, str(held["host"]), int(held["process"]), str(held["since"]), plan),
            # 0.2.0 wrote plans of shared runs alone.
            shared=held.get("shared", plan is not None),
            ended=held.get("ended", False),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return Claim(id, "?" if text.endswith((b"\n", b"}")) else "")


def claim_of(directory: Directory, plan: Plan) -> Claim | None:
    """Return the claim of a run; None if it has not begun here, or has ended.

    Raises:
        DatasetError: the run was begun with another plan.
    """
    claim = read_claim(directory, plan.split, plan.token)
    if claim is None or claim.plan is None:
        return None
    begun = Plan.from_entries(claim.plan)
    # Machines may see one directory under several paths.
    names = [name for name in asdict(plan) if name != "directory"]
    if different := plan.differences(begun, names, "here"):
        raise DatasetError(
            f"{plan.where}: the run was begun with {different}; use the same options and "
            "the same generated code in all processes of the run"
        )
    return claim
