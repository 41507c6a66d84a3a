"""Models of schema files that no record uses: some may be meant as records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import ModuleType

from pydantic import BaseModel

from ..findings import Finding
from ..runtime.codecs.kind import Kind
from .declaration import unwrapped
from .nested import Nested
from .nesting import file_of, is_model
from .record import Record
from .source_map import SourceMap


def unused_models(
    modules: Iterable[ModuleType], places: SourceMap
) -> Iterator[Finding]:
    """Yield a warning for each model with kinds that no record and no model uses.

    Args:
        modules: the schema files.
        places: finds classes in files.
    """
    models: dict[type[BaseModel], None] = {
        value: None
        for module in modules
        for value in vars(module).values()
        if is_model(value) and value.__module__ == module.__name__
    }
    infos = [info for model in models for info in model.model_fields.values()]
    used = {inner for info in infos for inner in unwrapped(info.annotation)[0]}
    for model in models:
        metadata = [i for info in model.model_fields.values() for i in info.metadata]
        meant = any(isinstance(item, (Kind, Nested)) for item in metadata)
        base = issubclass(model, Record) or bool(model.__subclasses__())
        name = model.__name__
        if meant and not (base or name.startswith("_") or model in used):
            yield Finding(
                places.place_of_class(file_of(model), model.__qualname__).location,
                "SG107",
                f"{name!r} has kinds, and nothing is generated from it",
                advice=f"derive {name!r} from Record, or use it in one; the name of a "
                "model that other code uses begins with '_'",
                severity="warning",
            )
