"""Nested models for templates: the places of their fields in rows and batches."""

from __future__ import annotations

from dataclasses import dataclass

from .field_view import FieldView, value_at
from .literals import Code, identifier, literal


@dataclass(frozen=True)
class NestedView:
    """A nested model: its members, some of which may be nested models again.

    Attributes:
        path: from the outermost name to its own.
        members: in the order of their declaration.
    """

    path: tuple[str, ...]
    members: tuple[Member, ...]

    @property
    def name(self) -> str:
        return "_".join(self.path)

    @property
    def label(self) -> str:
        """What it is called in texts: `steps.observation`."""
        return ".".join(self.path)

    @property
    def optional(self) -> bool:
        return False

    @property
    def takes(self) -> Code:
        """The type of what a row has for it: StepsObservationRow."""
        return identifier(f"{self._class_stem}Row")

    @property
    def takes_column(self) -> Code:
        """The type of what a batch has for it: StepsObservationColumns."""
        return identifier(f"{self._class_stem}Columns")

    @property
    def _class_stem(self) -> str:
        words = self.name.split("_")
        return "".join(word[:1].upper() + word[1:] for word in words)

    @property
    def local(self) -> Code:
        """The variable that holds its members; no field begins with `_`."""
        return identifier(f"_{self.name}")

    @property
    def unpacked(self) -> Code:
        """The call that sees that its members are there."""
        required = tuple(m.path[-1] for m in self.members if not m.optional)
        others = tuple(m.path[-1] for m in self.members if m.optional)
        more = f", {literal(others)}" if others else ""
        value = value_at(self.path)
        return Code(
            f"nested_members({literal(self.label)}, {value}, {literal(required)}{more})"
        )


Member = FieldView | NestedView


def in_models(fields: tuple[FieldView, ...], depth: int = 0) -> tuple[Member, ...]:
    """Put the fields of a record into their nested models, in order."""
    found: list[Member] = []
    for name in dict.fromkeys(field.path[depth] for field in fields):
        below = tuple(field for field in fields if field.path[depth] == name)
        path = below[0].path[: depth + 1]
        if path == below[0].path:
            found.append(below[0])
        else:
            found.append(NestedView(path, in_models(below, depth + 1)))
    return tuple(found)


def all_nested(members: tuple[Member, ...]) -> tuple[NestedView, ...]:
    """Return all nested models, each before those inside it."""
    return tuple(
        model
        for member in members
        if isinstance(member, NestedView)
        for model in (member, *all_nested(member.members))
    )
