"""Sparse features and tensor representations: what several features are together."""

from __future__ import annotations

from typing import Any

from ...kinds.field import FieldSpec
from .outcome import Outcome
from .place import Place

DTYPES = {1: "bytes", 2: "int64", 3: "float32"}  # by the numbers of FeatureType


class Tensors:
    """The sparse and ragged tensors of a schema, and its defaults.

    Attributes:
        outcomes: the fields that they make.
        used: the names of the features that are in them.
        defaults: what missing features read as, by name.
        remarks: what is not kept, by the name of the feature that it is about.
    """

    def __init__(self, schema: Any) -> None:
        self.outcomes: list[Outcome] = []
        self.used: set[str] = set()
        self.defaults: dict[str, Any] = {}
        self.remarks: dict[str, str] = {}
        self._features = {feature.name: feature for feature in schema.feature}
        for sparse in schema.sparse_feature:
            keys = [each.name for each in sparse.index_feature]
            value, shape = sparse.value_feature.name, sparse.dense_shape
            self._sparse(sparse.name, keys, value, shape)
        for group, tensors in sorted(schema.tensor_representation_group.items()):
            for name, tensor in sorted(tensors.tensor_representation.items()):
                self._tensor(group, name, tensor)

    def _tensor(self, group: str, name: str, tensor: Any) -> None:
        kind = tensor.WhichOneof("kind")
        said: Any = getattr(tensor, kind) if kind else None
        if group:
            for column in _columns(said, kind):
                self.remarks.setdefault(
                    column, f"in the tensor representation {group!r}"
                )
        elif kind == "sparse_tensor":
            keys, value = list(said.index_column_names), said.value_column_name
            self._sparse(name, keys, value, said.dense_shape)
        elif kind == "ragged_tensor":
            self._ragged(name, said)
        elif kind == "dense_tensor" and said.HasField("default_value"):
            word = said.default_value.WhichOneof("kind")
            self.defaults[said.column_name] = getattr(said.default_value, word)

    def _sparse(self, name: str, keys: list[str], value: str, shape: Any) -> None:
        """Make a Sparse of the features with the indices and the values."""
        features = self._features
        sizes = [dim.size for dim in shape.dim]
        if not sizes:
            domains = [features[key].int_domain for key in keys if key in features]
            sizes = [each.max + 1 if each.HasField("max") else 0 for each in domains]
        dtype = DTYPES.get(features[value].type, "") if value in features else ""
        known = all(size > 0 for size in sizes) and len(sizes) == len(keys) > 0
        if dtype in ("", "bytes") or not known or not features.keys() >= {*keys}:
            for column in (*keys, value):
                self.remarks[column] = f"a part of the sparse feature {name!r}"
            return
        made = Place(("sparse",), value).sparse(dtype, tuple(sizes), tuple(keys))
        self._use(name, made, [*keys, value])

    def _ragged(self, name: str, tensor: Any) -> None:
        steps, partitions = list(tensor.feature_path.step), list(tensor.partition)
        kinds = [partition.WhichOneof("kind") for partition in partitions]
        known = len(steps) == 1 and steps[0] in self._features
        if not known or kinds != ["row_length"]:
            for column in (*steps, *(each.row_length for each in partitions)):
                self.remarks.setdefault(column, f"a part of the ragged tensor {name!r}")
            return
        value, lengths = steps[0], partitions[0].row_length
        feature = self._features[value]
        place = Place(("ragged",), value, optional=feature.presence.min_fraction != 1)
        made = place.ragged(DTYPES.get(feature.type, "bytes"), lengths)
        self._use(name, made, [value, lengths])

    def _use(self, name: str, made: FieldSpec, keys: list[str]) -> None:
        if self.used & {*keys}:  # another representation has them already
            return
        self.outcomes.append(Outcome(name, (made,)))
        self.used.update(keys)


def _columns(said: Any, kind: str | None) -> list[str]:
    if kind == "sparse_tensor":
        return [*said.index_column_names, said.value_column_name]
    if kind == "ragged_tensor":
        return list(said.feature_path.step)
    return [said.column_name] if kind else []
