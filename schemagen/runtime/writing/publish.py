"""Publishing a split: the manifest lists its files first, then they get their names.

A split is in one of three states:

1. Written: shards are durable, with receipts. The manifest lists the old split, which is
   whole.
2. Committed: a new manifest lists the new files. Then the split is settled: its old files
   are removed, and the new ones get their names.
3. Settled: the manifest is replaced by one without hidden names.

On this machine new files have hidden names until the split is settled. A reader that goes by
the manifest takes a file by its hidden name until it has the other, so it finds the old split
or the new one at any time. One that goes by names finds files of one of them only, since all
old ones are removed before the first new one gets its name.

In a remote directory a shard is written under its final name, which no other generation has.
So a request of a stopped process that arrives late touches files of its own generation, or of
one that it has replaced; and the manifest, which stores replace only if it is the one that
was compared.

If a run is interrupted, the next one in the directory settles what it has committed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial

from ..compatibility import check_compatible
from ..shared.errors import DatasetError, warn
from ..storage import manifest
from ..storage.directory import Directory, open_directory
from ..storage.index import index_files, index_name, indexed, unpacked_lengths
from ..storage.lock import Busy
from ..storage.manifest import (
    Manifest,
    Shard,
    SplitEntry,
    difference,
    of_schema,
)
from ..storage.schema import Schema
from .claims import claim_of, read_claim, replace_claim, unfinished_shards
from .plan import Plan, bucket_folder, claim_name, lock_name, run_files, shard_files
from .refused import check_report, report
from .shards import Receipt, check_receipts, one_for_each, read_receipts, whole

LOCK = ".manifest.lock"
"""The lock of a directory, held while a split is published."""

FURTHER_SPLIT = "write another split and read both: split=['train', 'train-day2']"


def publish(
    plan: Plan,
    receipts: Iterable[Receipt] | None,
    schema: Schema,
    refused: str | os.PathLike[str] | None = None,
) -> int:
    """Publish what a run has written, once, however often it is asked for.

    Arguments, result and errors are those of `Serializer.publish`.
    """
    directory = open_directory(plan.directory)
    if not directory.exists():
        raise DatasetError(
            f"{plan.where}: the directory does not exist, so no run has begun"
        )
    check_report(refused)
    # Another publisher may end the run while this one waits; these tell what it was.
    given = (
        read_receipts(directory, plan, plan.numbers)
        if receipts is None
        else check_receipts(receipts)
    )
    with explaining(directory, plan, given), directory.locked(LOCK) as directory:
        found, _ = settle(directory, plan.split, overwrite=plan.overwrite)
        names = directory.names()
        claim = claim_of(directory, plan)
        if claim is None or not claim.is_own:
            raise _not_begun(plan, found)
        if claim.published is None:
            there = whole(directory, given) if receipts is None else given
            given = one_for_each(plan, plan.shards or len(given), there)
            report(refused, plan.split, given)
            found, records = _commit(
                *(directory, plan, schema, given, found, names),
                is_checked=receipts is None,
            )
        elif claim.published_in(found, plan.split) is None:
            raise _not_begun(plan, found)
        else:
            records = claim.published
            # What a publisher before this one has reported stays.
            report(refused if given else None, plan.split, given)
        moved = {receipt.file for receipt in given}
        left = [name for name in unlisted(names, found) if name not in moved]
        remove_run(directory, plan.split, plan.token, left)
        if claim.shared:
            remove_lock(directory, plan.split, names)
    return records


def clean_up(directory: Directory, plan: Plan) -> None:
    """Remove what a process was killed over that cleaned up after it had published a run.

    Raises:
        OSError: the disk refuses.
    """
    with directory.locked(LOCK) as directory:
        names = directory.names()
        left = unlisted(names, manifest.load(directory))
        remove_run(directory, plan.split, plan.token, left)
        remove_lock(directory, plan.split, names)


def _commit(
    directory: Directory,
    plan: Plan,
    schema: Schema,
    receipts: Sequence[Receipt],
    found: Manifest | None,
    names: Sequence[str],
    *,
    is_checked: bool,
) -> tuple[Manifest, int]:
    """Publish the shards of a run, in a directory that is locked and settled.

    Args:
        directory: the data directory.
        plan: of the run.
        schema: of the records.
        receipts: one for each shard, in order.
        found: the directory's manifest, if it has one.
        names: the directory's files.
        is_checked: whether the files are known to be there with their sizes.

    Returns:
        The directory's manifest, and the number of records.

    Raises:
        DatasetError: the split has no place there, no records, or a file is missing.
            Nothing has changed.
        OSError: the disk refuses. If the manifest lists the split, it is committed, and
            the next run completes what fails here.
    """
    mine = of_schema(schema)
    existing = check_place(directory, plan, mine, found, names)
    split = SplitEntry(
        plan.compression or "",
        tuple(
            receipt.listed(plan.published_name(receipt.file, at, len(receipts)))
            for at, receipt in enumerate(receipts)
        ),
        shuffled=plan.shuffle_seed is not None or None,
        run=None if directory.local else plan.token,
    )
    if not split.records and not plan.allow_empty:
        raise DatasetError(
            f"{directory.where}: split {plan.split!r} has no records, so nothing was "
            "published; was the source of the rows consumed before? To publish an empty "
            "split, pass allow_empty=True"
        )
    files = [receipt.file for receipt in receipts]
    if not is_checked:
        _check_files(directory, plan.split, split.hidden_as(files), is_begun=False)
    lengths = [each.lengths for each in receipts if each.lengths is not None]
    if plan.index and len(lengths) == len(receipts):  # a compressed shard has none
        split, index = indexed(split, map(unpacked_lengths, lengths))
        directory.replace(index_name(plan.split, split), index)
    directory.sync()
    committed = split.hidden_as(files)
    splits = {name: described(existing, name, mine) for name in existing.splits}
    _save(directory, replace(mine, splits=splits | {plan.split: committed}))
    _exchange(directory, plan.split, committed, {*names, *files})
    settled = replace(mine, splits=splits | {plan.split: split})
    if committed != split:
        _save(directory, settled)
    return settled, split.records


@contextmanager
def explaining(
    directory: Directory, plan: Plan, receipts: Iterable[Receipt] = ()
) -> Iterator[None]:
    """Say in an error of the disk what has become of the split.

    Not around a source of rows, whose errors are its own.

    Args:
        directory: the data directory.
        plan: of the run.
        receipts: of the shards that the run publishes.
    """
    try:
        yield
    except (Busy, NotADirectoryError):  # nothing can be in what is no directory
        raise
    except OSError as error:
        message = f"{error.strerror}; {_state(directory, plan, [*receipts])}"
        raise OSError(error.errno, message, error.filename) from error


def _state(directory: Directory, plan: Plan, receipts: Sequence[Receipt]) -> str:
    split = f"split {plan.split!r}"
    with suppress(OSError, DatasetError):
        held = listed_split(directory, plan)
        if held is None:
            return f"nothing of {split} was published"
        if is_committed(plan, held):
            if not held.is_unsettled:
                return (
                    f"{split} is published; files that it has replaced may be left, and the "
                    "next run of the split removes them"
                )
            return (
                f"{split} is complete, but some files still have hidden names; the next run "
                f"that writes to {directory.where} publishes it"
            )
        if directory.local and _is_published(directory, held, receipts):
            return f"{split} is published, but may be lost in a power cut"
        return (
            f"nothing new of {split} was published, and the {held.records} "
            "records that it had before are still there"
        )
    return f"what became of {split} is not known, since the manifest cannot be read"


def listed_split(directory: Directory, plan: Plan) -> SplitEntry | None:
    """Return a plan's split as the manifest lists it now."""
    found = manifest.load(directory)
    return found.splits.get(plan.split) if found else None


