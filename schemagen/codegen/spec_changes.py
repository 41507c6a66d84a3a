"""What differs between two specs of one record, in as few words as say it.

The texts are those of `spec.json`; the old one may come from another version of
schemagen, so that nothing is taken for granted but its being JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .header import SEAL

_SHOWN = 6

# The header's two lines, as JSON has them.
_HEADER = {"//", SEAL}

# What is said of a record apart from its fields, where its name says too little.
_RECORD = {
    "class_name": "the class's name",
    "doc": "the docstring",
    "message": "the base class",
}


def spec_changes(old: str, new: str) -> str:
    """Return what has changed, such as "breed.classes, +age, -note"; "" if unknown.

    Args:
        old: the JSON of the spec that there was.
        new: the JSON of the spec that there is.
    """
    try:
        found = list(_changes(json.loads(old), json.loads(new)))
    except (ValueError, KeyError, TypeError, AttributeError):
        return ""
    left = len(found) - _SHOWN
    shown = ", ".join(found[:_SHOWN])
    return f"{shown} and {left} more" if left > 0 else shown


def _changes(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    before = {field["name"]: field for field in old["fields"]}
    after = {field["name"]: field for field in new["fields"]}
    for name, field in after.items():
        if name in before:
            yield from _attributes(name, before[name], field)
    yield from (f"+{name}" for name in after if name not in before)
    yield from (f"-{name}" for name in before if name not in after)
    if [n for n in before if n in after] != [n for n in after if n in before]:
        yield "the order of fields"
    for name in sorted({*old, *new} - {"fields", "source"} - _HEADER):
        if old.get(name) != new.get(name):
            yield _RECORD.get(name, name)
    if old.get("source") != new.get("source"):
        yield f"moved from {old.get('source')}"


def _attributes(path: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    """Yield the attributes that differ, those of a step or an augmentation by path."""
    if old.get("kind") != new.get("kind"):
        yield f"{path}.kind"  # the rest differs with it
        return
    differ = [n for n in sorted({*old, *new}) if old.get(n) != new.get(n)]
    for name in differ:
        one, other = old.get(name), new.get(name)
        if name in ("step", "augment") and one and other:
            yield from _attributes(f"{path}.{name}", one, other)
        else:
            yield f"{path}.{name}"
