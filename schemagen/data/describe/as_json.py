"""The description of a dataset as JSON: docs/describe.schema.json."""

from __future__ import annotations

from typing import Any

from ..statistics.numbers import Numbers
from .description import DataDescription, FieldFacts

_Json = dict[str, Any]


def description_data(found: DataDescription) -> _Json:
    """Return a description as values of JSON."""
    manifest = found.manifest
    return {
        "title": found.title,
        "doc": found.spec.doc if found.spec else "",
        "sound": found.sound,
        "limit": found.statistics.limit,
        "described_by": f"schemagen {found.version}",
        "manifest": manifest
        and {
            "record": manifest.record,
            "fingerprint": manifest.fingerprint,
            "format": manifest.format,
            "sha256": manifest.sha256,
        },
        "splits": [
            {
                "split": split.name,
                "records": split.records,
                "shards": split.shards,
                "bytes": split.bytes,
                "compression": split.compression,
                "fingerprint": split.fingerprint,
            }
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
                            split.name: counted.counts[split.name].get(name, 0)
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
        "name": field.name,
        "key": field.key,
        "kind": field.kind,
        "batch": field.batch,
        "role": field.role,
        "optional": field.optional,
        "doc": field.doc,
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
