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
from ...kinds.mask import Mask
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
from .notes import Notes
from .values import Shape, value_of

Json = dict[str, Any]

FEATURES_FILE = "features.json"
INFO_FILE = "dataset_info.json"
VERSION = "1.0.0"

# What our shards are called, in the words of TFDS.
TEMPLATE = "{SPLIT}-{SHARD_X_OF_Y}.{FILEFORMAT}"

_MODULE = "tensorflow_datasets.core.features"

# What tf.io.decode_raw and TFDS both know; other numbers are left as the bytes they are.
_RAW_READABLE = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16"),
    *("float16", "float32", "float64"),
)
_RAGGED_VALUES = "/ragged_flat_values"
_RAGGED_LENGTHS = "/ragged_row_lengths_0"


def features(spec: RecordSpec, notes: Notes) -> Json:
    """Return the contents of `features.json`, by the keys of an Example."""
    found: Json = {}
    for field in spec.fields:
        made = _features_of(field, notes)
        if field.name not in made:
            notes.add(field, f"named {next(iter(made))!r}")
        notes.leave_out(field, "resize", "dequantize", "too_long")
        for name, feature in made.items():
            if name not in found or not feature.get("tensor", {}).get("optional"):
                found[name] = feature
    return {
        "type": f"{_MODULE}.features_dict.FeaturesDict",
        "content": {"features": dict(sorted(found.items()))},
        "proto_cls": "tensorflow_datasets.FeaturesDict",
    }


def label_files(spec: RecordSpec, notes: Notes) -> dict[str, str]:
    """Return the files of class names, by their names.

    Of two fields whose files would have one name neither gets one.
    """
    claimed = Counter(_file_name(field.key) for field in spec.fields)
    found = {}
    for field in spec.fields:
        if not isinstance(field.kind, (Label, MultiLabel)) or not _is_class(field):
            continue
        names, file = field.kind.class_names, _file_name(field.key)
        if names and (claimed[file] > 1 or not _are_lines(names)):
            notes.leave_out(field, "classes")
        elif names:
            found[f"{file}.labels.txt"] = "".join(f"{name}\n" for name in names)
    return found


def _file_name(key: str) -> str:
    """Return what TFDS makes of a feature's name in the name of a file."""
    return key.replace("/", ".")


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


def _features_of(field: FieldSpec, notes: Notes) -> dict[str, Json]:
    doc = {"description": field.doc} if field.doc else {}
    if isinstance(field.kind, Ragged) and _has_ragged_names(field):
        rows = _sequence(_sequence(_tensor((), field.kind.dtype)))
        return {field.key.removesuffix(_RAGGED_VALUES): {**rows, **doc}}
    value, *others = field.storage
    feature = _value(field, value, notes)
    if field.optional:
        notes.add(field, f"{_missing(feature)} where it is missing")
    found = {value.key: {**feature, **doc}}
    for entry in others:
        found[entry.key] = _stored(entry, entry.stored, optional=field.optional)
    return found


def _has_ragged_names(field: FieldSpec[Ragged]) -> bool:
    """Tell whether lists of lists stand under the keys that TFDS has for them."""
    if field.kind.dtype in RAW_ONLY or field.optional:
        return False
    lengths = field.key.removesuffix(_RAGGED_VALUES) + _RAGGED_LENGTHS
    return field.key.endswith(_RAGGED_VALUES) and field.kind.lengths_key == lengths


def _missing(feature: Json) -> str:
    """Return what TFDS delivers for a feature that a record lacks."""
    tensor = feature.get("tensor")
    if tensor is None or "-1" in tensor["shape"].get("dimensions", ()):
        return "an empty list"
    dtype: str = tensor["dtype"]
    return {"string": "b''", "bool": "False"}.get(dtype, f"the least {dtype}")


