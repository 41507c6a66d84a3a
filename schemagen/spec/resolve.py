"""From record classes to specs."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..findings import Finding, SchemagenError
from ..runtime.kinds.kind import Kind, optional
from ..schema.declaration import Declaration, as_tuple
from ..schema.loading import LoadedRecord, record_of_class
from ..schema.parameters import type_problems
from ..schema.record import BASES, Record, SequenceRecord
from .checks import (
    field_findings,
    findings_between,
    plain_default,
    record_findings,
    reserved_by,
)
from .model import Default, FieldSpec, RecordSpec
from .names import snake_case
from .scaled_boxes import boxes_of_spec


@dataclass(frozen=True)
class Resolved:
    """The specs of a project and what is wrong with its schemas.

    A record with findings has no spec.

    Attributes:
        specs: sorted by name.
        findings: in the order of the declarations.
        records: the classes, by the names of their specs.
        warnings: what may be wrong, and fails nothing.
    """

    specs: tuple[RecordSpec, ...]
    findings: tuple[Finding, ...]
    records: Mapping[str, LoadedRecord]
    warnings: tuple[Finding, ...] = ()


def resolve(loaded: Iterable[LoadedRecord]) -> Resolved:
    """Turn record classes into specs, sorted by name."""
    specs: dict[str, RecordSpec] = {}
    records: dict[str, LoadedRecord] = {}
    findings: list[Finding] = []
    for record in loaded:
        name = snake_case(record.name)
        problems = list(record_findings(record, name, records))
        for field in record.declared:
            problems += field_findings(field, record)
        kinds = [field.kind for field in record.declared if field.kind]
        # What follows compares them.
        if not any(type_problems(kind) for kind in kinds):
            problems += findings_between(record)
        findings += problems
        records.setdefault(name, record)
        if not problems:
            specs[name] = RecordSpec(
                record=name,
                class_name=record.name,
                source=record.source,
                doc=_clean(_own_doc(record.cls)),
                fields=boxes_of_spec(
                    FieldSpec(
                        field.name,
                        kind,
                        optional=field.optional,
                        default=_default(field, kind),
                        path=field.path,
                        doc=_clean(field.doc),
                    )
                    for field, kind in zip(record.declared, kinds, strict=True)
                ),
                message="SequenceExample"
                if issubclass(record.cls, SequenceRecord)
                else "Example",
                reserved=reserved_by(record),
                draft=record.cls.__schemagen_draft__,
            )
    ordered = tuple(specs[name] for name in sorted(specs))
    return Resolved(ordered, tuple(findings), records)


def spec_of_class(cls: type[Record]) -> RecordSpec:
    """Return the spec of a record class of any origin, such as a cell of a notebook.

    Raises:
        SchemagenError: with everything that is wrong with the class.
    """
    found = resolve([record_of_class(cls)])
    if found.findings:
        raise SchemagenError(found.findings)
    return found.specs[0]


def _own_doc(cls: type[Record]) -> str:
    """Return the docstring of a class, or of the nearest base that has its own."""
    for base in cls.__mro__:
        if base in BASES:
            break
        doc = vars(base).get("__doc__")
        if doc:
            return inspect.cleandoc(doc)
    return ""


def _clean(text: str) -> str:
    """Bring prose into a form that every file can hold."""
    text = text.encode("utf-8", "backslashreplace").decode()
    return "\n".join(line.rstrip() for line in text.expandtabs(4).splitlines()).strip()


def _default(field: Declaration, kind: Kind) -> Default:
    """Return a default as it will be read, in plain Python values."""
    if not field.optional or field.default is None:
        return None
    plain = plain_default(field.default)
    if not isinstance(plain, (str, bytes)) or kind.of_classes:
        plain = optional(kind).bound(field.name).convert(plain)
    default: Default = as_tuple(plain.tolist() if hasattr(plain, "tolist") else plain)
    return default
