"""Single strings: text as UTF-8, and bytes as they are."""

from __future__ import annotations

from typing import Any

from ..shared.errors import Problem
from ..shared.values import described
from .base import BytesFeature


def encode_text(text: str) -> bytes:
    """Encode as UTF-8.

    Raises:
        Problem: a lone surrogate, which UTF-8 cannot hold.
    """
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise Problem(
            f"the lone surrogate {text[error.start]!r} at [{error.start}]",
            "text that UTF-8 can hold",
        ) from None


class Text(BytesFeature):
    """One string, stored as UTF-8."""

    def convert(self, value: Any) -> bytes:
        if not isinstance(value, str):
            raise Problem(described(value), "a str")
        return encode_text(value)


class Bytes(BytesFeature):
    """One value of opaque bytes."""

    def convert(self, value: Any) -> bytes:
        if not isinstance(value, bytes):
            raise Problem(described(value), "bytes")
        return value