def is_committed(plan: Plan, held: SplitEntry | None) -> bool:
    """Whether a split is known to have the files of a plan's run, by their names."""
    return held is not None and token_of(plan.split, held) == plan.token


def _is_published(
    directory: Directory, held: SplitEntry, receipts: Sequence[Receipt]
) -> bool:
    """Whether a split has the files of a run, which all have their names."""
    names = {*directory.names()}
    return len(held.shards) == len({receipt.shard for receipt in receipts}) and all(
        receipt.is_in(held) and receipt.file not in names for receipt in receipts
    )


def _not_begun(plan: Plan, found: Manifest | None) -> DatasetError:
    split = found.splits.get(plan.split) if found else None
    held = f"has {split.records} records" if split else "does not exist"
    return DatasetError(
        f"{plan.where}: nothing to publish: the run never began, was abandoned, or "
        f"another run took the split over; the split {held}. Write it again"
    )


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
    with directory.locked(LOCK) as directory:
        found, names = manifest.load(directory), directory.names()
        waiting = _unfinished(directory, found, names).get(plan.split)
        if waiting is not None and token_of(plan.split, waiting) == plan.token:
            raise DatasetError(
                f"{plan.where}: its publication has begun; publish(plan) completes it"
            )
        remove_run(directory, plan.split, plan.token, unlisted(names, found))


