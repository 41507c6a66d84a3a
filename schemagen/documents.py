"""Dataclasses as JSON documents, which pydantic makes.

What a class does not say by its types is said by marks: as metadata of a type
(`Annotated[Mapping[str, int], Entries("value", "count")]`), or for all values of a class
(`__get_pydantic_core_schema__ = WithProperties("mean")`). pydantic is imported where a
document is made, so that declaring these classes takes no time. The names in annotations
of a class that is printed have to exist at run time, also of fields that are left out.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar, get_args
from typing import get_type_hints as hints_of

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

LEFT_OUT = {"exclude": True}
"""The metadata of a field that is not printed."""


@dataclass(frozen=True)
class Document:
    """What a command prints to stdout with --format json, unless it exits with 2."""

    __pydantic_config__: ClassVar[dict[str, Any]] = {
        "arbitrary_types_allowed": True,  # of fields that are left out
    }


def text_of(document: Document) -> str:
    """Return a document as JSON text in ASCII.

    Floats that are not finite become the texts "NaN", "Infinity" and "-Infinity".
    """
    from pydantic import TypeAdapter

    data = TypeAdapter(type(document)).dump_python(document, mode="json")
    return json.dumps(_finite(data), indent=2, allow_nan=False) + "\n"


def _finite(data: Any) -> Any:
    """Return JSON with texts in place of what its numbers cannot be."""
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_finite(value) for value in data]
    if isinstance(data, float) and not math.isfinite(data):
        return "NaN" if math.isnan(data) else "Infinity" if data > 0 else "-Infinity"
    return data


class _Mark:
    """States how values are printed, of a type or of a class."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return self(source, handler)

    def __call__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema of a type, by the schemas of other ones."""
        raise NotImplementedError


class WithProperties(_Mark):
    """Prints some properties of a dataclass after its fields.

    Args:
        names: of the properties, whose annotations say what they return.
    """

    def __init__(self, *names: str) -> None:
        self._names = names

    def __call__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        from pydantic_core.core_schema import computed_field

        schema = handler(source)
        fields: Any = handler.resolve_ref_schema(schema)["schema"]
        fields["computed_fields"] = [
            computed_field(name, handler.generate_schema(hints["return"]))
            for name in self._names
            for hints in [hints_of(getattr(source, name).fget)]
        ]
        return schema


class ShownAs(_Mark):
    """Prints what a function returns of a value.

    Args:
        function: takes the value.
        returns: the type of what it returns.
    """

    def __init__(self, function: Callable[[Any], Any], returns: Any) -> None:
        self._function = function
        self._returns = returns

    def __call__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return _printed(self._function, handler.generate_schema(self._returns))


class AsObject(_Mark):
    """Prints a named tuple as an object."""

    def __call__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schemas = {
            name: handler.generate_schema(hint)
            for name, hint in hints_of(source).items()
        }
        return _printed(source._asdict, _object(schemas))


class Entries(_Mark):
    """Prints a mapping as a list of objects, in the order of its keys.

    Args:
        key: the name of the entry that has the key.
        value: the name of the entry that has the value.
    """

    def __init__(self, key: str, value: str) -> None:
        self._names = (key, value)

    def __call__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        from pydantic_core.core_schema import list_schema

        key, value = get_args(source)
        named = isinstance(key, type) and issubclass(key, tuple)
        special = AsObject() if named else _BYTES if key is bytes else None
        schemas = (
            special(key, handler) if special else handler.generate_schema(key),
            handler.generate_schema(value),
        )
        row = _object(dict(zip(self._names, schemas, strict=True)))
        return _printed(self._rows, list_schema(row))

    def _rows(self, mapping: Mapping[Any, Any]) -> list[dict[str, Any]]:
        rows = sorted(mapping.items(), key=lambda each: _sortable(each[0]))
        return [dict(zip(self._names, row, strict=True)) for row in rows]


class Values(_Mark):
    """Prints the values of a mapping as a list, where they have their keys."""

    def __call__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        from pydantic_core.core_schema import list_schema

        _, value = get_args(source)
        schema = list_schema(handler.generate_schema(value))
        return _printed(lambda mapping: [*mapping.values()], schema)


Key = TypeVar("Key")
Value = TypeVar("Value")

Counts = Annotated[Mapping[Key, int], Entries("value", "count")]
"""How often each value occurs."""

ByName = Annotated[Mapping[str, Value], Values()]
"""Values that have the names under which they are."""


def text_or_base64(value: bytes) -> dict[str, str]:
    """Return bytes as `text` if they are UTF-8, and else as `base64`."""
    try:
        return {"text": value.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


class _BytesAsText(_Mark):
    """Prints bytes as an object with `text`, or else with `base64`."""

    def __call__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        text = handler.generate_schema(str)
        schema = _object({"text": text, "base64": text}, required=False)
        return _printed(text_or_base64, schema)


_BYTES = _BytesAsText()


def _printed(function: Callable[[Any], Any], schema: CoreSchema) -> CoreSchema:
    """Return the schema of what is printed as a function returns it."""
    from pydantic_core import core_schema

    return core_schema.any_schema(
        serialization=core_schema.plain_serializer_function_ser_schema(
            function, return_schema=schema
        )
    )


def _object(schemas: Mapping[str, CoreSchema], *, required: bool = True) -> CoreSchema:
    from pydantic_core import core_schema

    return core_schema.typed_dict_schema(
        {
            name: core_schema.typed_dict_field(schema, required=required)
            for name, schema in schemas.items()
        }
    )


def _sortable(key: Any) -> Any:
    """Return a key that can be compared with others of its type, and with None."""
    return [*map(_sortable, key)] if isinstance(key, tuple) else (key is not None, key)
