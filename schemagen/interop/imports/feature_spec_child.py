"""The program that imports a user's module and prints the features in it as JSON.

It is given to a Python of its own as text, so that nothing of schemagen is in the way of
the module's imports, and tensorflow stays out of schemagen.
"""

from __future__ import annotations

import base64
import importlib
import json
import os
import sys
import traceback
from typing import Any


def main(target: str) -> dict[str, Any]:
    """Return what the target holds, or why that cannot be said."""
    where, _, name = target.rpartition(":")
    doing = ""
    try:
        sys.path.insert(0, "")
        found = importlib.import_module(where)
        for part in name.split("."):
            if not hasattr(found, part):
                known = [n for n in vars(found) if not n.startswith("_")]
                return {"unknown": part, "known": known}
            found = getattr(found, part)
        doing = "calling it: "
        found = found() if callable(found) else found
    except BaseException as error:
        missing = error.name if isinstance(error, ImportError) else None
        said = traceback.format_exception_only(type(error), error)[-1].strip()
        return {"failed": doing + said, "missing": missing}
    pair = isinstance(found, (tuple, list)) and len(found) == 2
    parts = list(found) if pair else [found]
    if not all(_is_features(part) for part in parts):
        return {"strange": type(found).__name__}
    return {"features": [{k: _said(v) for k, v in part.items()} for part in parts]}


def _is_features(found: Any) -> bool:
    return isinstance(found, dict) and all(
        isinstance(key, str) and hasattr(value, "_asdict")
        for key, value in found.items()
    )


def _said(feature: Any) -> dict[str, Any]:
    values = {name: _plain(value) for name, value in feature._asdict().items()}
    return {"kind": type(feature).__name__, **values}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if hasattr(value, "as_numpy_dtype"):  # a tf.DType
        return value.name
    if hasattr(value, "_asdict"):  # a partition
        return _said(value)
    if hasattr(value, "as_list"):  # a tf.TensorShape
        return value.as_list()
    if hasattr(value, "numpy"):
        value = value.numpy()
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return getattr(value, "__name__", None) or str(value)


if __name__ == "__main__":
    answer = main(sys.argv[1])
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        json.dump(answer, out)
    # Threads that a module has left running would keep the answer waiting.
    os._exit(0)
