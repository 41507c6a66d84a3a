"""A program that reads a few records with generated code, and describes them.

It uses the generated pipeline, or without TensorFlow the generated reader.

python -m schemagen.use_cases.first_records COUNT PACKAGE FILE...
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from itertools import islice
from typing import Any


def main(count: str, package: str, *files: str) -> None:
    """Print a JSON object: what has read how many records, what they hold, what failed."""
    module = "pipeline" if find_spec("tensorflow") else "reader"
    generated = importlib.import_module(f"{package}.{module}")
    read = _with_pipeline if module == "pipeline" else _with_reader
    records, features, problem = 0, [], ""
    try:
        for parts in islice(read(generated, list(files)), int(count)):
            names = ("", "target", "weight")
            features = [
                row
                for name, part in zip(names, parts, strict=False)
                for row in _rows(part, name)
            ]
            records += 1
    except Exception as error:
        problem = str(getattr(error, "message", error)).strip()
        ours = re.search(r"assertion failed: \[(.*?)\]\s+\[\[", problem, re.DOTALL)
        problem = ours[1] if ours else problem
    found = {
        "module": module,
        "records": records,
        "features": features,
        "problem": problem,
    }
    print(json.dumps(found))


# Both read one by one, since images of several sizes make no batch.
def _with_pipeline(pipeline: Any, files: list[str]) -> Iterator[tuple[Any, ...]]:
    for element in pipeline.make_dataset(files, batch_size=1):
        yield element if isinstance(element, tuple) else (element,)


def _with_reader(reader: Any, files: list[str]) -> Iterator[tuple[Any, ...]]:
    for batch in reader.open_split(files).batches(1):
        yield (batch,)


def _rows(part: Any, name: str) -> list[tuple[str, str, str]]:
    if isinstance(part, Mapping):
        return [row for key, each in part.items() for row in _rows(each, str(key))]
    shape = getattr(part, "shape", (1,))
    if isinstance(part, list):  # numpy has no batch of images of several sizes
        part = part[0]
        shape = (1, *getattr(part, "shape", ()))
    dtype = part.dtype.name if hasattr(part, "dtype") else type(part).__name__
    return [(name, dtype, f"[{', '.join(map(str, shape))}]")]


if __name__ == "__main__":
    main(*sys.argv[1:])
