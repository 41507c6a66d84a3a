"""What is wrong with groups: fields that have equally many items in every record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..findings import Finding
from ..runtime.shared.values import shortened
from ..schema.declaration import Declaration
from ..schema.loading import LoadedRecord

# What tells how long a field's sequences are: the fields of a group have to agree.
_LENGTHS = ("max_length", "too_long", "pad_on_disk")


def group_findings(
    fields: Mapping[str, Declaration], record: LoadedRecord
) -> Iterator[Finding]:
    """Yield what is wrong with the groups of a record."""
    groups: dict[str, list[Declaration]] = {}
    for field in fields.values():
        group = getattr(field.kind, "group", None)
        if isinstance(group, str) and group:
            groups.setdefault(group, []).append(field)
    for group, members in groups.items():
        first, *others = members
        if not others:
            yield _finding(
                first,
                record,
                f"the group {group!r} has no other field",
                group,
                "two fields or more in a group",
                "give the other fields the same group, or take it out",
            )
        for other in others:
            yield from _limit_findings(group, first, other, record)
        yield from _default_findings(group, members, record)


def _limit_findings(
    group: str, first: Declaration, other: Declaration, record: LoadedRecord
) -> Iterator[Finding]:
    for parameter in _LENGTHS:
        wanted, found = _parameter(first, parameter), _parameter(other, parameter)
        if wanted != found:
            yield _finding(
                other,
                record,
                f"{parameter}={found!r} in the group {group!r}",
                f"{parameter}={found!r}",
                f"{parameter}={wanted!r}, as {first.label!r} has",
                "what is cut or filled up in one field of a group is so in all",
            )


def _parameter(field: Declaration, name: str) -> Any:
    """Return a parameter that not all kinds have, which then have its default."""
    default = {"max_length": None, "too_long": "error", "pad_on_disk": False}[name]
    return getattr(field.kind, name, default)


def _default_findings(
    group: str, members: list[Declaration], record: LoadedRecord
) -> Iterator[Finding]:
    for field in members:
        if field.optional and field.default is not None:
            yield _finding(
                field,
                record,
                f"a default in the group {group!r}",
                shortened(field.default),
                "None: a default has one length, whatever that of the others is",
                "make it optional with `= None`",
            )


def _finding(
    field: Declaration,
    record: LoadedRecord,
    message: str,
    found: str,
    expected: str,
    advice: str,
) -> Finding:
    return Finding(
        record.fields[field.name],
        "SG113",
        f"{record.name}.{field.label}: {message}",
        found=found,
        expected=expected,
        advice=advice,
    )
