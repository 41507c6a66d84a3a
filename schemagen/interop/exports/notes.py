"""What an export approximates, by field."""

from __future__ import annotations

from ...findings import printable
from ...kinds.field import FieldSpec, defaults_of


class Notes:
    """Collects what another tool does not get exactly as the schema states it."""

    def __init__(self) -> None:
        self._words: dict[str, list[str]] = {}

    def add(self, field: FieldSpec, words: str) -> None:
        """Note something about a field, once."""
        noted = self._words.setdefault(field.label, [])
        if words not in noted:
            noted.append(words)

    def leave_out(self, field: FieldSpec, *parameters: str) -> None:
        """Note those of some parameters that a field has, unlike their defaults."""
        facts, defaults = field.facts(), defaults_of(type(field.kind))
        given = [p for p in parameters if p in facts and facts[p] != defaults.get(p)]
        if given:
            self.add(field, f"without {', '.join(given)}")

    def lines(self) -> tuple[str, ...]:
        """Return a line for each field with notes."""
        return tuple(
            printable(f"{label}: {'; '.join(words)}")
            for label, words in self._words.items()
        )
