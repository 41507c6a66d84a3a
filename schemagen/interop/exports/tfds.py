"""A dataset directory that `tfds.builder_from_directory` reads.

TFDS parses records with features of its own, which are named by keys here. Whatever it
cannot make the same value of as the generated parser is given as what is stored.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from ...kinds.field import FieldSpec
from ...kinds.image import Image
from ...kinds.images import Images
from ...kinds.label import Label
from ...kinds.multilabel import MultiLabel
from ...kinds.ragged import Ragged
from ...kinds.scalar import Scalar
from ...kinds.storage import BYTES, Entry
from ...kinds.tensor import Tensor
from ...kinds.text import Text
from ...kinds.varlen import VarLen
from ...kinds.vector import Vector
from ...runtime.shared.values import RAW_ONLY
from ...runtime.storage.manifest import Split
from ...spec.model import RecordSpec
from .tfds_mapping import (
    decoded,
    has_ragged_names,
    listed_with_one_gap,
    names_in_lines,
    ragged_stem,
    raw_decoded,
    raw_dtype,
)

Json = dict[str, Any]

FEATURES_FILE = "features.json"
INFO_FILE = "dataset_info.json"
VERSION = "1.0.0"

# What our shards are called, in the words of TFDS.
TEMPLATE = "{SPLIT}-{SHARD_X_OF_Y}.{FILEFORMAT}"

_MODULE = "tensorflow_datasets.core.features"


def features(spec: RecordSpec) -> Json:
    """Return the contents of `features.json`, by the keys of an Example."""
    found: Json = {}
    for field in spec.fields:
        for name, feature in _features_of(field).items():
            if name not in found or not _is_optional(feature):
                found[name] = feature
    return {
        "type": f"{_MODULE}.features_dict.FeaturesDict",
        "content": {"features": dict(sorted(found.items()))},
        "proto_cls": "tensorflow_datasets.FeaturesDict",
    }


def label_files(spec: RecordSpec) -> dict[str, str]:
    """Return the files of class names, by their names.

    Of two fields whose files would have one name neither gets one.
    """
    found: dict[str, str] = {}
    claimed = Counter(_file_name(field.key) for field in spec.fields)
    for field in spec.fields:
        if isinstance(field.kind, (Label, MultiLabel)) and _is_class(field):
            name = _file_name(field.key)
            named = field.kind.class_names and names_in_lines(field.kind.class_names)
            if named and claimed[name] == 1:
                found[f"{name}.labels.txt"] = "".join(
                    f"{n}\n" for n in field.kind.class_names
                )
    return found


def dataset_info(spec: RecordSpec, splits: Mapping[str, Split]) -> Json:
    """Return the contents of `dataset_info.json`.

    Args:
        spec: of the record.
        splits: what the manifest says of each, by name.
    """
    info: Json = {
        "name": spec.record,
        "description": spec.doc,
        "version": VERSION,
        "fileFormat": "tfrecord",
        "moduleName": "schemagen",
        "splits": [
            {
                "name": name,
                "shardLengths": [str(shard.records) for shard in split.shards],
                "numBytes": str(sum(shard.bytes for shard in split.shards)),
                "filepathTemplate": TEMPLATE,
            }
            for name, split in splits.items()
        ],
    }
    inputs, targets = spec.with_role("input"), spec.with_role("target")
    if len(inputs) == len(targets) == 1:
        pair = {"input": inputs[0].key, "output": targets[0].key}
        info["supervisedKeys"] = pair
    return info


def dumps(data: Json) -> str:
    """Write JSON as TFDS does, for people to read."""
    return json.dumps(data, indent=4, sort_keys=True) + "\n"


def _features_of(field: FieldSpec) -> dict[str, Json]:
    if has_ragged_names(field) and isinstance(field.kind, Ragged):
        rows = _sequence(_sequence(_tensor((), field.kind.dtype)))
        return {ragged_stem(field): _described(rows, field)}
    value, *others = field.storage
    found = {value.key: _described(_value(field, value), field)}
    for entry in others:
        found[entry.key] = _stored(entry, field.optional)
    return found


def _value(field: FieldSpec, entry: Entry) -> Json:
    """Return the feature for a field's value."""
    match field.kind:
        case Image() if decoded(field):
            return _image(field)
        case Images() if decoded(field):
            return _sequence(_image(field), field.kind.count)
        case Label() if _is_class(field):
            return _class(field)
        case MultiLabel() if _is_class(field):
            return _sequence(_class(field))
        case Text() if not field.optional:
            return {"pythonClassName": f"{_MODULE}.text_feature.Text", "text": {}}
        case Vector() if entry.stored != BYTES:
            return _tensor(field.kind.shape, field.kind.dtype, optional=field.optional)
        case Scalar() if entry.stored != BYTES:
            return _tensor((), field.kind.dtype, optional=field.optional)
        case Tensor() if listed_with_one_gap(field) and entry.stored != BYTES:
            return _tensor(field.kind.shape, field.kind.dtype)
        case VarLen() if field.kind.dtype not in RAW_ONLY:
            return _tensor((None, *field.kind.item_shape), field.kind.dtype)
    if raw_decoded(field):
        return _tensor(_raw_shape(field), raw_dtype(field) or "", "bytes")
    return _stored(entry, field.optional, getattr(field.kind, "dtype", None))


