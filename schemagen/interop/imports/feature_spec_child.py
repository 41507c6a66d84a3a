"""The program that imports a user's module and writes its features as Python source.

A separate Python process runs it as text, so that nothing of schemagen is in the way of
the module's imports, and tensorflow is not loaded into schemagen.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from importlib import import_module
from operator import attrgetter
from typing import Any


def main(target: str) -> dict[str, str]:
    """Return the source of the features, or the error of the module."""
    where, _, name = target.rpartition(":")
    try:
        sys.path.insert(0, "")
        found = attrgetter(name)(import_module(where))
        return {"source": source(found() if callable(found) else found)}
    except BaseException as error:
        missing = getattr(error, "name", None) if isinstance(error, ImportError) else ""
        words = traceback.format_exception_only(type(error), error)[-1].strip()
        return {"failed": words, "missing": missing or ""}


def source(value: Any) -> str:
    """Return features, or what they contain, as literals and calls."""
    if hasattr(value, "_asdict"):  # a feature or a partition
        given = ", ".join(f"{k}={source(v)}" for k, v in value._asdict().items())
        return f"{type(value).__name__}({given})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{source(k)}: {source(v)}' for k, v in value.items())}}}"
    if hasattr(value, "as_numpy_dtype"):  # a tf.DType
        return repr(value.name)
    for method in ("as_list", "numpy", "tolist"):  # a tf.TensorShape, tensor or array
        value = getattr(value, method)() if hasattr(value, method) else value
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(source, value))}]"
    return repr(getattr(value, "__name__", value))


if __name__ == "__main__":
    answer = main(sys.argv[1])
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        json.dump(answer, out)
    # Threads of the module would keep this process running.
    os._exit(0)
