"""A description in Croissant, the JSON-LD of ML Commons for datasets.

Croissant describes where files are, what a field is called and its type. Its tools do not
extract values from TFRecord files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...progress import track
from ...runtime.kinds.classes import Classed
from ...runtime.storage.manifest import SplitEntry
from ...spec.model import FieldSpec, RecordSpec
from .exporter import (
    CLASS,
    PICTURE,
    Exporter,
    Files,
    Notes,
    Request,
    value_of,
)

Json = dict[str, Any]

# What a person may add.
_PROPERTIES = (
    *("citeAs", "creator", "datePublished", "description", "license", "name"),
    *("publisher", "url", "version"),
)

_FORMAT = {"encodingFormat": "application/x-tfrecord"}
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
    "string": "sc:Text",
    "class id": "sc:Integer",
    PICTURE: "sc:ImageObject",
    **{f"int{bits}": f"cr:Int{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"cr:UInt{bits}" for bits in (8, 16, 32, 64)},
    **{f"float{bits}": f"cr:Float{bits}" for bits in (16, 32, 64)},
}
_TYPES_OF_COLUMNS = {"id": "sc:Integer", "name": "sc:Text", "records": "sc:Integer"}


def description(
    spec: RecordSpec,
    splits: Mapping[str, SplitEntry],
    data: Path,
    given: Mapping[str, str],
    notes: Notes,
) -> Json:
    """Return the JSON-LD of a record and its data.

    Args:
        spec: of the record.
        splits: what the manifest says about each, by name; empty without data.
        data: the directory of the splits.
        given: properties that only a person knows, such as the license.
        notes: what is approximated.
    """
    shards = [shard for split in splits.values() for shard in split.shards]
    files = [
        _node(
            "FileObject",
            shard.file,
            contentUrl=shard.file,
            contentSize=f"{shard.bytes} B",
            sha256=_sha256(data / shard.file),
            **_FORMAT,
        )
        for shard in track(shards, "hashing", "file")
    ]
    every_file = _node("FileSet", "files", includes="*.tfrecord*", **_FORMAT)
    if files:
        every_file["containedIn"] = [{"@id": file["@id"]} for file in files]
    fields = [_field(spec, field, notes) for field in spec.fields]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": spec.record,
        **({"description": spec.doc} if spec.doc else {}),
        **given,
        "distribution": [*files, every_file],
        "recordSet": [
            *_record_sets(spec, splits),
            _node("RecordSet", spec.record, field=fields),
        ],
    }


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _node(kind: str, name: str, **more: Any) -> Json:
    """Return a node of Croissant, which is called by the last part of its id."""
    short = name.rpartition("/")[2]
    return {"@type": f"cr:{kind}", "@id": name, "name": short, **more}


def _record_sets(spec: RecordSpec, splits: Mapping[str, SplitEntry]) -> Iterator[Json]:
    """Yield the splits, and the classes of each field with what is stored for each."""
    if splits:
        rows = [{"name": name, "records": s.records} for name, s in splits.items()]
        yield _table("splits", "cr:Split", "name", rows)
    for field in spec.fields:
        kind = field.kind
        if isinstance(codec := field.codec, Classed):
            ids = range(codec.count) if kind.stored == "text" else codec.stored_as
            rows = [{"id": each} for each in ids]
            for row, name in zip(rows, kind.classes or (), strict=False):
                row["name"] = name
            yield _table(_classes(spec, field), "sc:Enumeration", _key(kind), rows)


def _table(name: str, data_type: str, key: str, rows: list[Json]) -> Json:
    """Return a record set whose rows are in the description."""
    return _node(
        "RecordSet",
        name,
        dataType=data_type,
        key={"@id": f"{name}/{key}"},
        field=[
            _node("Field", f"{name}/{column}", dataType=_TYPES_OF_COLUMNS[column])
            for column in rows[0]
        ],
        data=[{f"{name}/{column}": row[column] for column in row} for row in rows],
    )


def _classes(spec: RecordSpec, field: FieldSpec) -> str:
    return f"{spec.record}.{field.name}.classes"


def _key(kind: Any) -> str:
    return "name" if kind.stored == "text" else "id"


def _field(spec: RecordSpec, field: FieldSpec, notes: Notes) -> Json:
    found = _node("Field", f"{spec.record}/{field.name}")
    if field.doc:
        found["description"] = field.doc
    dtype, shape = value_of(field)
    if dtype == CLASS:
        dtype = "class id" if field.kind.of_step.stored == "id" else "string"
    if dtype not in _DATA_TYPES:
        notes.add(field, f"{dtype} as sc:Text")
    found["dataType"] = _DATA_TYPES.get(dtype, "sc:Text")
    if field.path:
        notes.add(field, f"named {field.name!r}")
    notes.leave_out(field, "optional", "default", "max_length", "max_count", "group")
    if not field.codec.of_classes:
        notes.leave_out(field, "num_classes", "classes", "ignore")
    if field.numbered_keys:
        notes.add(field, f"only the first of {len(field.parts)} keys")
    if shape:
        found["isArray"] = True
        found["arrayShape"] = ",".join("-1" if n is None else str(n) for n in shape)
    if field.codec.of_classes:
        reference = f"{_classes(spec, field)}/{_key(field.kind)}"
        found["references"] = {"field": {"@id": reference}}
    found["source"] = {"fileSet": {"@id": "files"}, "extract": {"column": field.key}}
    return found


def _files(request: Request, notes: Notes) -> Files:
    described = description(
        request.spec, request.splits, request.data, request.given, notes
    )
    return {request.out: json.dumps(described, indent=2, ensure_ascii=False) + "\n"}


EXPORTER = Exporter(_files, sequences=True, properties=_PROPERTIES)
