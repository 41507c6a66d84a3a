"""The models of what `inspect --format json` prints: docs/inspect.schema.json."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, WithJsonSchema
from pydantic import Field as Described

from ...runtime.images.formats import FORMATS
from ...runtime.shared.compression import ANY, COMPRESSIONS

_IMAGES = [each.name for each in FORMATS]
_COMPRESSION = WithJsonSchema({"enum": ["", *COMPRESSIONS], "type": "string"})


class Part(BaseModel):
    """A part of a document. Further entries may be added to any part at any time."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    @classmethod
    def taken(cls, found: object, **more: Any) -> Self:
        """Take the entries from the attributes of a value, and further ones as given."""
        names = [name for name in cls.model_fields if name not in more]
        return cls(**{name: getattr(found, name) for name in names}, **more)


class Fact(Part):
    """One thing that is known of the data."""

    subject: str
    """The field, or the key without a schema; empty for the records themselves."""
    key: str
    """The key of the subject in the files; empty likewise."""
    split: str | None
    """Null for all splits together; empty for files of no split."""
    measure: str
    """What is known, such as "records", "mean" or "share"."""
    value: int | float | str | tuple[int | float, int | float] | None
    """The value; of a range the least and the greatest."""
    unit: str
    """"files", "records", "values", "steps", "bytes", "pixels", "share" (1 is all), or
    empty."""
    of: str
    """"values", "lengths", "steps", "sizes", "heights", "widths", or empty."""
    category: str | None
    """The class, or the value, of which it is."""
    other_split: str | None
    """The split that this one is compared with."""
    mark: str
    """"leakage", "duplicates", "drift", "missing-classes", "damage", or empty."""
    note: str
    """More about it, for people."""
    shown: str
    """The value for people, where value and unit do not tell: a date, or an id."""


class Count(Part):
    """How often a number occurs."""

    value: int | float
    count: int


class Quantile(Part):
    """Below which value which share lies; exact where `distinct` is not null."""

    share: float
    value: int | float | None


class Bin(Part):
    """How many values lie from low to below high; null has no bound."""

    low: float
    high: float | None
    count: int


class Numbers(Part):
    """Some numbers; all but the counts are of those that are finite."""

    count: int
    minimum: int | float | None
    """Null if none is finite."""
    maximum: int | float | None
    mean: float | None
    zeros: int
    whole: int
    """How many are whole numbers."""
    nan: int
    negative_infinity: int
    positive_infinity: int
    distinct: list[Count] | None
    """How often each value occurs; null for more than 1024 different ones."""
    quantiles: list[Quantile]
    histogram: list[Bin]
    """Bins of equal width, without those that hold none."""


class Picture(Part):
    """A sort of image, in pixels and bits per channel, and how many there are."""

    format: str
    height: int
    width: int
    channels: int
    """1 grey, 3 RGB, 4 with alpha."""
    bits: int
    count: int


class Images(Part):
    """What headers of images say."""

    count: int
    heights: Numbers
    widths: Numbers
    channels: list[dict[str, int]] | None
    """The numbers of channels, each with `channels` and `count`."""
    bits: list[dict[str, int]] | None
    """The bits per channel, each with `bits` and `count`."""
    sizes: list[Picture] | None
    """Null for more than 1024 different ones."""
    troubles: list[dict[str, int | str]] | None
    """Why a header does not say what the image is, each with `trouble` and `count`; null
    for too many reasons."""
    orientations: list[dict[str, int]] | None
    """Images that are not upright, each with `orientation` (EXIF) and `count`."""


class Tensor(Part):
    """A sort of serialized tensor, and how many there are."""

    dtype: str
    shape: list[int] | None
    """Null if the rank is unknown."""
    count: int


