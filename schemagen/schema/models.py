"""Classes of schema files that are no records: some may be meant as such."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from inspect import get_annotations
from types import ModuleType
from typing import get_type_hints

from pydantic import BaseModel

from ..findings import Location
from ..kinds.kind import Kind
from .declaration import unwrapped
from .nested import Nested
from .nesting import file_of, is_model, nested_model, own_fields
from .record import Record
from .source_map import SourceMap


@dataclass(frozen=True)
class UnusedModel:
    """A class with fields that is neither a record nor nested in one.

    Attributes:
        name: the class's name.
        location: where it begins.
        base: what it derives from, in words.
        has_kinds: whether fields of it have kinds, which only records make use of.
    """

    name: str
    location: Location
    base: str
    has_kinds: bool


def unused_models(
    modules: Iterable[ModuleType],
    records: Collection[type[BaseModel]],
    places: SourceMap,
) -> Iterator[UnusedModel]:
    """Yield the classes at the top of schema files that no record and no class uses.

    They are pydantic models, and classes without a base whose body has annotations.

    Args:
        modules: the schema files.
        records: the records that they declare.
        places: finds classes in files.
    """
    used = set(records)
    for record in records:
        used.update(_nested_in(record, ()))
    for module in modules:
        for name, model in vars(module).items():
            plain = _is_plain(model)
            if (
                (plain or (is_model(model) and not issubclass(model, Record)))
                and model.__module__ == module.__name__
                and model.__qualname__ == name
                and not name.startswith("_")
                and model not in used
                and not model.__subclasses__()
            ):
                path = file_of(model)
                assert path is not None
                place = places.place_of_class(path, name).location
                base = "no base class" if plain else "pydantic.BaseModel"
                yield UnusedModel(name, place, base, _has_kinds(model))


def _is_plain(cls: object) -> bool:
    """Tell whether a class has annotations and no base."""
    return (
        isinstance(cls, type)
        and cls.__bases__ == (object,)
        and bool(get_annotations(cls))
    )


def _nested_in(
    model: type[BaseModel], above: tuple[type[BaseModel], ...]
) -> Iterator[type[BaseModel]]:
    """Yield the models in the fields of a model, to any depth."""
    for field in own_fields(model):
        inner = nested_model(field)
        if inner is not None and inner not in above:
            yield inner
            yield from _nested_in(inner, (*above, inner))


def _has_kinds(cls: type) -> bool:
    """Tell whether a field of a class is declared with a kind or with a prefix."""
    if issubclass(cls, BaseModel):
        found = [(i.annotation, i.metadata) for i in cls.model_fields.values()]
    else:
        try:
            hints = get_type_hints(cls, include_extras=True)
        except Exception:  # whatever the names in them stand for
            return False
        found = [(annotation, []) for annotation in hints.values()]
    return any(
        isinstance(item, (Kind, Nested))
        for annotation, metadata in found
        for item in (*unwrapped(annotation)[1], *metadata)
    )
