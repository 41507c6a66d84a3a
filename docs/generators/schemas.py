"""Prints the JSON Schema of documents that commands print.

`python docs/generators/schemas.py data > docs/data.schema.json`, and so for `steps`.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from schemagen.data.inspect.document import DataDocument
from schemagen.use_cases.steps import Steps

TYPES = {"data": DataDocument, "steps": Steps}

_NOT_FINITE = {"enum": ["NaN", "Infinity", "-Infinity"]}

# How JSON writes what docstrings write as Python does.
_WORDS = {"None": "null", "True": "true", "False": "false"}


class _Described(GenerateJsonSchema):
    """Takes descriptions from docstrings; entries have no titles and no defaults."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def field_is_required(self, field: Any, total: bool) -> bool:
        return field["type"] != "typed-dict-field" or super().field_is_required(
            field, total
        )

    def default_schema(self, schema: Any) -> dict[str, Any]:
        return self.generate_inner(schema["schema"])

    def float_schema(self, schema: Any) -> dict[str, Any]:
        return {"anyOf": [super().float_schema(schema), _NOT_FINITE]}

    def dataclass_schema(self, schema: Any) -> dict[str, Any]:
        found = super().dataclass_schema(schema)
        cls = schema["cls"]
        texts: dict[str, str] = {}
        for each in reversed(cls.__mro__[:-1]):
            texts |= _attributes(inspect.getdoc(each) or "")
        for name, entry in found["properties"].items():
            text = texts.get(name) or inspect.getdoc(getattr(cls, name))
            entry["description"] = _sentence(text or "")
        return found | {"description": _sentence(inspect.getdoc(cls) or "")}


def _attributes(doc: str) -> dict[str, str]:
    """Return what a docstring says of each attribute."""
    _, _, section = doc.partition("\nAttributes:\n")
    return dict(re.findall(r"^    (\w+): (.*(?:\n {5,}.*)*)", section, re.M))


def _sentence(text: str) -> str:
    """Return a text of a docstring, up to its sections, as a description."""
    text = " ".join(text.split("\n\nAttributes:")[0].split())
    for python, other in _WORDS.items():
        text = re.sub(rf"\b{python}\b", other, text)
    return text[:1].upper() + text[1:]


def main() -> None:
    """Print the schema that is named."""
    schema = TypeAdapter(TYPES[sys.argv[1]]).json_schema(
        mode="serialization", schema_generator=_Described
    )
    print(json.dumps({"$schema": _Described.schema_dialect} | schema, indent=2))


if __name__ == "__main__":
    main()
