"""What is wrong with a record class, and with each of its fields by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from pydantic_core import PydanticUndefined

from ..findings import Finding
from ..runtime.codecs.kind import Kind, optional
from ..runtime.codecs.python_types import text_of
from ..runtime.shared.errors import Problem
from ..runtime.shared.values import shortened
from ..schema.declaration import Declaration
from ..schema.loading import LoadedRecord
from ..schema.nesting import nested_model, nesting_problem
from ..schema.parameters import problems
from ..schema.record import Record
from .annotations import advice, is_kind
from .names import RESERVED_FIELDS, is_package_name
from .training import TARGETS, can_be_weight, marks_missing, opaque, per_pixel, role_of

_RENAME = "choose another name, and keep the wire key with key="


def record_findings(
    record: LoadedRecord, name: str, seen: dict[str, LoadedRecord]
) -> Iterator[Finding]:
    """Yield what is wrong with a record class itself."""
    if name in seen:
        yield record.wrong(
            "SG104",
            f"two records would be generated as {name!r}",
            found=f"{record.name}, and {seen[name].name} at {seen[name].location}",
            advice="rename one of them; the name of a base class begins with '_'",
        )
    if not is_package_name(name):
        yield record.wrong(
            "SG105",
            f"it would be generated as {name!r}",
            advice="rename the class: lower case, it is a Python package in ASCII",
        )
    for lost, private in record.cls.__private_attributes__.items():
        if private.default is PydanticUndefined and private.default_factory is None:
            yield Finding(
                record.fields.get(lost, record.location),
                "SG119",
                f"{record.name}.{lost}: pydantic ignores fields with '_' at the beginning",
                advice="rename it; what is not a field is a ClassVar",
            )
    if not record.cls.model_fields:
        yield record.wrong(
            "SG106",
            "the record has no fields",
            advice="declare fields, or begin the name of a base class with '_'",
        )


def field_findings(field: Declaration, record: LoadedRecord) -> Iterator[Finding]:
    """Yield what is wrong with one field, looked at by itself."""
    kind = field.kind
    if field.name in RESERVED_FIELDS or hasattr(Record, field.name):
        yield record.wrong(
            "SG115",
            f"the name {field.name!r} is taken by pydantic or by generated code",
            field,
            advice=_RENAME,
        )
    if field.foreign:
        yield record.wrong(
            "SG117",
            "a field has one kind, and no other metadata",
            field,
            found=" and ".join(field.foreign),
            advice="write one kind with parentheses, and remove everything else",
        )
    declared = text_of(field.python_type)
    wrong_nesting = nesting_problem(field)
    if wrong_nesting:
        if not field.foreign:
            yield record.wrong(
                "SG111",
                wrong_nesting,
                field,
                found=declared,
                expected="a model with fields, without a default",
                advice="give the fields of the model defaults, or declare them here",
            )
    elif field.nested and nested_model(field) is None:
        yield record.wrong(
            "SG112",
            f"type {declared} does not match Nested",
            field,
            found=declared,
            expected="a pydantic model",
            advice="the wire key of a value is a parameter of its kind: key=",
        )
    elif is_kind(field.default):
        yield record.wrong(
            "SG116",
            "a kind in place of the default",
            field,
            found=text_of(field.default),
            advice=f"write {field.name}: Annotated[TYPE, {text_of(field.default)}]",
        )
    elif kind is None:
        yield record.wrong(
            "SG111",
            f"the type {declared} does not say how its values are stored",
            field,
            found=declared,
            expected="int, float, bool, str, bytes, a list of these, a Literal of "
            "names, an Enum, or Annotated[TYPE, KIND]",
            advice=advice(field.python_type),
        )
    else:
        yield from _kind_findings(field, kind, record)


def _kind_findings(
    field: Declaration, kind: Kind, record: LoadedRecord
) -> Iterator[Finding]:
    """Yield what is wrong with a field's kind, and what does not go with it."""
    found = [*problems(kind), *field.problems]
    for problem in found:
        has = "has" if problem.found.startswith("no ") else "cannot have"
        message = f"{kind.kind} {has} {problem.found}"
        yield record.wrong("SG113", message, field, problem)
    if not found and not kind.accepts(field.python_type):
        declared = text_of(field.python_type)
        yield record.wrong(
            "SG112",
            f"type {declared} does not match {kind.kind}",
            field,
            found=declared,
            expected=kind.holds,
            advice="change the annotation or the kind",
        )
    elif field.nullable and not field.optional:
        yield record.wrong(
            "SG116",
            "the type allows None, but there is no default",
            field,
            advice="add `= None`: the field is then optional",
        )
    if kind.presence is True and not field.optional:
        yield record.wrong(
            "SG113",
            "presence=True for a field that is always present",
            field,
            expected="a field with a default",
            advice="remove it, or make the field optional with `= None`",
        )
    if found:
        return
    if not field.name.isascii() and role_of(kind) in ("input", "target"):
        yield record.wrong(
            "SG115",
            f"tensorflow names layers in ASCII, and {field.name!r} is not",
            field,
            advice=f"{_RENAME}, or declare role='info'",
        )
    if not hasattr(Record, field.name):  # what is hidden is taken for the default
        yield from _default_findings(field, kind, record)
    expected = _role_expected(field, kind)
    if expected:
        role = f"role {role_of(kind)!r}"
        advice = "change the role; models do not use fields with role 'info'"
        problem = Problem(role, expected, advice)
        message = f"{kind.kind} cannot have the {role}"
        yield record.wrong("SG118", message, field, problem)