def _value(field: FieldSpec, entry: Entry, notes: Notes) -> Json:
    """Return the feature for a field's value."""
    dtype, shape = value_of(field)
    kind, optional = field.kind, field.optional
    plain = not optional and entry.transfer_encoding is None
    known_shape = plain and shape.count(None) <= 1
    listed = entry.stored != BYTES
    match kind:
        case Image() if plain and _is_decoded(kind):
            return _image(kind, kind.stored_dtype)
        case Images() if plain and _is_decoded(kind) and None not in kind.shape:
            return _sequence(_image(kind, "uint8"), kind.count)
        case Label() if _is_class(field):
            return _class(kind)
        case MultiLabel() if _is_class(field):
            notes.add(field, "a list of class ids")
            return _sequence(_class(kind))
        case Text() if not optional:
            return _feature("text_feature.Text", "text", {})
        case Text():
            return _tensor((), dtype, optional=True)
        case Scalar() if dtype == "bytes" and entry.transfer_encoding is None:
            return _tensor((), dtype, optional=optional)
        case Scalar() | Vector() if listed:
            return _tensor(shape, dtype, optional=optional)
        case Tensor() if listed and known_shape:
            return _tensor(shape, dtype)
        case VarLen() if dtype not in RAW_ONLY:
            return _tensor(shape, dtype)
        case Image() | Mask() | Scalar() | Vector() | Tensor() | VarLen() if (
            entry.encoding == "raw" and known_shape and dtype in _RAW_READABLE
        ):
            return _tensor(shape, dtype, "bytes")
    if not hasattr(kind, "dtype") and dtype == entry.stored:
        return _tensor(shape, dtype, optional=optional)
    notes.add(field, "as it is stored")
    return _stored(entry, getattr(kind, "dtype", entry.stored), optional=optional)


def _stored(entry: Entry, dtype: str, *, optional: bool) -> Json:
    """Return the feature that delivers what is stored."""
    dtype = "string" if entry.stored == BYTES else dtype
    if entry.count == 1:
        return _tensor((), dtype, optional=optional)
    return _tensor((None,), dtype)


def _is_decoded(kind: Image | Images) -> bool:
    """Tell whether TFDS decodes pictures as the generated parser does."""
    channels = {"jpeg": (1, 3), "png": (1, 3, 4)}.get(kind.encoding, ())
    return kind.shape[-1] in channels


def _is_class(field: FieldSpec[Label | MultiLabel]) -> bool:
    plain = field.kind.stored == "id" and field.kind.offset == 0
    return plain and (isinstance(field.kind, MultiLabel) or not field.optional)


def _are_lines(names: tuple[str, ...]) -> bool:
    """Tell whether class names can stand in a file, one a line, and be the same."""
    return all(
        name == name.strip() and name and "\n" not in name and "\r" not in name
        for name in names
    )


def _class(kind: Label | MultiLabel) -> Json:
    content = {"numClasses": str(kind.count)}
    return _feature("class_label_feature.ClassLabel", "classLabel", content)


def _image(kind: Image | Images, dtype: str) -> Json:
    content = {
        "shape": _shape(kind.shape),
        "dtype": dtype,
        "encodingFormat": kind.encoding,
    }
    return _feature("image_feature.Image", "image", content)


def _tensor(
    shape: Shape, dtype: str, encoding: str = "none", *, optional: bool = False
) -> Json:
    content: Json = {
        "shape": _shape(shape),
        "dtype": "string" if dtype == "bytes" else dtype,
        "encoding": encoding,
    }
    if optional:
        content["optional"] = True
    return _feature("tensor_feature.Tensor", "tensor", content)


def _sequence(feature: Json, length: int | None = None) -> Json:
    content = {"feature": feature, "length": "-1" if length is None else str(length)}
    return _feature("sequence_feature.Sequence", "sequence", content)


def _feature(name: str, parameters: str, content: Json) -> Json:
    return {"pythonClassName": f"{_MODULE}.{name}", parameters: content}


def _shape(shape: Shape) -> Json:
    if not shape:
        return {}
    return {"dimensions": ["-1" if n is None else str(n) for n in shape]}
