"""What the fields of a record's instances have to be to each other."""

from __future__ import annotations

from functools import lru_cache, reduce
from typing import Any

from ..runtime.codecs.between import features_of_row, refuse_faults, relations_of
from ..runtime.codecs.groups import check_lengths, groups_of
from ..runtime.codecs.kind import Kind, optional


def check_between(record: Any) -> None:
    """Refuse a record whose fields do not go together, such as unequally long ones.

    Raises:
        RecordError: naming the field.
    """
    cls: Any = type(record)
    codecs = _compared(cls)

    def value(codec: Kind) -> Any:
        return reduce(getattr, codec.label.split("."), record)

    for group, members in groups_of(codecs).items():
        check_lengths(group, *[(codec, value(codec)) for codec in members])
    for relation in relations_of(codecs):
        features = features_of_row([(each, value(each)) for each in relation.fields])
        refuse_faults([relation], features, [None])


@lru_cache
def _compared(cls: Any) -> tuple[Kind, ...]:
    """Return the codecs of the fields that may be compared with others."""
    found = []
    for field in cls.schemagen_fields():
        kind = field.kind
        if kind and (kind.group or kind.of_pixels or kind.box):
            kind = optional(kind) if field.optional else kind
            found.append(kind.bound(field.label))
    return tuple(found)
