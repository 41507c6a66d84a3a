"""The description of a dataset as JSON: docs/describe.schema.json."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..inspect.as_json import named
from .description import DataDescription, FieldFacts

_Json = dict[str, Any]

_OF_SPLIT = ("records", "shards", "bytes", "compression", "fingerprint")
_OF_FIELD = ("name", "key", "kind", "batch", "role", "optional", "doc", "values")


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
            {"split": split.name, **named(split, *_OF_SPLIT)} for split in found.splits
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
        **named(field, *_OF_FIELD),
        "missing": dict(field.missing),
        "lengths": named(field.lengths, "minimum", "maximum"),
        "numbers": field.numbers
        and {
            **named(field.numbers, "minimum", "maximum", "mean", "nan"),
            "infinite": sum(field.numbers.infinite),
        },
    }
