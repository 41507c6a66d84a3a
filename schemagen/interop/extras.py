"""Packages that some formats need, and that are not installed by default."""

from __future__ import annotations

from typing import Any

from ..findings import COMMAND_LINE, Finding, SchemagenError, refuse


def metadata_schema() -> Any:
    """Return an empty Schema of TensorFlow Metadata.

    Raises:
        SchemagenError: tensorflow-metadata is not installed.
    """
    try:
        from tensorflow_metadata.proto.v0 import schema_pb2
    except ImportError:
        raise not_installed("tensorflow-metadata", "a schema.pbtxt") from None
    return schema_pb2.Schema()


def not_installed(package: str, purpose: str) -> SchemagenError:
    """Return the error for a package that something needs."""
    message = f"{purpose} needs {package}, which is not installed"
    advice = f"pip install {package}"
    return refuse(Finding(COMMAND_LINE, "SG407", message, advice=advice))
