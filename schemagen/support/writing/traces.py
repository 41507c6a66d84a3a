"""What earlier runs have left of a split that they have not published."""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path
from typing import Any

from ..errors import DatasetError, warn
from ..manifest import Manifest
from . import publication
from .directory import Directory
from .journal import Finished, Journal, journal_name, read_journal


class Traces:
    """The temporary files and the journal of a run that was killed.

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

    def check(self, *, overwrite: bool, resume: bool) -> Journal | None:
        """Refuse what the directory has no place for; return what was interrupted.

        Raises:
            DatasetError: the split exists, or the directory holds other records.
        """
        run = read_journal(self._directory, self._split)
        existing = publication.load_or(self._directory, self._mine)
        done = run is not None and publication.is_published(existing, self._split, run)
        publication.check_place(
            self._directory,
            self._split,
            self._mine,
            overwrite=overwrite or (resume and done),
            leftovers=publication.names_of(self._split, run),
            resume=resume,
        )
        return run

    def begin(
        self, request: dict[str, Any], *, overwrite: bool, resume: bool
    ) -> Journal:
        """Take over what an interrupted run has left, or clean it away.

        Args:
            request: what the shards' bytes depend on.
            overwrite: whether the split may be replaced.
            resume: whether to go on where an interrupted run has stopped.

        Returns:
            The run that begins, with what it takes over.

        Raises:
            DatasetError: as for `check`, or what was interrupted was another run.
        """
        run = self.check(overwrite=overwrite, resume=resume)
        if resume and run is not None:
            self._check_request(run, request)
            whole = {n: s for n, s in run.finished.items() if self._is_whole(run, s)}
            if len(whole) == run.total:
                return run
            self._remove_temporary({self._temporary(run, shard) for shard in whole})
            return Journal(run.token, request, whole, None, run.shuffled)
        if run is not None and run.finished:
            records = sum(shard.contents.records for shard in run.finished.values())
            warn(
                f"{self._directory.where}: an interrupted run had finished "
                f"{len(run.finished)} shards of split {self._split!r} with {records} "
                "records; they are removed now (resume=True would have gone on there)"
            )
        self.remove()
        return Journal(uuid.uuid4().hex[:12], request, {}, None, False)

    def _check_request(self, run: Journal, request: dict[str, Any]) -> None:
        other = [name for name in request if run.request.get(name) != request[name]]
        if other:
            listed = ", ".join(
                f"{name}={run.request.get(name)!r} (now {request[name]!r})"
                for name in other
            )
            raise DatasetError(
                f"{self._directory.where}: split {self._split!r} cannot be resumed: "
                f"the run that was interrupted had {listed}; ask for the same, or begin "
                "anew with resume=False"
            )

    def _temporary(self, run: Journal, shard: int) -> str:
        return publication.temporary_name(self._split, shard, run.token)

    def _is_whole(self, run: Journal, shard: Finished) -> bool:
        names = [self._temporary(run, shard.shard)]
        if run.total is not None:
            form = run.request["compression"]
            names.append(
                publication.shard_name(self._split, shard.shard, run.total, form)
            )
        sizes = map(self._directory.size, names)
        return shard.contents.bytes in sizes

    def _remove_temporary(self, keep: set[str]) -> None:
        names = publication.temporary_files(self._directory.names(), self._split)
        for name in set(names) - keep:
            self._directory.remove(name)

    def remove(self) -> None:
        """Remove all that is not published, the journal last."""
        run = read_journal(self._directory, self._split)
        self._remove_temporary(set())
        existing = publication.load_or(self._directory, self._mine)
        unlisted = publication.strays(self._directory, self._split, existing)
        for name in unlisted & publication.names_of(self._split, run):
            self._directory.remove(name)
        shutil.rmtree(self._buckets, ignore_errors=True)
        self._directory.remove(journal_name(self._split))
