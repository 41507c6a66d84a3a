"""Sources to import, their records, and the parsers that come of them."""

from __future__ import annotations

import ast
import importlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import schemagen
import tensorflow as tf
from contract.generated_records import importable
from schemagen.findings import Finding, SchemagenError
from schemagen.interop.imports import import_schema


@contextmanager
def parsers_of(
    root: Path, package: str, form: str, sources: Mapping[str, object]
) -> Iterator[dict[str, ModuleType]]:
    """Import sources, generate their code and yield its parsers, by the record's name."""
    (root / "pyproject.toml").write_text(
        f'[tool.schemagen]\nschemas = "schemas"\noutput = "{package}"\n'
    )
    for record, source in sources.items():
        import_schema(str(source), form, root / "schemas" / f"{record}.py")
    schemagen.generate(root)
    with importable(root):
        yield {
            record: importlib.import_module(f"{package}.{record}.parser")
            for record in sources
        }


def declared(text: str) -> dict[str, str]:
    """Return the fields of a schema file, by class and name, each on one line."""
    found = {}
    for block in ast.parse(text).body:
        if isinstance(block, ast.ClassDef):
            for line in block.body:
                if isinstance(line, ast.AnnAssign):
                    name = ast.unparse(line.target)
                    words = ast.unparse(line).removeprefix(f"{name}: ")
                    found[f"{block.name}.{name}"] = words
    return found


def refusals(source: object, form: str, directory: Path) -> tuple[Finding, ...]:
    """Return the findings of an import, which writes nothing."""
    out = directory / "refused.py"
    with pytest.raises(SchemagenError) as caught:
        import_schema(str(source), form, out)
    assert not out.exists()
    return tuple(caught.value.findings)


def feature(*values: Any) -> tf.train.Feature:
    """Return a feature of the kind that its values are."""
    made = tf.train.Feature()
    if isinstance(values[0], bytes):
        made.bytes_list.value.extend(values)
    elif isinstance(values[0], float):
        made.float_list.value.extend(values)
    else:
        made.int64_list.value.extend(values)
    return made


def example(features: Mapping[str, tf.train.Feature]) -> bytes:
    """Return the bytes of an Example."""
    made = tf.train.Features(feature=features)
    return tf.train.Example(features=made).SerializeToString()


def connector(kind: str, word: str, **content: Any) -> dict[str, Any]:
    """Return a feature as TFDS's features.json has it."""
    return {"pythonClassName": f"tensorflow_datasets.x.{kind}", word: content}


def dataset(directory: Path, **features: Any) -> str:
    """Write a features.json; return its path."""
    top = connector("FeaturesDict", "featuresDict", features=features)
    path = directory / "features.json"
    path.write_text(json.dumps(top))
    return str(path)


def tensor(dtype: str, *sizes: int, **more: Any) -> dict[str, Any]:
    """Return a Tensor as features.json has it."""
    return connector("Tensor", "tensor", shape=shape(*sizes), dtype=dtype, **more)


def shape(*sizes: int) -> dict[str, Any]:
    """Return a shape as features.json has it."""
    return {"dimensions": [str(size) for size in sizes]}


TEXT = connector("Text", "text")
