"""What becomes of each parameter of each kind in an export: one row each.

Docs, the notes that a run prints, its refusals and the tests of completeness all come from
these rows. What a file says is written elsewhere; a row says how much of the schema it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ...kinds.field import COMMON, FieldSpec, defaults_of, facts_of
from ...kinds.registry import KINDS
from ...spec.model import RecordSpec

Condition = Callable[[FieldSpec], bool]

# Stands for all kinds that have no row of their own for a parameter.
ANY = "*"


class Verdict(Enum):
    """How much of a parameter an export says."""

    KEPT = "kept"
    APPROXIMATED = "approximated"
    REFUSED = "refused"


@dataclass(frozen=True)
class MappingRow:
    """What becomes of a parameter.

    Attributes:
        kind: the kind's name, or ANY.
        parameter: the name of an attribute of its spec.
        verdict: how much of it is said.
        words: as what, or what is lost; a part of a sentence.
        when: the fields that the row is about; those in which the parameter is unlike
            its default, if there is none.
        condition: the same in words, for the docs; empty if there is none.
    """

    kind: str
    parameter: str
    verdict: Verdict
    words: str
    when: Condition | None = None
    condition: str = ""

    def applies(self, field: FieldSpec) -> bool:
        """Tell whether the row says something about a field."""
        return said(field, self.parameter) if self.when is None else self.when(field)


@dataclass(frozen=True)
class Note:
    """What becomes of a parameter in a record: a row, and the fields that have it."""

    row: MappingRow
    fields: tuple[str, ...]

    def __str__(self) -> str:
        row = self.row
        subject = ", ".join(map(printable, self.fields))
        condition = f" ({row.condition})" if row.condition else ""
        return (
            f"{row.verdict.value}: {row.parameter}{condition} of {subject}: {row.words}"
        )


def kept(
    kind: str, parameter: str, words: str, when: Condition | None = None, of: str = ""
) -> MappingRow:
    return MappingRow(kind, parameter, Verdict.KEPT, words, when, of)


def approximated(
    kind: str, parameter: str, words: str, when: Condition | None = None, of: str = ""
) -> MappingRow:
    return MappingRow(kind, parameter, Verdict.APPROXIMATED, words, when, of)


def refused(
    kind: str, parameter: str, words: str, when: Condition | None = None, of: str = ""
) -> MappingRow:
    return MappingRow(kind, parameter, Verdict.REFUSED, words, when, of)


def always(_: FieldSpec) -> bool:
    """The condition of rows that are about every field of a kind."""
    return True


def printable(text: str) -> str:
    """Write text so that a terminal prints it and does nothing else."""
    return text if text.isprintable() else repr(text)[1:-1]


def said(field: FieldSpec, parameter: str) -> bool:
    """Tell whether a parameter is unlike its default, or has none."""
    facts = field.facts()
    if parameter not in facts:
        return False
    defaults = defaults_of(type(field.kind))
    return parameter not in defaults or facts[parameter] != defaults[parameter]


def parameters_of(kind: str) -> tuple[str, ...]:
    """Return the parameters of a kind, those that every kind has coming first."""
    return facts_of(KINDS[kind])


def rows_of(
    table: tuple[MappingRow, ...], kind: str, parameter: str
) -> tuple[MappingRow, ...]:
    """Return the rows about a parameter of a kind; its own go before those of ANY."""
    own = tuple(f for f in table if (f.kind, f.parameter) == (kind, parameter))
    return own or tuple(f for f in table if (f.kind, f.parameter) == (ANY, parameter))


def notes_of(table: tuple[MappingRow, ...], spec: RecordSpec) -> tuple[Note, ...]:
    """Return what becomes of a record's parameters, in the order of the table."""
    found: dict[MappingRow, list[str]] = {}
    for field in spec.fields:
        for row in _applying(table, field):
            found.setdefault(row, []).append(field.name)
    order = {row: at for at, row in enumerate(table)}
    return tuple(
        Note(row, tuple(names))
        for row, names in sorted(found.items(), key=lambda each: order[each[0]])
    )


def _applying(table: tuple[MappingRow, ...], field: FieldSpec) -> Iterator[MappingRow]:
    name = field.kind.name
    for parameter in parameters_of(name):
        for row in rows_of(table, name, parameter):
            if row.applies(field):
                yield row
                break


def attribute_in(name: str, *values: Any) -> Condition:
    """Return the condition that an attribute is one of some values."""
    return lambda field: field.facts().get(name) in values


def rows_of_table(table: tuple[MappingRow, ...]) -> Iterator[tuple[str, str, str, str]]:
    """Yield kind, parameter, verdict and words of every row, kinds in their order."""
    for kind in (ANY, *KINDS):
        parameters = sorted(COMMON) if kind == ANY else parameters_of(kind)
        for parameter in parameters:
            for row in table:
                if (row.kind, row.parameter) == (kind, parameter):
                    words = f"{row.condition}: " if row.condition else ""
                    shown = "any" if kind == ANY else kind
                    yield shown, parameter, row.verdict.value, words + row.words
