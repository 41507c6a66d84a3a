"""Packages that some formats need, and that are not installed by default."""

from __future__ import annotations

from typing import Any

from ..findings import COMMAND_LINE, Finding, refuse


def metadata_schema() -> Any:
    """Return an empty Schema of TensorFlow Metadata.

    Raises:
        SchemagenError: tensorflow-metadata is not installed.
    """
    try:
        from tensorflow_metadata.proto.v0 import schema_pb2
    except ImportError:
        words = "a schema.pbtxt needs tensorflow-metadata, which is not installed"
        advice = "pip install tensorflow-metadata"
        raise refuse(Finding(COMMAND_LINE, "SG407", words, advice=advice)) from None
    return schema_pb2.Schema()
