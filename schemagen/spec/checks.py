"""What is wrong with a record class: with it, with each field, and with fields next to each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from typing import Any, get_args, get_origin

import numpy as np
from pydantic_core import PydanticUndefined

from ..findings import Finding
from ..runtime.kinds.augment import Augment, augment_of
from ..runtime.kinds.box_sides import BoxSides, are_of_box, box_of
from ..runtime.kinds.images import Image
from ..runtime.kinds.kind import Kind, optional
from ..runtime.kinds.pictures import read_size
from ..runtime.kinds.python_types import (
    is_array,
    is_enum,
    is_list,
    literal_values,
    members,
    text_of,
)
from ..runtime.kinds.registry import KINDS
from ..runtime.records.groups import group_of
from ..runtime.records.packed import converted
from ..runtime.shared.errors import Problem
from ..runtime.shared.values import shape_text, shortened
from ..schema.declaration import Declaration, parts_of
from ..schema.loading import LoadedRecord
from ..schema.nesting import is_model, nested_model, nesting_problem
from ..schema.parameters import problems
from ..schema.record import Record, SequenceRecord
from .model import facts_of
from .names import RESERVED_FIELDS, is_package_name
from .training import (
    can_be_weight,
    is_decoded,
    layers,
    marks_missing,
    missing_beside,
    opaque,
    per_pixel,
    role_of,
)

_TENSORS = ("Tensor", "EagerTensor", "Array", "Variable")
_TIMES = (
    *("datetime", "date", "timedelta", "datetime64", "timedelta64"),
    *("Timestamp", "Timedelta"),
)
_SETS = (set, frozenset)


def advice(python_type: Any) -> str:
    """Return what to write in place of a type that has no kind.

    Packages such as PyTorch and Pillow need not be there: their types have known names.
    """
    name = getattr(python_type, "__name__", "")
    if is_kind(python_type):
        return f"write `Annotated[TYPE, {text_of(python_type)}]`"
    if is_array(python_type) or name in _TENSORS:
        return _of_array(_dtype_of(python_type))
    if name in _TIMES:
        return (
            'write `Annotated[int, Scalar("int64", unit="ms")]`, which takes datetimes, '
            "dates and timedeltas"
        )
    if name == "Image":
        return (
            'write `Annotated[np.ndarray | bytes, Image(shape=(32, 32, 3), encoding="png")]`, '
            "and give rows an array or the encoded bytes"
        )
    if isinstance(python_type, type) and issubclass(python_type, np.generic):
        plain = {"f": "float", "b": "bool"}.get(np.dtype(python_type).kind, "int")
        return f'write `Annotated[{plain}, Scalar("{np.dtype(python_type).name}")]`'
    if _has_names(python_type):
        return (
            "declare a class of these values that derives from pydantic.BaseModel, and "
            "write it as the type; or declare a field for each value"
        )
    if len(members(python_type)) > 1:
        return f"write one type, such as `{text_of(members(python_type)[0])}`"
    if is_list(python_type) or (get_origin(python_type) or python_type) in _SETS:
        return _of_list(python_type)
    return "convert the values to one of these types"


def is_kind(value: object) -> bool:
    """Tell whether a value is a kind, or the class of one."""
    return isinstance(value, Kind) or (
        isinstance(value, type) and issubclass(value, Kind)
    )


def _of_array(dtype: str) -> str:
    given = f', dtype="{dtype}"' if dtype else ""
    return (
        f"write `Annotated[np.ndarray, Vector(shape=(5,){given})]` for a fixed shape, "
        f'`Annotated[np.ndarray, VarLen("{dtype or "float32"}")]` for a varying length, or '
        "`Annotated[np.ndarray, Image(shape=(32, 32, 3))]` for pixels"
    )


def _dtype_of(python_type: Any) -> str:
    """Return the dtype of an `NDArray[...]`; "" if it is float32, or not stated."""
    stated = get_args(get_args(python_type)[-1]) if get_args(python_type) else ()
    known = [each for each in stated if isinstance(each, type)]
    if not known or not issubclass(known[0], np.generic) or known[0] is np.float32:
        return ""
    try:
        return np.dtype(known[0]).name
    except TypeError:  # an abstract one, such as np.floating
        return ""


def _has_names(python_type: Any) -> bool:
    """Tell whether values of a type are several values by name."""
    base = get_origin(python_type) or python_type
    return (
        is_dataclass(base)
        or hasattr(base, "_fields")
        or (isinstance(base, type) and issubclass(base, Mapping))
    )


def _of_list(python_type: Any) -> str:
    items = [each for each in get_args(python_type) if each is not Ellipsis]
    if any(each != items[0] for each in items):
        return "declare a field for each item: the items of a field have one type"
    item = items[0] if items else int
    if len(items) > 1:
        dtype = ', dtype="int64"' if item is int else ""
        kind = f"Vector(shape=({len(items)},){dtype})"
        return f"write `Annotated[{text_of(python_type)}, {kind}]`"
    if is_model(item) or _has_names(item):
        return (
            "declare a list for each of the values, all of one group, such as "
            '`Annotated[list[float], VarLen("float32", group="items")]`'
        )
    if is_enum(item) or literal_values(item):
        return 'write `Annotated[list[str], MultiLabel(classes=("beagle", "pug"))]`'
    if is_array(item):
        return (
            'write `Annotated[np.ndarray, VarLen("float32", item_shape=(5,))]`, or '
            '`Annotated[list[bytes], Images(shape=(32, 32, 3), encoding="png")]` for images'
        )
    if is_list(item):
        return (
            "write `Annotated[np.ndarray, Vector(shape=(2, 3, 4))]` for a fixed shape"
        )
    if item in (bool, int, float, str, bytes):
        return f"write `list[{item.__name__}]`"
    return "convert the items to one of these types"


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
            advice="give a default that the field can hold",
        )


def _role_expected(field: Declaration, kind: Kind) -> str:
    """Return what a field's role asks for; "" if the field has it."""
    role = role_of(kind)
    if role == "target" and not kind.has_head:
        names = [name for name, each in KINDS.items() if each.has_head]
        return f"one of {', '.join(names)} as a target"
    if role == "target" and is_decoded(kind):
        return "role='input' or 'info' for arrays of a decoder: no model predicts them"
    if role in ("input", "target") and opaque(kind):
        how = ""
        if opaque(kind) == "opaque bytes":
            how = "; WAV and FLAC files: declare Audio(rate)"
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
        converted(optional(kind).bound(name), default)
    elif kind.takes_default == "none" or not empty:
        expected = "[] or None" if kind.takes_default == "empty" else "None"
        raise Problem(shortened(default), expected)


