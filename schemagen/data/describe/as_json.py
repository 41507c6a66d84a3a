"""The description of a dataset as JSON: docs/describe.schema.json."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..statistics.numbers import Numbers
from .description import DataDescription, FieldFacts

_Json = dict[str, Any]

_OF_SPLIT = ("records", "shards", "bytes", "compression", "fingerprint")
_OF_FIELD = ("name", "key", "kind", "batch", "role", "optional", "doc")


def description_data(found: DataDescription) -> _Json:
    """Return a description as values of JSON."""
    return {
        "title": found.title,
        "doc": found.spec.doc if found.spec else "",
        "sound": found.sound,
        "limit": found.statistics.limit,
        "described_by": f"schemagen {found.version}",
        "manifest": found.manifest and asdict(found.manifest),
        "splits": [
            {"split": split.name} | {key: getattr(split, key) for key in _OF_SPLIT}
            for split in found.splits
        ],
        "fields": [_field(field) for field in found.fields],
        "classes": [
            {
                "field": counted.name,
                "declared": counted.declared,
                "classes": [
                    {
                        "name": name,
                        "counts": {
                            split.name: counted.counts.get(split.name, {}).get(name, 0)
                            for split in found.splits
                        },
                    }
                    for name in counted.classes
                ],
            }
            for counted in found.classes
        ],
    }


def _field(field: FieldFacts) -> _Json:
    return {
        **{key: getattr(field, key) for key in _OF_FIELD},
        "missing": dict(field.missing),
        "lengths": _range(field.lengths),
        "numbers": None
        if field.numbers is None
        else {
            **_range(field.numbers),
            "mean": field.numbers.mean,
            "nan": field.numbers.nan,
            "infinite": sum(field.numbers.infinite),
        },
        "values": field.values,
    }


def _range(found: Numbers) -> _Json:
    return {"minimum": found.minimum, "maximum": found.maximum}
