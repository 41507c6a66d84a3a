"""From an annotation to a kind: what one line of a schema class declares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from enum import Enum
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Union, get_args, get_origin

import numpy as np
from pydantic.fields import FieldInfo

from ..runtime.cells.part import Part
from ..runtime.kinds.classes import Classes, Label
from ..runtime.kinds.kind import Kind
from ..runtime.kinds.lists import VarLen
from ..runtime.kinds.numbers import Scalar
from ..runtime.kinds.parameters import Name, Parameters
from ..runtime.kinds.python_types import (
    class_names,
    is_array,
    is_enum,
    is_list,
    item_type,
    literal_values,
    members,
    text_of,
)
from ..runtime.kinds.ragged import Ragged
from ..runtime.kinds.registry import KINDS
from ..runtime.kinds.steps import Steps
from ..runtime.kinds.text import Text
from ..runtime.shared.errors import Problem
from ..runtime.shared.values import shortened
from .parameters import problems as problems_of


@dataclass(frozen=True, eq=False)
class Nested(Parameters):
    """The prefix of the keys that the fields of a nested model have in the Example.

    Use it as `Annotated[Model, Nested(key="image/object")]`. Without it the prefix is
    the field's name.

    Attributes:
        key: the prefix, without the `/` between it and the keys of the model's fields.
    """

    key: Name

    def rules(self) -> Iterator[Problem]:
        if self.key.strip("/") != self.key:
            yield Problem(f"key={self.key!r}", "a key without '/' at its ends")


def read_vocabulary(vocabulary: str, directory: Path | None) -> tuple[str, ...]:
    """Read the names of classes, in the order of their ids.

    The file is UTF-8; lines end with LF or CRLF, the last one with or without. No
    other character ends a line, and none is taken off a name.

    Args:
        vocabulary: the file's path.
        directory: where that path begins: the directory of the schema file.

    Raises:
        Problem: no such file, another encoding, or a line that is not a new name.
    """
    given = f"vocabulary={vocabulary!r}"
    if directory is None or Path(vocabulary).is_absolute():
        raise Problem(given, "a path from the directory of the schema file")
    path = directory / vocabulary
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, ValueError) as error:  # not UTF-8; a path may have a null byte
        reason = getattr(error, "strerror", None) or str(error)
        expected = "a UTF-8 file of names, one a line, next to the schema file"
        raise Problem(f"{given}: {path}: {reason}", expected) from None
    names: dict[str, None] = {}
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        name = line.removesuffix("\r")
        if not name.strip() or name in names:
            expected = "a name a line, each once: line n is the class n - 1"
            raise Problem(f"{given}: line {number} is {name!r}", expected)
        names[name] = None
    return tuple(names)


# A plain float is 64 bits wide and the FloatList that readers expect is 32, so that
# rounding is what its author asks for, of arrays and numpy's scalars too.
_DTYPES = {bool: "bool", int: "int64", float: "float32", str: "string", bytes: "bytes"}
_TIMES = (date, datetime, timedelta)

PLAIN_KINDS: dict[Any, Kind] = {
    **{each: Scalar(dtype) for each, dtype in _DTYPES.items()},
    str: Text(),
    **{list[each]: VarLen(dtype) for each, dtype in _DTYPES.items()},  # type: ignore[valid-type]
    **{list[list[each]]: Ragged(dtype) for each, dtype in _DTYPES.items()},  # type: ignore[valid-type]
}


class FieldCheck:
    """The base of what a record adds to the metadata of its fields."""


@dataclass(frozen=True)
class Declaration:
    """A field as its schema class declares it.

    Attributes:
        name: the field's name.
        python_type: its type, without None and without metadata.
        kind: how it is stored, or None if the type alone does not tell.
        optional: whether it has a default.
        nullable: whether its type allows None.
        default: the default; None without one.
        doc: the field's description.
        foreign: metadata beyond one kind or one prefix, in words.
        nested: how a nested model's keys begin, if that is declared.
        path: its place in nested models, by names; empty at the top.
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
    metadata = tuple(i for i in metadata if not isinstance(i, FieldCheck))
    # A union of one is that one, but typing may hand out another that equals it.
    one = types[0] if len(types) == 1 else None
    python_type = one or (Union[types] if types else NoneType)  # noqa: UP007
    kinds = [item for item in metadata if type(item) in KINDS.values()]
    kind = kinds[0] if kinds else _plain_kind(python_type)
    problems = []
    try:
        kind = kind and _completed(kind, python_type, directory)
    except Problem as problem:
        problems.append(problem)
    nested = [item for item in metadata if isinstance(item, Nested)]
    known = {Nested, *KINDS.values()}
    foreign = [_foreign(item) for item in metadata if type(item) not in known]
    for several in (kinds, nested):
        foreign += map(text_of, several if len(several) > 1 else ())
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
    )


def parts_of(field: Declaration) -> tuple[Part, ...]:
    """Return what a field is stored as; () if its kind is wrong."""
    kind = field.kind
    if kind is None or any(True for _ in problems_of(kind)):
        return ()
    return kind.bound(field.name).parts


def _completed(kind: Kind, python_type: Any, directory: Path | None) -> Kind:
    """Return a kind with what its type says: classes, also of a vocabulary, or a duration.

    Raises:
        Problem: the vocabulary does not exist or is not valid.
    """
    if isinstance(kind, Steps) and isinstance(kind.step, Kind):
        step = _completed(kind.step, item_type(python_type), directory)
        return replace(kind, step=step)
    if isinstance(kind, Scalar) and kind.unit and python_type is timedelta:
        return replace(kind, duration=True)
    if not isinstance(kind, (Classes, VarLen)) or kind.classes not in ((), None):
        return kind
    if isinstance(kind.vocabulary, str):
        names = read_vocabulary(kind.vocabulary, directory)
        return replace(kind, classes=names, vocabulary=None)
    if not isinstance(kind, Label) or not (named := class_names(python_type)):
        return kind
    words = isinstance(named[0], str)
    if kind.vocabulary or (kind.num_classes and not words):
        return kind
    return replace(kind, classes=named)


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


def as_declared(
    python_type: Any, names: tuple[str, ...], given: Any, value: Any
) -> Any:
    """Return a value in the type that was declared.

    Args:
        python_type: the declared type.
        names: of its classes, if it has any.
        given: the value as it was given.
        value: as the codec has converted it.
    """
    origin = get_origin(python_type) or python_type
    if is_enum(python_type):
        return _by_class(python_type)[names[value]]
    if names and (python_type is str or literal_values(python_type)):
        return names[value]
    if origin in (str, bytes, dict, Mapping, None, *_TIMES) or isinstance(
        given, Mapping
    ):
        return given
    item = item_type(python_type)
    if is_list(python_type) and (is_array(item) or not hasattr(value, "tolist")):
        pairs = zip(given, value, strict=True)
        found = [as_declared(item, names, *pair) for pair in pairs]
    elif isinstance(value, list) and {*map(type, value)} == {int} and is_array(origin):
        return np.array(value)
    elif is_list(python_type) or origin in (bool, int, float):
        found = value.tolist() if hasattr(value, "tolist") else value
    else:
        return value
    return as_tuple(found) if origin is tuple else found


@cache
def _by_class(enum: type[Enum]) -> dict[str, Enum]:
    """Return the members of an Enum by the names of their classes."""
    return {m.name: m for m in enum} | {str(m.value): m for m in enum}


def as_tuple(value: Any) -> Any:
    """Return nested lists as nested tuples."""
    return tuple(map(as_tuple, value)) if isinstance(value, list) else value
