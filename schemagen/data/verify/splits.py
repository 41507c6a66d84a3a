"""The splits of data: what each is compared with, and what files alone tell."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ...runtime.sources.shards import File
from ...runtime.storage import manifest
from ...runtime.storage.schema import Spec
from ..checks.model import DataFinding
from ..checks.tally import Tally
from ..formatting import one_line
from ..names import Gap
from ..one_pass import Group
from ..remote_path import file_path
from ..sources import Data
from .verification import SplitCounts

if TYPE_CHECKING:
    from ...spec.model import RecordSpec


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
    def group(self) -> Group:
        """All of its files, to be read."""
        return Group(self.name or "", self.spec, [*self.files, *self.missing])

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
    splits_listed = data.manifest.splits.values() if data.manifest else ()
    if any(split.adopted for split in splits_listed):
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
    for file in data.files:
        written = json.dumps(file.spec, sort_keys=True) if file.spec else ""
        known = found.get((file.split, written))
        if known is None:
            known = _split(file, spec, Tally(examples), data)
            found[file.split, written] = known
        (known.missing if file.is_missing else known.files).append(file)
    return list(found.values())


def _split(
    file: File, spec: RecordSpec | None, tally: Tally, data: Data
) -> CheckedSplit:
    where = str((data.directory or file_path(file.path).parent) / manifest.FILE_NAME)
    if file.spec is not None and spec is not None:
        _compare_specs(tally, file.spec, spec, where)
    spec_from = "project" if spec is not None else ""
    if file.spec is not None and spec is None:
        from ...spec.serial import from_data  # which imports pydantic

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
    from ...runtime.codecs.compatibility import differences
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
