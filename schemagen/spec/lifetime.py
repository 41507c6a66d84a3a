"""What is wrong with what a record says of its past: reserved names, and a draft."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..findings import Finding
from ..runtime.shared.values import shortened
from ..schema.declaration import Declaration
from ..schema.loading import LoadedRecord


def reserved_by(record: LoadedRecord) -> tuple[str, ...]:
    """Return the names and keys that a record reserves, sorted."""
    return tuple(sorted(set(record.cls.__schemagen_reserved__)))


def lifetime_findings(
    fields: Mapping[str, Declaration], record: LoadedRecord
) -> Iterator[Finding]:
    """Yield what is wrong with the parameters of a record's class."""
    reserved: Any = record.cls.__schemagen_reserved__
    draft: Any = record.cls.__schemagen_draft__
    if not isinstance(draft, bool):
        yield Finding(
            record.location,
            "SG122",
            f"{record.name}: draft is no bool",
            found=shortened(draft),
            expected="draft=True, or nothing",
            advice="take it out once the schema is to be relied on",
        )
    listed = isinstance(reserved, (tuple, list, set, frozenset))
    if not listed or not all(isinstance(name, str) for name in reserved):
        yield Finding(
            record.location,
            "SG122",
            f"{record.name}: reserved is no list of names",
            found=shortened(reserved),
            expected='names and keys, such as reserved=("colour", "meta/colour")',
            advice="write them in a tuple",
        )
        return
    for field in fields.values():
        names = {field.name, field.label}
        if field.kind is not None:
            names |= {part.key for part in field.kind.parts(field.name)}
        for taken in sorted(names & set(reserved)):
            yield Finding(
                record.fields[field.name],
                "SG122",
                f"{record.name}.{field.label}: {taken!r} is reserved",
                found=f"reserved in class {record.name}",
                expected="a name and a key that no former field had",
                advice="old data may still have it, with another meaning: choose "
                "another one; or if it is the former field that returns, take it out "
                "of reserved",
            )