def check_place(
    directory: Directory,
    plan: Plan,
    mine: Manifest,
    found: Manifest | None,
    names: Sequence[str],
    nothing: str = "",
) -> Manifest:
    """Refuse to write a split for which the directory has no place.

    Args:
        directory: the data directory.
        plan: of the split.
        mine: a manifest of the writer's record.
        found: the directory's manifest, if it has one.
        names: the directory's files.
        nothing: what to say about a split that is there.

    Returns:
        The directory's manifest; `mine` without splits if the directory has none yet.

    Raises:
        DatasetError: it has the split, or other records, or files that no one knows.
        SchemaMismatchError: it has splits that readers of this one could not read.
    """
    existing = found or replace(mine, splits={})
    where = f"{directory.where}/{manifest.FILE_NAME}"
    split = plan.split
    check_record(directory, mine, existing, but=(split,))
    held = existing.splits.get(split)
    if held is not None and held.adopted:
        raise DatasetError(
            f"{where}: split {split!r} has files of another program, which were sealed "
            f"and are never replaced; {FURTHER_SPLIT}"
        )
    if held is not None and not plan.overwrite:
        raise DatasetError(
            f"{where}: split {split!r} exists with {held.records} records; "
            f"{nothing + '; ' if nothing else ''}pass overwrite=True to replace it, or "
            f"{FURTHER_SPLIT}"
        )
    unknown = unknown_shards(directory, names, split) if held is None else []
    if unknown and any(each.adopted for each in existing.splits.values()):
        raise DatasetError(
            f"{directory.where}: {unknown[0]} is named as a shard of split {split!r}, and "
            "is not sealed yet: seal it by `schemagen verify DATA --add`, or write a split "
            "of another name"
        )
    if plan.overwrite:
        return existing
    if unknown:
        raise DatasetError(
            f"{directory.where}: {len(unknown)} files of a split {split!r} that no "
            f"manifest lists, the first is {unknown[0]}: left by other code, or the "
            "manifest is lost; pass overwrite=True to replace them"
        )
    return existing


def unknown_shards(directory: Directory, names: Sequence[str], split: str) -> list[str]:
    """Return those files of a split, which no manifest lists, that no run is writing.

    Other code may have left them, or the manifest is lost.
    """
    return sorted(shard_files(names, split) - unfinished_shards(directory, names))


