"""From a schema of TensorFlow Metadata to fields."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...kinds.field import FieldSpec
from ...kinds.image import Image
from ...kinds.varlen import VarLen
from .outcome import (
    Imported,
    Outcome,
    few,
    joined,
    not_installed,
    read_text,
    unreadable,
)
from .place import Place, field_names, prose
from .tfmd_tensors import DTYPES, Tensors

_EXPECTED = "a schema.pbtxt: the text format of tensorflow_metadata's Schema"
_MAYBE = "a text (str), a picture (Image) or other bytes?"
_TEXTS = ("natural_language_domain", "url_domain", "mid_domain")
_UNCHECKED = (
    *("skew_comparator", "drift_comparator", "unique_constraints", "group_presence"),
    *("distribution_constraints", "sequence_metadata"),
)
_SHY = ("PLANNED", "ALPHA", "DEBUG_ONLY", "DEPRECATED", "DISABLED")


def import_tfmd(source: str) -> Imported:
    """Read a schema of TensorFlow Metadata.

    Args:
        source: a schema.pbtxt.

    Raises:
        SchemagenError: it is not one, or tensorflow-metadata is not installed.
    """
    schema = _read(Path(source))
    outcomes = _weighted(schema, list(_outcomes(schema)))
    return Imported(tuple(outcomes), prose(_comment(schema), 84))


def _read(path: Path) -> Any:
    """Return a schema as the message that it is."""
    text = read_text(path, _EXPECTED)
    try:
        from google.protobuf import text_format
        from tensorflow_metadata.proto.v0 import schema_pb2
    except ImportError:
        raise not_installed(
            "tensorflow-metadata", "reading a schema.pbtxt", "tfmd"
        ) from None
    try:
        return text_format.Parse(text, schema_pb2.Schema())
    except text_format.ParseError as error:
        message = "it is no schema of TensorFlow Metadata"
        raise unreadable(message, str(error), _EXPECTED) from None


def _comment(message: Any) -> str:
    return " ".join(message.annotation.comment)


def _outcomes(schema: Any) -> Iterator[Outcome]:
    tensors = Tensors(schema)
    taken: set[str] = set()
    features = [f for f in schema.feature if f.name not in tensors.used]
    names = field_names((f.name for f in features), taken)
    for feature, name in zip(features, names, strict=True):
        default = tensors.defaults.get(feature.name)
        outcome = _feature(schema, feature, name, default)
        said = tensors.remarks.get(feature.name, "")
        if said and outcome.fields:
            outcome = replace(outcome, remark=joined(outcome.remark, said))
        yield outcome
    names = field_names((made.part for made in tensors.outcomes), taken)
    for made, name in zip(tensors.outcomes, names, strict=True):
        (field,) = made.fields
        yield replace(made, fields=(replace(field, name=name),))


def _weighted(schema: Any, outcomes: list[Outcome]) -> Iterator[Outcome]:
    """Put the two features of a weighted one into a group, if they are lists."""
    words: dict[str, str] = {}
    groups: dict[str, str] = {}
    fields = {outcome.part: outcome.fields for outcome in outcomes}
    for weighted in schema.weighted_feature:
        value = ".".join(weighted.feature.step)
        weight = ".".join(weighted.weight_feature.step)
        if value not in fields or weight not in fields:
            continue
        words[weight] = f"the weights of {value!r}"
        words.setdefault(value, f"weighted by {weight!r}")
        made = [fields[value], fields[weight]]
        if all(len(m) == 1 and isinstance(m[0].kind, VarLen) for m in made):
            groups.update(dict.fromkeys((value, weight), weighted.name))
    for outcome in outcomes:
        if outcome.part in words and outcome.fields:
            given: Any = {}
            if outcome.part in groups:
                given = {"group": groups[outcome.part], "exact": True}
            outcome = Outcome(
                outcome.part,
                tuple(field.replaced(**given) for field in outcome.fields),
                joined(outcome.remark, words[outcome.part]),
            )
        yield outcome


def _feature(schema: Any, feature: Any, name: str, default: Any) -> Outcome:
    """Return what becomes of a feature.

    Args:
        schema: the schema, in which domains have names.
        feature: the feature.
        name: its field's name.
        default: what a missing one reads as, by its tensor representation.
    """
    stage = "DEPRECATED" if feature.deprecated else _word(feature, "lifecycle_stage")
    if stage == "VALIDATION_DERIVED":
        return Outcome(feature.name, reason="it is calculated, and not stored")
    dtype = DTYPES.get(feature.type)
    if dtype is None or feature.HasField("value_counts"):
        reason = "an Example does not hold it as it is"
        return Outcome(feature.name, (), _word(feature, "type"), reason)
    environments = _environments(schema, feature)
    seldom = bool(environments) or stage in _SHY
    required = feature.presence.min_fraction == 1 and not seldom
    required = required and not feature.HasField("group_presence")
    place = Place(
        (name,),
        feature.name,
        doc=prose(_comment(feature)),
        optional=not required,
        default=None if required else default,
    )
    field, said = _field(schema, feature, dtype, place)
    _, _, least = _sizes(feature)
    unchecked = [word for word in _UNCHECKED if feature.HasField(word)]
    remark = joined(
        said,
        environments,
        f"its stage is {stage}" if stage in _SHY else "",
        f"at least {least} values" if least else "",
        f"not kept: {', '.join(unchecked)}" if unchecked else "",
    )
    if stage in _SHY:
        field = field.replaced(role="info")
    return Outcome(feature.name, (field,), remark)


def _word(message: Any, field: str) -> str:
    """Return the word for the value of an enumeration."""
    values = message.DESCRIPTOR.fields_by_name[field].enum_type.values_by_number
    return str(values[getattr(message, field)].name)


def _environments(schema: Any, feature: Any) -> str:
    """Say in which environments a feature is; "" if in all."""
    default = set(schema.default_environment)
    here = (default - {*feature.not_in_environment}) | {*feature.in_environment}
    every = default.union(
        *(f.in_environment for f in schema.feature),
        *(f.not_in_environment for f in schema.feature),
    )
    said = feature.in_environment or feature.not_in_environment or default
    if here == every or not said:
        return ""
    return "only in " + ", ".join(sorted(here)) if here else "in no environment"


def _sizes(feature: Any) -> tuple[tuple[int | None, ...], int | None, int]:
    """Return the shape; of a flat list the most values; and the least, if said."""
    if feature.HasField("shape"):
        shape = tuple(dim.size or None for dim in feature.shape.dim)
        return (() if shape == (1,) else shape), None, 0
    least, most = feature.value_count.min, feature.value_count.max
    if least == most and most > 0:
        return (() if most == 1 else (most,)), None, 0
    return (None,), most if most > 0 else None, max(0, least)


def _field(
    schema: Any, feature: Any, dtype: str, place: Place
) -> tuple[FieldSpec, str]:
    """Return a feature's field and what is to be known."""
    shape, longest, _ = _sizes(feature)
    word, domain = _domain(schema, feature)
    single = shape == ()
    bare = replace(place, default=None)
    find = _bytes if dtype == "bytes" else _number
    made, said = find(feature, bare, single, word, domain)
    if not isinstance(made, str):
        return made, said
    if single:
        return place.scalar(made), said
    field = bare.array(made, shape, max_length=longest)
    if not isinstance(field.kind, VarLen):
        return field, said
    if len(shape) > 1 and not field.kind.item_shape:
        sizes = tuple(-1 if size is None else size for size in shape)
        said = joined(said, f"flat: of shape {sizes}")
    ragged = schema.represent_variable_length_as_ragged
    return field.replaced(ragged=ragged), said


