"""What is wrong with the fields of a record next to each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..findings import Finding
from ..runtime.codecs.augment import Augment
from ..runtime.codecs.box_sides import are_of_box
from ..runtime.codecs.images import Image
from ..runtime.codecs.kind import Kind
from ..runtime.shared.values import shape_text, shortened
from ..schema.declaration import Declaration, parts_of
from ..schema.loading import LoadedRecord
from ..schema.record import SequenceRecord
from .training import layers, missing_beside, per_pixel, role_of

_RENAME = "rename one of them, and keep the wire key with key="

# In these fields of a group agree.
_LIMITS = ("max_length", "too_long", "pad_on_disk")

_Fields = list[tuple[Declaration, Kind]]
_Sizes = tuple[int | None, ...]


def findings_between(record: LoadedRecord) -> Iterator[Finding]:
    """Yield what is wrong with fields next to each other, whose kinds have their types."""
    fields = [(field, field.kind) for field in record.declared if field.kind]
    yield from _key_findings(fields, record)
    yield from _name_findings(fields, record)
    yield from _role_findings(fields, record)
    yield from _step_findings(fields, record)
    yield from _lifetime_findings(record)
    yield from _group_findings(fields, record)
    yield from _box_findings(fields, record)
    yield from _augmentation_findings(fields, record)


def _key_findings(fields: _Fields, record: LoadedRecord) -> Iterator[Finding]:
    """Yield the keys of two fields. They may share one of sizes that both can have."""
    taken: dict[str, list[tuple[Declaration, str, _Sizes]]] = {}
    for field, kind in fields:
        further = {part.key: part for part in parts_of(field)[1:]}
        own: Any = field.name if kind.key is None else kind.key
        written: list[tuple[str, str, _Sizes]] = [(own, f"field {field.name}", ())]
        written += [(key, part.content, part.sizes) for key, part in further.items()]
        for key, content, sizes in written if isinstance(own, str) else ():
            before = taken.setdefault(key, [])
            for other, held, others in before:
                pairs = [*zip(sizes, others, strict=False)]
                agree = all(None in pair or pair[0] == pair[1] for pair in pairs)
                if held != content or not (agree or field.optional or other.optional):
                    both = f": {shape_text(sizes)} and {shape_text(others)}"
                    yield record.wrong(
                        "SG114",
                        f"the wire key {key!r} is that of {other.name!r} too",
                        field,
                        found=f"{key!r}{both if held == content else ''}",
                        advice="give one of them another key",
                    )
                    break
            before.append((field, content, sizes))


def _name_findings(fields: _Fields, record: LoadedRecord) -> Iterator[Finding]:
    """Yield fields that have a name of other fields, of their masks or layers."""
    seen: dict[str, tuple[str, ...]] = {}
    for field in record.declared:
        path = field.path or (field.name,)
        for part in (path[:end] for end in range(1, len(path) + 1)):
            name = "_".join(part)
            other = seen.setdefault(name, part)
            if other != part:
                message = f"the name {name!r} is also that of {'.'.join(other)!r}"
                yield record.wrong("SG115", message, field, advice=_RENAME)
    by_name = {field.name: field for field in record.declared}
    for field, kind in fields:
        mask = by_name.get(f"{field.name}_present")
        if mask and (field.nullable or kind.presence):
            message = f"the name is that of the mask of {field.name!r}"
            yield record.wrong("SG115", message, mask, advice=_RENAME)
        for suffix in layers(kind):
            layer = by_name.get(f"{field.name}_{suffix}")
            if layer and layer.kind and role_of(layer.kind) in ("input", "target"):
                message = f"the name is that of a layer of {field.name!r} in the model"
                yield record.wrong("SG115", message, layer, advice=_RENAME)


def _role_findings(fields: _Fields, record: LoadedRecord) -> Iterator[Finding]:
    """Yield targets without the inputs that they need, and several weights."""
    inputs = [kind for _, kind in fields if role_of(kind) == "input"]
    for field, kind in fields:
        problem = missing_beside(kind, inputs) if role_of(kind) == "target" else None
        if problem is not None:
            message = f"no input matches this {kind.kind} target"
            yield record.wrong("SG118", message, field, problem)
    weights = [field for field, kind in fields if role_of(kind) == "weight"]
    if len(weights) > 1:
        yield record.wrong(
            "SG118",
            "several fields with the role 'weight'",
            weights[1],
            found=", ".join(field.name for field in weights),
            advice="give all but one role='info'",
        )


def _step_findings(fields: _Fields, record: LoadedRecord) -> Iterator[Finding]:
    """Yield what a record's message cannot hold, or has to hold and does not."""
    steps = [field for field, kind in fields if kind.of_step is not kind]
    is_sequence = issubclass(record.cls, SequenceRecord)
    for field in () if is_sequence else steps:
        yield record.wrong(
            "SG120",
            "steps in a Record",
            field,
            advice="derive the class from SequenceRecord, or write a VarLen",
        )
    if is_sequence and record.declared and not steps:
        yield record.wrong(
            "SG120",
            "a SequenceRecord without steps",
            advice="derive the class from Record, or declare a field with Steps(...)",
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
            "invalid class parameters",
            found=f"reserved={shortened(reserved)}, draft={shortened(draft)}",
            expected='reserved=("colour", "meta/colour"), a tuple of names and keys; '
            "draft=True or False",
            advice="correct or remove them",
        )
    for field in record.declared if named else ():
        names = {field.name, field.label, *(part.key for part in parts_of(field))}
        for taken in sorted(names & set(reserved)):
            yield record.wrong(
                "SG122",
                f"{taken!r} is reserved",
                field,
                advice="choose another one, as old data may still have it; if the former "
                "field returns, remove it from reserved",
            )


