"""The use case: check all files of a directory, a glob or a path."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path

from ...runtime.shared.compatibility import differences
from ...runtime.shared.errors import DatasetError
from ...runtime.storage import manifest
from ...runtime.storage.journal import publishing_problem
from ...runtime.storage.schema import Spec
from ...spec.model import RecordSpec
from ...spec.serial import from_data, to_data
from ..formatting import one_line
from ..limits import MAX_RECORD_BYTES
from ..names import Gap
from ..parallel import parts_of
from ..records import Part
from ..sources import Data, DataFile, find_data, has_damaged_manifest
from .files import Checked, Progress, Task, check_part, joined, judge_file
from .model import SplitCounts, Verification
from .running import run
from .tally import Kind, Tally

EXAMPLES = 3
"""How many examples of each kind of finding are kept if no one asks for more."""


@dataclass
class _Split:
    """A split that is being checked: files that are compared with one spec.

    Attributes:
        name: as the manifest or the files' names say; None for neither.
        spec: what its records should be.
        spec_from: where that is from: "manifest", "project" or "".
        tally: what is wrong.
        files: its files.
        whole: whether all of them were read to the end.
    """

    name: str | None
    spec: RecordSpec | None
    spec_from: str
    tally: Tally
    files: list[DataFile] = field(default_factory=list)
    whole: bool = True

    @property
    def fields(self) -> list[str]:
        """The names of its fields, in order."""
        fields = self.spec.fields if self.spec else ()
        return [each.label for each in fields]

    @property
    def counts(self) -> SplitCounts:
        """What was looked at."""
        return SplitCounts(
            split=self.name,
            files=len(self.files),
            bytes=self.tally.bytes,
            records=self.tally.records,
            wrong=self.tally.wrong,
            record=self.spec.record if self.spec else None,
            spec_from=self.spec_from,
            whole=self.whole,
            notes=self.tally.notes(),
        )


def verify(
    source: str | os.PathLike[str],
    *,
    spec: RecordSpec | None = None,
    split: str | None = None,
    limit: int | None = None,
    examples: int = EXAMPLES,
    workers: int | None = None,
    max_record_bytes: int = MAX_RECORD_BYTES,
    progress: Callable[[int, int], object] | None = None,
) -> Verification:
    """Check data: framing, checksums, the manifest, and every record against a spec.

    What it finds does not depend on the number of workers.

    Args:
        source: a data directory, a file, or a glob.
        spec: what the records should be, if not what the manifest says wrote them.
            Without either only framing, checksums and protobuf messages are checked.
        split: only this split.
        limit: check no more than the first records of each split; what needs whole
            files is then left out.
        examples: how many places to keep of each kind of finding.
        workers: how many processes read files; None for one each processor, if there
            is enough to do. Programs that are started as scripts need the usual
            `if __name__ == "__main__"` around the call.
        max_record_bytes: longer records, and those of so many values that decoding
            takes more memory, are findings and are not read.
        progress: told how many bytes have been read since the last call, and how many
            there are in all.

    Raises:
        DatasetError: there is no such data, or no such split.
    """
    where = os.fspath(source)
    damaged = ""
    try:
        data = find_data(where, split)
    except DatasetError as error:
        found = _beside_damaged_manifest(where, split)
        if found is None:
            raise
        data, damaged = found, str(error)
    splits = _splits(data, spec, examples)
    general = splits[0].tally
    if damaged:
        _note_manifest(general, data, damaged)
    for name in data.publishing:
        _note_publishing(general, data, name)
    for name in data.unlisted:
        _note_unlisted(general, data, name)
    for gap in data.gaps:
        own = (each.tally for each in splits if each.name == gap.split)
        _note_gap(next(own, general), gap)
    owners = {file.path: (each, file) for each in splits for file in each.files}
    _note_missing(splits)
    written = _written(data)
    total = sum(path.stat().st_size for path in owners if path.exists())

    def read(size: int) -> None:
        if progress is not None:
            progress(size, total)

    task = Task(Part(Path()), None, examples, False, None, max_record_bytes)
    if limit is None:
        results = run(_tasks(owners, task), total, workers, read)
    else:
        results = _limited(splits, limit, task, read)
    for path, parts in groupby(results, key=lambda checked: checked.part.path):
        owner, file = owners[path]
        checked = joined(list(parts))
        judge_file(checked, path, file.shard, _compression(data, file), written)
        owner.tally.merge(checked.tally)
        owner.whole &= checked.whole
    return Verification(
        where,
        tuple(each.counts for each in splits),
        tuple(
            finding
            for each in splits
            for finding in each.tally.findings(each.name, each.fields)
        ),
        data.passed_over,
    )


def _tasks(owners: dict[Path, tuple[_Split, DataFile]], like: Task) -> Iterator[Task]:
    """Yield tasks like one, for each part of each file."""
    for path, (owner, file) in owners.items():
        if path.exists() or file.shard is None:
            for part in parts_of(path):
                checksum = file.shard is not None
                yield replace(like, part=part, spec=owner.spec, checksum=checksum)


def _limited(
    splits: list[_Split], limit: int, like: Task, progress: Progress | None
) -> Iterator[Checked]:
    """Check the first records of each split, by tasks like one."""
    for each in splits:
        left = limit
        for file in each.files:
            if file.shard is not None and not file.path.exists():
                continue
            if not left:
                each.whole = False
                break
            checksum = file.shard is not None
            part = Part(file.path)
            task = replace(
                like, part=part, spec=each.spec, checksum=checksum, most=left
            )
            checked = check_part(task, progress)
            left -= checked.tally.records
            yield checked


def _splits(data: Data, spec: RecordSpec | None, examples: int) -> list[_Split]:
    """Put files together that are of one split and compared with one spec."""
    found: dict[tuple[str, str], _Split] = {}
    for file in data.files:
        written = json.dumps(file.spec, sort_keys=True) if file.spec else ""
        known = found.get((file.split, written))
        if known is None:
            known = _split(file, spec, examples, data)
            found[file.split, written] = known
        known.files.append(file)
    return list(found.values())


def _split(
    file: DataFile, spec: RecordSpec | None, examples: int, data: Data
) -> _Split:
    tally = Tally(examples)
    where = str((data.directory or file.path.parent) / manifest.FILE_NAME)
    if spec is not None:
        if file.spec is not None:
            _compare_specs(tally, file.spec, spec, where)
        return _Split(file.split or None, spec, "project", tally)
    written: RecordSpec | None = None
    if file.spec is not None:
        try:
            written = from_data(file.spec)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            kind = Kind(
                "SG501",
                "",
                "",
                "schema of the manifest cannot be read",
                "a schema that this version of schemagen knows",
            )
            cause = "written by a later schemagen: update it"
            tally.add_file(kind, where, one_line(str(error)), cause)
    return _Split(file.split or None, written, "manifest" if written else "", tally)


def _compare_specs(tally: Tally, written: Spec, spec: RecordSpec, where: str) -> None:
    for change in differences(written, to_data(spec)):
        if not change.record_by_record:
            kind = Kind(
                "SG511",
                change.field,
                "",
                "data was written with a different schema",
                f"data that the project's {spec.class_name} reads alike",
            )
            hint = f"`schemagen explain {change.rule}` says more"
            tally.add_file(kind, where, change.plain, hint)


def _compression(data: Data, file: DataFile) -> str | None:
    if data.manifest is None or file.shard is None:
        return None
    return data.manifest.splits[file.split].compression


def _written(data: Data) -> dict[tuple[int, str], str]:
    """Return the names of all files of the manifest, by their sizes and checksums."""
    splits = data.manifest.splits.values() if data.manifest else ()
    return {
        (shard.bytes, shard.crc32c): shard.file
        for split in splits
        for shard in split.shards
    }


def _beside_damaged_manifest(where: str, split: str | None) -> Data | None:
    """Return the files that are next to a manifest which cannot be read.

    None if there is no such manifest, so that something else is wrong.
    """
    if not has_damaged_manifest(where):
        return None
    directory = Path(where) if Path(where).is_dir() else Path(where).parent
    data = find_data(where, split, use_manifest=False)
    return replace(data, directory=directory)


def _note_manifest(tally: Tally, data: Data, problem: str) -> None:
    path = str((data.directory or Path()) / manifest.FILE_NAME)
    kind = Kind("SG501", "", "", "manifest cannot be read", "a whole manifest")
    found, _, advice = problem.removeprefix(f"{path}: ").rpartition("; ")
    tally.add_file(kind, path, found or advice, advice if found else "")


def _note_publishing(tally: Tally, data: Data, split: str) -> None:
    kind = Kind(
        "SG502",
        "",
        "",
        "split is not published",
        "each split that was written in the manifest",
    )
    where = str(data.directory or Path())
    _, _, cause = publishing_problem(where, split).partition(f"{where}: ")
    tally.add_file(kind, where, f"split {split!r}", cause)


def _note_unlisted(tally: Tally, data: Data, name: str) -> None:
    kind = Kind(
        "SG504",
        "",
        "",
        "file is not in the manifest",
        "no other files of records in a data directory",
    )
    cause = "left over from an older dataset, or copied here: readers pass over it"
    tally.add_file(kind, str((data.directory or Path()) / name), "a file", cause)


def _note_gap(tally: Tally, gap: Gap) -> None:
    if gap.mixed:
        rule, what = "SG504", "files of several runs in one split"
        expected = "names that agree how many files there are"
        cause = "left over from an older writing, or copied here: readers of a glob take both"
    else:
        rule, what = "SG502", "file is missing"
        expected = "each file that the names of the others tell of"
        cause = "it was not copied, or deleted"
    tally.add_file(Kind(rule, "", "", what, expected), str(gap.path), gap.text, cause)


def _note_missing(splits: list[_Split]) -> None:
    for each in splits:
        for file in each.files:
            if file.shard is not None and not file.path.exists():
                kind = Kind(
                    "SG502",
                    "",
                    "",
                    "file is missing",
                    "each file of the manifest",
                )
                words = f"no such file; it held {file.shard.records} records"
                cause = "it was not copied, or deleted"
                each.tally.add_file(kind, str(file.path), words, cause)