def plain_default(value: Any) -> Any:
    """Return a default in a form that every feature takes."""
    return list(value) if isinstance(value, np.ndarray) and not value.size else value


_RENAME_ONE = "rename one of them, and keep the wire key with key="

# In these fields of a group agree.
_LIMITS = {"max_length": None, "too_long": "error", "pad_on_disk": False}

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
        numbered = further if getattr(kind, "keys", None) is not None else ()
        named: set[str] = set()  # of numbered keys, only the first is reported
        own: Any = kind.default_key(field.name) if kind.key is None else kind.key
        written: list[tuple[str, str, _Sizes]] = [(own, f"field {field.name}", ())]
        written += [(key, part.content, part.sizes) for key, part in further.items()]
        for key, content, sizes in written if isinstance(own, str) else ():
            before = taken.setdefault(key, [])
            for other, held, others in before:
                pairs = [*zip(sizes, others, strict=False)]
                agree = all(None in pair or pair[0] == pair[1] for pair in pairs)
                if key in numbered and other.name in named:
                    continue
                if held != content or not (agree or field.optional or other.optional):
                    named.add(other.name)
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
                yield record.wrong("SG115", message, field, advice=_RENAME_ONE)
    by_name = {field.name: field for field in record.declared}
    for field, kind in fields:
        mask = by_name.get(f"{field.name}_present")
        if mask and (field.nullable or kind.presence):
            message = f"the name is that of the mask of {field.name!r}"
            yield record.wrong("SG115", message, mask, advice=_RENAME_ONE)
        size = by_name.get(f"{field.name}_size")
        if size and isinstance(kind, Image) and kind.sizes:
            message = f"the name is that of the stored size of {field.name!r}"
            yield record.wrong("SG115", message, size, advice=_RENAME_ONE)
        for suffix in layers(kind):
            layer = by_name.get(f"{field.name}_{suffix}")
            if layer and layer.kind and role_of(layer.kind) in ("input", "target"):
                message = f"the name is that of a layer of {field.name!r} in the model"
                yield record.wrong("SG115", message, layer, advice=_RENAME_ONE)


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