def _default_findings(
    field: Declaration, kind: Kind, record: LoadedRecord
) -> Iterator[Finding]:
    if not field.optional or (field.default is None and field.nullable):
        return
    try:
        if field.default is None:
            raise Problem("None", "`... | None` as its type, which allows None")
        check_default(kind, field.name, plain_default(field.default))
    except Problem as problem:
        given = " ".join(shortened(field.default).split())
        found = problem.found if given in problem.found else f"{given}: {problem.found}"
        yield record.wrong(
            "SG116",
            f"{kind.kind} cannot have this default",
            field,
            found=found,
            expected=problem.expected,
            advice="give a default of the field's own type",
        )


def _role_expected(field: Declaration, kind: Kind) -> str:
    """Return what a field's role asks for; "" if the field has it."""
    role = role_of(kind)
    if role == "target" and not isinstance(kind, TARGETS):
        names = [each.kind for each in TARGETS]
        return f"one of {', '.join(names)} as a target"
    if role in ("input", "target") and opaque(kind):
        how = ""
        if kind.of_step.dtype == "bytes":
            how = "; audio files: decode with tf.audio.decode_wav in a map"
        return f"role='info' for {opaque(kind)}: no model can take them{how}"
    if role == "weight" and not can_be_weight(kind):
        return "a Scalar of dtype float32 or float64 as a weight"
    lacks = field.optional and field.default is None and not marks_missing(kind)
    if role in ("target", "weight") and lacks:
        instead = "a default that is a number"
        if per_pixel(kind):
            instead = "ignore=<an id>, which then fills a missing mask"
        return f"{instead}: models cannot learn from a missing value"
    return ""


def check_default(kind: Kind, name: str, default: Any) -> None:
    """Check that a field can hold its default, which is not None.

    Raises:
        Problem: it cannot.
    """
    empty = isinstance(default, (list, tuple, np.ndarray)) and not len(default)
    if kind.takes_default == "any":
        optional(kind).bound(name).convert(default)
    elif kind.takes_default == "none" or not empty:
        expected = "[] or None" if kind.takes_default == "empty" else "None"
        raise Problem(shortened(default), expected)


def plain_default(value: Any) -> Any:
    """Return a default in a form that every feature takes."""
    return list(value) if isinstance(value, np.ndarray) and not value.size else value
