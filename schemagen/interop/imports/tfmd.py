"""From a schema of TensorFlow Metadata to fields."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ...kinds.field import FieldSpec
from ...schema import Label, Ragged
from ..extras import metadata_schema
from .parts import (
    MAYBE,
    Made,
    Part,
    Place,
    Source,
    joined,
    part_of,
    places,
    prose,
    read_bytes,
    unreadable,
)

_EXPECTED = "a schema.pbtxt: the text format of tensorflow_metadata's Schema"
_DTYPES = {"BYTES": "bytes", "INT": "int64", "FLOAT": "float32"}
_TEXTS = ("natural_language_domain", "url_domain", "mid_domain")

# Fields of Feature that a schema expresses, and those that make a field optional.
_KEPT = ("name", "type", "annotation", "presence")
_STAGES = {"lifecycle_stage", "deprecated"}
_SELDOM = _STAGES | {"in_environment", "not_in_environment", "group_presence"}


def import_tfmd(source: str) -> Source:
    """Read a schema of TensorFlow Metadata.

    Args:
        source: a schema.pbtxt.

    Raises:
        SchemagenError: it is not one, or tensorflow-metadata is not installed.
    """
    text, schema = read_bytes(Path(source), _EXPECTED), metadata_schema()
    from google.protobuf import text_format

    try:
        text_format.Parse(text.decode(), schema)
    except (text_format.ParseError, UnicodeDecodeError) as error:
        raise unreadable("not a schema of TFMD", str(error), _EXPECTED) from None
    return Source(tuple(_parts(schema)), prose(_comment(schema), 84))


def _comment(message: Any) -> str:
    return " ".join(message.annotation.comment)


def _word(message: Any, name: str) -> str:
    """Return the name of the value of an enumeration."""
    values = message.DESCRIPTOR.fields_by_name[name].enum_type.values_by_number
    return str(values[getattr(message, name)].name)


def _text(message: Any) -> str:
    """Return the beginning of a message in the text format."""
    from google.protobuf import text_format

    text = text_format.MessageToString(message, as_one_line=True)
    return textwrap.shorten(text, 200)


def _parts(schema: Any) -> Iterator[Part]:
    used: set[str] = set()
    remarks: dict[str, str] = {}
    tensors: list[Part] = []
    for name, columns, make in _tensors(schema):
        part = part_of(name, "", make)
        if part.fields and not used & {*columns}:
            tensors.append(part)
            used.update(columns)
        else:
            remarks.update(dict.fromkeys(columns, f"a part of the tensor {name!r}"))
    for each in schema.weighted_feature:
        value, weight = (
            ".".join(path.step) for path in (each.feature, each.weight_feature)
        )
        remarks |= {value: f"weighted by {weight!r}", weight: f"weights of {value!r}"}
    features = [each for each in schema.feature if each.name not in used]
    here = places([*(f.name for f in features), *(t.name for t in tensors)])
    defaults = _defaults(schema)
    for feature, place in zip(features, here, strict=False):
        _resolve_domain(schema, feature)
        found, name = _word(feature, "type"), feature.name
        place = replace(place, default=defaults.get(name))
        ragged = schema.represent_variable_length_as_ragged
        make = partial(_feature, feature, place, remarks.get(name, ""), ragged=ragged)
        yield part_of(name, found, make)
    for part, place in zip(tensors, here, strict=True):
        yield replace(part, fields=(replace(part.fields[0], name=place.path[0]),))


def _representations(schema: Any) -> list[tuple[str, Any]]:
    return sorted(schema.tensor_representation_group[""].tensor_representation.items())


def _defaults(schema: Any) -> dict[str, Any]:
    """Return the values of missing features, by their names."""
    found = {}
    for _, tensor in _representations(schema):
        value = tensor.dense_tensor.default_value
        if word := value.WhichOneof("kind"):
            found[tensor.dense_tensor.column_name] = getattr(value, word)
    return found


def _tensors(schema: Any) -> Iterator[tuple[str, list[str], partial[Made]]]:
    """Yield the name, columns and field of each sparse and ragged tensor."""
    features = {feature.name: feature for feature in schema.feature}
    for each in schema.sparse_feature:
        columns = [
            each.value_feature.name,
            *(index.name for index in each.index_feature),
        ]
        yield each.name, columns, partial(_sparse, features, columns, each.dense_shape)
    for name, tensor in _representations(schema):
        match tensor.WhichOneof("kind"):
            case "sparse_tensor":
                found = tensor.sparse_tensor
                columns = [found.value_column_name, *found.index_column_names]
                make = partial(_sparse, features, columns, found.dense_shape)
                yield name, columns, make
            case "ragged_tensor":
                found = tensor.ragged_tensor
                lengths = [each.row_length for each in found.partition]
                columns = [*found.feature_path.step, *lengths]
                yield name, columns, partial(_ragged, features, columns)


def _sparse(features: dict[str, Any], columns: list[str], dense_shape: Any) -> Made:
    value, *indices = (features[column] for column in columns)
    domains = (index.int_domain for index in indices)
    sizes = [dim.size for dim in dense_shape.dim] or [
        domain.max + 1 if domain.HasField("max") else 0 for domain in domains
    ]
    place = Place((columns[0],), columns[0], optional=True)
    dtype = _DTYPES[_word(value, "type")]
    return (place.sparse(dtype, sizes, columns[1:]),), ""


def _ragged(features: dict[str, Any], columns: list[str]) -> Made:
    value, lengths = (features[column] for column in columns)
    optional, dtype = value.presence.min_fraction != 1, _DTYPES[_word(value, "type")]
    place = Place((value.name,), value.name, optional=optional)
    return (place.field(Ragged, dtype=dtype, row_lengths_key=lengths.name),), ""


def _resolve_domain(schema: Any, feature: Any) -> None:
    """Put the domain that a feature names in the place of the name."""
    for word in ("string_domain", "int_domain", "float_domain"):
        for domain in getattr(schema, word):
            if feature.domain and domain.name == feature.domain:
                getattr(feature, word).CopyFrom(domain)


def _feature(feature: Any, place: Place, remark: str, *, ragged: bool) -> Made:
    """Return what a feature becomes; what no schema expresses becomes a remark.

    Everything that the field expresses is cleared from the feature.
    """
    stage, dtype = (
        _word(feature, "lifecycle_stage"),
        _DTYPES.get(_word(feature, "type")),
    )
    if dtype is None or feature.HasField("value_counts"):
        raise ValueError("an Example does not hold it as it is")
    if stage == "VALIDATION_DERIVED":
        raise ValueError("it is calculated, and not stored")
    if stage in ("BETA", "PRODUCTION"):
        feature.ClearField("lifecycle_stage")
    given = {each.name for each, _ in feature.ListFields()}
    required = feature.presence.min_fraction == 1 and not given & _SELDOM
    place = replace(place, doc=prose(_comment(feature)), optional=not required)
    place = replace(place, default=None) if required else place
    facts: dict[str, Any] = {"role": "info"} if given & _STAGES else {}
    shape = _shape(feature, facts)
    find = _of_bytes if dtype == "bytes" else _of_numbers
    made, words = find(feature, replace(place, default=None), dtype, shape == ())
    if not isinstance(made, str):
        made = made.replaced(**facts)
    elif not shape:
        made = place.array(made, **facts)
    else:
        made = replace(place, default=None).array(made, shape, **facts)
        if made.codec.item_size is not None:
            made = made.replaced(ragged=ragged)
            if len(shape) > 1 and not made.kind.item_shape:
                sizes = tuple(-1 if size is None else size for size in shape)
                words = joined(words, f"flat: of shape {sizes}")
    for name in _KEPT:
        feature.ClearField(name)
    rest = _text(feature)
    return (made,), joined(words, remark, f"not kept: {rest}" if rest else "")


def _shape(feature: Any, facts: dict[str, Any]) -> tuple[int | None, ...]:
    """Return the shape of a feature, and add the greatest length of a list to facts."""
    shape: tuple[int | None, ...]
    if feature.HasField("shape"):
        shape = tuple(dim.size or None for dim in feature.shape.dim)
        feature.ClearField("shape")
        return () if shape == (1,) else shape
    least, most = feature.value_count.min, feature.value_count.max
    if least in (0, most):
        feature.ClearField("value_count")
    if least == most > 0:
        return () if most == 1 else (most,)
    facts["max_length"] = most if most > 0 else None
    return (None,)


_Found = tuple[FieldSpec | str, str]
"""A field, or the dtype of its values; and a remark."""


def _of_bytes(feature: Any, place: Place, dtype: str, single: bool) -> _Found:
    word = feature.WhichOneof("domain_info") or ""
    domain: Any = getattr(feature, word, None)
    classes: tuple[str, ...] = ()
    if word == "string_domain" and not feature.HasField("distribution_constraints"):
        classes = tuple(domain.value)
    if word == "bool_domain":
        classes = (domain.false_value, domain.true_value)
    if single and classes and all(classes) and len({*classes}) == len(classes):
        feature.ClearField(word)
        facts: dict[str, Any] = {"num_classes": len(classes), "stored": "text"}
        return place.field(Label, classes=classes, role="input", **facts), ""
    if word == "image_domain" and single:
        feature.ClearField(word)
        remark = "its size and channels? resize=(height, width) for batches"
        return place.image((None, None, 3), "any"), remark
    if word in _TEXTS:
        feature.ClearField(word)
    if word in (*_TEXTS, "string_domain", "time_domain"):
        return "string", ""
    return "bytes", "" if word else MAYBE


def _of_numbers(feature: Any, place: Place, dtype: str, single: bool) -> _Found:
    word = feature.WhichOneof("domain_info") or ""
    domain: Any = getattr(feature, word, None)
    if word == "bool_domain" and dtype == "int64":
        feature.ClearField(word)
        return "bool", ""
    if word == "int_domain" and single and domain.is_categorical:
        count = domain.max - domain.min + 1
        if (
            domain.HasField("min")
            and domain.HasField("max")
            and count > 0 <= domain.min
        ):
            facts: dict[str, Any] = {"num_classes": count, "offset": domain.min}
            feature.ClearField(word)
            return place.field(Label, role="input", **facts), ""
    if word == "float_domain":  # fields refuse NaN and infinities
        domain.ClearField("disallow_nan")
        domain.ClearField("disallow_inf")
    if word in ("int_domain", "float_domain") and not domain.ByteSize():
        feature.ClearField(word)
    return dtype, ""