def unlisted(names: Iterable[str], found: Manifest | None) -> list[str]:
    """Return those of a directory's files that are not shards by its manifest."""
    splits = found.splits.values() if found else ()
    listed = {shard.file for split in splits for shard in split.shards}
    return [name for name in names if name not in listed]


def check_record(
    directory: Directory, mine: Manifest, existing: Manifest, but: Sequence[str] = ()
) -> None:
    """Check that splits of a directory are of one record, and that one reader reads them.

    Args:
        directory: the data directory.
        mine: a manifest of the writer's record.
        existing: the directory's manifest.
        but: splits that are replaced.

    Raises:
        DatasetError: the directory has other records.
        SchemaMismatchError: it has splits that readers of this one could not read.
    """
    where = f"{directory.where}/{manifest.FILE_NAME}"
    if existing.record != mine.record:
        raise DatasetError(
            f"{where}: this directory holds {existing.record!r} records, not "
            f"{mine.record!r}; write to another directory"
        )
    for other in sorted(set(existing.splits) - {*but}):
        # All splits of a directory are read by the same code.
        name = f"{where}: split {other!r}"
        check_compatible(existing.spec_of(other), mine.spec, name, directory.where)


def settle(
    directory: Directory, mine: str, *, overwrite: bool
) -> tuple[Manifest | None, dict[str, SplitEntry]]:
    """Complete what interrupted runs have committed, and remove what they have left.

    Args:
        directory: the data directory, locked.
        mine: the split that is to be written; what cannot be completed of others is left
            as it is, with a warning.
        overwrite: whether that split may be replaced, so that it need not be completed.

    Returns:
        The directory's manifest, and the splits that were completed, with the hidden names
        of their files.

    Raises:
        DatasetError: files of the split are missing.
        OSError: the disk refuses.
    """
    found = manifest.load(directory)
    if found is None or not (found.unsettled or _runs(found)):
        return found, {}
    names = directory.names()
    settled = dict[str, SplitEntry]()
    for name, split in _unfinished(directory, found, names).items():
        try:
            _check_files(directory, name, split, is_begun=True)
            _exchange(directory, name, split, set(names))
        except DatasetError as error:
            if name == mine and not overwrite:
                raise
            warn(f"{error}; this publication was not completed")
        else:
            settled[name] = split
    splits = found.splits | {name: each.settled for name, each in settled.items()}
    if splits != found.splits:
        found = replace(found, splits=splits)
        _save(directory, found)
    for name, split in settled.items():
        remove_run(directory, name, token_of(name, split), unlisted(names, found))
        if name != mine:
            remove_lock(directory, name, names)
    return found, settled


def _runs(found: Manifest) -> dict[str, str]:
    """Return the runs of those splits of which the manifest names one, by the splits."""
    return {name: split.run for name, split in found.splits.items() if split.run}


def _unfinished(
    directory: Directory, found: Manifest | None, names: Sequence[str]
) -> dict[str, SplitEntry]:
    """Return the splits whose run has committed them, and was interrupted then.

    Files have hidden names, or the claim of the run does not say what has become of it.
    """
    if found is None:
        return {}
    there, waiting = {*names}, dict(found.unsettled)
    for name, run in _runs(found).items():
        claim = claim_name(name, run) in there and read_claim(directory, name, run)
        if claim and claim.published is None:
            waiting[name] = found.splits[name]
    return waiting


def token_of(name: str, split: SplitEntry) -> str:
    """Return the token of the run that has committed a split; "" if names do not say."""
    hidden = [shard.hidden or "" for shard in split.shards]
    return split.run or next(iter(run_files(hidden, name).values()), "")