def _group_findings(fields: _Fields, record: LoadedRecord) -> Iterator[Finding]:
    """Yield fields of groups that cannot always be equally long."""
    groups: dict[str, _Fields] = {}
    for field, kind in fields:
        if kind.group:
            groups.setdefault(kind.group, []).append((field, kind))
    for group, members in groups.items():
        first, usual = members[0]
        if len(members) == 1:
            yield record.wrong(
                "SG113",
                f"the group {group!r} has no other field",
                first,
                advice="give the other fields the same group, or remove it",
            )
        for field, kind in members:
            for name in _LIMITS:
                limit, wanted = getattr(kind, name), getattr(usual, name)
                if limit != wanted:
                    yield record.wrong(
                        "SG113",
                        f"the limits of fields in the group {group!r} differ",
                        field,
                        found=f"{name}={limit!r}",
                        expected=f"{name}={wanted!r}, as {first.label!r} has",
                    )
            if field.optional and field.default is not None:
                yield record.wrong(
                    "SG113",
                    f"a default in the group {group!r}, whose fields have varying lengths",
                    field,
                    found=shortened(field.default),
                    expected="None",
                )


def _box_findings(fields: _Fields, record: LoadedRecord) -> Iterator[Finding]:
    """Yield sides that are no box together, and boxes in what is not an image."""
    images = [field.label for field, kind in fields if isinstance(kind, Image)]
    groups: dict[str, _Fields] = {}
    for field, kind in fields:
        if isinstance(kind.box, str) and kind.group:
            groups.setdefault(kind.group, []).append((field, kind))
        if kind.box and kind.box_image not in (None, *images):
            yield record.wrong(
                "SG123",
                f"box_image={kind.box_image!r} is not an image",
                field,
                expected=f"an Image: {', '.join(images) or 'there is none'}",
            )
    for group, members in groups.items():
        first = members[0][0]
        sides = [kind.box for _, kind in members]
        if not are_of_box(sides):
            yield record.wrong(
                "SG123",
                f"the sides of boxes in the group {group!r} are no box",
                first,
                found=", ".join(sides),
                expected="xmin, ymin, and xmax or width, ymax or height, each once",
            )
        named = {str(kind.box_image) for _, kind in members}
        if len(named) > 1:
            yield record.wrong(
                "SG123",
                f"the sides of boxes in the group {group!r} have several images",
                first,
                found=", ".join(sorted(named)),
                expected="the same box_image for all",
            )


def _augmentation_findings(fields: _Fields, record: LoadedRecord) -> Iterator[Finding]:
    """Yield the masks whose pixels would come to be those of other places.

    A mask is of all pictures of its size; of all there are, if none has its size.
    """
    shown = [(field, kind) for field, kind in fields if kind.pixels]
    pictures = [(field, kind) for field, kind in shown if not per_pixel(kind)]
    for mask, kind in shown:
        alike = [pair for pair in pictures if pair[1].pixels == kind.pixels]
        for other, picture in (alike or pictures) if per_pixel(kind) else ():
            crop = kind.augment and kind.augment.crop
            if _moves(picture) != _moves(kind) or (crop and not alike):
                yield record.wrong(
                    "SG121",
                    f"it is not augmented in the same way as {other.label!r}",
                    mask,
                    found=f"augment={kind.augment}, and {picture.augment} of the picture",
                    advice="give both the same augment=; resize= brings both to one size",
                )
                break


def _moves(kind: Kind) -> tuple[bool, bool, int]:
    return (kind.augment or Augment()).moves
