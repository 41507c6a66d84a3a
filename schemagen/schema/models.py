"""Models of schema files that no record uses: some may be meant as records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

from pydantic import BaseModel

from ..findings import Finding
from ..kinds.kind import Kind
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
    models: dict[type[BaseModel], Path] = {
        value: file_of(value) or Path()
        for module in modules
        for value in vars(module).values()
        if is_model(value) and value.__module__ == module.__name__
    }
    infos = [info for model in models for info in model.model_fields.values()]
    used = {inner for info in infos for inner in unwrapped(info.annotation)[0]}
    for model, path in models.items():
        metadata = [i for info in model.model_fields.values() for i in info.metadata]
        if (
            any(isinstance(item, (Kind, Nested)) for item in metadata)
            and not issubclass(model, Record)
            and not model.__name__.startswith("_")
            and model not in used
            and not model.__subclasses__()
        ):
            name = model.__name__
            yield Finding(
                places.place_of_class(path, model.__qualname__).location,
                "SG107",
                f"nothing is generated from {name!r}",
                found="a model with kinds that no record uses",
                expected="schemagen.Record, or a field of a record with this type",
                advice=f"derive {name!r} from Record; the name of a model that other "
                "code uses begins with '_'",
                severity="warning",
            )
