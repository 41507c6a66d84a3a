"""From one feature of TensorFlow Metadata to a field."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ....kinds.field import FieldSpec
from ....kinds.image import Image
from ....kinds.label import Label
from ..outcome import MappingRow, Outcome
from ..places import Place, prose
from . import table

_TYPES = {"INT": "int64", "FLOAT": "float32", "BYTES": "bytes"}
_MAYBE = "a text (str), a picture (Image) or other bytes?"
_TEXTS = ("natural_language_domain", "url_domain", "mid_domain")
_UNCHECKED = (
    *("skew_comparator", "drift_comparator", "unique_constraints", "group_presence"),
    *("distribution_constraints", "sequence_metadata"),
)
_SHY = ("PLANNED", "ALPHA", "DEBUG_ONLY", "DEPRECATED", "DISABLED")


@dataclass(frozen=True)
class Described:
    """A feature with the schema it stands in.

    Attributes:
        schema: the schema, in which domains have names.
        feature: the feature.
        name: its field's name.
        default: what a missing one reads as, by its tensor representation.
    """

    schema: Any
    feature: Any
    name: str
    default: Any = None

    @property
    def stage(self) -> str:
        """Its lifecycle stage, as a word."""
        feature = self.feature
        if feature.deprecated:
            return "DEPRECATED"
        return str(_name_of(feature, "lifecycle_stage", feature.lifecycle_stage))

    @property
    def dtype(self) -> str:
        """Its dtype by schemagen's word; "" if an Example does not hold it."""
        return _TYPES.get(_name_of(self.feature, "type", self.feature.type), "")

    @property
    def domain(self) -> tuple[str, Any]:
        """The word for what its values are, and the message that says it."""
        kind = self.feature.WhichOneof("domain_info") or ""
        if kind != "domain":
            return kind, getattr(self.feature, kind) if kind else None
        for word in ("string_domain", "int_domain", "float_domain"):
            for named in getattr(self.schema, word):
                if named.name == self.feature.domain:
                    return word, named
        return "", None

    def environments(self) -> str:
        """Say in which environments it is; "" if in all."""
        every = set(self.schema.default_environment)
        here = {
            one for one in every if one not in self.feature.not_in_environment
        } | set(self.feature.in_environment)
        for feature in self.schema.feature:
            every |= {*feature.in_environment, *feature.not_in_environment}
        if (
            not every
            or here == every
            or not (
                self.feature.in_environment
                or self.feature.not_in_environment
                or self.schema.default_environment
            )
        ):
            return ""
        return "only in " + ", ".join(sorted(here)) if here else "in no environment"


def _name_of(message: Any, field: str, number: int) -> str:
    values = message.DESCRIPTOR.fields_by_name[field].enum_type.values_by_number
    return str(values[number].name)


def feature_outcome(given: Described) -> Outcome:
    """Return what becomes of a feature."""
    feature = given.feature
    if given.stage == "VALIDATION_DERIVED":
        return Outcome(feature.name, table.DERIVED)
    if not given.dtype or feature.HasField("value_counts"):
        kind = _name_of(feature, "type", feature.type)
        return Outcome(feature.name, table.STRUCT, (), kind)
    remarks, row = [], None
    shape, longest, least = _sizes(feature)
    place = _place(given)
    if given.environments():
        remarks.append(given.environments())
        row = table.ENVIRONMENT
    shy = given.stage in _SHY
    if shy:
        remarks.append(f"its stage is {given.stage}")
        row = table.STAGE
    made, own_row, said = _field(given, place, shape, longest)
    if said:
        remarks.insert(0, said)
    if least:
        remarks.append(f"at least {least} values")
    unchecked = [word for word in _UNCHECKED if feature.HasField(word)]
    if unchecked:
        remarks.append(f"not kept: {', '.join(unchecked)}")
        row = row or (table.UNCHECKED if own_row.kept == "kept" else None)
    if least:
        row = row or (table.AT_LEAST if own_row.kept == "kept" else None)
    if shy:
        made = made.replaced(role="info")
    return Outcome(feature.name, row or own_row, (made,), "; ".join(remarks))


def _place(given: Described) -> Place:
    feature = given.feature
    required = feature.presence.min_fraction == 1 and not feature.HasField(
        "group_presence"
    )
    if given.environments() or given.stage in _SHY:
        required = False
    comment = (
        " ".join(feature.annotation.comment) if feature.HasField("annotation") else ""
    )
    return Place(
        (given.name,),
        feature.name,
        doc=prose(comment, 80),
        optional=not required,
        default=None if required else given.default,
    )


def _sizes(feature: Any) -> tuple[tuple[int | None, ...] | None, int | None, int]:
    """Return the shape, None for a flat list; the most values; the least, if said."""
    if feature.HasField("shape"):
        shape = tuple(dim.size or None for dim in feature.shape.dim)
        return (() if shape == (1,) else shape), None, 0
    least, most = feature.value_count.min, feature.value_count.max
    if feature.HasField("value_count") and least == most and most > 0:
        return (() if most == 1 else (most,)), None, 0
    return None, most if most > 0 else None, max(0, least)


