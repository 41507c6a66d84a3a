"""The outcomes of an import: the fields, remarks and refusals of each part of a source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...findings import Finding, Location, SchemagenError, refuse
from ...kinds.field import FieldSpec


@dataclass(frozen=True)
class Outcome:
    """The fields that one part has become, or the reason why it is refused.

    Attributes:
        part: the part, as its source calls it.
        fields: what it has become.
        remark: of what is approximated, what a reader of the schema has to know; of
            what is refused, what was found.
        reason: why it is refused; empty if it is not.
    """

    part: str
    fields: tuple[FieldSpec, ...] = ()
    remark: str = ""
    reason: str = ""


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
        return tuple(o for o in self.outcomes if o.reason)

    @property
    def approximated(self) -> tuple[Outcome, ...]:
        """The parts of which something has to be known."""
        return tuple(o for o in self.outcomes if o.remark and o.fields)


def joined(*remarks: str) -> str:
    """Return those of some remarks that are not empty as one."""
    return "; ".join(filter(None, remarks))


def few(names: Sequence[str], most: int = 8) -> str:
    """Return the first of some names, and the number of the others."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def unreadable(
    message: str, found: str = "", expected: str = "", advice: str = ""
) -> SchemagenError:
    """Return the error for a source that is not what it was taken for.

    The source is its place already: `import_schema` fills it in.
    """
    message = f"it cannot be imported: {message}"
    return refuse(Finding(Location(""), "SG461", message, found, expected, advice))


def not_installed(package: str, purpose: str, extra: str) -> SchemagenError:
    """Return the error for a package that a form of source needs."""
    message = f"{purpose} needs {package}, which is not installed"
    advice = f'pip install "schemagen[{extra}]"'
    return refuse(Finding(Location(""), "SG407", message, advice=advice))


def read_text(path: Path, expected: str) -> str:
    """Return the text of a source.

    Raises:
        SchemagenError: it cannot be read, or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise unreadable(
            f"it cannot be read: {error.strerror or error}", expected=expected
        ) from None
    except UnicodeDecodeError:
        raise unreadable("it is no text", expected=expected) from None
