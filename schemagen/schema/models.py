"""Models of schema files that no record nests: some may be meant as records."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from types import ModuleType

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
    """A pydantic model of a schema file that is neither a record nor nested in one.

    Attributes:
        name: the class's name.
        location: where it begins.
        has_kinds: whether fields of it have kinds, which only records make use of.
    """

    name: str
    location: Location
    has_kinds: bool


def unused_models(
    modules: Iterable[ModuleType],
    records: Collection[type[BaseModel]],
    places: SourceMap,
) -> Iterator[UnusedModel]:
    """Yield the models at the top of schema files that no record and no class uses.

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
            if (
                is_model(model)
                and not issubclass(model, Record)
                and model.__module__ == module.__name__
                and model.__qualname__ == name
                and not name.startswith("_")
                and model not in used
                and not model.__subclasses__()
            ):
                path = file_of(model)
                assert path is not None
                place = places.place_of_class(path, name).location
                yield UnusedModel(name, place, _has_kinds(model))


def _nested_in(
    model: type[BaseModel], above: tuple[type[BaseModel], ...]
) -> Iterator[type[BaseModel]]:
    """Yield the models in the fields of a model, to any depth."""
    for field in own_fields(model):
        inner = nested_model(field)
        if inner is not None and inner not in above:
            yield inner
            yield from _nested_in(inner, (*above, inner))


def _has_kinds(model: type[BaseModel]) -> bool:
    """Tell whether a field of a model is declared with a kind or with a prefix."""
    return any(
        isinstance(item, (Kind, Nested))
        for info in model.model_fields.values()
        for item in (*unwrapped(info.annotation)[1], *info.metadata)
    )