def _raw_shape(field: FieldSpec) -> tuple[int | None, ...]:
    if isinstance(field.kind, VarLen):
        return (None, *field.kind.item_shape)
    return tuple(getattr(field.kind, "shape", ()))


def _stored(entry: Entry, optional: bool, dtype: str | None = None) -> Json:
    """Return the feature that delivers what is stored."""
    if entry.stored == BYTES:
        dtype = "string"
    elif entry.part != "value" or dtype is None:
        dtype = entry.stored
    if entry.count == 1:
        return _tensor((), dtype, optional=optional)
    return _tensor((None,), dtype)


def _is_class(field: FieldSpec[Label | MultiLabel]) -> bool:
    plain = field.kind.stored == "id" and field.kind.offset == 0
    return plain and (isinstance(field.kind, MultiLabel) or not field.optional)


def _class(field: FieldSpec[Label | MultiLabel]) -> Json:
    return {
        "pythonClassName": f"{_MODULE}.class_label_feature.ClassLabel",
        "classLabel": {"numClasses": str(field.kind.count)},
    }


def _image(field: FieldSpec[Image | Images]) -> Json:
    dtype = field.kind.dtype if isinstance(field.kind, Image) else "uint8"
    return {
        "pythonClassName": f"{_MODULE}.image_feature.Image",
        "image": {
            "shape": _shape(field.kind.shape),
            "dtype": dtype,
            "encodingFormat": field.kind.encoding,
        },
    }


def _tensor(
    shape: tuple[int | None, ...],
    dtype: str,
    encoding: str = "none",
    *,
    optional: bool = False,
) -> Json:
    tensor: Json = {
        "shape": _shape(shape),
        "dtype": "string" if dtype == "bytes" else dtype,
        "encoding": encoding,
    }
    if optional:
        tensor["optional"] = True
    return {"pythonClassName": f"{_MODULE}.tensor_feature.Tensor", "tensor": tensor}


def _sequence(feature: Json, length: int | None = None) -> Json:
    return {
        "pythonClassName": f"{_MODULE}.sequence_feature.Sequence",
        "sequence": {
            "feature": feature,
            "length": "-1" if length is None else str(length),
        },
    }


def _shape(shape: tuple[int | None, ...]) -> Json:
    if not shape:
        return {}
    return {"dimensions": ["-1" if n is None else str(n) for n in shape]}


def _described(feature: Json, field: FieldSpec) -> Json:
    return {**feature, "description": field.doc} if field.doc else feature


def _is_optional(feature: Json) -> bool:
    return bool(feature.get("tensor", {}).get("optional"))


def _file_name(key: str) -> str:
    """Return what TFDS makes of a feature's name in the name of a file."""
    return key.replace("/", ".")
