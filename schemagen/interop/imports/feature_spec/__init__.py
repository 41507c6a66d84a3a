"""From the features with which a program parses Examples to fields."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from ....kinds.field import FieldSpec
from ....kinds.ragged import Ragged
from ....kinds.sparse import Sparse
from ....kinds.steps import Steps
from ....schema_source import field_name
from ..outcome import Imported, MappingRow, Outcome
from ..places import Place
from . import table
from .reading import Features, read_features

_DTYPES = {"int64": "int64", "float32": "float32", "string": "bytes"}
_MAYBE = "a text (str), a picture (Image) or other bytes?"


@dataclass(frozen=True)
class _Feature:
    """One feature: its key in the dict, its class, and what it says."""

    key: str
    place: Place
    says: Mapping[str, Any]

    @property
    def kind(self) -> str:
        return str(self.says["kind"])

    @property
    def dtype(self) -> str:
        """The dtype by schemagen's word; "" if tf.io does not have it."""
        return _DTYPES.get(str(self.says.get("dtype")), "")

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape; None if it is none that tf.io has."""
        given = self.says.get("shape")
        sizes = given if isinstance(given, list) else [given]
        if all(type(size) is int and size > 0 for size in sizes):
            return tuple(sizes)
        return None

    def outcome(self, row: MappingRow, *made: FieldSpec, remark: str = "") -> Outcome:
        return Outcome(self.key, row, made, remark)

    def refused(self, row: MappingRow) -> Outcome:
        given = {name: value for name, value in self.says.items() if name != "kind"}
        said = ", ".join(f"{name}={value!r}" for name, value in given.items())
        return Outcome(self.key, row, (), f"{self.kind}({said})")


def import_feature_spec(target: str) -> Imported:
    """Read a dict of tf.io features, or a pair of them for SequenceExamples.

    Args:
        target: "file.py:NAME" or "package.module:NAME".

    Raises:
        Unreadable: there is none.
        Missing: its module needs tensorflow.
    """
    found = read_features(target)
    taken: set[str] = set()
    outcomes = [_flat(feature) for feature in _features(found[0], taken)]
    for feature in _features(found[1] if len(found) == 2 else {}, taken):
        outcomes.append(_steps(feature))
    message = "SequenceExample" if len(found) == 2 else "Example"
    return Imported(tuple(_without_shared(outcomes)), message=message)


def _features(given: Features, taken: set[str]) -> list[_Feature]:
    found = []
    for key, says in given.items():
        name = field_name(key, taken)
        taken.add(name)
        found.append(_Feature(key, Place((name,), key), says))
    return found


def _without_shared(outcomes: list[Outcome]) -> list[Outcome]:
    """Refuse what reads a key that a feature before it has read."""
    owners: dict[str, str] = {}
    found = []
    for outcome in outcomes:
        keys = {key for field in outcome.fields for key in _keys(field)}
        others = [key for key in sorted(keys) if key in owners]
        if others:
            said = f"the key {others[0]!r} is that of {owners[others[0]]!r} too"
            outcome = Outcome(outcome.part, table.SHARED, (), said)
        else:
            owners.update(dict.fromkeys(keys, outcome.part))
        found.append(outcome)
    return found


def _keys(field: FieldSpec) -> list[str]:
    return [entry.key for entry in field.storage]


def _flat(feature: _Feature) -> Outcome:
    """Return what becomes of a feature of an Example, or of a context."""
    if not feature.dtype:
        return feature.refused(table.STRANGE)
    if feature.kind == "FixedLenFeature":
        return _fixed(feature)
    if feature.kind == "VarLenFeature":
        return _list(feature, table.VARLEN)
    if feature.kind == "FixedLenSequenceFeature" and feature.says.get("allow_missing"):
        return _sequence(feature)
    if feature.kind == "RaggedFeature":
        return _ragged(feature)
    if feature.kind == "SparseFeature":
        return _sparse(feature)
    return feature.refused(table.STRANGE)


def _fixed(feature: _Feature) -> Outcome:
    shape, dtype, place = feature.shape, feature.dtype, feature.place
    if feature.says.get("shape") == []:
        shape = ()
    if shape is None:
        return feature.refused(table.STRANGE)
    defaults = _numbers(feature.says.get("default_value"))
    if dtype == "float32":
        defaults = [float(number) for number in defaults]
    if defaults:
        place = replace(place, optional=True)
    if dtype == "bytes":
        if prod(shape) > 1:
            empty = replace(place, default=() if defaults else None)
            said = f"always {prod(shape)} values, of shape {shape}; {_MAYBE}"
            field = empty.varlen("bytes", max_length=prod(shape))
            return feature.outcome(table.FIXED_LIST, field, remark=said)
        default = defaults[0] if defaults else None
        field = replace(place, default=default).scalar("bytes")
        return feature.outcome(table.FIXED_BYTES, field, remark=_MAYBE)
    if not shape:
        default = defaults[0] if defaults else None
        return feature.outcome(
            table.FIXED, replace(place, default=default).scalar(dtype)
        )
    if len(defaults) == 1:
        defaults = defaults * prod(shape)
    default = _shaped(defaults, shape) if defaults else None
    return feature.outcome(
        table.FIXED, replace(place, default=default).vector(shape, dtype)
    )


def _numbers(value: Any) -> list[Any]:
    """Return a default's values, one after the other."""
    if value is None:
        return []
    if isinstance(value, list):
        return [number for item in value for number in _numbers(item)]
    if isinstance(value, Mapping):
        return [base64.b64decode(value["bytes"])]
    return [value.encode() if isinstance(value, str) else value]


