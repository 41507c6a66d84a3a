"""What differs between two specs of one record, in a few words.

The texts are those of `spec.json`. The old one may come from another version of
schemagen, so only its being JSON is assumed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .header import SEAL

_SHOWN = 6

# Parts of a record whose names say too little.
_RECORD = {
    "class_name": "the class's name",
    "doc": "the docstring",
    "message": "the base class",
    "source": "the schema file",
}


def spec_changes(old: str, new: str) -> str:
    """Return what has changed, such as "breed.classes, +age, -note"; "" if unknown.

    Args:
        old: the JSON of the spec that there was.
        new: the JSON of the spec that there is.
    """
    try:
        before, after = (json.loads(text) for text in (old, new))
        found = [*_field_changes(_by_name(before), _by_name(after))]
    except (ValueError, KeyError, TypeError, AttributeError):
        return ""
    names = sorted({*before, *after} - {"fields", "//", SEAL})
    found += [_RECORD.get(n, n) for n in names if before.get(n) != after.get(n)]
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return ", ".join(found[:_SHOWN]) + more


def _by_name(spec: Any) -> dict[str, Any]:
    return {field["name"]: field for field in spec["fields"]}


def _field_changes(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    for name, field in after.items():
        if name in before:
            yield from _attributes(name, before[name], field)
    yield from (f"+{name}" for name in after if name not in before)
    yield from (f"-{name}" for name in before if name not in after)
    if [n for n in before if n in after] != [n for n in after if n in before]:
        yield "the order of fields"


def _attributes(path: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    """Yield the attributes that differ, those of a step or an augmentation by path."""
    if old.get("kind") != new.get("kind"):
        yield f"{path}.kind"  # the rest differs with it
        return
    for name in sorted({*old, *new}):
        one, other = old.get(name), new.get(name)
        if type(one) is type(other) is dict:
            yield from _attributes(f"{path}.{name}", one, other)
        elif one != other:
            yield f"{path}.{name}"
