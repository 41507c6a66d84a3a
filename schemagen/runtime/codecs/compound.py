"""Codecs of several features, each under a key of its own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..shared.errors import Problem, RecordError
from ..shared.wire import Pieces
from .base import Codec, Entries, EntryColumns
from .entry_columns import EntryColumn, entries_column


@dataclass(eq=False)
class Compound(Codec):
    """A codec of several features, each under a key of its own.

    Attributes:
        members: the codecs of the features; the first has the field's own key.
    """

    members: Sequence[Codec] = field(init=False, repr=False)

    @abstractmethod
    def split(self, value: Any) -> Sequence[Any]:
        """Return what each member holds of a converted value.

        Raises:
            Problem: the field cannot hold it.
        """

    def entries(self, value: Any, row: int | None = None) -> Entries:
        if value is None and self.optional:
            return []
        try:
            values = self.split(self.convert(value))
            return [
                (member.key, member._pieces(held))
                for member, held in zip(self.members, values, strict=True)
            ]
        except Problem as problem:
            raise RecordError.of(problem.about(value), self.label, row) from None

    def shown(self, value: Any, key: str) -> str:
        held = zip(self.members, self.split(self.convert(value)), strict=True)
        return next(part.shown(each, key) for part, each in held if part.key == key)

    def entry_columns(self, values: Any, rows: int) -> EntryColumns:
        """Encode the values of `rows` rows: a column for each member.

        Raises:
            Problem, RecordError, TypeError, ValueError: a value that cannot be held;
                the rows are then encoded one by one.
        """
        absent = (None,) * len(self.members)
        held = [
            absent
            if value is None and self.optional
            else self.split(self.convert(value))
            for value in ([None] * rows if values is None else values)
        ]
        pairs = zip(self.members, zip(*held, strict=True), strict=True)
        return [(member.key, _column_of(member, column)) for member, column in pairs]

    def _pieces(self, value: Any) -> Pieces:
        return tuple(piece for _, pieces in self.entries(value) for piece in pieces)


def _column_of(member: Codec, values: tuple[Any, ...]) -> EntryColumn:
    if any(value is None for value in values):
        return entries_column(() if v is None else member._pieces(v) for v in values)
    return member._column(list(values), len(values))
