"""The same records in the languages of schemagen, protobuf and JSON Schema.

Each file declares one record of eight fields, out of twelve of several kinds, which
change from file to file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

FIELDS_OF_A_RECORD = 8
_CLASSES = ("cat", "dog", "bird")


class Field(NamedTuple):
    """A field in three languages.

    Attributes:
        name: in all of them.
        python: its annotation in a schema, with a default if it has one.
        proto: its type in a .proto file.
        json: its JSON Schema.
        required: whether it has no default.
    """

    name: str
    python: str
    proto: str
    json: dict[str, Any]
    required: bool = True


def _array(item: str, **limits: int) -> dict[str, Any]:
    return {"type": "array", "items": {"type": item}, **limits}


def _floats(size: int) -> tuple[str, str, dict[str, Any]]:
    python = f"Annotated[np.ndarray, Vector(({size},))]"
    return python, "repeated float", _array("number", minItems=size, maxItems=size)


_PHOTO = 'Annotated[bytes, Image((None, None, 3), encoding="jpeg", resize=(64, 64))]'
_TOKENS = 'Annotated[np.ndarray, VarLen("int64", max_length=128)]'
_STRING = {"type": "string"}
_BYTES = {"type": "string", "contentEncoding": "base64"}
_NUMBER = {"type": "number", "default": 1.0}
_MAYBE = {"type": ["integer", "null"], "default": None}
_SPECIES = f"Literal[{', '.join(map(json.dumps, _CLASSES))}]"

FIELDS = (
    Field("photo", _PHOTO, "bytes", _BYTES),
    Field("species", _SPECIES, "Species", {"enum": list(_CLASSES)}),
    Field("embedding", *_floats(64)),
    Field("tokens", _TOKENS, "repeated int64", _array("integer", maxItems=128)),
    Field("caption", "str", "string", _STRING),
    Field("weight", "float = 1.0", "optional float", _NUMBER, required=False),
    Field("tags", "list[str]", "repeated string", _array("string")),
    Field("taken", "int | None = None", "optional int64", _MAYBE, required=False),
    Field("thumbnail", "Annotated[np.ndarray, Image((32, 32, 3))]", "bytes", _BYTES),
    Field("blurred", "bool", "bool", {"type": "boolean"}),
    Field("box", *_floats(4)),
    Field("source", "bytes", "bytes", _BYTES),
)


def fields_of(number: int) -> tuple[Field, ...]:
    """Return the fields of a record by its number."""
    places = range(number, number + FIELDS_OF_A_RECORD)
    return tuple(FIELDS[place % len(FIELDS)] for place in places)


def record_name(number: int) -> str:
    """Return the name of a record's file and package."""
    return f"photo{number:04}"


def _doc(number: int) -> str:
    return f"A photograph of camera {number}, with its annotations."


def in_python(number: int) -> str:
    """Return a schema file for schemagen."""
    lines = [f"    {field.name}: {field.python}\n" for field in fields_of(number)]
    used = set(re.findall(r"\w+", "".join(lines)))
    typing = ", ".join(name for name in ("Annotated", "Literal") if name in used)
    kinds = ("Image", "Record", "VarLen", "Vector")
    ours = ", ".join(name for name in kinds if name in {*used, "Record"})
    return (
        f'"""Photographs of camera {number}."""\n\n'
        f"from typing import {typing}\n\n"
        "import numpy as np\n\n"
        f"from schemagen import {ours}\n\n\n"
        f"class {record_name(number).title()}(Record):\n"
        f'    """{_doc(number)}"""\n\n' + "".join(lines)
    )


def in_proto(number: int) -> str:
    """Return a .proto file."""
    fields = fields_of(number)
    classes = [f"{name.upper()} = {at};" for at, name in enumerate(_CLASSES)]
    lines = [
        f"  {field.proto} {field.name} = {at};\n"
        for at, field in enumerate(fields, start=1)
    ]
    if any(field.proto == "Species" for field in fields):
        lines = [f"  enum Species {{ {' '.join(classes)} }}\n", *lines]
    return (
        'syntax = "proto3";\n\npackage photos;\n\n'
        f"// {_doc(number)}\n"
        f"message {record_name(number).title()} {{\n{''.join(lines)}}}\n"
    )


def in_json_schema(number: int) -> str:
    """Return a JSON Schema."""
    fields = fields_of(number)
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": record_name(number).title(),
        "description": _doc(number),
        "type": "object",
        "additionalProperties": False,
        "required": [field.name for field in fields if field.required],
        "properties": {field.name: field.json for field in fields},
    }
    return json.dumps(schema, indent=2) + "\n"


LANGUAGES: dict[str, Callable[[int], str]] = {
    "py": in_python,
    "proto": in_proto,
    "json": in_json_schema,
}
"""Functions that return a file's text, by suffix."""


def write_schemas(directory: Path, ending: str, count: int) -> None:
    """Write that many schema files in one language to a new directory."""
    directory.mkdir(parents=True)
    for number in range(count):
        path = directory / f"{record_name(number)}.{ending}"
        path.write_text(LANGUAGES[ending](number), encoding="utf-8")
