"""What is wrong with a record class, as findings at the places of its fields."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..findings import Finding, Location
from ..kinds.kind import Kind
from ..kinds.parameters import below
from ..kinds.python_types import text_of
from ..runtime.shared.errors import Problem
from ..runtime.shared.values import shortened
from ..schema.declaration import Declaration
from ..schema.loading import LoadedRecord
from ..schema.models import UnusedModel
from ..schema.nesting import nested_model, nesting_problem
from ..schema.record import Record
from .keys import key_findings
from .names import RESERVED_FIELDS, is_package_name


def record_findings(
    record: LoadedRecord, name: str, seen: dict[str, LoadedRecord]
) -> Iterator[Finding]:
    """Yield what is wrong with a record class itself."""
    class_name = record.name
    if name in seen:
        yield Finding(
            record.location,
            "SG104",
            f"two records would be generated as {name!r}",
            found=f"{class_name}, and {seen[name].name} at {seen[name].location}",
            advice="rename one of them; a base class that is no record itself begins "
            "with '_'",
        )
    if not is_package_name(name):
        yield Finding(
            record.location,
            "SG105",
            f"record {class_name!r} would be generated as {name!r}",
            found=repr(name),
            expected="a lower-case ASCII name that is no Python keyword",
            advice="rename the class",
        )
    for lost, place in record.lost:
        private = lost.startswith("_")
        yield Finding(
            place,
            "SG119",
            f"{class_name}.{lost}: this field would be lost",
            found="a private name" if private else f"another {lost!r} further down",
            expected="a name without '_' at its beginning"
            if private
            else "each field once",
            advice="rename it; what shall be no field is given a value, or is a ClassVar"
            if private
            else "take one of them out: Python keeps only the last",
        )
    if not record.cls.model_fields:
        yield Finding(
            record.location,
            "SG106",
            f"record {class_name!r} has no fields",
            advice="declare fields, or begin the name of a base class with '_'",
        )


def model_warnings(models: Iterable[UnusedModel]) -> Iterator[Finding]:
    """Yield the models that have kinds, as records do, and are used by no record."""
    for model in models:
        if model.has_kinds:
            yield Finding(
                model.location,
                "SG107",
                f"nothing is generated from {model.name!r}",
                found=f"a class with kinds that derives from {model.base}",
                expected="schemagen.Record, or a field of a record with this type",
                advice=f"derive {model.name!r} from Record; the name of a model that "
                "other code uses begins with '_'",
                severity="warning",
            )


def field_findings(
    field: Declaration, place: Location, record: str
) -> Iterator[Finding]:
    """Yield what is wrong with one field, looked at by itself."""
    where = f"{record}.{field.label}"
    kind = field.kind
    shadows = hasattr(Record, field.name)
    if field.name in RESERVED_FIELDS or shadows:
        yield Finding(
            place,
            "SG115",
            f"{where}: the name {field.name!r} is taken by pydantic or by generated code",
            advice=f"choose another name and keep the wire key with key={field.name!r}",
        )
    for foreign in field.foreign:
        name, bare, _ = foreign.partition(" without parentheses")
        yield Finding(
            place,
            "SG117",
            f"{where}: schemagen does not know this metadata",
            found=foreign,
            expected="one kind, such as Vector(shape=(5,))",
            advice=f"write {name}(...)"
            if bare
            else "take it out; a wire key is given by key=",
        )
    for further in field.further:
        yield Finding(
            place,
            "SG117",
            f"{where}: a field has one kind",
            found=f"{text_of(kind)} and {further}",
            expected="one kind",
            advice="take one of them out, or declare a field for each",
        )
    wrong_nesting = nesting_problem(field)
    if wrong_nesting and not field.foreign:
        yield Finding(
            place,
            "SG111",
            f"{where}: {wrong_nesting}",
            found=text_of(field.python_type),
            expected="a model with fields, without a default",
            advice="give the fields of the model defaults, or declare them here",
        )
    if wrong_nesting:
        return
    if field.nested and nested_model(field) is None:
        yield Finding(
            place,
            "SG112",
            f"{where}: declared as {text_of(field.python_type)}, which does not go "
            "with Nested",
            found=text_of(field.python_type),
            expected="a pydantic model",
            advice="a value's own wire key is given to its kind: key=",
        )
        return
    if _is_kind(field.default):
        yield Finding(
            place,
            "SG116",
            f"{where}: a kind in place of the default",
            found=text_of(field.default),
            expected="the kind in the annotation",
            advice=f"write {field.name}: Annotated[TYPE, {text_of(field.default)}]",
        )
        return
    if kind is None:
        why = f"no kind goes with the type {text_of(field.python_type)}"
        example = "np.ndarray, Vector(shape=(5,))"
        if _is_kind(field.python_type):
            why = "a kind without the type of its values"
            example = f"TYPE, {text_of(field.python_type)}"
        yield Finding(
            place,
            "SG111",
            f"{where}: {why}",
            found=text_of(field.python_type),
            expected="int, float, bool, str, bytes, a list of these, a Literal of "
            "names, an Enum, or Annotated[type, kind]",
            advice=f"write Annotated[TYPE, KIND], such as Annotated[{example}]",
        )
        return
    if not field.name.isascii() and role_of(kind) in ("input", "target"):
        yield Finding(
            place,
            "SG115",
            f"{where}: tensorflow names layers in ASCII, and {field.name!r} is not",
            advice=f"choose another name and keep the wire key with "
            f"key={field.name!r}, or declare role='info'",
        )
    problems = [*kind.problems(), *field.problems]
    for problem in problems:
        has = "has" if problem.found.startswith("no ") else "cannot have"
        yield Finding(
            place,
            "SG113",
            f"{where}: {kind.name} {has} {problem.found}",
            found=problem.found,
            expected=problem.expected,
            advice=problem.advice,
        )
    if not problems and not kind.accepts(field.python_type):
        misfit = kind.misfit(field.python_type)
        yield Finding(
            place,
            "SG112",
            f"{where}: declared as {misfit.found}, which does not go with {kind.name}",
            found=misfit.found,
            expected=misfit.expected,
            advice=misfit.advice,
        )
    elif field.nullable and not field.optional:
        yield Finding(
            place,
            "SG116",
            f"{where}: the type allows None, but there is no default",
            advice="add `= None`: the field is then optional",
        )
    if kind.presence is True and not field.optional:
        yield Finding(
            place,
            "SG113",
            f"{where}: presence=True for a field that is always there",
            found="a required field",
            expected="a field with a default",
            advice="take it out, or make the field optional with `= None`",
        )
    if not problems:
        if not shadows:  # what is shadowed would be taken for the default
            yield from _default_findings(field, kind, place, where)
        yield from _role_findings(field, kind, place, where)


def _is_kind(value: object) -> bool:
    """Return whether a value is a kind, or the class of one."""
    return isinstance(value, Kind) or (
        isinstance(value, type) and issubclass(value, Kind)
    )


def _default_findings(
    field: Declaration, kind: Kind, place: Location, where: str
) -> Iterator[Finding]:
    if not field.optional or (field.default is None and field.nullable):
        return
    found = " ".join(shortened(field.default).split())
    advice = "give a default of the field's own type"
    expected = ""
    if field.default is None:
        expected, advice = "a type that allows None", "write the type as `... | None`"
    else:
        try:
            kind.check_default(field.name, plain_default(field.default))
        except Problem as problem:
            expected = problem.expected
            found = (
                problem.found if found in problem.found else f"{found}: {problem.found}"
            )
    if expected:
        yield Finding(
            place,
            "SG116",
            f"{where}: {kind.name} cannot have this default",
            found=found,
            expected=expected,
            advice=advice,
        )


def _role_findings(
    field: Declaration, kind: Kind, place: Location, where: str
) -> Iterator[Finding]:
    role, expected = role_of(kind), ""
    if role == "target" and not kind.can_be_target:
        *others, last = _target_kinds()
        expected = f"a {', '.join(others)} or {last} as a target"
    elif role in ("input", "target") and kind.opaque:
        expected = f"role='info' for {kind.opaque}: no model can take them"
    elif role == "weight" and not kind.can_be_weight:
        expected = "a Scalar of dtype float32 or float64 as a weight"
    elif role in ("target", "weight") and _can_lack(field, kind):
        expected = f"{kind.if_missing}: a missing one cannot be learned"
    if expected:
        yield Finding(
            place,
            "SG118",
            f"{where}: {kind.name} cannot have the role {role!r}",
            found=f"role {role!r}",
            expected=expected,
            advice="change the role; 'info' is carried along and not modelled",
        )


def _target_kinds() -> list[str]:
    kinds = [kind for kind in below(Kind) if not inspect.isabstract(kind)]
    return sorted(kind.name for kind in kinds if kind.can_be_target)


def _can_lack(field: Declaration, kind: Kind) -> bool:
    """Tell whether a value may be missing with nothing to stand for it."""
    return field.optional and field.default is None and not kind.marks_missing


def nesting_findings(
    declared: Sequence[Declaration], record: LoadedRecord
) -> Iterator[Finding]:
    """Yield nested fields whose path makes the name of another field."""
    seen: dict[str, tuple[str, ...]] = {}
    for field in declared:
        path = field.path or (field.name,)
        for end in range(1, len(path) + 1):
            name, part = "_".join(path[:end]), path[:end]
            other = seen.setdefault(name, part)
            if other != part:
                yield Finding(
                    record.fields[field.name],
                    "SG115",
                    f"{record.name}.{field.label}: the name {name!r} is also "
                    f"that of {'.'.join(other)!r}",
                    advice="rename one of them and keep the wire key with key=",
                )


def findings_between(
    fields: Mapping[str, Declaration], record: LoadedRecord
) -> Iterator[Finding]:
    """Yield what is wrong with fields next to each other."""
    kinds = {name: field.kind for name, field in fields.items() if field.kind}
    weights = [name for name, kind in kinds.items() if role_of(kind) == "weight"]
    yield from key_findings(fields, record)
    for name, kind in kinds.items():
        where = f"{record.name}.{name}"
        if f"{name}_present" in fields and (fields[name].nullable or kind.presence):
            yield Finding(
                record.fields[f"{name}_present"],
                "SG115",
                f"{where}_present: the name is that of the mask of {name!r}",
                advice="choose another name",
            )
        for suffix in kind.layers(role_of(kind)):
            layer = f"{name}_{suffix}"
            if layer in kinds and role_of(kinds[layer]) in ("input", "target"):
                yield Finding(
                    record.fields[layer],
                    "SG115",
                    f"{record.name}.{layer}: the name is that of a layer of "
                    f"{name!r} in the model",
                    advice=f"choose another name and keep the wire key with "
                    f"key={layer!r}",
                )
    yield from _target_findings(kinds, record)
    if len(weights) > 1:
        yield Finding(
            record.fields[weights[1]],
            "SG118",
            f"{record.name}: several fields with the role 'weight'",
            found=", ".join(weights),
            expected="one sample weight",
            advice="give the others role='info'",
        )


def _target_findings(
    kinds: Mapping[str, Kind], record: LoadedRecord
) -> Iterator[Finding]:
    """Yield targets that the model cannot predict from the inputs there are."""
    inputs = [kind for kind in kinds.values() if role_of(kind) == "input"]
    for name, kind in kinds.items():
        problem = kind.missing_beside(inputs) if role_of(kind) == "target" else None
        if problem is not None:
            yield Finding(
                record.fields[name],
                "SG118",
                f"{record.name}.{name}: no input goes with this {kind.name} as a target",
                found=problem.found,
                expected=problem.expected,
                advice=problem.advice,
            )


def role_of(kind: Kind) -> str:
    """Return the role that a field plays: the one given, or its kind's own."""
    return kind.role or kind.default_role


def plain_default(value: Any) -> Any:
    """Return a default in a form that every feature takes."""
    return list(value) if isinstance(value, np.ndarray) and not value.size else value