def default_targets(record: LoadedRecord) -> Iterator[Finding]:
    """Yield a warning if several fields are targets although no schema says so."""
    kinds = [(field, field.kind) for field in record.declared if field.kind]
    some = [
        field
        for field, kind in kinds
        if kind.role is None and role_of(kind) == "target"
    ]
    if len(some) > 1:
        *names, last = [repr(field.label) for field in some]
        every = "both" if len(some) == 2 else "all"
        yield record.wrong(
            "SG124",
            f"{', '.join(names)} and {last} are {every} targets by default",
            some[1],
            advice='declare an input as Label(role="input"); role="target" keeps a target',
            severity="warning",
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
        if name := group_of(kind):
            groups.setdefault(name, []).append((field, kind))
    for group, grouped in groups.items():
        first, facts = grouped[0][0], facts_of(grouped[0][1])
        if len(grouped) == 1:
            yield record.wrong(
                "SG113",
                f"the group {group!r} has no other field",
                first,
                advice="give the other fields the same group, or remove it",
            )
        for field, kind in grouped:
            for name, usual in _LIMITS.items():
                limit = facts_of(kind).get(name, usual)
                wanted = facts.get(name, usual)
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
    images = {field.label: field for field, kind in fields if isinstance(kind, Image)}
    groups: dict[str, list[tuple[Declaration, BoxSides]]] = {}
    for field, kind in fields:
        box, name = box_of(kind), group_of(kind)
        if box and len(box.sides) == 1 and name:
            groups.setdefault(name, []).append((field, box))
        if box and box.image not in (None, *images):
            yield record.wrong(
                "SG123",
                f"box_image={box.image!r} is not an image",
                field,
                expected=f"an Image: {', '.join(images) or 'there is none'}",
            )
        inner = box_of(kind.of_step)
        if inner and inner.image in images:
            yield from _scaling_findings(field, images[inner.image], record)
    for group, grouped in groups.items():
        first = grouped[0][0]
        sides = [side for _, box in grouped for side in box.sides]
        if not are_of_box(sides):
            yield record.wrong(
                "SG123",
                f"the sides of boxes in the group {group!r} are no box",
                first,
                found=", ".join(sides),
                expected="xmin, ymin, and xmax or width, ymax or height, each once",
            )
        named = {str(box.image) for _, box in grouped}
        if len(named) > 1:
            yield record.wrong(
                "SG123",
                f"the sides of boxes in the group {group!r} have several images",
                first,
                found=", ".join(sorted(named)),
                expected="the same box_image for all",
            )
        scaled = {box.scaled for _, box in grouped}
        if len(scaled) > 1:
            yield record.wrong(
                "SG123",
                f"the sides of boxes in the group {group!r} are scaled differently",
                first,
                found=", ".join(sorted(f"box_scaled={each}" for each in scaled)),
                expected="the same box_scaled for all",
            )


def _scaling_findings(
    boxes: Declaration, image: Declaration, record: LoadedRecord
) -> Iterator[Finding]:
    """Yield what is wrong with boxes that readers scale with their image."""
    assert boxes.kind is not None
    kind: Any = boxes.kind.of_step
    resize = getattr(image.kind, "resize", None)
    if resize is None and kind.box_scaled:
        yield record.wrong(
            "SG123",
            f"box_scaled=True, and {image.label!r} is not resized",
            boxes,
            advice=f"give {image.label!r} resize=(height, width), or leave it out",
        )
    if resize is None or kind.box_scaled is False:
        return
    unknown = ""
    if image.optional:
        unknown = f"{image.label!r} may be missing, and its size is then unknown"
    elif boxes.optional and boxes.default is not None and np.size(boxes.default):
        unknown = "a default has no image to be scaled with"
    elif kind is not boxes.kind:
        unknown = "boxes of steps are read apart from it"
    elif getattr(kind, "dequantize", None):
        unknown = "dequantized numbers are not those of stored pixels"
    if unknown:
        yield record.wrong(
            "SG123",
            f"boxes cannot be scaled with {image.label!r}",
            boxes,
            found=unknown,
            advice="declare box_scaled=False, to scale them with your own code",
        )


def _augmentation_findings(fields: _Fields, record: LoadedRecord) -> Iterator[Finding]:
    """Yield the masks and boxes that would come to be those of other places.

    A mask is of all pictures of its size; of all there are, if none has its size. Boxes
    are of the picture that they name, or of all; nothing moves them.
    """
    shown = [(field, kind) for field, kind in fields if kind.of_pixels]
    pictures = [(field, kind) for field, kind in shown if not per_pixel(kind)]
    for mask, kind in shown:
        size = read_size(kind)
        alike = [pair for pair in pictures if read_size(pair[1]) == size]
        for other, picture in (alike or pictures) if per_pixel(kind) else ():
            own, theirs = augment_of(kind), augment_of(picture)
            crop = own and own.crop
            if _moves(picture) != _moves(kind) or (crop and not alike):
                yield record.wrong(
                    "SG121",
                    f"it is not augmented in the same way as {other.label!r}",
                    mask,
                    found=f"augment={own}, and {theirs} of the picture",
                    advice="give both the same augment=; resize= brings both to one size",
                )
                break
    still = [
        repr(each.label)
        for each, kind in pictures
        if isinstance(kind, Image) and not any(_moves(kind))
    ]
    for boxes, kind in fields:
        named, box = "", box_of(kind)
        if box is None:
            continue
        if still and box.image is None:
            named = (
                f", or box_image={' or '.join(still)} if the boxes are of that image"
            )
        for other, picture in pictures:
            if box.image in (None, other.label) and any(_moves(picture)):
                yield record.wrong(
                    "SG121",
                    f"augmentation moves {other.label!r}, and not its boxes",
                    boxes,
                    found=f"augment={augment_of(picture)} of the picture",
                    advice=f"declare no flips and no crop{named}; move pictures and "
                    "boxes together, in a function of dataset.map or split.map",
                )
                break


def _moves(kind: Kind) -> tuple[bool, bool, int]:
    return (augment_of(kind) or Augment()).moves
