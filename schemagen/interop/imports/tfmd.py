"""From a schema of TensorFlow Metadata to fields."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ...runtime.cells.part import BYTES, list_of
from ...runtime.kinds.classes import Label
from ...runtime.kinds.images import Image
from ...runtime.kinds.kind import Kind
from ...runtime.kinds.ragged import Ragged
from ...runtime.kinds.sparse import Sparse
from ..metadata import DOMAINS, TYPES, empty_schema
from .parts import (
    MAYBE,
    FieldPlace,
    ImportedField,
    ImportedRecord,
    Made,
    imported_field,
    joined,
    places,
    prose,
    read_bytes,
    unreadable,
)

_EXPECTED = "a schema.pbtxt: the text format of tensorflow_metadata's Schema"
_DTYPES = {word: dtype for dtype, word in TYPES.items()}
_DTYPES_OF_DOMAINS = {word: dtype for dtype, word in DOMAINS.items()}
_TEXTS = ("mid_domain", "string_domain", "time_domain", "url_domain")

# Fields of Feature that a schema expresses, and those that make a feature optional.
_KEPT = ("name", "type", "annotation", "presence", "shape")
_SELDOM = {
    *("deprecated", "lifecycle_stage", "group_presence"),
    *("in_environment", "not_in_environment"),
}


def import_tfmd(source: str) -> ImportedRecord:
    """Read a schema of TensorFlow Metadata.

    Args:
        source: a schema.pbtxt.

    Raises:
        SchemagenError: it is not one, or tensorflow-metadata is not installed.
    """
    text, schema = read_bytes(Path(source), _EXPECTED), empty_schema()
    from google.protobuf import text_format

    try:
        text_format.Parse(text.decode(), schema)
    except (text_format.ParseError, UnicodeDecodeError) as error:
        message = "not a schema of TFMD"
        raise unreadable(source, message, str(error), _EXPECTED) from None
    return ImportedRecord(tuple(_parts(schema)), prose(_comment(schema), 84))


def _comment(message: Any) -> str:
    return " ".join(message.annotation.comment)


def _type(feature: Any) -> str:
    """Return the name of a feature's type."""
    names = feature.DESCRIPTOR.fields_by_name["type"].enum_type.values_by_number
    return str(names[feature.type].name)


def _text(message: Any) -> str:
    """Return the beginning of a message in the text format."""
    from google.protobuf import text_format

    text = text_format.MessageToString(message, as_one_line=True)
    return textwrap.shorten(text, 200)


def _parts(schema: Any) -> Iterator[ImportedField]:
    """Yield features, tensors of several features, and what has no counterpart."""
    tensors = schema.tensor_representation_group[""].tensor_representation
    columns = {name: _columns(tensors[name]) for name in sorted(tensors)}
    joint = {name: keys for name, keys in columns.items() if len(keys) > 1}
    used = {key for keys in joint.values() for key in keys}
    features = [each for each in schema.feature if each.name not in used]
    defaults = _defaults(tensors.values())
    here = places([*(each.name for each in features), *joint])
    for feature, place in zip(features, here, strict=False):
        _resolve_domain(schema, feature)
        place = replace(place, default=defaults.get(feature.name))
        make = partial(_feature, feature, place)
        yield imported_field(feature.name, _type(feature), make)
    by_name = {each.name: each for each in schema.feature}
    for (name, keys), place in zip(joint.items(), here, strict=True):
        make = partial(_joint, tensors[name], by_name, keys, place)
        yield imported_field(name, _text(tensors[name]), make)
    for each in (*schema.sparse_feature, *schema.weighted_feature):
        reason = "cannot be imported: declare a tensor representation"
        yield ImportedField(each.name, None, _text(each), reason)


def _columns(tensor: Any) -> list[str]:
    """Return the features of a sparse or ragged tensor, that of its values first."""
    match tensor.WhichOneof("kind"):
        case "sparse_tensor":
            found = tensor.sparse_tensor
            return [found.value_column_name, *found.index_column_names]
        case "ragged_tensor":
            found = tensor.ragged_tensor
            return [*found.feature_path.step, *(p.row_length for p in found.partition)]
    return []


def _defaults(tensors: Iterable[Any]) -> dict[str, Any]:
    """Return the values of missing features, by their names."""
    found = {}
    for tensor in tensors:
        value = tensor.dense_tensor.default_value
        if word := value.WhichOneof("kind"):
            found[tensor.dense_tensor.column_name] = getattr(value, word)
    return found


