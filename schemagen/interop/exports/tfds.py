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
from ...spec.model import (
    FieldSpec,
    ImageSpec,
    ImagesSpec,
    LabelSpec,
    MultiLabelSpec,
    RaggedSpec,
    RecordSpec,
    ScalarSpec,
    SparseSpec,
    StepsSpec,
    TensorSpec,
    TextSpec,
    VarLenSpec,
    VectorSpec,
)
from ...spec.storage import BYTES, Entry, entries_of
from .mapping import (
    ANY,
    NUMBERS,
    always,
    approximated,
    attribute_in,
    has_gap,
    is_encoded,
    kept,
    refused,
)
from .values import Shape, value_of

# What tf.io.decode_raw and TFDS both know; other numbers are left as the bytes they are.
_RAW_READABLE = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
_RAGGED_VALUES = "/ragged_flat_values"
_RAGGED_LENGTHS = "/ragged_row_lengths_0"


def _is_decoded(field: FieldSpec) -> bool:
    """Tell whether TFDS decodes an encoded picture as the generated parser does."""
    if not isinstance(field, (ImageSpec, ImagesSpec)) or field.optional:
        return False
    channels = {"jpeg": (1, 3), "png": (1, 3, 4)}.get(field.encoding, ())
    sized = isinstance(field, ImageSpec) or not has_gap(field)
    return field.shape[-1] in channels and sized


def _is_raw(field: FieldSpec) -> bool:
    """Tell whether numbers are stored as raw bytes under one key."""
    if isinstance(field, (RaggedSpec, SparseSpec, StepsSpec)):
        return False
    plain = getattr(field, "encoding", "raw") in ("raw", "list")
    numbers = getattr(field, "dtype", "bytes") not in ("bytes", "string")
    return plain and numbers and entries_of(field)[0].stored == BYTES


def _has_one_gap(field: FieldSpec) -> bool:
    """Tell whether TFDS finds out the shape of a field by itself."""
    return getattr(field, "shape", ()).count(None) <= 1 and not field.optional


def _is_raw_decoded(field: FieldSpec) -> bool:
    """Tell whether TFDS makes numbers of what is stored as raw bytes."""
    known = getattr(field, "dtype", "") in _RAW_READABLE
    return known and _is_raw(field) and _has_one_gap(field)


def _is_listed(field: FieldSpec) -> bool:
    return attribute_in("encoding", "list")(field) and _has_one_gap(field)


def _is_raw_left(field: FieldSpec) -> bool:
    return _is_raw(field) and not _is_raw_decoded(field)


def _is_encoded_left(field: FieldSpec) -> bool:
    return is_encoded(field) and not _is_decoded(field)


def _has_ragged_names(field: FieldSpec) -> bool:
    """Tell whether lists of lists stand under the keys that TFDS has for them."""
    if not isinstance(field, RaggedSpec) or field.dtype in RAW_ONLY or field.optional:
        return False
    lengths = field.key.removesuffix(_RAGGED_VALUES) + _RAGGED_LENGTHS
    return field.key.endswith(_RAGGED_VALUES) and field.row_lengths_key == lengths


def _are_lines(names: tuple[str, ...]) -> bool:
    """Tell whether class names can stand in a file, one a line, and be the same."""
    return all(
        name == name.strip() and name and "\n" not in name and "\r" not in name
        for name in names
    )


_BYTES = "TFDS delivers the bytes as they are stored"
_LISTS = "TFDS delivers a list, empty for records that have none"
_OWN_SIZE = "come in the size that they have"
_ONE_GAP = "shape, of which one size may vary"

