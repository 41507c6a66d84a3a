"""A description in Croissant, the JSON-LD of ML Commons for data sets.

Croissant knows where files are, what a field is called and of which type it is. No tool
of it extracts values from TFRecord files, so that this describes and does not load.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ...kinds.field import FieldSpec
from ...kinds.label import Label
from ...kinds.mask import Mask
from ...kinds.multilabel import MultiLabel
from ...runtime.storage.manifest import Split
from ...spec.model import RecordSpec
from .notes import Notes
from .values import CLASS, PICTURE, value_of

Json = dict[str, Any]

# What a description may be given by hand, and what a validator recommends.
PROPERTIES = (
    "citeAs",
    "creator",
    "datePublished",
    "description",
    "license",
    "name",
    "publisher",
    "url",
    "version",
)
RECOMMENDED = ("citeAs", "datePublished", "license", "url", "version")

MIME_TYPE = "application/x-tfrecord"

_CONFORMS_TO = "http://mlcommons.org/croissant/1.1"
_CR_TERMS = (
    "arrayShape citeAs column equivalentProperty extract field fileObject fileProperty "
    "fileSet format includes isArray isLiveDataset jsonPath key md5 parentField path "
    "recordSet references regex repeated replace samplingRate separator source subField "
    "transform"
)
_CONTEXT: Json = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    **{term: f"cr:{term}" for term in _CR_TERMS.split()},
}

_DATA_TYPES = {
    "bool": "sc:Boolean",
    "class id": "sc:Integer",
    PICTURE: "sc:ImageObject",
    **{f"int{bits}": f"cr:Int{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"cr:UInt{bits}" for bits in (8, 16, 32, 64)},
    **{f"float{bits}": f"cr:Float{bits}" for bits in (16, 32, 64)},
}
_FILES = "files"


def description(
    spec: RecordSpec,
    splits: Mapping[str, Split],
    sha256: Mapping[str, str],
    given: Mapping[str, str],
    notes: Notes,
) -> Json:
    """Return the JSON-LD of a record and its data.

    Args:
        spec: of the record.
        splits: what the manifest says of each, by name; empty where data is not known.
        sha256: of each shard, by its file's name.
        given: properties that only a person knows, such as the license.
        notes: what is approximated.
    """
    found: Json = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": _CONFORMS_TO,
        "name": spec.record,
    }
    if spec.doc:
        found["description"] = spec.doc
    found.update(given)
    files = [
        _file(shard.file, shard.bytes, sha256[shard.file])
        for split in splits.values()
        for shard in split.shards
    ]
    found["distribution"] = [*files, _file_set([file["@id"] for file in files])]
    found["recordSet"] = [
        *_splits(splits),
        *(
            _enumeration(spec, field)
            for field in spec.fields
            if isinstance(field.kind, (Label, MultiLabel))
        ),
        _records(spec, notes),
    ]
    return found


def dumps(data: Json) -> str:
    """Write JSON-LD for people to read; non-ASCII text stays as it is."""
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _file(name: str, size: int, sha256: str) -> Json:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{size} B",
        "encodingFormat": MIME_TYPE,
        "sha256": sha256,
    }


def _file_set(files: list[str]) -> Json:
    found: Json = {"@type": "cr:FileSet", "@id": _FILES, "name": _FILES}
    if files:
        found["containedIn"] = [{"@id": file} for file in files]
    return {**found, "encodingFormat": MIME_TYPE, "includes": "*.tfrecord*"}


def _splits(splits: Mapping[str, Split]) -> Iterator[Json]:
    if splits:
        rows = [
            {"splits/name": name, "splits/records": split.records}
            for name, split in splits.items()
        ]
        yield {
            "@type": "cr:RecordSet",
            "@id": "splits",
            "name": "splits",
            "dataType": "cr:Split",
            "key": {"@id": "splits/name"},
            "field": [
                _inline("splits/name", "sc:Text"),
                _inline("splits/records", "sc:Integer"),
            ],
            "data": rows,
        }


def _inline(name: str, data_type: str) -> Json:
    short = name.rpartition("/")[2]
    return {"@type": "cr:Field", "@id": name, "name": short, "dataType": data_type}


def _enumeration_name(spec: RecordSpec, field: FieldSpec) -> str:
    return f"{spec.record}.{field.name}.classes"


def _enumeration(spec: RecordSpec, field: FieldSpec[Label | MultiLabel]) -> Json:
    """Return the classes of a field, with what stands for each on disk."""
    name = _enumeration_name(spec, field)
    id_, text = f"{name}/id", f"{name}/name"
    fields = [_inline(id_, "sc:Integer")]
    rows: list[Json] = [{id_: at + field.kind.offset} for at in range(field.kind.count)]
    if field.kind.class_names:
        fields.append(_inline(text, "sc:Text"))
        for row, given in zip(rows, field.kind.class_names, strict=True):
            row[text] = given
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "dataType": "sc:Enumeration",
        "key": {"@id": text if field.kind.stored == "text" else id_},
        "field": fields,
        "data": rows,
    }


def _records(spec: RecordSpec, notes: Notes) -> Json:
    return {
        "@type": "cr:RecordSet",
        "@id": spec.record,
        "name": spec.record,
        "field": [_field(spec, field, notes) for field in spec.fields],
    }


def _field(spec: RecordSpec, field: FieldSpec, notes: Notes) -> Json:
    found: Json = {
        "@type": "cr:Field",
        "@id": f"{spec.record}/{field.name}",
        "name": field.name,
    }
    if field.doc:
        found["description"] = field.doc
    dtype, shape = value_of(field)
    stored = getattr(getattr(field.kind, "step", field.kind), "stored", "id")
    if dtype == CLASS:
        dtype = "class id" if stored == "id" else "string"
    if dtype not in (*_DATA_TYPES, "string"):
        notes.add(field, f"{dtype} as sc:Text")
    found["dataType"] = _DATA_TYPES.get(dtype, "sc:Text")
    if field.path:
        notes.add(field, f"named {field.name!r}")
    notes.leave_out(field, "optional", "default", "max_length", "max_count", "group")
    if isinstance(field.kind, Mask):
        notes.leave_out(field, "num_classes", "classes", "ignore")
    if shape:
        found["isArray"] = True
        found["arrayShape"] = ",".join("-1" if n is None else str(n) for n in shape)
    if isinstance(field.kind, (Label, MultiLabel)):
        part = "name" if stored == "text" else "id"
        reference = f"{_enumeration_name(spec, field)}/{part}"
        found["references"] = {"field": {"@id": reference}}
    source = {"fileSet": {"@id": _FILES}, "extract": {"column": field.key}}
    return {**found, "source": source}
