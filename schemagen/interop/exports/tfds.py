"""The files that make a directory one that `tfds.builder_from_directory` reads.

TFDS parses records with features of its own, which are named by keys here. A field that
TFDS decodes differently than the generated parser is described as it is stored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ...runtime.cells.part import BYTES, Part
from ...runtime.images.formats import DECODED
from ...runtime.storage.manifest import SplitEntry
from ...spec.model import FieldSpec, RecordSpec
from .exporter import (
    CLASS,
    PICTURE,
    Exporter,
    Files,
    Notes,
    Request,
    Shape,
    value_of,
)

Json = dict[str, Any]

_MODULE = "tensorflow_datasets.core.features"

# The formats of images that TFDS decodes as the generated parser does.
_IMAGES = ("jpeg", "png")

# The dtypes of raw bytes that TFDS decodes.
_RAW_DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16"),
    *("float16", "float32", "float64"),
)


def described(
    spec: RecordSpec, splits: Mapping[str, SplitEntry], notes: Notes
) -> dict[str, str]:
    """Return the contents of the files by name, those that TFDS looks for first.

    Args:
        spec: of the record.
        splits: what the manifest says about each, by name.
        notes: what is approximated.
    """
    info, features = _dataset_info(spec, splits), _features(spec, notes)
    return {
        "dataset_info.json": json.dumps(info, indent=4, sort_keys=True) + "\n",
        "features.json": json.dumps(features, indent=4, sort_keys=True) + "\n",
        **_label_files(spec),
    }


def _dataset_info(spec: RecordSpec, splits: Mapping[str, SplitEntry]) -> Json:
    info: Json = {
        "name": spec.record,
        "description": spec.doc,
        "version": "1.0.0",
        "fileFormat": "tfrecord",
        "moduleName": "schemagen",
        "splits": [
            {
                "name": name,
                "shardLengths": [str(shard.records) for shard in split.shards],
                "numBytes": str(sum(shard.bytes for shard in split.shards)),
                "filepathTemplate": "{SPLIT}-{SHARD_X_OF_Y}.{FILEFORMAT}",
            }
            for name, split in splits.items()
        ],
    }
    inputs, targets = spec.with_role("input"), spec.with_role("target")
    if len(inputs) == len(targets) == 1:
        info["supervisedKeys"] = {"input": inputs[0].key, "output": targets[0].key}
    return info


def _features(spec: RecordSpec, notes: Notes) -> Json:
    """Return the features by key."""
    found: Json = {}
    for field in spec.fields:
        value, *others = field.parts
        if field.name != value.key:
            notes.add(field, f"named {value.key!r}")
        notes.leave_out(field, "resize", "dequantize", "too_long")
        doc = {"description": field.doc} if field.doc else {}
        found[value.key] = {**_value(field, value, notes), **doc}
        found |= {
            each.key: _value(field, each, notes)
            if each.holds == "value"
            else _stored(each, field.optional)
            for each in others
        }
        if field.numbered_keys:
            notes.add(field, f"{len(field.parts)} features of an image each")
        if field.optional:
            notes.add(field, "a default of TFDS where it is missing")
    return {
        "type": f"{_MODULE}.features_dict.FeaturesDict",
        "content": {"features": found},
        "proto_cls": "tensorflow_datasets.FeaturesDict",
    }


def _label_files(spec: RecordSpec) -> dict[str, str]:
    """Return the files of class names, a name a line."""
    return {
        f"{field.key.replace('/', '.')}.labels.txt": "\n".join(
            [*field.kind.classes, ""]
        )
        for field in spec.fields
        if _is_class(field) and field.kind.classes
    }


def _value(field: FieldSpec, part: Part, notes: Notes) -> Json:
    """Return the feature of a field's value."""
    dtype, shape = value_of(field)
    optional = field.optional
    plain = not optional and part.transfer_encoding is None
    if dtype == PICTURE and plain and _is_decoded(field):
        return _image(field, part, shape)
    if _is_class(field):
        content = {"numClasses": str(field.kind.count)}
        return _feature("class_label_feature.ClassLabel", "classLabel", content)
    if (dtype, shape) == ("string", ()) and plain:
        return _feature("text_feature.Text", "text", {})
    if dtype not in (PICTURE, CLASS):
        alone, known_shape = len(field.parts) == 1, plain and shape.count(None) <= 1
        sized = all(each.holds in ("value", "size") for each in field.parts)
        is_list = part.encoding == "list" and part.transfer_encoding is None
        if is_list and (alone or (sized and known_shape)):
            return _tensor(shape, dtype, optional=optional and None not in shape)
        if part.encoding == "raw" and known_shape and dtype in _RAW_DTYPES:
            return _tensor(shape, dtype, "bytes")
    notes.add(field, "as it is stored")
    return _stored(part, optional)


def _stored(part: Part, optional: bool) -> Json:
    """Return the feature that delivers the stored list."""
    dtype = "string" if part.stored == BYTES else part.dtype
    if part.count == 1:
        return _tensor((), dtype, optional=optional)
    return _tensor((None,), dtype)


def _is_decoded(field: FieldSpec) -> bool:
    """Tell whether TFDS decodes images as the generated parser does."""
    shape: Shape = field.kind.shape
    if value_of(field)[1] and None in shape:
        return False
    encoding = field.parts[0].encoding
    if encoding not in _IMAGES or len(shape) != 3:
        return False
    return shape[2] in DECODED[encoding].channels


def _is_class(field: FieldSpec) -> bool:
    """Tell whether TFDS reads a class as the generated parser does."""
    is_single = value_of(field) == (CLASS, ()) and not field.optional
    codec: Any = field.codec
    return is_single and codec.stored_as == range(codec.count)


def _image(field: FieldSpec, part: Part, lengths: Shape) -> Json:
    """Return the feature of a picture, or of a list of them."""
    content = {"shape": _shape(field.kind.shape), "dtype": part.dtype}
    content["encodingFormat"] = part.encoding
    feature = _feature("image_feature.Image", "image", content)
    for length in lengths:
        said = "-1" if length is None else str(length)
        content = {"feature": feature, "length": said}
        feature = _feature("sequence_feature.Sequence", "sequence", content)
    return feature


def _tensor(
    shape: Shape, dtype: str, encoding: str = "none", *, optional: bool = False
) -> Json:
    dtype = "string" if dtype == "bytes" else dtype
    content = {"shape": _shape(shape), "dtype": dtype, "encoding": encoding}
    more = {"optional": True} if optional else {}
    return _feature("tensor_feature.Tensor", "tensor", {**content, **more})


def _feature(name: str, parameters: str, content: Json) -> Json:
    return {"pythonClassName": f"{_MODULE}.{name}", parameters: content}


def _shape(shape: Shape) -> Json:
    if not shape:
        return {}
    return {"dimensions": ["-1" if n is None else str(n) for n in shape]}


def _files(request: Request, notes: Notes) -> Files:
    """Return the descriptions, and the shards if they are in another directory."""
    found: Files = {}
    for name, text in described(request.spec, request.splits, notes).items():
        found[request.out / name] = text
    if request.data.resolve() != request.out.resolve():
        for split in request.splits.values():
            found |= {request.out / s.file: request.data / s.file for s in split.shards}
    return found


EXPORTER = Exporter(_files, needs_data=True, plain_splits=True)
