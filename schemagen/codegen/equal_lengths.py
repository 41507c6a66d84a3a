"""What templates see of groups: fields that have equally many items in every record."""

from __future__ import annotations

from dataclasses import dataclass

from ..kinds.literals import Code, literal
from ..kinds.view import FieldView


@dataclass(frozen=True)
class EqualLengths:
    """A group: fields that are equally long in every record.

    Attributes:
        name: the group's name.
        fields: its members, in the order of their declaration.
    """

    name: str
    fields: tuple[FieldView, ...]

    @property
    def counted(self) -> tuple[FieldView, ...]:
        """The members whose lengths readers see; what is filled up on disk has one."""
        return tuple(field for field in self.fields if field.item_size is not None)

    @property
    def measure(self) -> FieldView | None:
        """The member whose length tells readers the group's: one that is always there."""
        required = (field for field in self.counted if not field.optional)
        return next(required, None)


def equal_lengths(fields: tuple[FieldView, ...]) -> tuple[EqualLengths, ...]:
    """Return the groups of a record, in the order of their first fields."""
    names = [field.group for field in fields if field.group is not None]
    return tuple(
        EqualLengths(name, tuple(field for field in fields if field.group == name))
        for name in dict.fromkeys(names)
    )


def length_of(field: FieldView) -> Code:
    """Return the `groups.Member` that tells a field's length, as source code."""
    return _member(field, [])


def member_of(field: FieldView) -> Code:
    """Return the `groups.Member` of a field in a group, as source code."""
    parts = [Code("optional=True")] if field.optional else []
    if field.stored_filler is not None:
        parts.append(Code(f"fill={literal(field.stored_filler)}"))
    return _member(field, parts)


def _member(field: FieldView, of_group: list[Code]) -> Code:
    parts = [literal(field.length_key)]
    if field.item_size != 1:
        parts.append(Code(f"size={field.item_size}"))
    parts += of_group
    if field.in_list:
        parts.append(Code("in_list=True"))
    return Code(f"groups.Member({', '.join(parts)})")