def _exchange(
    directory: Directory, name: str, split: SplitEntry, there: set[str]
) -> None:
    """Exchange the old files of a split for the new ones, from wherever a run stopped.

    The claim of the run says so in the end, while the manifest still names the run: in no
    other order could its processes tell at any time what became of it.

    Args:
        directory: the data directory.
        name: the split's name.
        split: with the names that its files have until now.
        there: the directory's files.
    """
    waiting = {
        shard.hidden: shard.file for shard in split.shards if shard.hidden in there
    }
    moved = {shard.file for shard in split.shards} - {*waiting.values()}
    old = sorted(shard_files(there, name) - moved)
    directory.remove(*old)
    if old:
        directory.sync()
    directory.for_each(directory.rename, waiting.keys(), waiting.values())
    directory.sync()
    index = index_name(name, split)
    directory.remove(*sorted(index_files(there, name) - {index}))
    claim = read_claim(directory, name, token_of(name, split))
    # A run of one process needs no such claim: no other process can ask for it.
    if claim is not None and claim.shared:
        replace_claim(directory, name, replace(claim, published=split.records))


def _check_files(
    directory: Directory, name: str, split: SplitEntry, *, is_begun: bool
) -> None:
    """See that the files of a split are there with their sizes.

    Args:
        directory: the data directory.
        name: the split's name.
        split: with the hidden names of its files.
        is_begun: whether some may have their names already.

    Raises:
        DatasetError: naming one that is not.
    """

    def problem(shard: Shard) -> str:
        file = shard.hidden or shard.file
        size = directory.size(file)
        if size is None and is_begun:
            # An old file may have this name, and the size of the new one.
            path, size = directory.path(shard.file), directory.size(shard.file)
            read = partial(directory.files.read, path)
            if size is not None and (said := difference(path, shard, size, read)):
                return said
        if size == shard.bytes:
            return ""
        held = "it is missing" if size is None else f"found {size} bytes"
        return (
            f"{directory.where}/{file}: {held}, expected {shard.bytes} bytes of split "
            f"{name!r}, which is to be published; another program has changed it: write "
            "the split again with overwrite=True"
        )

    for found in filter(None, directory.for_each(problem, split.shards)):
        raise DatasetError(found)


def remove_run(
    directory: Directory, split: str, token: str, names: Sequence[str]
) -> None:
    """Remove all that a run has left in a directory, but a claim that is published.

    The claim goes first, so receipts that are left are those of a run that has ended; the
    next run of the split removes them.

    Args:
        directory: the data directory.
        split: the split's name.
        token: of the run.
        names: the directory's files that its manifest does not list, as they were a moment
            ago.
    """
    claim, held = claim_name(split, token), read_claim(directory, split, token)
    is_published = held is not None and held.published is not None
    if held is not None and not is_published:
        directory.remove(claim)
    left = [
        name
        for name, run in run_files(names, split).items()
        # Shards that were published, and that no manifest lists, are not its own to remove.
        if run in (token, "")
        and name != claim
        and (name.startswith(".") or not is_published)
    ]
    remove_files(directory, left)
    shutil.rmtree(bucket_folder(directory, split, token), ignore_errors=True)


def remove_files(directory: Directory, names: Iterable[str]) -> None:
    """Remove files of a run: receipts last, since they tell its shards from others."""
    receipts = {name for name in names if name.endswith(".receipt")}
    directory.remove(*(name for name in names if name not in receipts))
    directory.remove(*receipts)


def remove_lock(directory: Directory, split: str, names: Sequence[str]) -> None:
    """Remove the lock of a split that a process has left that was killed."""
    if lock_name(split) in names:
        with suppress(Busy), directory.lock(lock_name(split)):
            pass  # releasing it removes the file


def described(existing: Manifest, split: str, mine: Manifest) -> SplitEntry:
    """Return a split that says by which spec it was written, if that is another."""
    held, fingerprint = existing.splits[split], existing.fingerprint_of(split)
    if fingerprint == mine.fingerprint:
        return replace(held, fingerprint=None, spec=None)
    return replace(held, fingerprint=fingerprint, spec=existing.spec_of(split))


def _save(directory: Directory, new: Manifest) -> None:
    manifest.save(directory, new)
    directory.sync()