def _domain(schema: Any, feature: Any) -> tuple[str, Any]:
    """Return the word for what a feature's values are, and the message that says it."""
    kind = feature.WhichOneof("domain_info") or ""
    if kind != "domain":
        return kind, getattr(feature, kind) if kind else None
    for word in ("string_domain", "int_domain", "float_domain"):
        for named in getattr(schema, word):
            if named.name == feature.domain:
                return word, named
    return "", None


# A field, or the dtype of its values; and what has to be known.
_Made = tuple[FieldSpec | str, str]


def _bytes(feature: Any, place: Place, single: bool, word: str, domain: Any) -> _Made:
    if word == "image_domain" and single:
        image = FieldSpec.of(
            Image,
            **place.common("input"),
            shape=(None, None, 3),
            encoding="any",
            dtype="uint8",
        )
        said = "its size and channels? resize=(height, width) for batches"
        return image, said
    if word == "string_domain":
        values = tuple(domain.value)
        partial = feature.HasField("distribution_constraints")
        partial = partial and feature.distribution_constraints.min_domain_mass < 1
        if single and _are_classes(values) and not partial:
            return _label(place, values), ""
        said = f"one of {few([*map(repr, values)])}"
        return "string", said
    if word == "bool_domain":
        pair = (domain.false_value, domain.true_value)
        if single and _are_classes(pair):
            return _label(place, pair), ""
    if word in _TEXTS:
        return "string", ""
    if word == "time_domain":
        return "string", f"a time: {domain.string_format}"
    return "bytes", f"of the {word}" if word else _MAYBE


def _are_classes(values: tuple[str, ...]) -> bool:
    return bool(values) and all(values) and len(set(values)) == len(values)


def _label(place: Place, classes: tuple[str, ...]) -> FieldSpec:
    """Return a label whose names are stored."""
    return place.label("input", len(classes), classes=classes, stored="text")


def _number(feature: Any, place: Place, single: bool, word: str, domain: Any) -> _Made:
    dtype = DTYPES[feature.type]
    if word == "bool_domain" and dtype == "int64":
        return "bool", ""
    if word == "time_domain":
        return dtype, "a time, as a number"
    if word not in ("int_domain", "float_domain"):
        said = f"of the {word}" if word else ""
        return dtype, said
    limits = [domain.HasField("min"), domain.HasField("max")]
    categorical = dtype == "int64" and domain.is_categorical and all(limits)
    if categorical and single and 0 <= domain.min <= domain.max:
        count = domain.max - domain.min + 1
        return place.label("input", count, offset=domain.min), ""
    words = [f"from {domain.min}" * limits[0], f"to {domain.max}" * limits[1]]
    said = " ".join(filter(None, words))
    return dtype, said
