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
    """Yield a warning for each model that is not used and may be meant as a record.

    That is a model with kinds, and each model of a file that declares no record.

    Args:
        modules: the schema files.
        places: finds classes in files.
    """
    files = [_models_of(module) for module in modules]
    models = [model for file in files for model in file]
    infos = [info for model in models for info in model.model_fields.values()]
    used = {inner for info in infos for inner in unwrapped(info.annotation)[0]}
    for file in files:
        no_record = not any(issubclass(model, Record) for model in file)
        for model in file:
            meant = model.model_fields and (no_record or _has_kinds(model))
            base = issubclass(model, Record) or bool(model.__subclasses__())
            name = model.__name__
            if meant and not (base or name.startswith("_") or model in used):
                yield Finding(
                    places.place_of_class(file_of(model), model.__qualname__).location,
                    "SG107",
                    f"no code is generated from {name!r}: it does not derive from Record, "
                    "and no record uses it",
                    advice=f"derive {name!r} from schemagen.Record, or use it in a record; "
                    "the name of a model that other code uses begins with '_'",
                    severity="warning",
                )


def _models_of(module: ModuleType) -> dict[type[BaseModel], None]:
    """Return the models that a schema file declares, in order."""
    return {
        value: None
        for value in vars(module).values()
        if is_model(value) and value.__module__ == module.__name__
    }


def _has_kinds(model: type[BaseModel]) -> bool:
    metadata = [i for info in model.model_fields.values() for i in info.metadata]
    return any(isinstance(item, (Kind, Nested)) for item in metadata)
