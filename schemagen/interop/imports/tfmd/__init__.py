"""From a schema of TensorFlow Metadata to fields."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ....kinds.varlen import VarLen
from ....schema_source import field_name
from ..outcome import Imported, Outcome
from ..places import prose
from . import table
from .features import Described, feature_outcome
from .reading import read_schema
from .tensors import Represented, represented


def import_tfmd(source: str) -> Imported:
    """Read a schema of TensorFlow Metadata.

    Args:
        source: a schema.pbtxt.

    Raises:
        Unreadable: it is not one.
        Missing: tensorflow-metadata is not installed.
    """
    schema = read_schema(Path(source))
    found = represented(schema)
    outcomes = [*_outcomes(schema, found)]
    outcomes = list(_weighted(schema, outcomes))
    comment = (
        " ".join(schema.annotation.comment) if schema.HasField("annotation") else ""
    )
    return Imported(tuple(outcomes), prose(comment, 84))


def _outcomes(schema: Any, found: Represented) -> Iterator[Outcome]:
    taken: set[str] = set()
    for feature in schema.feature:
        if feature.name in found.used:
            continue
        name = field_name(feature.name, taken)
        taken.add(name)
        default = found.defaults.get(feature.name)
        outcome = feature_outcome(Described(schema, feature, name, default))
        if default is not None and outcome.row is table.NUMBER:
            outcome = replace(outcome, row=table.DEFAULT)
        said = found.remarks.get(feature.name, "")
        if said and outcome.fields:
            row = table.SPARSE_OPEN if "sparse" in said else table.REPRESENTATION
            remark = "; ".join(filter(None, (outcome.remark, said)))
            outcome = replace(outcome, row=row, remark=remark)
        yield outcome
    for tensor in found.tensors:
        name = field_name(tensor.part, taken)
        taken.add(name)
        (field,) = tensor.fields
        yield replace(tensor, fields=(replace(field, name=name),))


def _weighted(schema: Any, outcomes: list[Outcome]) -> Iterator[Outcome]:
    """Put the two features of a weighted one into a group, if they are lists."""
    words: dict[str, str] = {}
    groups: dict[str, str] = {}
    by_name = {outcome.part: outcome for outcome in outcomes}
    for weighted in schema.weighted_feature:
        pair = [".".join(weighted.feature.step), ".".join(weighted.weight_feature.step)]
        if not all(name in by_name for name in pair):
            continue
        words[pair[1]] = f"the weights of {pair[0]!r}"
        words.setdefault(pair[0], f"weighted by {pair[1]!r}")
        made = [by_name[name].fields for name in pair]
        if all(len(m) == 1 and isinstance(m[0].kind, VarLen) for m in made):
            groups.update(dict.fromkeys(pair, weighted.name))
    for outcome in outcomes:
        word = words.get(outcome.part)
        if word and outcome.fields:
            remark = "; ".join(filter(None, (outcome.remark, word)))
            given: Any = {}
            if outcome.part in groups:
                given = {"group": groups[outcome.part], "exact": True}
            fields = tuple(field.replaced(**given) for field in outcome.fields)
            outcome = Outcome(outcome.part, table.WEIGHTED, fields, remark)
        yield outcome