MAPPING = (
    approximated(
        ANY, "name", "TFDS calls a field by its key", lambda f: f.name != f.key
    ),
    kept(ANY, "key", "the name of the feature"),
    kept(ANY, "doc", "description"),
    approximated(
        ANY,
        "role",
        "said only where one input and one target make `supervised_keys`",
        lambda f: f.role not in ("input", "target"),
        "weight or info",
    ),
    approximated("VarLen Images MultiLabel Ragged Sparse", "optional", _LISTS),
    approximated(
        "Label",
        "optional",
        "an integer of no class; a missing one reads as the least int64, not as -1",
    ),
    approximated(
        ANY,
        "optional",
        "a missing value reads as the least number of its dtype, as b'' or as False",
    ),
    approximated(ANY, "default", "TFDS has no defaults of its own"),
    approximated(ANY, "presence", "TFDS delivers no masks"),
    approximated(ANY, "path", "TFDS calls a nested field by its key, without nesting"),
    # Pictures.
    kept(
        "Image",
        "encoding",
        "JPEG and PNG of 1, 3 or 4 channels are decoded",
        _is_decoded,
    ),
    kept("Images", "encoding", "JPEG and PNG of one size are decoded", _is_decoded),
    approximated(
        "Image Images", "encoding", _BYTES, _is_encoded_left, "others, or optional"
    ),
    approximated(
        "Mask",
        "encoding",
        _BYTES + ", since it would read a palette's colours in place of ids",
        is_encoded,
        "png",
    ),
    kept(
        "Image", "encoding", "raw pixels are a Tensor of bytes", _is_raw_decoded, "raw"
    ),
    kept("Mask", "encoding", "raw ids are a Tensor of bytes", _is_raw_decoded, "raw"),
    approximated(
        "Image Mask",
        "encoding",
        _BYTES,
        _is_raw_left,
        "raw of several sizes, or optional",
    ),
    approximated("Image Images", "resize", f"pictures {_OWN_SIZE}"),
    approximated("Mask", "resize", f"masks {_OWN_SIZE}"),
    approximated(ANY, "interpolation", "nothing is resized"),
    approximated(ANY, "augment", "nothing is varied"),
    kept(ANY, "height_key width_key channels_key format_key", "a feature of its own"),
    kept("Image", "format_text", "what stands in that feature"),
    kept("Images", "count", "the length of the Sequence"),
    approximated("Images", "max_count", "a Sequence of any length"),
    # Classes.
    approximated("Mask", "num_classes", "ids of pixels are not bounded"),
    approximated("Mask", "classes", "classes of pixels have no names"),
    approximated("Mask", "ignore", "the id is one like others"),
    kept("Label", "num_classes", "ClassLabel"),
    approximated(
        "MultiLabel",
        "num_classes",
        "a list of ids in the order of the file, and not a row of zeros and ones",
    ),
    approximated(
        "Label MultiLabel",
        "classes",
        "their file would lose white space, so that none is written",
        lambda f: not _are_lines(getattr(f, "classes", ())),
        "names that are no lines",
    ),
    kept("Label MultiLabel", "classes", "NAME.labels.txt"),
    approximated(
        "Label", "offset", "an integer as it is stored, of no class", None, "not 0"
    ),
    kept("Label", "offset", "ids from 0 on", None, "0"),
    approximated("MultiLabel", "offset", "integers as they are stored, of no class"),
    approximated("Label", "stored", "the class's name, as text", None, "text"),
    approximated("MultiLabel", "stored", "names of classes, as text"),
    # Numbers.
    kept("VarLen", "dtype", "dtype", _is_raw_decoded, "raw"),
    approximated(
        "VarLen", "dtype", _BYTES, _is_raw_left, "uint64, bfloat16, or optional"
    ),
    approximated(
        "Ragged",
        "dtype",
        _BYTES,
        attribute_in("dtype", *RAW_ONLY),
        "stored as raw bytes",
    ),
    kept(f"Image Mask {NUMBERS}", "dtype", "dtype"),
    approximated(
        "Scalar", "encoding", _BYTES, _is_raw_left, "raw of uint32, uint64, bfloat16"
    ),
    approximated(
        "Vector",
        "encoding",
        _BYTES,
        _is_raw_left,
        "raw of uint32, uint64, bfloat16, or optional",
    ),
    approximated(
        "Tensor", "encoding", _BYTES, attribute_in("encoding", "proto"), "proto"
    ),
    approximated("Tensor", "encoding", _BYTES, _is_raw_left, "raw that is not decoded"),
    kept("Scalar Vector Tensor", "encoding", "a list, or a Tensor of bytes"),
    kept("Tensor", "shape", _ONE_GAP, _is_listed, "list"),
    kept("Tensor", "shape", _ONE_GAP, _is_raw_decoded, "raw"),
    approximated(
        "Tensor",
        "shape",
        "flat values or bytes; the sizes are features of their own",
        always,
        "of several sizes, optional or proto",
    ),
    approximated(
        "Sparse", "shape", "a list of values, and one of indices for each dimension"
    ),
    kept(ANY, "shape", "shape"),
    kept("VarLen", "item_shape", "shape"),
    kept(ANY, "shape_key index_key", "features of their own"),
    approximated("Vector", "dequantize", "the integers that are stored"),
    approximated("VarLen Ragged", "max_length", "a list of any length"),
    kept("Ragged", "ragged", "a RaggedTensor"),
    kept(
        ANY,
        "padding_value ragged",
        "one record is delivered at a time: nothing is filled up",
    ),
    approximated("VarLen", "too_long", "nothing is cut"),
    kept("VarLen", "pad_on_disk", "what was filled up on disk is delivered"),
    approximated("VarLen", "fill_value", "a missing list reads as an empty one"),
    kept(
        "Ragged",
        "row_lengths_key",
        "a Sequence of Sequences",
        _has_ragged_names,
        "keys NAME/ragged_flat_values and NAME/ragged_row_lengths_0",
    ),
    approximated(
        "Ragged",
        "row_lengths_key",
        "two lists: all values, and the lengths of rows",
        always,
        "other keys, or optional",
    ),
    approximated("Sparse", "dense", "TFDS delivers the lists"),
    approximated(ANY, "exact finite", "TFDS reads whatever is stored"),
    # Steps.
    refused("Steps", "step", "TFDS reads tf.train.Example alone"),
    refused(
        "Steps",
        "padding_value max_length ragged too_long group",
        "as of the whole kind",
    ),
    approximated(ANY, "group", "lengths are not compared"),
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
            if name not in found or not feature.get("tensor", {}).get("optional"):
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
    claimed = Counter(_file_name(field.key) for field in spec.fields)
    return {
        f"{_file_name(field.key)}.labels.txt": "".join(f"{n}\n" for n in field.classes)
        for field in spec.fields
        if isinstance(field, (LabelSpec, MultiLabelSpec))
        if _is_class(field) and field.classes and _are_lines(field.classes)
        if claimed[_file_name(field.key)] == 1
    }


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


def _features_of(field: FieldSpec) -> dict[str, Json]:
    doc = {"description": field.doc} if field.doc else {}
    if isinstance(field, RaggedSpec) and _has_ragged_names(field):
        rows = _sequence(_sequence(_tensor((), field.dtype)))
        return {field.key.removesuffix(_RAGGED_VALUES): {**rows, **doc}}
    value, *others = entries_of(field)
    found = {value.key: {**_value(field, value), **doc}}
    for entry in others:
        found[entry.key] = _stored(entry, entry.stored, optional=field.optional)
    return found


def _value(field: FieldSpec, entry: Entry) -> Json:
    """Return the feature for a field's value."""
    dtype, shape = value_of(field)
    match field:
        case ImageSpec() if _is_decoded(field):
            return _image(field, field.dtype)
        case ImagesSpec() if _is_decoded(field):
            return _sequence(_image(field, "uint8"), field.count)
        case LabelSpec() if _is_class(field):
            return _class(field)
        case MultiLabel() if _is_class(field):
            return _sequence(_class(field))
        case TextSpec() if not field.optional:
            return _feature("text_feature.Text", "text", {})
        case ScalarSpec() | VectorSpec() if entry.stored != BYTES:
            return _tensor(shape, dtype, optional=field.optional)
        case TensorSpec() if _is_listed(field) and entry.stored != BYTES:
            return _tensor(shape, dtype)
        case VarLenSpec() if dtype not in RAW_ONLY:
            return _tensor(shape, dtype)
    if _is_raw_decoded(field):
        return _tensor(shape, dtype, "bytes")
    dtype = getattr(field, "dtype", entry.stored)
    return _stored(entry, dtype, optional=field.optional)


def _stored(entry: Entry, dtype: str, *, optional: bool) -> Json:
    """Return the feature that delivers what is stored."""
    dtype = "string" if entry.stored == BYTES else dtype
    if entry.count == 1:
        return _tensor((), dtype, optional=optional)
    return _tensor((None,), dtype)


def _is_class(field: FieldSpec[Label | MultiLabel]) -> bool:
    plain = field.kind.stored == "id" and field.kind.offset == 0
    return plain and (isinstance(field.kind, MultiLabel) or not field.optional)


def _class(field: LabelSpec | MultiLabelSpec) -> Json:
    content = {"numClasses": str(field.num_classes)}
    return _feature("class_label_feature.ClassLabel", "classLabel", content)


def _image(field: ImageSpec | ImagesSpec, dtype: str) -> Json:
    content = {
        "shape": _shape(field.shape),
        "dtype": dtype,
        "encodingFormat": field.encoding,
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
