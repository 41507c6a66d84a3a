"""What the template of `pipeline.py` sees of a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..kinds.literals import Code
from ..kinds.view import FieldView
from .equal_lengths import length_of


@dataclass(frozen=True)
class PipelineView:
    """The fields of a record as datasets deliver them.

    Attributes:
        fields: all of them.
    """

    fields: Sequence[FieldView]

    @property
    def features(self) -> tuple[tuple[str, str], ...]:
        """The names in the dict of features, each with its field."""
        return tuple(
            (name, field.name)
            for field in self.fields
            if field.spec.role == "input"
            for name in (field.name, *[field.mask_name] * field.masked)
        )

    @property
    def augmented(self) -> tuple[FieldView, ...]:
        """The fields that are varied in training."""
        return tuple(field for field in self.fields if field.augmented)

    @property
    def padding(self) -> tuple[tuple[str, Any], ...]:
        """The fields whose rows are filled up to the longest of a batch, and how."""
        return tuple(
            (field.name, field.filler) for field in self.fields if field.padded
        )

    @property
    def limits(self) -> tuple[tuple[str, int], ...]:
        """The fields whose rows can be filled up to the longest that there may be."""
        found = []
        for field in self.fields:
            names = ("max_length", "max_count")
            limit = next(filter(None, (getattr(field.spec, n, None) for n in names)), 0)
            if field.padded and limit and None not in field.shape[1:]:
                found.append((field.name, limit))
        return tuple(found)

    @property
    def varying(self) -> tuple[tuple[str, Code, Code], ...]:
        """The fields whose length varies: where it stands, and the key's description."""
        return tuple(
            (field.name, length_of(field), field.described_length)
            for field in self.fields
            if field.is_list and field.item_size is not None
        )

    @property
    def missing_targets(self) -> tuple[tuple[str, float], ...]:
        """The targets that deliver a mask, and the value of those that are missing."""
        return tuple(
            (field.name, field.missing_target)
            for field in self.fields
            if field.spec.role == "target" and field.missing_target is not None
        )
