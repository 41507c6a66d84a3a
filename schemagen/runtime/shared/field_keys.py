"""The keys that a field is stored under, and what each of them holds.

A field is its JSON in `spec.json`, or the kind and attributes of its spec by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .json_entries import KINDS
from .values import INTEGERS, RAW_ONLY

# What stands under the keys that a field has in addition to its own, by attribute.
FURTHER_KEYS = {
    "height_key": "height",
    "width_key": "width",
    "channels_key": "channels",
    "format_key": "format",
    "row_lengths_key": "row lengths",
    "index_key": "indices",
    "shape_key": "shape",
}

# The axis of an image whose size a key holds.
_AXES = {"height_key": 0, "width_key": 1, "channels_key": 2}


@dataclass(frozen=True)
class OwnedKey:
    """A key of a field.

    Attributes:
        key: the feature's key in the Example.
        attribute: the attribute of the field that names it: "key" for its own.
        field: the field.
    """

    key: str
    attribute: str
    field: Mapping[str, Any]

    def __str__(self) -> str:
        name = repr(self.field["name"])
        if self.attribute == "key":
            return f"the {self.field['kind']} {name}"
        return f"the {FURTHER_KEYS[self.attribute]} of {name}"

    @property
    def integers(self) -> int | None:
        """How many integers it always holds, such as sizes; None for anything else."""
        if self.attribute == "key":
            return _integers(self.field)
        if self.attribute == "shape_key":
            together = isinstance(self.field["shape_key"], str)
            return len(self.field["shape"]) if together else 1
        return 1 if self.attribute in _AXES else None

    def reads(self, other: OwnedKey) -> bool:
        """Tell whether what another field wrote can stand here if this one is missing."""
        return self.integers is not None and self.integers == other.integers


def keys_of(field: Mapping[str, Any]) -> Iterator[OwnedKey]:
    """Yield the keys that a field is stored under, its own first.

    Of a kind that only a later version knows, no further keys are known.
    """
    yield OwnedKey(field["key"], "key", field)
    if field["kind"] not in KINDS:
        return
    for attribute in FURTHER_KEYS:
        given = field.get(attribute)
        for key in (given,) if isinstance(given, str) else given or ():
            if isinstance(key, str):
                yield OwnedKey(key, attribute, field)


def is_read(field: Mapping[str, Any], attribute: str) -> bool:
    """Tell whether readers look at the key that an attribute names.

    Pictures say their own size and format, but for raw pixels of any size.
    """
    if attribute == "format_key":
        return False
    if attribute in _AXES:
        return field["encoding"] == "raw" and field["shape"][_AXES[attribute]] is None
    return True


def _integers(field: Mapping[str, Any]) -> int | None:
    """Return how many integers a field holds in an int64 list, if always as many."""
    dtype, shape = field.get("dtype"), field.get("shape", ())
    listed = field.get("encoding", "list") == "list" and dtype in INTEGERS
    if field["kind"] not in ("Scalar", "Vector") or not listed or dtype in RAW_ONLY:
        return None
    if field["kind"] == "Scalar":
        return 1
    return shape[0] if len(shape) == 1 else None