class Bytes(Part):
    """Some bytes values."""

    count: int
    utf8: int
    """How many are UTF-8."""
    sizes: Numbers
    formats: list[dict[str, int | str]] | None = Described(
        description=f"Each with `format` and `count`: {', '.join(_IMAGES)}; tensor for a "
        "serialized\ntf.TensorProto; text for UTF-8 without control characters; empty; "
        "raw for all else."
    )
    images: Images | None
    """Null if there are none."""
    tensors: list[Tensor] | None
    """Null for more than 1024 sorts."""
    distinct: list[dict[str, int | str]] | None
    """How often each value occurs, with `text` or else `base64`, and `count`; null for
    more than 1024 different ones, or one of more than 256 bytes."""


class Kind(Part):
    """The features of one key that are of one kind."""

    kind: Literal["bytes", "float", "int64", ""]
    """Empty for features without a list, which readers take for absent ones."""
    present: int
    """How many records, or steps, have one."""
    lengths: Numbers
    """How many values each has."""
    numbers: Numbers | None
    """Of kind bytes, the numbers of a scalar or short vector that the schema stores as raw
    bytes; null for other bytes."""
    bytes: Bytes | None


class Key(Part):
    """The features of one key; of SequenceExamples, of the context."""

    key: str
    present: int
    """How many records have it with a list."""
    kinds: list[Kind]


class FeatureList(Part):
    """The feature lists of one key. What kinds say of records is of steps here."""

    key: str
    present: int
    steps: Numbers
    """How many steps each has."""
    kinds: list[Kind]


class SampleFeature(Part):
    """A feature of a record."""

    kind: Literal["bytes", "float", "int64", ""]
    length: int
    values: list[int | float | str | dict[str, int | str | None]]
    """The first 100. Infinities and NaN are texts. Bytes have `bytes` (their number),
    `format`, of an image its size, and `text` if they are UTF-8."""


class KeyFeature(SampleFeature):
    """The feature of a key."""

    key: str


class StepFeature(SampleFeature):
    """The feature of a step."""

    step: int


class SampleList(Part):
    """A feature list of a record."""

    key: str
    steps: int
    features: list[StepFeature]
    """Of the first 100 steps."""


class Sample(Part):
    """A record."""

    file: str
    record: int
    """Its number in the file, counted from 0."""
    offset: int
    """Where its bytes begin in the file; in a compressed one, in what it inflates to."""
    bytes: int
    features: list[KeyFeature]
    feature_lists: list[SampleList]


class Split(Part):
    """A split."""

    split: str
    """Its name; empty where it is unknown."""
    record: str | None
    """The record that wrote it, by the manifest."""
    fingerprint: str | None
    """Of the spec that wrote it, likewise."""
    records: int
    """How many can be read."""
    shards: int
    """The number of its files."""
    bytes: int
    """Their size on disk."""
    compression: str = Described(
        description=f"Empty, {ANY}; files that differ have a list."
    )
    message: Literal["Example", "SequenceExample", "mixed"]
    sequences: int
    """How many are SequenceExamples."""
    malformed: int
    """How many are neither; they are in nothing below."""
    sizes: Numbers
    """Of the records, in bytes."""
    more_keys: bool
    """Whether there are more keys than are told apart."""
    keys: list[Key]
    feature_lists: list[FeatureList]
    unknown: list[dict[str, int | str]]
    """What no Example has: `what`, and `count` of records."""
    repeated: list[dict[str, int | str]]
    """Keys that occur twice in a record: `key`, and `count` of records."""
    samples: list[Sample]
    """A few records, spread over the split."""


class Damage(Part):
    """A place at which no record can be read."""

    record: int
    """The number of the record, counted from 0."""
    offset: int
    kind: str
    """One word for all damages of this sort."""
    found: str
    expected: str
    cause: str
    """The likely cause; empty if nothing speaks for one."""
    skipped: int | None
    """How many bytes were passed over; null if nothing after it can be read."""


