"""Beginning and giving up a run in which several processes write a split."""

from __future__ import annotations

from time import monotonic, sleep

from ..shared.errors import DatasetError
from ..storage import manifest
from ..storage.directory import Directory
from ..storage.lock import Busy
from ..storage.manifest import of_schema
from ..storage.opening import open_directory
from ..storage.schema import Schema
from ..writing.leftovers import Leftovers
from ..writing.markers import markers_of
from ..writing.plan import bucket_folder
from ..writing.publication import LOCK, remove_run, token_of
from .plans import Plan

# How long to wait for another process that begins the same run, in seconds.
_PATIENCE, _PAUSE = 10.0, 0.05


def begin(plan: Plan, schema: Schema) -> None:
    """Claim a split for a run: other runs and writers of it are refused from then on.

    Each process of the run may do so; all but the first one find the claim.

    Raises:
        DatasetError: the directory has the split, or other records; another run or
            writer is at it; or this run was begun with another plan.
        OSError: the disk refuses.
    """
    directory = open_directory(plan.directory)
    until = monotonic() + _PATIENCE
    while not is_begun(directory, plan):
        try:
            _begin(directory, plan, schema)
        except Busy as error:
            # A process of this run may be beginning it.
            if monotonic() < until:
                sleep(_PAUSE)
                continue
            raise DatasetError(
                f"{plan.where}: another writer is writing the split: {error}; wait "
                "until it ends"
            ) from None


def _begin(directory: Directory, plan: Plan, schema: Schema) -> None:
    leftovers = Leftovers(
        directory, plan.split, of_schema(schema), bucket_folder(directory, plan.split)
    )
    directory.make()
    with directory.lock(f".{plan.split}.lock") as lock:
        if is_begun(directory, plan):
            return
        if not plan.overwrite:
            _check_free(directory, plan)
        leftovers.check(overwrite=plan.overwrite, resume=False)
        leftovers.begin_shared(
            plan.token, plan.to_entries(), lock, overwrite=plan.overwrite
        )


def _check_free(directory: Directory, plan: Plan) -> None:
    """Refuse a split that exists, or that another run writes.

    Raises:
        DatasetError: with what a process of a run may have done to come here.
    """
    found = manifest.load(directory)
    if found and plan.split in found.splits:
        records = found.splits[plan.split].records
        raise DatasetError(
            f"{plan.where}: the split exists with {records} records; either this run has "
            "been published already, and nothing is left to do, or it is another split: "
            "then write to another name, or replace it with overwrite=True"
        )
    for marker in markers_of(directory, plan.split):
        if marker.plan is not None and marker.id != plan.token:
            other = marker.plan.get("run")
            raise DatasetError(
                f"{plan.where}: the split is being written by {marker}; pass the same "
                "run= in all processes of a run, or wait until the other one is "
                f"published, or give it up: abandon a plan with run={other!r}"
            )


def is_begun(directory: Directory, plan: Plan) -> bool:
    """Whether a run has its marker in a directory.

    Raises:
        DatasetError: the run was begun with another plan.
    """
    for marker in markers_of(directory, plan.split):
        if marker.id == plan.token and marker.plan is not None:
            check_same(Plan.from_entries(marker.plan), plan)
            return True
    return False


def check_same(begun: Plan, plan: Plan) -> None:
    """See that a process has the plan with which its run was begun.

    Raises:
        DatasetError: it has another one; says in which options they differ.
    """
    mine, other = plan.to_entries(), begun.to_entries()
    if mine["fingerprint"] != other["fingerprint"]:
        raise DatasetError(
            f"{plan.where}: the run was begun with other generated code: fingerprint "
            f"{other['fingerprint']}, and here it is {mine['fingerprint']}; run the same "
            "version of the code in all processes"
        )
    # Machines may see one directory under several paths.
    different = [
        f"{name}={mine[name]!r} (begun with {other[name]!r})"
        for name in mine
        if mine[name] != other[name] and name != "directory"
    ]
    if different:
        raise DatasetError(
            f"{plan.where}: found {', '.join(different)}; pass the same options in all "
            "processes of the run"
        )


def is_missing(directory: Directory) -> bool:
    """Whether a directory of this machine is not there."""
    return directory.local is not None and not directory.local.is_dir()


def abandon(plan: Plan) -> None:
    """Give a run up: remove its claim and all that it has written.

    Doing so twice is no error. What is published stays.

    Raises:
        DatasetError: the run is being published.
        OSError: the disk refuses.
    """
    directory = open_directory(plan.directory)
    if is_missing(directory):
        return
    with directory.lock(LOCK, wait=True):
        found = manifest.load(directory)
        waiting = found.unsettled.get(plan.split) if found else None
        if waiting is not None and token_of(plan.split, waiting) == plan.token:
            raise DatasetError(
                f"{plan.where}: its publication has begun; publish(plan) completes it"
            )
        remove_run(directory, plan.split, plan.token)
