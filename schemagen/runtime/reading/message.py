"""One tf.train.Example or SequenceExample as Python values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..native import NOTHING
from .columns import Column
from .decoding import decode
from .fields import MalformedError
from .records import records_of


@dataclass
class Feature:
    """One feature.

    Attributes:
        kind: BYTES, FLOAT, INT64 or NOTHING.
        values: ints, floats, or (start, stop) of each bytes value in the record.
    """

    kind: str = NOTHING
    values: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class Message:
    """A record.

    Attributes:
        features: by key.
        lists: the steps of each feature list, by key.
        is_sequence: whether it has a field of feature lists, even an empty one.
        unknown: what no Example has, which readers pass over.
        repeated: keys that occur more than once, of which the last one counts.
    """

    features: dict[str, Feature] = field(default_factory=dict)
    lists: dict[str, list[Feature]] = field(default_factory=dict)
    is_sequence: bool = False
    unknown: frozenset[str] = frozenset()
    repeated: frozenset[str] = frozenset()


def parse_message(data: bytes) -> Message:
    """Read the bytes of one record.

    Raises:
        MalformedError: they are not a tf.train.Example or SequenceExample.
    """
    columns = decode(records_of([data]))
    for damage in columns.malformed:
        raise MalformedError(damage.at, damage.reason)
    features = {
        key: feature
        for key, some in columns.by_key.items()
        for column in some
        for feature in _features(column)
    }
    lists = {}
    for key, of_steps in columns.steps.items():
        steps = [Feature() for _ in range(int(of_steps.steps.sum()))]
        for column in of_steps.columns:
            for row, feature in zip(
                column.rows.tolist(), _features(column), strict=True
            ):
                steps[row] = feature
        lists[key] = steps
    return Message(
        features,
        lists,
        bool(columns.sequences[0]),
        frozenset(columns.unknown),
        frozenset(columns.repeated),
    )


def _features(column: Column) -> list[Feature]:
    """Return each row of a column as a feature."""
    values = column.values.tolist()
    if column.values.ndim > 1:
        values = list(map(tuple, values))
    bounds = zip(column.starts.tolist(), column.lengths.tolist(), strict=True)
    return [Feature(column.kind, values[at : at + size]) for at, size in bounds]
