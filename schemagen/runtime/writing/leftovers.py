"""What earlier runs have left of a split that they have not published."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..shared.errors import DatasetError, warn
from ..storage import manifest
from ..storage.directory import Directory
from ..storage.journal import Finished, Journal, journal_name, read_journal
from ..storage.lock import Lock
from ..storage.manifest import Manifest, Split
from . import publication
from .markers import (
    Marker,
    create_marker,
    marker_name,
    markers_of,
    remove_marker,
    share_marker,
)
from .plan import temporary_files, temporary_name


class Leftovers:
    """The temporary files, markers and the journal of runs that were interrupted.

    Args:
        directory: the data directory.
        split: the split's name.
        mine: a manifest of the writer's record, without splits.
        buckets: the local folder in which runs of this split shuffle.
    """

    def __init__(
        self, directory: Directory, split: str, mine: Manifest, buckets: Path
    ) -> None:
        self._directory = directory
        self._split = split
        self._mine = mine
        self._buckets = buckets

    def check(self, *, overwrite: bool, resume: bool) -> None:
        """Refuse what the directory has no place for, before anything is changed.

        Raises:
            DatasetError: the split exists, or another machine writes it; or the
                directory holds other records.
        """
        for marker in markers_of(self._directory, self._split):
            is_open = marker.is_elsewhere or marker.plan is not None
            if is_open and not overwrite:
                raise self._refusal(marker)
        found = manifest.load(self._directory)
        if found is None or not found.unsettled:
            self._check_place(overwrite=overwrite, resume=resume)

    def _refusal(self, marker: Marker) -> DatasetError:
        return DatasetError(
            f"{self._directory.where}: split {self._split!r} is being written "
            f"by {marker}, as {marker_name(self._split, marker.id)} says; "
            f"{marker.advice}"
        )

    def _check_place(self, *, overwrite: bool, resume: bool) -> None:
        publication.check_place(
            self._directory,
            self._split,
            self._mine,
            overwrite=overwrite,
            resume=resume,
        )

    def begin(
        self, request: dict[str, Any], lock: Lock, *, overwrite: bool, resume: bool
    ) -> Journal:
        """Complete what interrupted runs have committed, and begin a run.

        Of the split's own leftovers the run takes over what it can go on with, and the
        rest is removed. What a run has written that may still be going on is neither.

        Args:
            request: what the shards' bytes depend on.
            lock: the split's, which other runs on this machine would hold.
            overwrite: whether the split may be replaced, and whether runs that seem to
                be going on elsewhere are to be taken for dead.
            resume: whether to go on where an interrupted run has stopped.

        Returns:
            The run that begins, with what it takes over; or one that has published what
            was asked for.

        Raises:
            DatasetError: as for `check`; another run is at work on the split; what was
                interrupted had another request.
            OSError: the disk refuses.
        """
        found = self._settled(request if resume else None, overwrite=overwrite)
        if found is not None and self.published(found):
            return found
        dead = self._others(lock, overwrite=overwrite)
        self._check_place(overwrite=overwrite, resume=resume)
        if found is not None and resume:
            self._check_request(found, request)
            token = found.token
        else:
            token = uuid.uuid4().hex[:12]
        dead.discard(token)
        if found is not None:
            dead.add(found.token)
        resumed = found if resume else None
        self._mark(token, lock, overwrite=overwrite)
        try:
            if found is not None and resumed is None:
                self._tell_removed(found)
            return self._take_over(token, request, resumed, None if overwrite else dead)
        except BaseException:
            with suppress(OSError):
                remove_marker(self._directory, self._split, token)
            raise

    def begin_shared(
        self, token: str, plan: dict[str, Any], lock: Lock, *, overwrite: bool
    ) -> None:
        """Begin a run in which several processes write, as `begin` does.

        Args:
            token: of the run.
            plan: of the run, for its marker.
            lock: as for `begin`.
            overwrite: as for `begin`.

        Raises:
            DatasetError: as for `begin`.
            OSError: the disk refuses.
        """
        found = self._settled(None, overwrite=overwrite)
        dead = self._others(lock, overwrite=overwrite)
        self._check_place(overwrite=overwrite, resume=False)
        if found is not None:
            dead.add(found.token)
        share_marker(self._directory, self._split, token, plan)
        try:
            self._check_alone(token, lock, overwrite=overwrite)
            if found is not None:
                self._tell_removed(found)
            self._take_over(token, {}, None, dead)
        except BaseException:
            with suppress(OSError):
                remove_marker(self._directory, self._split, token)
            raise

    def _others(self, lock: Lock, *, overwrite: bool) -> set[str]:
        """Return the ids of other runs of the split, which have ended or are replaced.

        Raises:
            DatasetError: one may be going on, and is not to be replaced.
        """
        others = markers_of(self._directory, self._split)
        for marker in others:
            if marker.is_dead(lock):
                continue
            if not overwrite:
                raise self._refusal(marker)
            warn(
                f"{self._directory.where}: taking split {self._split!r} over from "
                f"{marker}, which is told so when it publishes"
            )
        return {marker.id for marker in others}

    def _take_over(
        self,
        token: str,
        request: dict[str, Any],
        resumed: Journal | None,
        dead: set[str] | None,
    ) -> Journal:
        """Keep what a run goes on with, and remove the rest.

        Args:
            token: the run's own.
            request: what its shards' bytes depend on.
            resumed: the run that it goes on with, if any.
            dead: the ids of runs that have ended; None if all others have.
        """
        run = Journal(token, request, {})
        if resumed is not None:
            whole = {
                number: shard
                for number, shard in resumed.finished.items()
                if self._is_whole(token, shard)
            }
            total = resumed.total if len(whole) == len(resumed.finished) else None
            run = Journal(token, request, whole, resumed.shuffled, total)
        self._remove_temporary(
            dead, {self._temporary(token, at) for at in run.finished}
        )
        if resumed is None:
            shutil.rmtree(self._buckets, ignore_errors=True)
            self._directory.remove(journal_name(self._split))
        for marker in markers_of(self._directory, self._split):
            if marker.id != token and (dead is None or marker.id in dead):
                remove_marker(self._directory, self._split, marker.id)
        return run

    def _mark(self, token: str, lock: Lock, *, overwrite: bool) -> None:
        remove_marker(self._directory, self._split, token)
        create_marker(self._directory, self._split, token)
        try:
            self._check_alone(token, lock, overwrite=overwrite)
        except BaseException:
            with suppress(OSError):
                remove_marker(self._directory, self._split, token)
            raise

    def _check_alone(self, token: str, lock: Lock, *, overwrite: bool) -> None:
        """See that no other run has begun at the same time, where there are no locks."""
        for marker in markers_of(self._directory, self._split):
            if not (overwrite or marker.id == token or marker.is_dead(lock)):
                raise self._refusal(marker)

    def _settled(
        self, request: dict[str, Any] | None, *, overwrite: bool
    ) -> Journal | None:
        """Complete what interrupted runs have committed, with a warning.

        Args:
            request: what is asked for, if a run is to be gone on with.
            overwrite: whether the split may be replaced.

        Returns:
            What is known of a run of the split. One that has published it is passed
            over, unless it has done what is asked for.
        """
        found = self._journal(overwrite=overwrite)
        settled = publication.settle_if_needed(
            self._directory, self._split, overwrite=overwrite
        )
        if found is not None and self.published(found):
            with self._directory.lock(publication.LOCK, wait=True):
                publication.remove_run(self._directory, self._split, found.token)
            if request is not None and not _differing(found, request):
                return found
            found = None
        for name, split in settled.items():
            warn(
                f"{self._directory.where}: an interrupted run had committed split "
                f"{name!r} with {split.records} records; its publication is completed now"
            )
        return found

    def _journal(self, *, overwrite: bool) -> Journal | None:
        """Return the journal of a run of the split that was interrupted."""
        try:
            return read_journal(self._directory, self._split)
        except DatasetError:
            if overwrite:
                return None
            raise

    def published(self, run: Journal) -> Split | None:
        """Return the split as the manifest lists it, if a run has published it."""
        if run.total is None:
            return None
        # An equal split of an earlier run is there next to the files of this one.
        first = self._temporary(run.token, 0)
        is_moved = self._directory.size(first) is None
        return self.listed(run.finished) if is_moved else None

    def listed(self, finished: Mapping[int, Finished]) -> Split | None:
        """Return the split as the manifest lists it, if it has these shards."""
        existing = publication.load_or_new(self._directory, self._mine)
        found = existing.splits.get(self._split)
        mine = [finished[at].contents.crc32c for at in sorted(finished)]
        is_equal = found and mine == [shard.crc32c for shard in found.shards]
        return found if is_equal else None

    def _tell_removed(self, run: Journal) -> None:
        if run.finished:
            records = sum(shard.contents.records for shard in run.finished.values())
            warn(
                f"{self._directory.where}: an interrupted run had finished "
                f"{len(run.finished)} shards of split {self._split!r} with {records} "
                "records; they are removed now (resume=True would have gone on there)"
            )

    def _check_request(self, run: Journal, request: dict[str, Any]) -> None:
        other = _differing(run, request)
        if other:
            listed = ", ".join(
                f"{name}={run.request.get(name)!r} (now {request[name]!r})"
                for name in other
            )
            raise DatasetError(
                f"{self._directory.where}: split {self._split!r} cannot be resumed: "
                f"the run that was interrupted had {listed}; ask for the same, or begin "
                "again with resume=False"
            )

    def _temporary(self, token: str, shard: int) -> str:
        return temporary_name(self._split, shard, token)

    def _is_whole(self, token: str, shard: Finished) -> bool:
        name = self._temporary(token, shard.shard)
        return self._directory.size(name) == shard.contents.bytes

    def _remove_temporary(self, over: set[str] | None, keep: set[str]) -> None:
        """Remove temporary files.

        Args:
            over: the ids of the runs whose files are meant; None for all runs.
            keep: names of files to keep.
        """
        names = self._directory.names()
        for name, token in temporary_files(names, self._split).items():
            is_over = over is None or not token or token in over
            if is_over and name not in keep:
                self._directory.remove(name)

    def remove(self, token: str, *, is_replaced: bool) -> None:
        """Remove all that a run has not published, its journal last.

        Args:
            token: the run's.
            is_replaced: whether another run has replaced it, and its journal.
        """
        self._remove_temporary({token}, keep=set())
        shutil.rmtree(self._buckets, ignore_errors=True)
        if not is_replaced:
            self._directory.remove(journal_name(self._split))


def _differing(run: Journal, request: dict[str, Any]) -> list[str]:
    return [name for name in request if run.request.get(name) != request[name]]
