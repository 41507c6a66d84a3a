"""Prints the JSON Schema of what `inspect` or `diff` prints.

`python docs/generators/schemas.py inspect > docs/inspect.schema.json`, and so for `diff`.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pydantic.json_schema import GenerateJsonSchema
from schemagen.data.inspect.diff_document import DiffDocument
from schemagen.data.inspect.document import Document

MODELS = {"inspect": Document, "diff": DiffDocument}


class _Untitled(GenerateJsonSchema):
    """Gives entries no titles, which repeat their names."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def main() -> None:
    """Print the schema of the command that is named."""
    model = MODELS[sys.argv[1]]
    schema = model.model_json_schema(mode="serialization", schema_generator=_Untitled)
    print(json.dumps({"$schema": _Untitled.schema_dialect} | schema, indent=2))


if __name__ == "__main__":
    main()
