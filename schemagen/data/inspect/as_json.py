"""Everything that inspecting has found, as JSON: docs/inspect.schema.json."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ...findings import Finding, render_json
from ...runtime.codecs.tensor_proto import TensorHead
from ...runtime.native import BYTES
from ...runtime.reading.fields import MalformedError
from ...runtime.reading.message import Feature, Message, parse_message
from ..profile.comparison import Difference
from ..profile.profile import Profile
from ..profile.repetitions import Repetition
from ..statistics.bytes_values import BytesValues, Picture, content_of
from ..statistics.model import (
    FileStatistics,
    KeyStatistics,
    RecordStatistics,
    WrittenBy,
)
from ..statistics.numbers import Numbers, quantile
from ..statistics.samples import Sample

VERSION = 1

_Json = dict[str, Any]

# Of a list in a sample so many values are given, and of a text so many characters.
_VALUES = 100
_CHARACTERS = 1000

# Attributes that are in the document as they are.
_OF_DATA = ("limit", "sound", "unlisted", "manifest_problem", "publishing")
_OF_FILE = ("path", "split", "bytes", "compression", "records", "complete")
_OF_DAMAGE = ("record", "offset", "kind", "found", "expected", "cause", "skipped")
_OF_SPLIT = ("records", "message", "sequences", "malformed", "more_keys")
_OF_NUMBERS = ("count", "minimum", "maximum", "mean", "zeros", "whole", "nan")
_QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


def inspection_json(
    profile: Profile, findings: Iterable[Finding] = (), *, records: int
) -> str:
    """Return what has been found as JSON text, with so many records of each split."""
    found = profile.statistics
    data = {
        "version": VERSION,
        "data": found.where,
        **named(found, *_OF_DATA),
        "gaps": [
            {
                **named(gap, "split", "text"),
                "path": str(gap.path),
                "kind": "mixed" if gap.mixed else "missing",
            }
            for gap in found.gaps
        ],
        "passed_over": found.other_files,
        "files": [_file(file) for file in found.files],
        "splits": [
            _split(name, split, found.written_by.get(name), records)
            for name, split in found.splits.items()
        ],
        "differences": [*map(_difference, profile.differences)],
        "repetitions": [*map(_repetition, profile.repetitions.found)],
        "findings": json.loads(render_json(findings))["findings"],
    }
    return json.dumps(data, indent=2, allow_nan=False) + "\n"


def _difference(found: Difference) -> _Json:
    return {
        "field": found.column.name,
        "key": found.column.key,
        "splits": [split.name for split in found.splits],
        "measure": found.measure,
        "values": [*found.values],
        "unit": found.unit,
        "effect": found.effect if math.isfinite(found.effect) else None,
    }


def _repetition(found: Repetition) -> _Json:
    return {
        "field": found.column.name if found.column else None,
        "key": found.column.key if found.column else None,
        "splits": [split.name for split in found.splits],
        "count": found.count,
        "share": found.share,
        "files": found.files,
        "places": [
            {"file": again.file, "record": again.record}
            | {"same_file": first.file, "same_record": first.record}
            for again, first in found.places
        ],
    }


def named(found: object, *names: str) -> _Json:
    """Return attributes by their names."""
    return {name: getattr(found, name) for name in names}


def _file(file: FileStatistics) -> _Json:
    return {
        **named(file, *_OF_FILE, "listed", "damaged"),
        "foreign": file.foreign or None,
        "damages": [named(damage, *_OF_DAMAGE) for damage in file.damages],
    }


def _split(
    name: str, found: RecordStatistics, written: WrittenBy | None, records: int
) -> _Json:
    return {
        "split": name,
        "record": written and written.record,
        "fingerprint": written and written.fingerprint,
        **named(found, *_OF_SPLIT),
        "sizes": _numbers(found.sizes),
        "keys": [
            {**named(key, "key", "present"), "kinds": _kinds(key)}
            for key in found.keys.values()
        ],
        "feature_lists": [
            {
                **named(lists, "key", "present"),
                "steps": _numbers(lists.steps),
                "kinds": _kinds(lists.values),
            }
            for lists in found.steps.values()
        ],
        "unknown": _counts(found.unknown, "what"),
        "repeated": _counts(found.repeated, "key"),
        "samples": [_sample(sample) for sample in found.samples[:records]],
    }


def _counts(counts: Mapping[Any, int] | None, name: str) -> list[_Json] | None:
    """Return counts, the greatest first; None for more than are counted."""
    return _rows(counts, lambda value: {name: value}, _frequent)


def _rows(
    counts: Mapping[Any, int] | None,
    row: Callable[[Any], _Json],
    order: Callable[[tuple[Any, int]], Any] | None = None,
) -> list[_Json] | None:
    """Return counts with what is said of their values; None for more than are counted."""
    if counts is None:
        return None
    some = sorted(counts.items(), key=order)
    return [{**row(value), "count": count} for value, count in some]


def _frequent(each: tuple[Any, int]) -> tuple[int, Any]:
    return -each[1], each[0]


def _kinds(found: KeyStatistics) -> list[_Json]:
    return [
        {
            "kind": kind,
            "present": held.present,
            "lengths": _numbers(held.lengths),
            "numbers": None if held.numbers is None else _numbers(held.numbers),
            "bytes": None if held.bytes is None else _bytes(held.bytes),
        }
        for kind, held in found.by_kind.items()
    ]


def _numbers(found: Numbers) -> _Json:
    return {
        **named(found, *_OF_NUMBERS),
        "negative_infinity": found.infinite[0],
        "positive_infinity": found.infinite[1],
        "distinct": _rows(found.distinct, lambda value: {"value": value}),
        "quantiles": []
        if not found.finite
        else [
            {"share": share, "value": quantile(found, share)} for share in _QUANTILES
        ],
        "histogram": [
            {"low": low, "high": high if math.isfinite(high) else None, "count": count}
            for low, high, count in found.histogram.bins()
        ],
    }


def _bytes(found: BytesValues) -> _Json:
    return {
        **named(found, "count", "utf8"),
        "sizes": _numbers(found.sizes),
        "formats": _counts(found.formats, "format"),
        "images": None
        if not found.images
        else {
            "count": found.images,
            "heights": _numbers(found.heights),
            "widths": _numbers(found.widths),
            "channels": _counts(found.channels, "channels"),
            "bits": _counts(found.depths, "bits"),
            "sizes": _rows(found.pictures, Picture._asdict),
            "troubles": _counts(found.troubles, "trouble"),
            **_orientations(found),
        },
        "tensors": _rows(found.tensors, TensorHead._asdict, order=repr),
        "distinct": _rows(found.distinct, _text_or_base64, _frequent),
    }


def _orientations(found: BytesValues) -> _Json:
    """Return an entry for images that are not upright, if there are any."""
    counts = _counts(found.orientations, "orientation")
    return {"orientations": counts} if counts else {}


def _text_or_base64(value: bytes) -> _Json:
    try:
        return {"text": value.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


def _sample(sample: Sample) -> _Json:
    try:
        message = parse_message(sample.data)
    except MalformedError:
        message = Message()
    return {
        "file": sample.file,
        "record": sample.number,
        "offset": sample.offset,
        "bytes": len(sample.data),
        "features": [
            {"key": key, **_feature(feature, sample.data)}
            for key, feature in sorted(message.features.items())
        ],
        "feature_lists": [
            {
                "key": key,
                "steps": len(steps),
                "features": [
                    {"step": at, **_feature(feature, sample.data)}
                    for at, feature in enumerate(steps[:_VALUES])
                ],
            }
            for key, steps in sorted(message.lists.items())
        ],
    }


def _feature(feature: Feature, data: bytes) -> _Json:
    """Return the kind of a feature, how many values it has, and the first of them."""
    some = feature.values[:_VALUES]
    values: list[Any]
    if feature.kind == BYTES:
        values = [_bytes_value(data[start:stop]) for start, stop in some]
    else:
        # JSON has no NaN and no infinity, which become text.
        values = [value if math.isfinite(value) else str(value) for value in some]
    return {"kind": feature.kind, "length": len(feature.values), "values": values}


def _bytes_value(value: bytes) -> _Json:
    content = content_of(value)
    data = {"bytes": len(value), "format": content.format}
    if content.picture is not None:
        data |= content.picture._asdict()
    if content.utf8:
        data["text"] = value[: 4 * _CHARACTERS].decode(errors="ignore")[:_CHARACTERS]
    return data
