"""A schema of TensorFlow Metadata, by which TensorFlow Data Validation validates data."""

from __future__ import annotations

from math import prod
from typing import Any

from ...runtime.cells.part import BYTES, FLOAT, INT, Part
from ...runtime.kinds.classes import Classed
from ...spec.model import FieldSpec, RecordSpec
from ..metadata import DOMAINS, TYPES, empty_schema
from .exporter import (
    CLASS,
    PICTURE,
    Exporter,
    Files,
    Notes,
    Request,
    Shape,
    keys_of,
    value_of,
)

Message = dict[str, Any]
"""A message by the names of its fields, as JSON has it."""


def schema_text(spec: RecordSpec, notes: Notes) -> str:
    """Return the contents of a `schema.pbtxt`.

    Raises:
        SchemagenError: tensorflow-metadata is not installed.
    """
    schema = empty_schema()
    from google.protobuf import json_format, text_format

    for field in spec.fields:
        if field.name != field.key:
            notes.add(field, f"named {field.key!r}")
        notes.leave_out(field, "default", "group", "format_text")
        if field.numbered_keys:
            notes.add(field, f"{len(field.parts)} tensors of an image each")
        if not field.codec.of_classes:
            notes.leave_out(field, "num_classes", "classes", "ignore")
    tensors = {
        part.key if field.numbered_keys else field.name: _tensor(field, part)
        for field in spec.fields
        for part in (field.parts if field.numbered_keys else field.parts[:1])
    }
    message: Message = {
        "feature": [_feature(*each, notes) for each in spec.parts().values()],
        "tensor_representation_group": {"": {"tensor_representation": tensors}},
    }
    if spec.doc:
        message["annotation"] = {"comment": [spec.doc]}
    json_format.ParseDict(message, schema)
    return str(text_format.MessageToString(schema, as_utf8=False))


def _feature(part: Part, field: FieldSpec, optional: bool, notes: Notes) -> Message:
    feature: Message = {"name": part.key, "type": TYPES[part.stored]}
    if not optional:
        # min_count makes data without records an anomaly.
        feature["presence"] = {"min_fraction": 1.0, "min_count": 1}
    if not optional and part.count is not None:
        feature["shape"] = _shape(part, field, part.count)
    else:
        least = part.count or 0
        feature["value_count"] = {"min": least, "max": part.count or part.most}
        flat = part.holds == "value" and part.stored != BYTES
        if flat and not keys_of(field, "index") and len(value_of(field)[1]) > 1:
            notes.leave_out(field, "shape", "item_shape")
    if comments := _comments(part, field, notes):
        feature["annotation"] = {"comment": comments}
    return {**feature, **_domain(part, field)}


def _shape(part: Part, field: FieldSpec, count: int) -> Message:
    """Return the shape of a list that always has this many values."""
    sizes: Shape = () if count == 1 else (count,)
    if part.holds == "value" and part.stored != BYTES:
        _, shape = value_of(field)
        if count == prod(size or 0 for size in shape):
            sizes = shape
    return {"dim": [{"size": size} for size in sizes]}


def _domain(part: Part, field: FieldSpec) -> Message:
    """Return the domain of the values of a key, if it has one."""
    dtype, shape = value_of(field)
    is_class, is_value = dtype == CLASS, part.holds == "value"
    may_lack = is_class and not shape and field.optional
    if is_value and part.stored == INT and part.dtype == "bool":
        return {DOMAINS["bool"]: {}}
    if part.stored == INT and part.bounds is not None:
        least, most = part.bounds
        if may_lack:
            least = min(least or 0, -1)  # the stored id of a missing label
        bounds = {"min": least, "max": most, "is_categorical": is_class or None}
        return {"int_domain": bounds}
    if part.stored == FLOAT and field.kind.finite:
        return {"float_domain": {"disallow_nan": True, "disallow_inf": True}}
    if part.stored != BYTES or not is_value or part.transfer_encoding:
        return {}
    if is_class:
        names = [*([""] if may_lack else []), *field.kind.classes]
        return {"string_domain": {"name": part.key, "value": names}}
    if (dtype, shape) == ("string", ()):
        return {DOMAINS["string"]: {}}
    return {"image_domain": {}} if dtype == PICTURE else {}


def _comments(part: Part, field: FieldSpec, notes: Notes) -> list[str]:
    """Return the name, the description and the classes of a field."""
    kind = field.kind
    if part.holds == "value" and part.stored == BYTES:
        notes.leave_out(field, "dtype", "transfer_encoding", "shape")
    comments = [field.name] if field.name != field.key else []
    comments += [field.doc] if field.doc else []
    if isinstance(field.codec, Classed) and kind.stored == "id":
        if kind.classes:
            notes.add(field, "classes as comments")
        names = zip(field.codec.stored_as, kind.classes, strict=False)
        comments += [f"{stored} is {name}" for stored, name in names]
    return comments


def _tensor(field: FieldSpec, value: Part) -> Message:
    """Return the tensor that TFX makes of a field's columns."""
    if index_keys := keys_of(field, "index"):
        sparse = {
            "dense_shape": {"dim": [{"size": size} for size in field.kind.shape]},
            "index_column_names": index_keys,
            "value_column_name": value.key,
        }
        return {"sparse_tensor": sparse}
    column = {"column_name": value.key}
    lengths = keys_of(field, "row lengths")
    if field.optional or (value.count is None) != bool(lengths):
        return {"varlen_sparse_tensor": column}
    if lengths:
        path, partition = {"step": [value.key]}, {"row_length": lengths[0]}
        return {"ragged_tensor": {"feature_path": path, "partition": [partition]}}
    shape = _shape(value, field, value.count or 0)
    return {"dense_tensor": {**column, "shape": shape}}


def _files(request: Request, notes: Notes) -> Files:
    return {request.out: schema_text(request.spec, notes)}


EXPORTER = Exporter(_files)