def _joint(
    tensor: Any, features: Mapping[str, Any], columns: Sequence[str], place: FieldPlace
) -> Made:
    """Return what a sparse or ragged tensor becomes."""
    value, *others = (features[column] for column in columns)
    optional = value.presence.min_fraction != 1
    place = replace(place, key=value.name, optional=optional)
    keys, dtype = tuple(each.name for each in others), _DTYPES[_type(value)]
    if tensor.HasField("sparse_tensor"):
        shape = tuple(dim.size for dim in tensor.sparse_tensor.dense_shape.dim)
        return place.field(Sparse, dtype=dtype, shape=shape, index_key=keys), ""
    if len(keys) > 1:
        raise ValueError("lists of lists of lists")
    return place.field(Ragged, dtype=dtype, row_lengths_key=keys[0]), ""


def _resolve_domain(schema: Any, feature: Any) -> None:
    """Put the domain that a feature names in the place of the name."""
    for word in ("string_domain", "int_domain", "float_domain"):
        for domain in getattr(schema, word):
            if feature.domain and domain.name == feature.domain:
                getattr(feature, word).CopyFrom(domain)


def _feature(feature: Any, place: FieldPlace) -> Made:
    """Return what a feature becomes; what no schema expresses becomes a remark.

    Everything that the field expresses is cleared from the feature.
    """
    dtype = _DTYPES.get(_type(feature))
    if dtype is None or feature.HasField("value_counts"):
        raise ValueError("an Example does not hold it as it is")
    given = {each.name for each, _ in feature.ListFields()}
    if feature.presence.min_fraction == 1 and not given & _SELDOM:
        place = replace(place, default=None)
    else:
        place = replace(place, optional=True)
    place = replace(place, doc=prose(_comment(feature)))
    field, remark = _with_domain(feature, place, dtype)
    for name in _KEPT:
        feature.ClearField(name)
    rest = _text(feature)
    return field, joined(remark, f"not kept: {rest}" if rest else "")


def _with_domain(feature: Any, place: FieldPlace, dtype: str) -> Made:
    """Return the field of a feature, by the domain of its values."""
    shape, facts = _shape(feature)
    word = feature.WhichOneof("domain_info") or ""
    domain: Any = getattr(feature, word, None)
    if not shape and (found := _of_single_value(feature, word, domain)):
        kind, facts, remark = found
        feature.ClearField(word)
        return place.field(kind, **facts), remark
    if word == "float_domain":  # fields refuse NaN and infinities
        domain.ClearField("disallow_nan")
        domain.ClearField("disallow_inf")
    if word in ("int_domain", "float_domain") and not domain.ByteSize():
        feature.ClearField(word)
    known = _DTYPES_OF_DOMAINS.get(word, "")
    if known and list_of(known) == dtype:
        dtype = known
        feature.ClearField(word)
    elif dtype == BYTES and word in _TEXTS:
        dtype = "string"
    field, remark = place.values(dtype, shape, **facts)
    is_unknown = dtype == BYTES and not word
    return field, joined(remark, MAYBE if is_unknown else "")


def _of_single_value(
    feature: Any, word: str, domain: Any
) -> tuple[type[Kind], dict[str, Any], str] | None:
    """Return the kind of a single value with a domain, its parameters, and a remark."""
    match word:
        case "image_domain":
            remark = "its size and channels? resize=(height, width) for batches"
            return Image, {"shape": (None, None, 3), "encoding": "any"}, remark
        case "string_domain" if all(domain.value) and domain.value:
            if feature.HasField("distribution_constraints"):
                return None
            classes = {"classes": tuple(domain.value), "num_classes": len(domain.value)}
            return Label, {**classes, "stored": "text", "role": "input"}, ""
        case "int_domain" if domain.is_categorical:
            limits = domain.HasField("min") and domain.HasField("max")
            if not limits or domain.min < 0:
                return None
            count = domain.max - domain.min + 1
            facts = {"num_classes": count, "offset": domain.min, "role": "input"}
            return Label, facts, ""
    return None


def _shape(feature: Any) -> tuple[tuple[int | None, ...], dict[str, Any]]:
    """Return the shape of a feature, and the limit of its length."""
    if feature.HasField("shape"):
        shape = tuple(dim.size or None for dim in feature.shape.dim)
        return () if shape == (1,) else shape, {}
    least, most = feature.value_count.min, feature.value_count.max
    if least in (0, most):
        feature.ClearField("value_count")
    if least == most > 0:
        return () if most == 1 else (most,), {}
    return (None,), {"max_length": most if most > 0 else None}
