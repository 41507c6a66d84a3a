"""A record as the rest of schemagen sees it, apart from pydantic and from any target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..runtime.codecs.parameters import parameter
from ..runtime.codecs.part import Part
from .field import FieldSpec


@dataclass(frozen=True)
class RecordSpec:
    """A whole record.

    Attributes:
        record: its name in snake case, the name of its generated package.
        class_name: the name of its class.
        source: the schema file, relative to the project, with forward slashes.
        doc: the class's docstring.
        fields: in the order of their declaration.
        message: the message that stores a record: "Example" or "SequenceExample".
        reserved: names and keys of former fields, which no field may bear again.
        draft: whether a break is only a warning.
    """

    record: str
    class_name: str
    source: str
    doc: str
    fields: tuple[FieldSpec, ...]
    message: str = parameter(default="Example", seldom=True)
    reserved: tuple[str, ...] = parameter(default=(), seldom=True)
    draft: bool = parameter(default=False, seldom=True)

    def __str__(self) -> str:
        from .describe import describe_text  # which imports this module

        return describe_text(self).rstrip("\n")

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))  # of IPython, which else shows what `repr` gives

    def _repr_html_(self) -> str:
        from ..display.html import html
        from .describe import record_blocks

        return html(record_blocks(self))

    def with_role(self, role: str) -> tuple[FieldSpec, ...]:
        """Return the fields of one role, in order."""
        return tuple(field for field in self.fields if field.role == role)

    def by_key(self) -> tuple[FieldSpec, ...]:
        """Return the fields in the order in which they are written."""
        return tuple(sorted(self.fields, key=lambda field: field.key.encode()))

    def parts(self) -> dict[str, tuple[Part, FieldSpec, bool]]:
        """Return the part under each key, its field, and whether it may be missing.

        Fields may share the key of a size: it is there if one of them has to be.
        """
        found: dict[str, tuple[Part, FieldSpec, bool]] = {}
        for field in self.fields:
            for part in field.parts:
                before = found.get(part.key)
                if before is None:
                    found[part.key] = (part, field, field.optional)
                elif before[2] and not field.optional:
                    found[part.key] = (before[0], before[1], False)
        return dict(sorted(found.items(), key=lambda each: each[0].encode()))
