"""What is wrong with the fields of a record next to each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..findings import Finding
from ..kinds.kind import Kind
from ..kinds.steps import Steps
from ..runtime.shared.values import shortened
from ..schema.declaration import Declaration
from ..schema.loading import LoadedRecord
from ..schema.record import SequenceRecord
from .augmentations import augmentation_findings
from .checks import role_of
from .keys import key_findings

_RENAME = "rename one of them, and keep the wire key with key="

# What tells how long a field's sequences are, with its default: fields of a group agree.
_LENGTHS = {"max_length": None, "too_long": "error", "pad_on_disk": False}

_Fields = Mapping[str, Declaration]


def findings_between(record: LoadedRecord) -> Iterator[Finding]:
    """Yield what is wrong with fields next to each other, whose kinds have their types."""
    fields = {field.name: field for field in record.declared}
    yield from key_findings(fields, record)
    yield from _name_findings(fields, record)
    yield from _role_findings(fields, record)
    yield from _step_findings(record)
    yield from _lifetime_findings(record)
    yield from _group_findings(record)
    yield from augmentation_findings(fields, record)


def _name_findings(fields: _Fields, record: LoadedRecord) -> Iterator[Finding]:
    """Yield fields that have a name of other fields, of their masks or layers."""
    seen: dict[str, tuple[str, ...]] = {}
    for field in record.declared:
        path = field.path or (field.name,)
        for end in range(1, len(path) + 1):
            name, part = "_".join(path[:end]), path[:end]
            other = seen.setdefault(name, part)
            if other != part:
                message = f"the name {name!r} is also that of {'.'.join(other)!r}"
                yield record.wrong("SG115", message, field, advice=_RENAME)
    for name, field in fields.items():
        mask = fields.get(f"{name}_present")
        if field.kind and mask and (field.nullable or field.kind.presence):
            message = f"the name is that of the mask of {name!r}"
            yield record.wrong("SG115", message, mask, advice=_RENAME)
        for suffix in field.kind.layers(role_of(field.kind)) if field.kind else ():
            layer = fields.get(f"{name}_{suffix}")
            if layer and layer.kind and role_of(layer.kind) in ("input", "target"):
                message = f"the name is that of a layer of {name!r} in the model"
                yield record.wrong("SG115", message, layer, advice=_RENAME)


def _role_findings(fields: _Fields, record: LoadedRecord) -> Iterator[Finding]:
    """Yield targets without the inputs that they need, and several weights."""
    kinds = {name: field.kind for name, field in fields.items() if field.kind}
    inputs = [kind for kind in kinds.values() if role_of(kind) == "input"]
    for name, kind in kinds.items():
        problem = kind.missing_beside(inputs) if role_of(kind) == "target" else None
        if problem is not None:
            message = f"no input goes with this {kind.name} as a target"
            yield record.wrong_with(problem, "SG118", message, fields[name])
    weights = [name for name, kind in kinds.items() if role_of(kind) == "weight"]
    if len(weights) > 1:
        yield record.wrong(
            "SG118",
            "several fields with the role 'weight'",
            fields[weights[1]],
            found=", ".join(weights),
            expected="one sample weight",
            advice="give the others role='info'",
        )


def _step_findings(record: LoadedRecord) -> Iterator[Finding]:
    """Yield what a record's message cannot hold, or has to hold and does not."""
    steps = [field for field in record.declared if isinstance(field.kind, Steps)]
    is_sequence = issubclass(record.cls, SequenceRecord)
    for field in () if is_sequence else steps:
        yield record.wrong(
            "SG120",
            "steps in a Record",
            field,
            found=f"class {record.name}(Record)",
            expected=f"class {record.name}(SequenceRecord)",
            advice="derive the class from SequenceRecord, or write a VarLen",
        )
    if is_sequence and record.declared and not steps:
        yield record.wrong(
            "SG120",
            "a SequenceRecord without steps",
            found="no field with Steps(...)",
            expected="one field with Steps(...) or more",
            advice="derive the class from Record, or declare what each step has",
        )


def reserved_by(record: LoadedRecord) -> tuple[str, ...]:
    """Return the names and keys that a record reserves, sorted."""
    return tuple(sorted(set(record.cls.__schemagen_reserved__)))


def _lifetime_findings(record: LoadedRecord) -> Iterator[Finding]:
    """Yield what is wrong with the parameters of a record's class."""
    reserved: Any = record.cls.__schemagen_reserved__
    draft: Any = record.cls.__schemagen_draft__
    listed = isinstance(reserved, (tuple, list, set, frozenset))
    named = listed and all(isinstance(name, str) for name in reserved)
    if not named or not isinstance(draft, bool):
        yield record.wrong(
            "SG122",
            "wrong parameters of the class",
            found=f"reserved={shortened(reserved)}, draft={shortened(draft)}",
            expected='reserved=("colour", "meta/colour"), a tuple of names and keys; '
            "draft=True or False",
            advice="correct them, or take them out",
        )
    for field in record.declared if named else ():
        names = {field.name, field.label}
        if field.kind is not None:
            names |= {part.key for part in field.kind.parts(field.name)}
        for taken in sorted(names & set(reserved)):
            yield record.wrong(
                "SG122",
                f"{taken!r} is reserved",
                field,
                found=f"reserved in class {record.name}",
                expected="a name and a key that no former field had",
                advice="choose another one, as old data may still have it; if the former "
                "field returns, take it out of reserved",
            )


def _group_findings(record: LoadedRecord) -> Iterator[Finding]:
    """Yield fields of groups that cannot always be equally long."""
    groups: dict[str, list[tuple[Declaration, Kind]]] = {}
    for field in record.declared:
        if field.kind and (group := getattr(field.kind, "group", None)):
            groups.setdefault(group, []).append((field, field.kind))
    for group, members in groups.items():
        first, kind = members[0]
        if len(members) == 1:
            yield record.wrong(
                "SG113",
                f"the group {group!r} has no other field",
                first,
                found=group,
                expected="two fields or more in a group",
                advice="give the other fields the same group, or take it out",
            )
        for field, other in members:
            for name, default in _LENGTHS.items():
                wanted, found = (getattr(k, name, default) for k in (kind, other))
                if wanted != found:
                    yield record.wrong(
                        "SG113",
                        f"{name}={found!r} in the group {group!r}",
                        field,
                        found=f"{name}={found!r}",
                        expected=f"{name}={wanted!r}, as {first.label!r} has",
                        advice="give all fields of a group the same limits",
                    )
            if field.optional and field.default is not None:
                yield record.wrong(
                    "SG113",
                    f"a default in the group {group!r}",
                    field,
                    found=shortened(field.default),
                    expected="None: a default has one length, and the others have theirs",
                    advice="make it optional with `= None`",
                )