def _field(
    given: Described,
    place: Place,
    shape: tuple[int | None, ...] | None,
    longest: int | None,
) -> tuple[FieldSpec, MappingRow, str]:
    """Return a feature's field, its row in the table and what is to be known."""
    word, domain = given.domain
    if given.dtype == "bytes":
        found = _text(given, place, shape == (), word, domain)
        if isinstance(found, tuple):
            return found
        dtype, row, said = found.dtype, found.row, found.said
    else:
        number = _number(given, place, shape == (), word, domain)
        if isinstance(number, tuple):
            return number
        dtype, row, said = number.dtype, number.row, number.said
    if shape == ():
        return place.scalar(dtype), row, said
    if shape is not None and None not in shape and dtype not in ("string", "bytes"):
        known = tuple(size or 0 for size in shape)
        return replace(place, default=None).vector(known, dtype), row, said
    place = replace(place, default=None)
    if shape is not None and None in shape[:1] and None not in shape[1:]:
        items = tuple(size or 0 for size in shape[1:])
        if dtype not in ("string", "bytes"):
            return _ragged(given, place.varlen(dtype, items)), row, said
    if shape is not None and len(shape) > 1:
        sizes = tuple(-1 if size is None else size for size in shape)
        said = "; ".join(filter(None, (said, f"flat: of shape {sizes}")))
    field = place.varlen(dtype, max_length=longest)
    row = table.NUMBERS if row is table.NUMBER else row
    return _ragged(given, field), row, said


def _ragged(given: Described, field: FieldSpec) -> FieldSpec:
    if not given.schema.represent_variable_length_as_ragged:
        return field
    numbers: Any = {"ragged": True}
    return field.replaced(**numbers)


@dataclass(frozen=True)
class _Kept:
    dtype: str
    row: MappingRow
    said: str = ""


def _text(
    given: Described, place: Place, single: bool, word: str, domain: Any
) -> tuple[FieldSpec, MappingRow, str] | _Kept:
    if word == "image_domain" and single:
        field = FieldSpec.of(
            Image,
            **replace(place, default=None).common("input"),
            shape=(None, None, 3),
            encoding="any",
            dtype="uint8",
        )
        said = "its size and channels? resize=(height, width) for batches"
        return field, table.IMAGE, said
    if word == "string_domain":
        return _strings(given, place, single, tuple(domain.value))
    if word == "bool_domain":
        pair = (domain.false_value, domain.true_value)
        if single and all(pair) and pair[0] != pair[1]:
            return _label(place, pair), table.BOOL, ""
    if word in _TEXTS:
        return _Kept("string", table.TEXT)
    if word == "time_domain":
        return _Kept("string", table.RANGE, f"a time: {domain.string_format}")
    return _Kept("bytes", table.BYTES, _MAYBE if not word else f"of the {word}")


def _strings(
    given: Described, place: Place, single: bool, values: tuple[str, ...]
) -> tuple[FieldSpec, MappingRow, str] | _Kept:
    constraints = given.feature.distribution_constraints
    given_mass = given.feature.HasField("distribution_constraints")
    partial = given_mass and constraints.min_domain_mass < 1
    distinct = values and all(values) and len(set(values)) == len(values)
    if single and distinct and not partial:
        return _label(place, values), table.STRINGS, ""
    shown = ", ".join(map(repr, values[:8]))
    more = f" and {len(values) - 8} more" if len(values) > 8 else ""
    return _Kept("string", table.OPEN_STRINGS, f"one of {shown}{more}")


def _label(place: Place, classes: tuple[str, ...]) -> FieldSpec:
    """Return a label whose names are stored."""
    return FieldSpec.of(
        Label,
        **replace(place, default=None).common("input"),
        num_classes=len(classes),
        classes=classes,
        stored="text",
    )


def _number(
    given: Described, place: Place, single: bool, word: str, domain: Any
) -> tuple[FieldSpec, MappingRow, str] | _Kept:
    dtype = given.dtype
    if word == "bool_domain" and dtype == "int64":
        return _Kept("bool", table.BOOL)
    if word not in ("int_domain", "float_domain", "time_domain"):
        said = f"of the {word}" if word else ""
        return _Kept(dtype, table.RANGE if word else table.NUMBER, said)
    if word == "time_domain":
        return _Kept(dtype, table.RANGE, "a time, as a number")
    limits = [domain.HasField("min"), domain.HasField("max")]
    categorical = dtype == "int64" and domain.is_categorical and all(limits)
    if categorical and single and 0 <= domain.min <= domain.max:
        field = FieldSpec.of(
            Label,
            **replace(place, default=None).common("input"),
            num_classes=domain.max - domain.min + 1,
            offset=domain.min,
        )
        return field, table.CATEGORY, ""
    words = [f"from {domain.min}" * limits[0], f"to {domain.max}" * limits[1]]
    said = " ".join(filter(None, words))
    return _Kept(dtype, table.RANGE if said else table.NUMBER, said)
