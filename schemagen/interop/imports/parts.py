"""The parts of an imported source: what each becomes, or why it is refused."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from ...findings import Finding, Location, SchemagenError, printable, refuse
from ...runtime.kinds.kind import Kind
from ...runtime.kinds.lists import VarLen
from ...runtime.kinds.numbers import Scalar, Vector
from ...runtime.kinds.text import Text
from ...runtime.shared.dtypes import STRINGS
from ...schema.parameters import problems
from ...schema_source import field_name
from ...spec.checks import check_default
from ...spec.model import FieldSpec

MAYBE = "a text (str), a picture (Image) or other bytes?"

Made = tuple[FieldSpec, str]
"""The field that a part becomes, and a remark on what it approximates."""


@dataclass(frozen=True)
class ImportedField:
    """One part of a source: the field that it becomes, or why it is refused.

    Attributes:
        name: as the source calls it.
        field: what it becomes; None if it is refused.
        remark: what a reader of the schema has to know; of a refused part what was
            found.
        reason: why it is refused; empty if it is not.
    """

    name: str
    field: FieldSpec | None = None
    remark: str = ""
    reason: str = ""


@dataclass(frozen=True)
class ImportedRecord:
    """A source that was read.

    Attributes:
        parts: in their order.
        doc: its description of a record.
        message: "Example" or "SequenceExample".
    """

    parts: tuple[ImportedField, ...]
    doc: str = ""
    message: str = "Example"

    @property
    def fields(self) -> tuple[FieldSpec, ...]:
        """All fields, in order."""
        return tuple(part.field for part in self.parts if part.field)


def imported_field(name: str, found: str, make: Callable[[], Made]) -> ImportedField:
    """Return what a part becomes; it is refused if no kind can hold it.

    Args:
        name: as the source calls it.
        found: the part in words, for a refusal.
        make: returns its field, or raises an error.
    """
    try:
        field, remark = make()
        if field.default not in (None, ()):
            check_default(field.kind, field.name, field.default)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        return ImportedField(name, None, found, f"cannot be imported: {error}")
    return ImportedField(name, field, remark)


@dataclass(frozen=True)
class FieldPlace:
    """The place of a field, and what its source says whatever its kind is.

    Attributes:
        path: its names, from the outermost to its own.
        key: its key in an Example.
        doc: its description.
        optional: whether it may be missing.
        default: its value if it is missing.
    """

    path: tuple[str, ...]
    key: str
    doc: str = ""
    optional: bool = False
    default: Any = None

    def field(self, kind: type[Kind], **facts: Any) -> FieldSpec:
        """Return a field of a kind.

        Raises:
            Problem: the kind does not take such facts.
        """
        declared = kind(key=self.key, **facts)
        if problem := next(problems(declared), None):
            raise problem
        return FieldSpec(
            "_".join(self.path),
            declared,
            optional=self.optional,
            default=self.default,
            doc=self.doc,
            path=self.path if len(self.path) > 1 else (),
        )

    def values(
        self, dtype: str, shape: Sequence[int | None] = (), **facts: Any
    ) -> Made:
        """Return values of a shape, and a remark: they are flat if no kind has it.

        Args:
            dtype: of a value.
            shape: None for a size that varies.
            **facts: more parameters of the field.
        """
        if not shape and dtype == "string":
            return self.field(Text, **facts), ""
        if not shape:
            return self.field(Scalar, dtype=dtype, **facts), ""
        is_fixed, is_string = None not in shape, dtype in STRINGS
        if is_fixed and not is_string:
            return self.field(Vector, dtype=dtype, shape=tuple(shape), **facts), ""
        items = () if is_string or None in shape[1:] else tuple(shape[1:])
        if is_fixed:
            facts["max_length"] = prod(size or 0 for size in shape)
        sizes = tuple(-1 if size is None else size for size in shape)
        remark = "" if sizes == (-1, *items) else f"flat: reshape{sizes}"
        return self.field(VarLen, dtype=dtype, item_shape=items, **facts), remark


def places(names: Iterable[str], path: tuple[str, ...] = ()) -> Iterator[FieldPlace]:
    """Yield the places of the fields with these names in the source."""
    taken: set[str] = set()
    for name in names:
        own = field_name(name, taken)
        taken.add(own)
        yield FieldPlace((*path, own), name)


def prose(text: str, width: int = 80) -> str:
    """Return the text of a source as the lines of a docstring."""
    words = " ".join(text.encode("utf-8", "backslashreplace").decode().split())
    return "\n".join(textwrap.wrap(words, width))


def joined(*remarks: str) -> str:
    """Return the remarks that are not empty as one."""
    return "; ".join(filter(None, remarks))


def unreadable(
    source: str, message: str, found: str = "", expected: str = "", advice: str = ""
) -> SchemagenError:
    """Return the error for a source of another form."""
    place = Location(printable(source))
    words = printable(f"cannot be imported: {message}")
    return refuse(Finding(place, "SG461", words, printable(found), expected, advice))


def read_bytes(path: Path, expected: str = "") -> bytes:
    """Return the contents of a source.

    Raises:
        SchemagenError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        words = error.strerror or str(error)
        raise unreadable(str(path), words, expected=expected) from None
