"""Single strings: text as UTF-8, and bytes as they are."""

from __future__ import annotations

from typing import Any

from ..shared.errors import Problem
from ..shared.values import described
from ..shared.wire import BYTES_LIST, Pieces
from .base import Feature


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


class Text(Feature):
    """One string, stored as UTF-8.

    Args:
        name: the field's name.
        key: the feature's key in the Example.
        optional: whether None is allowed; "" always is.
    """

    def __init__(self, name: str, *, key: str, optional: bool = False) -> None:
        super().__init__(name, key, BYTES_LIST, optional=optional)

    def convert(self, value: Any) -> bytes:
        if not isinstance(value, str):
            raise Problem(described(value), "a str")
        return encode_text(value)

    def _pieces(self, value: Any) -> Pieces:
        data = self.convert(value)
        return self._entry.packed_head(len(data)), data


class Bytes(Text):
    """One value of opaque bytes; arguments as for Text."""

    def convert(self, value: Any) -> bytes:
        if not isinstance(value, bytes):
            raise Problem(described(value), "bytes")
        return value
