"""Reading the text of a schema.pbtxt, by tensorflow-metadata's own definition of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..outcome import Missing, Unreadable

_EXPECTED = "a schema.pbtxt: the text format of tensorflow_metadata's Schema"


def read_schema(path: Path) -> Any:
    """Return a schema as the message that it is.

    Raises:
        Unreadable: it is not one.
        Missing: tensorflow-metadata, without which no one can tell.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        message = f"it cannot be read: {error.strerror or error}"
        raise Unreadable(message, expected=_EXPECTED) from None
    except UnicodeDecodeError:
        raise Unreadable("it is no text", expected=_EXPECTED) from None
    try:
        from google.protobuf import text_format
        from tensorflow_metadata.proto.v0 import schema_pb2
    except ImportError:
        raise Missing(
            "tensorflow-metadata",
            "reading a schema.pbtxt",
            'pip install "schemagen[tfmd]"',
        ) from None
    try:
        return text_format.Parse(text, schema_pb2.Schema())
    except text_format.ParseError as error:
        raise Unreadable(
            "it is no schema of TensorFlow Metadata",
            found=str(error),
            expected=_EXPECTED,
        ) from None
