"""What has been found, as JSON."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from ...findings import Finding, render_json
from ...runtime.cells.message import Feature, MalformedError, Message, parse_message
from ...runtime.interface import installed_version
from ...runtime.native import BYTES
from ..profile.classes import ClassCounts
from ..profile.columns import Column, title_of
from ..profile.comparison import Difference
from ..profile.duplicates import Duplicate
from ..profile.facts import facts_of
from ..profile.profile import Profile
from ..profile.words import values_of
from ..statistics import bytes_values, model, numbers, samples
from ..statistics.bytes_values import content_of
from .document import (
    Bin,
    Bytes,
    ClassCount,
    Classes,
    Compared,
    Damage,
    Document,
    Fact,
    FeatureList,
    Field,
    File,
    Gap,
    Images,
    Key,
    KeyFeature,
    Kind,
    Manifest,
    Numbers,
    Part,
    Picture,
    Place,
    Quantile,
    Repeated,
    Sample,
    SampleList,
    Split,
    StepFeature,
    Tensor,
)

Sort = TypeVar("Sort", bound=Part)

VERSION = 1

# Of a list in a sample so many values are given, and of a text so many characters.
_VALUES = 100
_CHARACTERS = 1000

_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")

_QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


def document_of(
    profile: Profile, findings: Iterable[Finding] = (), *, records: int
) -> Document:
    """Return what has been found, with so many records of each split."""
    found = profile.statistics
    fields = profile.spec.fields if profile.spec else ()
    order = {field.key: at for at, field in enumerate(fields)}

    def place(column: Column) -> int:
        return order.get(column.key, len(order))

    return Document.taken(
        found,
        version=VERSION,
        data=found.where,
        title=title_of(found, profile.spec),
        doc=profile.spec.doc if profile.spec else "",
        described_by=installed_version(),
        manifest=profile.manifest and Manifest.taken(profile.manifest),
        gaps=[
            Gap.taken(gap, path=str(gap.path), kind="mixed" if gap.mixed else "missing")
            for gap in found.gaps
        ],
        passed_over=found.other_files,
        files=[_file(file) for file in found.files],
        splits=[_split(profile, split.name, records) for split in profile.splits],
        fields=[
            _field(profile, column) for column in sorted(profile.columns, key=place)
        ],
        classes=[
            _classes(profile, counted)
            for counted in sorted(
                profile.likely_classes, key=lambda each: place(each.column)
            )
        ],
        differences=[*map(compared, profile.differences)],
        duplicates=[*map(_repeated, profile.duplicates.found)],
        facts=[Fact.taken(fact) for fact in facts_of(profile)],
        findings=json.loads(render_json(findings))["findings"],
    )


def text_of(document: Part) -> str:
    """Return a document as JSON text in ASCII."""
    text = document.model_dump_json(indent=2) + "\n"
    return _NOT_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _file(file: model.FileStatistics) -> File:
    damages = [Damage.taken(damage) for damage in file.damages]
    return File.taken(file, foreign=file.foreign or None, damages=damages)


def _split(profile: Profile, name: str, records: int) -> Split:
    found = profile.statistics.splits[name]
    written = profile.statistics.written_by.get(name)
    files = profile.statistics.files_of(name)
    compressions = sorted({file.compression for file in files})
    several = len(compressions) > 1
    return Split.taken(
        found,
        split=name,
        record=written and written.record,
        fingerprint=written and written.fingerprint,
        shards=len(files),
        bytes=sum(file.bytes for file in files),
        compression=", ".join(
            each or "none" if several else each for each in compressions
        ),
        sizes=_numbers(found.sizes),
        keys=[Key.taken(key, kinds=_kinds(key)) for key in found.keys.values()],
        feature_lists=[
            FeatureList.taken(
                each, steps=_numbers(each.steps), kinds=_kinds(each.values)
            )
            for each in found.steps.values()
        ],
        unknown=_rows(found.unknown, "what"),
        repeated=_rows(found.repeated, "key"),
        samples=[_sample(sample) for sample in found.samples[:records]],
    )


def _kinds(found: model.KeyStatistics) -> list[Kind]:
    return [
        Kind.taken(
            held,
            kind=kind,
            lengths=_numbers(held.lengths),
            numbers=held.numbers and _numbers(held.numbers),
            bytes=held.bytes and _bytes(held.bytes),
        )
        for kind, held in found.by_kind.items()
    ]


def _numbers(found: numbers.Numbers) -> Numbers:
    quantiles = _QUANTILES if found.finite else ()
    return Numbers.taken(
        found,
        negative_infinity=found.infinite[0],
        positive_infinity=found.infinite[1],
        distinct=_rows(found.distinct, "value", by_count=False),
        quantiles=[
            Quantile(share=share, value=numbers.quantile(found, share))
            for share in quantiles
        ],
        histogram=[
            Bin(low=low, high=high if math.isfinite(high) else None, count=count)
            for low, high, count in found.histogram.bins()
        ],
    )


def _bytes(found: bytes_values.BytesValues) -> Bytes:
    images = None
    if found.images:
        images = Images(
            count=found.images,
            heights=_numbers(found.heights),
            widths=_numbers(found.widths),
            channels=_rows(found.channels, "channels"),
            bits=_rows(found.depths, "bits"),
            sizes=_each(Picture, found.pictures),
            troubles=_rows(found.troubles, "trouble"),
            orientations=_rows(found.orientations, "orientation"),
        )
    return Bytes.taken(
        found,
        sizes=_numbers(found.sizes),
        formats=_rows(found.formats, "format"),
        images=images,
        tensors=_each(Tensor, found.tensors),
        distinct=None
        if found.distinct is None
        else [
            {**_text_or_base64(value), "count": count}
            for value, count in sorted(found.distinct.items(), key=_frequent)
        ],
    )


def _rows(
    counts: Mapping[Any, int] | None, name: str, *, by_count: bool = True
) -> list[dict[str, Any]] | None:
    """Return counts with their values, the greatest first or the values in order."""
    if counts is None:
        return None
    order = _frequent if by_count else None
    return [
        {name: value, "count": count}
        for value, count in sorted(counts.items(), key=order)
    ]


def _each(sort: type[Sort], counts: Mapping[Any, int] | None) -> list[Sort] | None:
    """Return counts of named tuples, each with its entries."""
    if counts is None:
        return None
    some = sorted(counts.items(), key=lambda each: [*map(_sortable, each[0])])
    return [
        sort.model_validate({**value._asdict(), "count": count})
        for value, count in some
    ]


def _sortable(value: object) -> tuple[bool, Any]:
    """Return a value that can be compared with others and with None."""
    return value is not None, value


def _frequent(each: tuple[Any, int]) -> tuple[int, Any]:
    return -each[1], each[0]


def _text_or_base64(value: bytes) -> dict[str, str]:
    try:
        return {"text": value.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


def _field(profile: Profile, column: Column) -> Field:
    whole, declared = column.whole, column.declared
    return Field(
        name=declared.label if declared else column.key,
        key=column.key,
        kind=column.kind,
        batch=column.batch,
        role=declared.role if declared else "",
        optional=declared.optional if declared else False,
        doc=declared.doc if declared else "",
        missing={each.name: column.missing_in(each) for each in profile.splits},
        lengths=_limits(whole.lengths),
        numbers=None
        if whole.numbers is None
        else {
            **_limits(whole.numbers),
            "mean": whole.numbers.mean,
            "nan": whole.numbers.nan,
            "infinite": sum(whole.numbers.infinite),
        },
        values=values_of(column),
    )


def _limits(found: numbers.Numbers) -> dict[str, int | float | None]:
    return {"minimum": found.minimum, "maximum": found.maximum}


def _classes(profile: Profile, counted: ClassCounts) -> Classes:
    return Classes(
        field=counted.name,
        declared=counted.declared,
        classes=[
            ClassCount(
                name=name,
                counts={
                    split.name: counted.counts.get(split.name, {}).get(name, 0)
                    for split in profile.splits
                },
            )
            for name in counted.classes
        ],
    )


def compared(found: Difference) -> Compared:
    """Return a difference as `inspect` and `diff` print it."""
    return Compared.taken(
        found,
        field=found.column.name,
        key=found.column.key,
        measure=found.title,
        splits=tuple(split.name for split in found.splits),
        effect=found.effect if math.isfinite(found.effect) else None,
    )


def _repeated(found: Duplicate) -> Repeated:
    return Repeated.taken(
        found,
        field=found.column.name if found.column else None,
        key=found.column.key if found.column else None,
        splits=[split.name for split in found.splits],
        places=[
            Place(
                file=again.file,
                record=again.record,
                same_file=first.file,
                same_record=first.record,
            )
            for again, first in found.places
        ],
    )


def _sample(sample: samples.Sample) -> Sample:
    try:
        message = parse_message(sample.data)
    except MalformedError:
        message = Message()
    return Sample.taken(
        sample,
        record=sample.number,
        bytes=len(sample.data),
        features=[
            KeyFeature(key=key, **_feature(feature, sample.data))
            for key, feature in sorted(message.features.items())
        ],
        feature_lists=[
            SampleList(
                key=key,
                steps=len(steps),
                features=[
                    StepFeature(step=at, **_feature(feature, sample.data))
                    for at, feature in enumerate(steps[:_VALUES])
                ],
            )
            for key, steps in sorted(message.lists.items())
        ],
    )


def _feature(feature: Feature, data: bytes) -> dict[str, Any]:
    """Return the kind of a feature, how many values it has, and the first of them."""
    some = feature.values[:_VALUES]
    values: list[Any]
    if feature.kind == BYTES:
        values = [_bytes_value(data[start:stop]) for start, stop in some]
    else:
        # JSON has no NaN and no infinity, which become text.
        values = [value if math.isfinite(value) else str(value) for value in some]
    return {"kind": feature.kind, "length": len(feature.values), "values": values}


def _bytes_value(value: bytes) -> dict[str, Any]:
    content = content_of(value)
    data: dict[str, Any] = {"bytes": len(value), "format": content.format}
    if content.picture is not None:
        data |= content.picture._asdict()
    if content.utf8:
        data["text"] = value[: 4 * _CHARACTERS].decode(errors="ignore")[:_CHARACTERS]
    return data