def _shaped(values: list[Any], shape: tuple[int, ...]) -> tuple[Any, ...]:
    if len(shape) == 1:
        return tuple(values)
    size = prod(shape[1:])
    rows = [values[at : at + size] for at in range(0, len(values), size)]
    return tuple(_shaped(row, shape[1:]) for row in rows)


def _empty(place: Place, key: str | None = None) -> Place:
    """Return the place of a list that is empty where it is missing, as to tf.io."""
    return replace(place, optional=True, default=(), key=key or place.key)


def _list(
    feature: _Feature, row: MappingRow, items: tuple[int, ...] = (), **more: Any
) -> Outcome:
    place = _empty(feature.place, feature.says.get("value_key"))
    if feature.dtype == "bytes":
        said = _MAYBE if not items else f"flat: reshape{(-1, *items)}; {_MAYBE}"
        return feature.outcome(table.VARLEN_BYTES, place.varlen("bytes"), remark=said)
    field = place.varlen(feature.dtype, items).replaced(**more)
    return feature.outcome(row, field)


def _sequence(feature: _Feature) -> Outcome:
    items = () if feature.says.get("shape") == [] else feature.shape
    if items is None:
        return feature.refused(table.STRANGE)
    padding = _numbers(feature.says.get("default_value"))
    if feature.dtype == "bytes" or not padding:
        return _list(feature, table.SEQUENCE, items)
    number = float if feature.dtype == "float32" else int
    return _list(feature, table.SEQUENCE, items, padding_value=number(padding[0]))


def _ragged(feature: _Feature) -> Outcome:
    partitions = feature.says.get("partitions") or []
    kinds = [partition["kind"] for partition in partitions]
    key = feature.says.get("value_key") or feature.key
    if not kinds:
        return _list(feature, table.RAGGED, ragged=feature.dtype != "bytes")
    if kinds == ["UniformRowLength"]:
        return _list(feature, table.RAGGED, (int(partitions[0]["length"]),))
    place = _empty(feature.place, key)
    if kinds == ["RowLengths"]:
        empty: Any = {"bytes": "", "float32": 0.0}.get(feature.dtype, 0)
        field = FieldSpec.of(
            Ragged,
            **place.common("info" if feature.dtype == "bytes" else "input"),
            dtype=feature.dtype,
            row_lengths_key=str(partitions[0]["key"]),
            padding_value=empty,
            exact=feature.dtype != "float32",  # as a plain list[list[float]]
        )
        return feature.outcome(table.RAGGED, field)
    made = [place.varlen(feature.dtype)]
    words = []
    for number, partition in enumerate(partitions):
        words.append(_word(partition))
        if "key" in partition:
            (name,) = place.path
            path = (f"{name}_partition_{number}",)
            other = replace(place, path=path, key=str(partition["key"]))
            made.append(other.varlen("int64", role="info"))
    said = f"all values; its rows, from the outermost: {', '.join(words)}"
    return feature.outcome(table.PARTITIONS, *made, remark=said)


def _word(partition: Mapping[str, Any]) -> str:
    return f"{partition['kind']}({partition.get('key', partition.get('length'))!r})"


def _sparse(feature: _Feature) -> Outcome:
    index, size = feature.says["index_key"], feature.says["size"]
    keys = tuple(map(str, index if isinstance(index, list) else [index]))
    shape = tuple(size if isinstance(size, list) else [size])
    key = str(feature.says["value_key"])
    if not all(type(one) is int and one > 0 for one in shape) or len(shape) != len(
        keys
    ):
        return feature.refused(table.STRANGE)
    if feature.dtype == "bytes":
        place = _empty(feature.place, key)
        made = [place.varlen("bytes")]
        for number, index_key in enumerate(keys):
            path = (f"{place.path[0]}_index_{number}",)
            other = replace(place, path=path, key=index_key)
            made.append(other.varlen("int64", role="info"))
        said = f"values of a sparse tensor of shape {shape}; the indices stand below"
        return feature.outcome(table.SPARSE_BYTES, *made, remark=said)
    place = replace(feature.place, key=key, optional=True)
    field = FieldSpec.of(
        Sparse,
        **place.common("input"),
        shape=shape,
        index_key=keys,
        dtype=feature.dtype,
    )
    return feature.outcome(table.SPARSE, field)


def _steps(feature: _Feature) -> Outcome:
    """Return what becomes of a feature of each step of a SequenceExample."""
    shape = () if feature.says.get("shape") == [] else feature.shape
    if feature.kind != "FixedLenSequenceFeature" or not feature.dtype or shape is None:
        return feature.refused(table.STEPS_VARYING)
    if feature.dtype == "bytes" and prod(shape) > 1:
        return feature.refused(table.STEPS_VARYING)
    place = feature.place
    if feature.says.get("allow_missing"):
        place = _empty(place)
    opaque = feature.dtype == "bytes"
    one = Place(place.path, "")
    step = (
        one.vector(shape, feature.dtype)
        if shape and not opaque
        else one.scalar(feature.dtype)
    )
    padding: Any = {"bytes": "", "float32": 0.0}.get(feature.dtype, 0)
    field = FieldSpec.of(
        Steps,
        **place.common("info" if opaque else "input"),
        step=step.kind,
        padding_value=padding,
    )
    if opaque:
        return feature.outcome(table.STEPS_BYTES, field, remark=_MAYBE)
    return feature.outcome(table.STEPS, field)
