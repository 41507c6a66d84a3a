"""From an annotation to a kind: what one line of a schema class declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Union, get_args, get_origin

import numpy as np
from pydantic.fields import FieldInfo

from ..kinds.images import Images
from ..kinds.kind import Kind
from ..kinds.label import Label
from ..kinds.multilabel import MultiLabel
from ..kinds.python_types import (
    class_names,
    is_array,
    is_enum,
    is_list,
    item_type,
    literal_values,
    members,
    text_of,
)
from ..kinds.ragged import Ragged
from ..kinds.scalar import Scalar
from ..kinds.steps import Steps
from ..kinds.text import Text
from ..kinds.varlen import VarLen
from ..runtime.shared.errors import Problem
from ..runtime.shared.values import shortened
from .nested import Nested

# A plain float is 64 bits wide and the FloatList that readers expect is 32, so that
# rounding is what its author asks for, of arrays and numpy's scalars too.
PLAIN_KINDS: dict[Any, Kind] = {
    bool: Scalar("bool"),
    int: Scalar("int64"),
    float: Scalar("float32"),
    str: Text(),
    bytes: Scalar("bytes"),
    list[bool]: VarLen("bool"),
    list[int]: VarLen("int64"),
    list[float]: VarLen("float32"),
    list[str]: VarLen("string"),
    list[bytes]: VarLen("bytes"),
    list[list[bool]]: Ragged("bool"),
    list[list[int]]: Ragged("int64"),
    list[list[float]]: Ragged("float32"),
    list[list[str]]: Ragged("string"),
    list[list[bytes]]: Ragged("bytes"),
}


@dataclass(frozen=True)
class Declaration:
    """A field as its schema class declares it.

    Attributes:
        name: the field's name.
        python_type: its type, without None and without metadata.
        kind: how it is stored, or None if the type alone does not tell.
        optional: whether it has a default.
        nullable: whether its type allows None.
        default: the default, or None if there is none.
        doc: the field's description.
        foreign: metadata that schemagen does not know, in words.
        further: kinds beyond the first, in words.
        nested: how a nested model's keys begin, if that is declared.
        path: where it stands in nested models, by names; empty if in none.
        problems: what is wrong with files that its kind names.
    """

    name: str
    python_type: Any
    kind: Kind | None
    optional: bool
    nullable: bool
    default: Any
    doc: str
    foreign: tuple[str, ...]
    nested: Nested | None = None
    path: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    further: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """What it is called in findings: `steps.observation.state`."""
        return ".".join(self.path) or self.name


def declaration(
    name: str, info: FieldInfo, directory: Path | None = None
) -> Declaration:
    """Read one field of a schema class.

    Args:
        name: the field's name.
        info: the field as pydantic has it.
        directory: of the file in which it is declared; None if in none.
    """
    types, metadata, nullable = unwrapped(info.annotation)
    metadata = (*metadata, *info.metadata)
    # A union of one is that one, but typing may hand out another that equals it.
    one = types[0] if len(types) == 1 else None
    python_type = one or (Union[types] if types else NoneType)  # noqa: UP007
    kinds = [item for item in metadata if isinstance(item, Kind)]
    kind = kinds[0] if kinds else _plain_kind(python_type)
    if isinstance(kind, Label):
        kind = _with_classes(kind, python_type)
    elif isinstance(kind, Steps) and isinstance(kind.step, Label):
        classes = _with_classes(kind.step, item_type(python_type))
        kind = replace(kind, step=classes)
    problems = []
    try:
        kind = kind and kind.in_file(directory)
    except Problem as problem:
        problems.append(problem)
    nested = [item for item in metadata if isinstance(item, Nested)]
    known = (Kind, Nested)
    foreign = [_foreign(item) for item in metadata if not isinstance(item, known)]
    foreign += [_foreign(item) for item in nested[1:]]
    foreign += [
        f"{option}={getattr(info, option)!r}"
        for option in ("alias", "validation_alias", "serialization_alias")
        if getattr(info, option) is not None
    ]
    return Declaration(
        name=name,
        python_type=python_type,
        kind=kind,
        optional=not info.is_required(),
        nullable=nullable,
        default=None
        if info.is_required()
        else info.get_default(call_default_factory=True, validated_data={}),
        doc=info.description or "",
        foreign=tuple(foreign),
        nested=nested[0] if nested else None,
        problems=tuple(problems),
        further=tuple(text_of(item) for item in kinds[1:]),
    )


def _foreign(item: Any) -> str:
    if isinstance(item, type) and issubclass(item, (Kind, Nested)):
        return f"{item.__name__} without parentheses"
    return shortened(item, 200)


def unwrapped(annotation: Any) -> tuple[tuple[Any, ...], tuple[Any, ...], bool]:
    """Take None and metadata out of a type, wherever in the union they stand."""
    if get_origin(annotation) is Annotated:
        types, inner, nullable = unwrapped(annotation.__origin__)
        return types, (*inner, *annotation.__metadata__), nullable
    if annotation is NoneType:
        return (), (), True
    if len(members(annotation)) == 1:
        return (annotation,), (), False
    parts = [unwrapped(member) for member in get_args(annotation)]
    return (
        tuple(found for types, _, _ in parts for found in types),
        tuple(item for _, metadata, _ in parts for item in metadata),
        any(nullable for _, _, nullable in parts),
    )


def _plain_kind(python_type: Any) -> Kind | None:
    if literal_values(python_type) or is_enum(python_type):
        return Label()
    try:
        return PLAIN_KINDS.get(python_type)
    except TypeError:  # a type without a hash
        return None


def _with_classes(label: Label, python_type: Any) -> Label:
    """Give a label the classes that its type names, if it has none of its own."""
    names = class_names(python_type)
    if not names or label.classes or label.vocabulary:
        return label
    if label.num_classes is not None and not isinstance(names[0], str):
        return label
    return replace(label, classes=names)


def as_declared(field: Declaration) -> Callable[[Any, Any], Any]:
    """Return how a converted value is handed back: in the type that was declared.

    The function takes what was given and what it was converted to.
    """
    python_type = field.python_type
    if isinstance(field.kind, Steps):
        return _steps_as_declared(field, field.kind)
    if isinstance(field.kind, Label):
        names = field.kind.classes or ()
        if is_enum(python_type):
            by_text = {str(m.value): m for m in python_type}
            by_name = {m.name: m for m in python_type}
            return lambda _, index: by_text.get(names[index]) or by_name[names[index]]
        wants_name = python_type is str or literal_values(python_type)
        return lambda _, index: names[index] if wants_name and names else index
    if isinstance(field.kind, MultiLabel):
        return _classes_as_declared(python_type, field.kind)
    origin = get_origin(python_type) or python_type
    if isinstance(field.kind, Images) and origin in (list, tuple, Sequence):
        # An array of pictures is a list of arrays: no picture becomes a list.
        return lambda given, _: tuple(given) if origin is tuple else list(given)
    if origin is tuple:
        return lambda given, value: _as_tuple(
            value.tolist() if hasattr(value, "tolist") else given
        )
    if origin in (bool, int, float, list):
        return lambda given, value: (
            value.tolist() if hasattr(value, "tolist") else list(given)
        )
    if origin in (str, bytes, dict, Mapping):
        return lambda given, _: given
    return lambda _, value: value


def _classes_as_declared(
    python_type: Any, kind: MultiLabel
) -> Callable[[Any, Any], Any]:
    """Hand back the ids of classes or their names, whichever the type has."""
    if is_array(python_type) and python_type is not Any:
        return lambda _, ids: np.array(ids, np.int64)
    items = {member for item in get_args(python_type) for member in members(item)}
    names = kind.classes or ()
    make = tuple if (get_origin(python_type) or python_type) is tuple else list
    if items - {Ellipsis} == {str}:
        return lambda _, ids: make(names[index] for index in ids)
    if items - {Ellipsis} == {int}:
        return lambda _, ids: make(ids)
    return lambda given, _: make(given)


def _as_tuple(value: Any) -> Any:
    return tuple(map(_as_tuple, value)) if isinstance(value, (list, tuple)) else value


def _steps_as_declared(field: Declaration, steps: Steps) -> Callable[[Any, Any], Any]:
    if not is_list(field.python_type):
        return lambda _, value: value
    item = item_type(field.python_type)
    one = as_declared(replace(field, kind=steps.step, python_type=item))
    is_tuple = (get_origin(field.python_type) or field.python_type) is tuple

    def hand_back(given: Any, values: Any) -> Any:
        found = [one(*pair) for pair in zip(given, values, strict=True)]
        return tuple(found) if is_tuple else found

    return hand_back
