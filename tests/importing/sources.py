"""Sources to import, their records, and the parsers that come of them."""

from __future__ import annotations

import ast
import importlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import schemagen
import tensorflow as tf
from command_line import findings_of, make_project, run
from contract.generated_records import importable


@dataclass(frozen=True)
class Imported:
    """A schema file that `schemagen import` wrote.

    Attributes:
        text: its content.
        doubts: parts of the source with what is doubtful of each.
        left_out: parts that have no counterpart, with the reason for each.
    """

    text: str
    doubts: dict[str, str]
    left_out: dict[str, str]


def imported(source: object, form: str, out: Path, *options: str) -> Imported:
    """Run `schemagen import`, which has to write a schema file."""
    arguments = [f"{source}", "--from", form, "--out", out, "--format", "json"]
    result = run("import", *arguments, *options)
    found: dict[str, dict[str, str]] = {"SG463": {}, "SG462": {}}
    for finding in json.loads(result.stdout)["findings"]:
        part, _, remark = finding["message"].partition(": ")
        found[finding["rule"]][part] = remark
    assert result.exit_code == bool(found["SG462"]), result.output
    return Imported(out.read_text(encoding="utf-8"), found["SG463"], found["SG462"])


def refusals(source: object, form: str, directory: Path) -> list[dict[str, Any]]:
    """Return the findings of an import, which writes nothing."""
    out = directory / "refused.py"
    found = findings_of("import", f"{source}", "--from", form, "--out", out, code=2)
    assert not out.exists()
    return found


@contextmanager
def parsers_of(
    root: Path, package: str, form: str, sources: Mapping[str, object]
) -> Iterator[dict[str, ModuleType]]:
    """Import sources, generate their code and yield its parsers, by the record's name."""
    make_project(root, {}, output=package)
    for record, source in sources.items():
        imported(source, form, root / "schemas" / f"{record}.py")
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
