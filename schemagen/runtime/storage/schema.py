"""The schema of a generated package, as manifests record it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

Spec = dict[str, Any]
"""A record's spec as JSON: the contents of `spec.json`."""


@dataclass(frozen=True)
class Schema:
    """The schema of a generated package.

    Attributes:
        record: the record's name.
        fingerprint: a short hash of what the spec says about the data.
        spec: the record's spec.
    """

    record: str
    fingerprint: str
    spec: Spec


def load_schema(module_file: str, fingerprint: str) -> Schema:
    """Return the schema of the package that a generated module belongs to.

    Args:
        module_file: the module's `__file__`.
        fingerprint: of the package's spec.
    """
    spec = load_spec(module_file)
    return Schema(spec["record"], fingerprint, spec)


def load_spec(module_file: str) -> Spec:
    """Read the `spec.json` next to a generated module, without its header."""
    path = os.path.join(os.path.dirname(module_file), "spec.json")
    with open(path, encoding="utf-8") as file:
        data: Spec = json.load(file)
    return {name: value for name, value in data.items() if not name.startswith("//")}
