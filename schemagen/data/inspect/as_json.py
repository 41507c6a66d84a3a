"""Everything that inspecting has found, as JSON: docs/inspect.schema.json."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from ...runtime.codecs.tensor_proto import TensorHead
from ...runtime.reading.columns import Column
from ...runtime.reading.decoding import decode
from ...runtime.reading.message import BYTES
from ...runtime.reading.records import records_of
from ..statistics.bytes_values import BytesValues, Picture, content_of
from ..statistics.model import (
    DataStatistics,
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

_QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


def inspection_json(found: DataStatistics, *, records: int) -> str:
    """Return what has been found as JSON text, with so many records of each split."""
    data = inspection_data(found, records=records)
    return json.dumps(data, indent=2, allow_nan=False) + "\n"


def inspection_data(found: DataStatistics, *, records: int) -> _Json:
    """Return the same as values of JSON."""
    return {
        "version": VERSION,
        "data": found.where,
        "limit": found.limit,
        "sound": found.sound,
        "unlisted": list(found.unlisted),
        "manifest_problem": found.manifest_problem,
        "gaps": [
            {
                "split": gap.split,
                "path": str(gap.path),
                "kind": "mixed" if gap.mixed else "missing",
                "text": gap.text,
            }
            for gap in found.gaps
        ],
        "passed_over": list(found.other_files),
        "publishing": list(found.publishing),
        "files": [_file(file) for file in found.files],
        "splits": [
            _split(name, split, found.written_by.get(name), records)
            for name, split in found.splits.items()
        ],
    }


def _file(file: FileStatistics) -> _Json:
    return {
        "path": file.path,
        "split": file.split,
        "bytes": file.bytes,
        "compression": file.compression,
        "records": file.records,
        "listed": file.listed,
        "complete": file.complete,
        "foreign": file.foreign or None,
        "damaged": file.damaged,
        "damages": [
            {name: value for name, value in asdict(damage).items() if name != "file"}
            for damage in file.damages
        ],
    }


def _split(
    name: str, found: RecordStatistics, written: WrittenBy | None, records: int
) -> _Json:
    return {
        "split": name,
        "record": written and written.record,
        "fingerprint": written and written.fingerprint,
        "records": found.records,
        "message": found.message,
        "sequences": found.sequences,
        "malformed": found.malformed,
        "sizes": _numbers(found.sizes),
        "more_keys": found.more_keys,
        "keys": [_key(key) for key in found.keys.values()],
        "feature_lists": [
            {
                "key": lists.key,
                "present": lists.present,
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


def _key(found: KeyStatistics) -> _Json:
    return {"key": found.key, "present": found.present, "kinds": _kinds(found)}


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
        "count": found.count,
        "minimum": found.minimum,
        "maximum": found.maximum,
        "mean": found.mean,
        "zeros": found.zeros,
        "whole": found.whole,
        "nan": found.nan,
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
        "count": found.count,
        "sizes": _numbers(found.sizes),
        "utf8": found.utf8,
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
        },
        "tensors": _rows(found.tensors, _tensor, order=repr),
        "distinct": _rows(found.distinct, _text_or_base64, _frequent),
    }


def _tensor(found: TensorHead) -> _Json:
    shape = None if found.shape is None else list(found.shape)
    return {"dtype": found.dtype, "shape": shape}


def _text_or_base64(value: bytes) -> _Json:
    try:
        return {"text": value.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


def _sample(sample: Sample) -> _Json:
    found = decode(records_of([sample.data]))
    return {
        "file": sample.file,
        "record": sample.number,
        "offset": sample.offset,
        "bytes": len(sample.data),
        "features": [
            {"key": key, "kind": column.kind, **_feature(column, 0)}
            for key, some in found.by_key.items()
            for column in some
        ],
        "feature_lists": [
            {
                "key": key,
                "steps": int(lists.steps[0]),
                "features": [
                    {"step": row, "kind": column.kind, **_feature(column, at)}
                    for column in lists.columns
                    for at, row in enumerate(column.rows[:_VALUES].tolist())
                ],
            }
            for key, lists in found.steps.items()
        ],
    }


def _feature(column: Column, index: int) -> _Json:
    """Return how many values there are, and the first of them."""
    count, start = int(column.lengths[index]), int(column.starts[index])
    places = range(start, start + min(count, _VALUES))
    values: list[Any]
    if column.kind == BYTES:
        values = [_bytes_value(column.bytes_at(at)) for at in places]
    else:
        values = [_number(column.values[at].item()) for at in places]
    return {"length": count, "values": values}


def _number(value: float) -> float | str:
    """Return a number as it is; JSON has no NaN and no infinity, which become text."""
    return value if math.isfinite(value) else str(value)


def _bytes_value(value: bytes) -> _Json:
    content = content_of(value)
    data: _Json = {"bytes": len(value), "format": content.format}
    if content.picture is not None:
        _, height, width, channels, bits = content.picture
        data |= {"height": height, "width": width, "channels": channels, "bits": bits}
    if content.utf8:
        data["text"] = value[: 4 * _CHARACTERS].decode(errors="ignore")[:_CHARACTERS]
    return data
