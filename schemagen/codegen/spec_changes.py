"""What differs between two specs of one record, in a few words."""

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
        old: the text of the old `spec.json`; another version of schemagen
            may have written it, so only its being JSON is assumed.
        new: the text of the new one.
    """
    try:
        found = [*_changes(json.loads(old), json.loads(new))]
    except (ValueError, KeyError, TypeError, AttributeError):
        return ""
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return ", ".join(found[:_SHOWN]) + more


def _changes(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    old, new = (
        {field["name"]: field for field in spec["fields"]} for spec in (before, after)
    )
    for name in filter(old.__contains__, new):
        differ = _differing(old[name], new[name])
        shown = ["kind"] if "kind" in differ else differ  # the rest differs with it
        yield from (f"{name}.{attribute}" for attribute in shown)
    yield from (f"+{name}" for name in new if name not in old)
    yield from (f"-{name}" for name in old if name not in new)
    for name in _differing(before, after):
        if name not in ("fields", "//", SEAL):
            yield _RECORD.get(name, name)


def _differing(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    return [n for n in sorted({*old, *new}) if old.get(n) != new.get(n)]
