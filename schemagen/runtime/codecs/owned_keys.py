"""The keys that the fields of a spec own, and what each of them holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .numbers import FixedNumbers
from .part import INT, Part
from .spec_json import stored_field

FieldSpec = dict[str, Any]


@dataclass(frozen=True)
class OwnedKey:
    """A key of a field.

    Attributes:
        key: the feature's key in the Example.
        field: the JSON of the field.
        part: what is stored under the key; None of a kind that only a later version
            knows.
    """

    key: str
    field: FieldSpec
    part: Part | None = None

    @property
    def attribute(self) -> str:
        """The attribute of the field that names the key."""
        return self.part.parameter if self.part else "key"

    def __str__(self) -> str:
        name = repr(self.field["name"])
        if self.attribute == "key":
            return f"the {self.field['kind']} {name}"
        word = self.attribute.removesuffix("_key").replace("_", " ")
        return f"the {word} of {name}"

    @property
    def integers(self) -> int | None:
        """How many integers it always holds, such as sizes; None for anything else."""
        part = self.part
        if part is None or part.stored != INT or part.dtype == "bool":
            return None
        own = part.holds == "value"
        if own and not isinstance(stored_field(self.field).codec, FixedNumbers):
            return None
        return None if own and len(part.shape) > 1 else part.count

    def reads(self, other: OwnedKey) -> bool:
        """Return whether what another field wrote can be read here."""
        return self.integers is not None and self.integers == other.integers


def owned_keys(spec: dict[str, Any]) -> Iterator[OwnedKey]:
    """Yield the keys of all fields, those of a field's values first."""
    for field in spec["fields"]:
        parts = stored_field(field).parts
        if not parts:
            yield OwnedKey(field["key"], field)
        for part in parts:
            yield OwnedKey(part.key, field, part)
