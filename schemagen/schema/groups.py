"""Groups of a record's instances: fields that have equally many items."""

from __future__ import annotations

from functools import lru_cache, reduce
from typing import Any

from ..runtime.codecs.groups import check_lengths
from ..runtime.codecs.kind import Kind, optional


def check_groups(record: Any) -> None:
    """Refuse a record whose fields of one group are not equally long.

    Raises:
        RecordError: naming two fields and their lengths.
    """
    cls: Any = type(record)
    for group, members in _groups_of(cls).items():
        pairs = [(codec, reduce(getattr, path, record)) for path, codec in members]
        check_lengths(group, *pairs)


@lru_cache
def _groups_of(cls: Any) -> dict[str, list[tuple[tuple[str, ...], Kind]]]:
    """Return where the members of each group stand, and what checks them."""
    groups: dict[str, list[tuple[tuple[str, ...], Kind]]] = {}
    for field in cls.schemagen_fields():
        if field.kind and field.kind.group:
            kind = optional(field.kind) if field.optional else field.kind
            codec = kind.bound(field.label)
            member = (field.path or (field.name,), codec)
            groups.setdefault(field.kind.group, []).append(member)
    return groups
