"""Sparse features and tensor representations: what several features are together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ....kinds.field import FieldSpec
from ....kinds.ragged import Ragged
from ....kinds.sparse import Sparse
from ..outcome import Outcome
from ..places import Place
from . import table

_NUMBERS = {1: None, 2: "int64", 3: "float32"}  # BYTES, INT, FLOAT


@dataclass
class Represented:
    """What several features are together.

    Attributes:
        tensors: the fields that they make.
        used: the names of the features that are in them.
        defaults: what missing features read as, by name.
        remarks: what is not kept, by the name of the feature that it is about.
    """

    tensors: list[Outcome] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    defaults: dict[str, Any] = field(default_factory=dict)
    remarks: dict[str, str] = field(default_factory=dict)


def represented(schema: Any) -> Represented:
    """Return the sparse and ragged tensors of a schema, and its defaults."""
    found = Represented()
    features = {feature.name: feature for feature in schema.feature}
    for sparse in schema.sparse_feature:
        keys = [each.name for each in sparse.index_feature]
        sizes = [dim.size for dim in sparse.dense_shape.dim]
        _sparse(found, features, sparse.name, keys, sparse.value_feature.name, sizes)
    for group, tensors in sorted(schema.tensor_representation_group.items()):
        for name, tensor in sorted(tensors.tensor_representation.items()):
            _tensor(found, features, group, name, tensor)
    return found


def _tensor(
    found: Represented, features: Any, group: str, name: str, tensor: Any
) -> None:
    kind = tensor.WhichOneof("kind")
    if group:
        for column in _columns(tensor, kind):
            found.remarks.setdefault(column, f"in the tensor representation {group!r}")
    elif kind == "sparse_tensor":
        each = tensor.sparse_tensor
        sizes = [dim.size for dim in each.dense_shape.dim]
        keys = list(each.index_column_names)
        _sparse(found, features, name, keys, each.value_column_name, sizes)
    elif kind == "ragged_tensor":
        _ragged(found, features, name, tensor.ragged_tensor)
    elif kind == "dense_tensor" and tensor.dense_tensor.HasField("default_value"):
        default = tensor.dense_tensor.default_value
        word = default.WhichOneof("kind")
        found.defaults[tensor.dense_tensor.column_name] = getattr(default, word)


def _columns(tensor: Any, kind: str | None) -> list[str]:
    each: Any = getattr(tensor, kind) if kind else None
    if kind == "sparse_tensor":
        return [*each.index_column_names, each.value_column_name]
    if kind == "ragged_tensor":
        return list(each.feature_path.step)
    return [each.column_name] if each is not None else []


def _sparse(
    found: Represented,
    features: Any,
    name: str,
    keys: list[str],
    value: str,
    sizes: list[int],
) -> None:
    """Make a Sparse of the features with the indices and the values."""
    if not sizes:
        domains = [features[key].int_domain for key in keys if key in features]
        sizes = [domain.max + 1 if domain.HasField("max") else 0 for domain in domains]
    dtype = _NUMBERS.get(features[value].type) if value in features else None
    whole = all(key in features for key in keys) and len(sizes) == len(keys)
    if dtype is None or not keys or not whole or not all(size > 0 for size in sizes):
        for column in (*keys, value):
            found.remarks[column] = f"a part of the sparse feature {name!r}"
        return
    place = Place(("sparse",), value, optional=True)
    made = FieldSpec.of(
        Sparse,
        **place.common("input"),
        shape=tuple(sizes),
        index_key=tuple(keys),
        dtype=dtype,
    )
    _use(found, name, table.SPARSE, made, [*keys, value])


def _ragged(found: Represented, features: Any, name: str, tensor: Any) -> None:
    steps, partitions = list(tensor.feature_path.step), list(tensor.partition)
    kinds = [partition.WhichOneof("kind") for partition in partitions]
    known = len(steps) == 1 and steps[0] in features
    if not known or kinds != ["row_length"]:
        for column in (*steps, *(partition.row_length for partition in partitions)):
            found.remarks.setdefault(column, f"a part of the ragged tensor {name!r}")
        return
    value, lengths = steps[0], partitions[0].row_length
    dtype = _NUMBERS.get(features[value].type) or "bytes"
    empty: Any = {"bytes": "", "float32": 0.0}.get(dtype, 0)
    required = features[value].presence.min_fraction == 1
    place = Place(("ragged",), value, optional=not required)
    made = FieldSpec.of(
        Ragged,
        **place.common("info" if dtype == "bytes" else "input"),
        dtype=dtype,
        row_lengths_key=lengths,
        padding_value=empty,
        exact=dtype != "float32",  # as a plain list[list[float]]
    )
    _use(found, name, table.RAGGED, made, [value, lengths])


def _use(
    found: Represented, name: str, row: Any, made: FieldSpec, keys: list[str]
) -> None:
    if found.used & set(keys):  # another representation has them already
        return
    found.tensors.append(Outcome(name, row, (made,)))
    found.used.update(keys)
