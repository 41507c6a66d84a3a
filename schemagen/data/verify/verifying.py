"""Verifying: check all files of a directory, a glob or a path."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ...runtime.cells.columns import WRITE_EXAMPLES
from ...runtime.shared.compression import COMPRESSIONS
from ...runtime.shared.tfrecord import MOST_RECORD_BYTES
from ...runtime.sources.shards import File
from ...runtime.storage import manifest
from ...runtime.storage.manifest import CheckedFile, Shard
from ...runtime.storage.schema import Spec
from ..checks import DataFinding, Tally
from ..files import file_path
from ..foreign import EXPECTED, NO_KEY, WITHOUT_FEATURE
from ..formatting import one_line
from ..layouts import Gap
from ..one_pass import FileGroup, Pass, Scanned, Wanted, read_data
from ..sources import Data, find_data
from .doubts import doubts_of
from .verification import SplitCounts, Verification

if TYPE_CHECKING:
    from ...spec.model import RecordSpec


EXAMPLES = 3
"""How many examples of each kind of finding are kept if no one asks for more."""


def verify(
    source: str | os.PathLike[str] | Data,
    *,
    spec: RecordSpec | None = None,
    split: str | None = None,
    limit: int | None = None,
    examples: int = EXAMPLES,
    workers: int | None = None,
    max_record_bytes: int = MOST_RECORD_BYTES,
    progress: Callable[[int, int], object] | None = None,
    lengths: bool = False,
) -> Verification:
    """Check data: framing, checksums, the manifest, and every record against a spec.

    What it finds does not depend on the number of workers.

    Args:
        source: a data directory, a file, or a glob; or the URL of one; or the files,
            already found.
        spec: what the records should be, if not what the manifest says wrote them.
            Without either only framing, checksums and protobuf messages are checked.
        split: only this split.
        limit: check no more than the first records of each split; what needs whole
            files is then left out.
        examples: how many places to keep of each kind of finding.
        workers: how many processes read files; None for one each processor, if there
            is enough to do. Programs that are started as scripts need the usual
            `if __name__ == "__main__"` around the call.
        max_record_bytes: longer records are findings and are not read.
        progress: called with the bytes that were read since the last call, and with
            how many there are in all.
        lengths: keep the lengths of records, for an index.

    Raises:
        DatasetError: the data or the split does not exist.
    """
    data = source if isinstance(source, Data) else find_data(source, split)
    splits = splits_of(data, spec, examples)
    found = read_data(
        data,
        [each.group for each in splits],
        Wanted(
            examples, limit=limit, max_record_bytes=max_record_bytes, lengths=lengths
        ),
        workers=workers,
        progress=progress,
    )
    return verification_of(data, splits, found)


def verification_of(
    data: Data, splits: Sequence[CheckedSplit], found: Pass
) -> Verification:
    """Return what is wrong with files that were read and checked.

    Args:
        data: the files.
        splits: as `splits_of` returned them; what was found is added to their tallies.
        found: the pass over their groups.
    """
    files = []
    for split in splits:
        empty = []
        for file in split.files:
            scanned = found.files[file.path]
            judge_file(scanned, file)
            files.append(_checked(file, scanned))
            split.tally.merge(scanned.tally)
            split.whole &= scanned.whole
            unread = scanned.damaged or not scanned.whole
            if file.listed is None and not scanned.tally.records and not unread:
                empty.append(scanned)
        # Among files with records an empty one is usual: its worker had no rows.
        for scanned in empty if not split.tally.records else ():
            judge_empty(scanned, split.tally)
    return Verification(
        data.where,
        tuple(each.counts for each in splits),
        tuple(finding for each in splits for finding in each.findings),
        data.other_files,
        tuple(files),
        tuple(_doubts(splits, found)),
    )


def _doubts(splits: Sequence[CheckedSplit], found: Pass) -> Iterator[str]:
    """Yield why files that no manifest lists may be the wrong ones."""
    from ...spec.serial import fingerprint

    specs: dict[str, RecordSpec] = {}
    files: dict[str, list[File]] = {}
    for split in splits:
        if split.spec is not None:
            name = fingerprint(split.spec)
            specs[name] = split.spec
            files.setdefault(name, []).extend(split.files)
    for name, spec in specs.items():
        yield from doubts_of(
            spec,
            [found.files[file.path] for file in files[name] if file.listed is None],
            [found.files[file.path] for file in files[name] if file.listed],
        )


def _checked(file: File, scanned: Scanned) -> CheckedFile:
    return CheckedFile(
        file.path,
        file.split,
        scanned.tally.records,
        scanned.tally.bytes,
        scanned.crc32c,
        scanned.compression or "",
        scanned.lengths,
    )


@dataclass
class CheckedSplit:
    """A split that is being checked: files that are compared with one spec.

    Attributes:
        name: as the manifest or the files' names say; None for neither.
        spec: what its records should be.
        spec_from: where that is from: "manifest", "project" or "".
        tally: what is wrong.
        files: its files, without those that are missing.
        missing: files that the manifest lists and that are missing.
        whole: whether all files were read to the end.
    """

    name: str | None
    spec: RecordSpec | None
    spec_from: str
    tally: Tally
    files: list[File] = field(default_factory=list)
    missing: list[File] = field(default_factory=list)
    whole: bool = True

    @property
    def group(self) -> FileGroup:
        """All of its files, to be read."""
        return FileGroup(self.name or "", self.spec, [*self.files, *self.missing])

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

    @property
    def findings(self) -> list[DataFinding]:
        """What is wrong, whole files first, then by field."""
        fields = self.spec.fields if self.spec else ()
        return self.tally.findings(self.name, [each.label for each in fields])


def splits_of(data: Data, spec: RecordSpec | None, examples: int) -> list[CheckedSplit]:
    """Return the splits of data, with the findings that need no record.

    Args:
        data: the files.
        spec: what the records should be, if not what the manifest says wrote them.
        examples: how many places to keep of each kind of finding.
    """
    splits = _splits(data, spec, examples)
    general = splits[0].tally
    if data.problem:
        _add_manifest(general, data)
    cause = "left over from an older dataset, or copied here: readers skip it"
    manifests = (opened.manifest for opened in data.shards.manifests)
    if any(split.adopted for each in manifests for split in each.splits.values()):
        cause = "seal it with `schemagen verify DATA --add`: readers skip it until then"
    for name in data.unlisted:
        general.add_file(
            "SG504",
            "file is not in the manifest",
            "no other files of records in a data directory",
            str((data.directory or Path()) / name),
            "a file",
            cause,
        )
    for gap in data.gaps:
        own = (each.tally for each in splits if each.name == gap.split)
        _add_gap(next(own, general), gap)
    for split in splits:
        for file in split.missing:
            held = f"; it held {file.records} records" if file.listed else ""
            split.tally.add_file(
                "SG502",
                "file is missing",
                "each file of the manifest",
                file.path,
                f"no such file{held}",
                "it was not copied, or deleted",
            )
    return splits


def _splits(data: Data, spec: RecordSpec | None, examples: int) -> list[CheckedSplit]:
    """Put files together that are of one split and compared with one spec."""
    found: dict[tuple[str, str], CheckedSplit] = {}
    specs = {id(file.spec): file.spec for file in data.files if file.spec}
    texts = {key: json.dumps(spec, sort_keys=True) for key, spec in specs.items()}
    for file in data.files:
        written = texts.get(id(file.spec), "")
        known = found.get((file.split, written))
        if known is None:
            known = _split(file, spec, Tally(examples))
            found[file.split, written] = known
        (known.missing if file.is_missing else known.files).append(file)
    return list(found.values())


def _split(file: File, spec: RecordSpec | None, tally: Tally) -> CheckedSplit:
    where = str(file_path(file.path).parent / manifest.FILE_NAME)
    if file.spec is not None and spec is not None:
        _compare_specs(tally, file.spec, spec, where)
    spec_from = "project" if spec is not None else ""
    if file.spec is not None and spec is None:
        from ...spec.serial import from_data

        try:
            spec, spec_from = from_data(file.spec), "manifest"
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            tally.add_file(
                "SG501",
                "schema of the manifest cannot be read",
                "a schema that this version of schemagen knows",
                where,
                one_line(str(error)),
                "written by another version of schemagen",
            )
    return CheckedSplit(file.split or None, spec, spec_from, tally)


def _compare_specs(tally: Tally, written: Spec, spec: RecordSpec, where: str) -> None:
    from ...runtime.compatibility import differences
    from ...spec.serial import to_data

    for change in differences(written, to_data(spec)):
        if not change.record_by_record:
            more = f"`schemagen explain {change.rule}` says more"
            tally.add_file(
                "SG511",
                "data was written with a different schema",
                f"data that the project's {spec.class_name} reads with the same meaning",
                where,
                change.plain,
                "; ".join(filter(None, (change.hint, more))),
                field=change.field,
            )


def _add_manifest(tally: Tally, data: Data) -> None:
    path = str((data.directory or Path()) / manifest.FILE_NAME)
    found, _, advice = data.problem.removeprefix(f"{path}: ").rpartition("; ")
    if not found:
        found, advice = advice, ""
    what = "manifest cannot be read"
    tally.add_file("SG501", what, "a whole manifest", path, found, advice)


def _add_gap(tally: Tally, gap: Gap) -> None:
    if gap.mixed:
        rule, what = "SG504", "files of several runs in one split"
        expected = "file names that state the same number of files"
        cause = "left over from an earlier write, or copied here: readers of a glob read both"
    else:
        rule, what = "SG502", "file is missing"
        expected = "all files that the other file names imply"
        cause = "it was not copied, or deleted"
    tally.add_file(rule, what, expected, str(gap.path), gap.text, cause)


_BY_SUFFIX = {
    suffix: name for name, each in COMPRESSIONS.items() for suffix in each.suffixes
}
_WORDS = {"": "uncompressed records", **{name: f"{name} data" for name in COMPRESSIONS}}


def judge_file(scanned: Scanned, file: File) -> None:
    """Compare a file as a whole with its name and its entry in the manifest.

    Args:
        scanned: all of it; findings are added to its tally.
        file: what the manifest and its name say.
    """
    tally, where = scanned.tally, file.path
    if not scanned.whole and not tally.bytes:
        return  # it could not be read, which has been said
    wanted, whose = file.compression, "as the manifest says"
    if wanted is None:
        suffix = os.path.splitext(file.path)[1]
        wanted, whose = _BY_SUFFIX.get(suffix), "as its name says"
    found = scanned.compression
    if tally.bytes and wanted is not None and found not in (None, wanted):
        assert found is not None
        tally.add_file(
            "SG509",
            "compression does not match",
            f"{_WORDS[wanted]}, {whose}",
            where,
            _WORDS[found],
            "the file was renamed, or compressed or inflated after it was written",
        )
    if tally.records and not tally.keyed.records:
        other = tally.keyed.other or WITHOUT_FEATURE
        tally.add_file("SG513", NO_KEY, EXPECTED, where, other, WRITE_EXAMPLES)
    if file.listed is not None and scanned.whole:
        _compare(scanned, where, file.listed)


def judge_empty(scanned: Scanned, tally: Tally) -> None:
    """Add the finding of a file without records, of a split without records."""
    size = scanned.tally.bytes
    found = f"{_WORDS[scanned.compression or '']} without a record"
    tally.add_file(
        "SG505",
        "file has no records",
        "one record or more",
        str(scanned.range.path),
        found if size else "a file of 0 bytes",
        "the writer was killed before it wrote, or had nothing to write",
    )


def _compare(scanned: Scanned, where: str, shard: Shard) -> None:
    """Compare a file with its entry in the manifest."""
    tally = scanned.tally
    add = partial(tally.add_file, "SG503", "file differs from the manifest")
    if tally.bytes != shard.bytes:
        cause = _REPLACED
        if tally.bytes < shard.bytes:
            whole = tally.bytes and not scanned.damaged
            cause = _WHOLE if whole else "the copy is incomplete: copy it again"
        words = f"{tally.bytes} bytes, and the manifest lists {shard.bytes}"
        add("as many bytes as the manifest lists", where, words, cause)
    elif f"{scanned.crc32c:08x}" != shard.crc32c:
        cause = _REPLACED if not scanned.damaged else "copy it again"
        words = f"{scanned.crc32c:08x}, and the manifest lists {shard.crc32c}"
        expected = "bytes with the checksum that the manifest lists"
        add(expected, where, f"the CRC-32C {words}", cause)
    if tally.records != shard.records and not scanned.over_limit:
        words = f"{tally.records} good records, and the manifest lists {shard.records}"
        add("as many records as the manifest lists", where, words)


_WHOLE = (
    "it ends with a complete record, so it is another or an older file and not an "
    "incomplete copy; copy it again"
)
_REPLACED = "the file was changed or replaced after it was written: copy it again"
