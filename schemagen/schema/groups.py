"""Groups of a record's instances: fields that have equally many items."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel

from ..runtime.codecs.base import Codec
from ..runtime.codecs.groups import check_lengths
from .declaration import Declaration

Group = tuple[tuple[tuple[str, ...], Codec], ...]


def groups_of(fields: Iterable[Declaration]) -> dict[str, Group]:
    """Return the members of each group: where they stand, and what checks them."""
    groups: dict[str, Group] = {}
    for field in fields:
        group = field.kind and field.kind.group
        if isinstance(group, str) and group and field.kind is not None:
            codec = field.kind.codec(field.label, optional=field.optional)
            member = (field.path or (field.name,), codec)
            groups[group] = (*groups.get(group, ()), member)
    return groups


def check_groups(record: BaseModel, groups: dict[str, Group]) -> None:
    """Refuse a record whose fields of one group are not equally long.

    Raises:
        RecordError: naming two fields and their lengths.
    """
    for group, members in groups.items():
        pairs = [(codec, _value(record, path)) for path, codec in members]
        check_lengths(group, *pairs)


def _value(record: BaseModel, path: tuple[str, ...]) -> Any:
    value: Any = record
    for name in path:
        value = getattr(value, name)
    return value