class File(Part):
    """A file."""

    path: str
    split: str
    """By the manifest or its name; empty if neither says."""
    bytes: int
    compression: Annotated[str, _COMPRESSION]
    """What its first bytes say."""
    records: int
    listed: int | None
    """How many the manifest lists; null if it does not list the file."""
    complete: bool
    """Whether it was read to its end."""
    foreign: str | None
    """What its records are if none of them has a key of an Example."""
    damaged: int
    """The number of places at which no record can be read."""
    damages: list[Damage]
    """The first of these places."""


class Gap(Part):
    """What names of files say of others that are not there."""

    split: str
    path: str
    """The first file that is missing; of mixed names, a file of the smallest number."""
    kind: Literal["missing", "mixed"]
    text: str


class Field(Part):
    """A field of the schema, or a key that it does not have."""

    name: str
    key: str
    kind: str
    """The kind in words, or the types of the lists."""
    batch: str
    """dtype and shape in a batch; empty without a schema."""
    role: str
    """input, target, weight or info; empty without a schema."""
    optional: bool
    doc: str
    missing: dict[str, int]
    """In how many records of each split it is missing."""
    lengths: dict[str, int | float | None]
    """The `minimum` and `maximum` of the values of a record, or a step."""
    numbers: dict[str, int | float | None] | None
    """`minimum`, `maximum`, `mean`, `nan` and `infinite`; null for bytes."""
    values: str
    """The values in words, for people."""


class ClassCount(Part):
    """A class."""

    name: str
    counts: dict[str, int]
    """By split."""


class Classes(Part):
    """The classes of a field, or values that look like classes."""

    field: str
    declared: bool
    """Whether a schema says that these are classes."""
    classes: list[ClassCount]


class Compared(Part):
    """A measure of a field in two splits, the larger effects first and info fields last."""

    field: str
    key: str
    splits: tuple[str, str]
    measure: str
    values: tuple[float, float]
    unit: Literal["Cohen's h", "Cohen's d", "ratio"]
    effect: float | None
    """The size of the difference; null without a bound, as between two constants."""


class Place(Part):
    """A record that is there again; -1 is a record of a damaged file."""

    file: str
    record: int
    same_file: str
    """The file of a record that it is equal to."""
    same_record: int


class Repeated(Part):
    """Equal records, or values that identify records, in one split or in two."""

    field: str | None
    """Null for whole records."""
    key: str | None
    splits: list[str]
    count: int
    share: float
    """Of the records of the smaller split."""
    files: int
    """How many files of the last split have some; 0 if that is unknown."""
    places: list[Place]
    """The first ones."""


class Manifest(Part):
    """What the manifest of the directory says."""

    record: str
    fingerprint: str
    format: int
    sha256: str


class Document(Part):
    """What inspect prints to stdout with --format json, unless it exits with 2."""

    version: Literal[1]
    """Of this shape. It grows when an entry goes or changes its meaning."""
    data: str
    """What was inspected, as it was given."""
    title: str
    """The name of the record's class, or of the data."""
    doc: str
    """The docstring of the record; empty without one."""
    described_by: str
    """The version of schemagen."""
    limit: int | None
    """Only so many records of each split were read; null for all."""
    sound: bool
    """Whether nothing is damaged, every record is an Example, and the files hold what the
    manifest lists. The exit code is 1 if not."""
    manifest: Manifest | None
    manifest_problem: str
    """Why the manifest cannot be read; empty if it can, or there is none."""
    unlisted: list[str]
    """Files in the directory that its manifest does not list; they were not read."""
    publishing: list[str]
    """Splits that are being published; their files are read by their hidden names."""
    gaps: list[Gap]
    passed_over: list[str]
    """What else is in a directory without a manifest; directories end with a slash."""
    files: list[File]
    splits: list[Split]
    fields: list[Field]
    """The fields in the order of the schema, then further keys."""
    classes: list[Classes]
    differences: list[Compared]
    """The first split compared with each other one, of 30 or more records."""
    duplicates: list[Repeated]
    facts: list[Fact]
    """The same as one list, as text, Markdown and the page show it."""
    findings: list[dict[str, Any]]
    """What --fail-on has found, as findings.schema.json describes them."""
