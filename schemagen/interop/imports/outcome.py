"""What becomes of each part of a source when it is imported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from ...kinds.field import FieldSpec


@dataclass(frozen=True)
class MappingRow:
    """A row of the table of a form: what becomes of one thing that it can say.

    Attributes:
        what: what the source says.
        kept: whether it is kept, approximated or refused.
        becomes: what it becomes here, or why it becomes nothing.
    """

    what: str
    kept: Literal["kept", "approximated", "refused"]
    becomes: str


@dataclass(frozen=True)
class Outcome:
    """What has become of one part.

    Attributes:
        part: the part, as its source calls it.
        row: the row of the table that it falls under.
        fields: what it has become.
        remark: of what is approximated, what a reader of the schema has to know; of
            what is refused, what was found.
    """

    part: str
    row: MappingRow
    fields: tuple[FieldSpec, ...] = ()
    remark: str = ""


@dataclass(frozen=True)
class Imported:
    """A source that was read.

    Attributes:
        outcomes: what has become of its parts, in their order.
        doc: what it says of a record as a whole.
        message: "Example" or "SequenceExample".
    """

    outcomes: tuple[Outcome, ...]
    doc: str = ""
    message: str = "Example"

    @property
    def fields(self) -> tuple[FieldSpec, ...]:
        """All fields, in order."""
        return tuple(field for outcome in self.outcomes for field in outcome.fields)

    @property
    def refused(self) -> tuple[Outcome, ...]:
        """The parts that have become nothing."""
        return tuple(o for o in self.outcomes if o.row.kept == "refused")

    @property
    def approximated(self) -> tuple[Outcome, ...]:
        """The parts of which something has to be known."""
        return tuple(o for o in self.outcomes if o.remark and o.fields)


class Unreadable(Exception):
    """A source that is not what it was taken for.

    Attributes:
        message: what is wrong.
        found: what was found.
        expected: what was expected.
        advice: what to do.
    """

    def __init__(
        self, message: str, found: str = "", expected: str = "", advice: str = ""
    ) -> None:
        super().__init__(message)
        self.message = message
        self.found = found
        self.expected = expected
        self.advice = advice


class Missing(Exception):
    """A package that a form of source needs and that is not installed.

    Attributes:
        package: its name.
        purpose: what for.
        advice: how to install it.
    """

    def __init__(self, package: str, purpose: str, advice: str) -> None:
        super().__init__(package)
        self.package = package
        self.purpose = purpose
        self.advice = advice


def shown(text: str) -> str:
    """Return text of a source as a terminal may have it: on one line, without orders."""
    return "".join(
        character
        if character.isprintable()
        else character.encode("unicode_escape").decode()
        for character in text
    )


def table_of(rows: Iterable[MappingRow], heading: str) -> str:
    """Return the table of a form as Markdown."""
    lines = [f"| {row.what} | {row.kept} | {row.becomes} |" for row in rows]
    return (
        "\n".join([f"| {heading} | | becomes |", "| --- | --- | --- |", *lines]) + "\n"
    )


def rows_in(namespace: Mapping[str, object]) -> tuple[MappingRow, ...]:
    """Return the rows that a module defines, in the order of their definition."""
    return tuple(value for value in namespace.values() if isinstance(value, MappingRow))
