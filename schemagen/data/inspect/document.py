"""What `inspect` and `diff` print as JSON: docs/data.schema.json."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from ...documents import AsObject, Counts, Document, ShownAs
from ...findings import Finding, row_of
from ...runtime.cells.message import Feature, MalformedError, Message, parse_message
from ...runtime.interface import installed_version
from ...runtime.native import BYTES
from ..layouts import Gap
from ..profile.columns import SplitProfile, title_of
from ..profile.comparison import Difference
from ..profile.diff import Diff
from ..profile.duplicates import Duplicate
from ..profile.facts import Fact, facts_of
from ..profile.profile import ManifestFacts, Profile
from ..statistics.bytes_values import ImageInfo, content_of
from ..statistics.model import FileStatistics, RecordStatistics, WrittenBy
from ..statistics.samples import Sample
from ..statistics.sounds import Sound

# Of a list in a sample so many values are given, and of a text so many characters.
_VALUES = 100
_CHARACTERS = 1000


@dataclass(frozen=True)
class BytesValue:
    """A bytes value.

    Attributes:
        bytes: its size.
        format: as of `BytesValues`.
        picture: of an image.
        sound: of sound.
        seconds: how long this is; null for other values.
        text: the first 1000 characters, if it is UTF-8; else null.
    """

    bytes: int
    format: str
    picture: Annotated[ImageInfo, AsObject()] | None
    sound: Annotated[Sound, AsObject()] | None
    seconds: float | None
    text: str | None


@dataclass(frozen=True)
class FeatureValues:
    """The values of a key, or of one step of it, in a record.

    Attributes:
        key: the key.
        step: the number of the step, counted from 0; null for a feature without steps.
        kind: as of `KindStatistics`.
        length: how many values there are.
        values: the first 100.
    """

    key: str
    step: int | None
    kind: str
    length: int
    values: tuple[int | float | BytesValue, ...]


@dataclass(frozen=True)
class SampledRecord:
    """A record.

    Attributes:
        split: its split.
        file: its file.
        record: its number in the file, counted from 0.
        offset: where its bytes begin in the file; in a compressed one, in what it
            inflates to.
        bytes: its size.
        steps: how many steps each feature list has.
        features: the values of features, and of the first 100 steps of feature lists.
    """

    split: str
    file: str
    record: int
    offset: int
    bytes: int
    steps: Counts[str]
    features: tuple[FeatureValues, ...]


@dataclass(frozen=True)
class DataDocument(Document):
    """What `inspect` and `diff` print to stdout with --format json, unless they exit with 2.

    Entries may be added to any part at any time. Floats that are not finite are the texts
    "NaN", "Infinity" and "-Infinity".

    Attributes:
        version: of this shape. It grows when an entry goes or changes its meaning.
        described_by: the version of schemagen.
        data: what was read, as it was given: one name, or the two of `diff`.
        title: the name of the record's class, or of the data.
        doc: the docstring of the record; empty without one.
        limit: only so many records of each split were read; null for all.
        sound: whether nothing is damaged, every record is an Example, and the files hold
            what the manifest lists. The exit code is 1 if not.
        manifest: what the manifest of the directory says.
        manifest_problem: why it cannot be read; empty if it can, or there is none.
        unlisted: files in the directory that its manifest does not list, and that were
            not read.
        publishing: splits that are being published; their files are read by their hidden
            names.
        gaps: what names of files say of others that are not there.
        other_files: what else is in a directory without a manifest; directories end with
            a slash.
        tfds: the directory of the TFDS dataset; empty for other data.
        files: the files, in order.
        splits: the statistics of each split's records.
        samples: a few records of each split, spread over it.
        differences: how columns differ between splits, the largest difference first.
        duplicates: records and identifying values that are there more than once.
        facts: all that text, Markdown and the page show, as one list.
        diff: what differs between two datasets; null for `inspect`.
        findings: what --fail-on has found, as findings.schema.json describes them.
    """

    version: Literal[2]
    described_by: str
    data: tuple[str, ...]
    title: str
    doc: str
    limit: int | None
    sound: bool
    manifest: ManifestFacts | None
    manifest_problem: str
    unlisted: tuple[str, ...]
    publishing: tuple[str, ...]
    gaps: tuple[Gap, ...]
    other_files: tuple[str, ...]
    tfds: str
    files: tuple[FileStatistics, ...]
    splits: tuple[SplitRecords, ...]
    samples: tuple[SampledRecord, ...]
    differences: tuple[Difference, ...]
    duplicates: tuple[Duplicate, ...]
    facts: tuple[Fact, ...]
    diff: Diff | None
    findings: tuple[Annotated[Finding, ShownAs(row_of, dict[str, Any])], ...]


@dataclass(frozen=True)
class SplitRecords:
    """The records of a split.

    Attributes:
        split: its name; empty for files of no split.
        written_by: what the manifest says of it; null if that does not list it.
        statistics: of its records.
    """

    split: str
    written_by: WrittenBy | None
    statistics: RecordStatistics


def document_of(
    profile: Profile,
    findings: Iterable[Finding] = (),
    *,
    records: int = 0,
    diff: Diff | None = None,
) -> DataDocument:
    """Return what has been found.

    Args:
        profile: of some data, or of two datasets together.
        findings: what was judged.
        records: how many records of each split to print.
        diff: what differs between two datasets.
    """
    found = profile.statistics
    return DataDocument(
        version=2,
        described_by=installed_version(),
        data=diff.names if diff else (found.where,),
        title=title_of(found, profile.spec),
        doc=profile.spec.doc if profile.spec else "",
        limit=found.limit,
        sound=found.sound,
        manifest=profile.manifest,
        manifest_problem=found.manifest_problem,
        unlisted=found.unlisted,
        publishing=found.publishing,
        gaps=found.gaps,
        other_files=found.other_files,
        tfds=found.tfds,
        files=found.files,
        splits=tuple(
            SplitRecords(each.name, found.written_by.get(each.name), each.found)
            for each in profile.splits
        ),
        samples=tuple(
            _sampled(split, sample)
            for split in profile.splits
            for sample in split.found.samples[:records]
        ),
        differences=tuple(profile.differences),
        duplicates=profile.duplicates.found,
        facts=tuple(facts_of(profile)),
        diff=diff,
        findings=tuple(findings),
    )


def _sampled(split: SplitProfile, sample: Sample) -> SampledRecord:
    try:
        message = parse_message(sample.data)
    except MalformedError:
        message = Message()
    return SampledRecord(
        split=split.name,
        file=sample.file,
        record=sample.number,
        offset=sample.offset,
        bytes=len(sample.data),
        steps={key: len(steps) for key, steps in message.lists.items()},
        features=tuple(_features(message, sample.data)),
    )


def _features(message: Message, data: bytes) -> Iterator[FeatureValues]:
    for key, feature in sorted(message.features.items()):
        yield _values(key, None, feature, data)
    for key, steps in sorted(message.lists.items()):
        for step, feature in enumerate(steps[:_VALUES]):
            yield _values(key, step, feature, data)


def _values(key: str, step: int | None, feature: Feature, data: bytes) -> FeatureValues:
    """Return the first values of a feature of a record."""
    some: tuple[Any, ...] = tuple(feature.values[:_VALUES])
    if feature.kind == BYTES:
        some = tuple(_bytes_value(data[start:stop]) for start, stop in some)
    return FeatureValues(key, step, feature.kind, len(feature.values), some)


def _bytes_value(value: bytes) -> BytesValue:
    content, text = content_of(value), None
    if content.utf8:
        text = value[: 4 * _CHARACTERS].decode(errors="ignore")[:_CHARACTERS]
    seconds = content.seconds if content.sound else None
    return BytesValue(
        len(value), content.format, content.picture, content.sound, seconds, text
    )
