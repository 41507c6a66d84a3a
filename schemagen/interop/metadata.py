"""TensorFlow Metadata: its package, and its names for what an Example holds."""

from __future__ import annotations

from typing import Any

from ..findings import COMMAND_LINE, Finding, refuse
from ..runtime.interface import install

TYPES = {"bytes": "BYTES", "int64": "INT", "float32": "FLOAT"}
"""The types of features, by what their lists hold."""

DOMAINS = {"bool": "bool_domain", "string": "natural_language_domain"}
"""The domains of values that need no parameters, by their dtypes."""


def empty_schema() -> Any:
    """Return an empty Schema of TensorFlow Metadata.

    Raises:
        SchemagenError: tensorflow-metadata is not installed.
    """
    try:
        from tensorflow_metadata.proto.v0 import schema_pb2
    except ImportError:
        message = "a schema.pbtxt needs tensorflow-metadata, which is not installed"
        advice = f"run `{install('tfmd')}`"
        raise refuse(Finding(COMMAND_LINE, "SG407", message, advice=advice)) from None
    return schema_pb2.Schema()
