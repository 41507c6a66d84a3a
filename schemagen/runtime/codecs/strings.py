"""Single strings: text as UTF-8, and bytes as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..reading.decoding import Expected
from ..shared import base64_text
from ..shared.errors import Problem
from ..shared.values import described
from .base import Codec
from .changes import TRANSFER, parameter
from .part import Part, values_part
from .stored import Read, Source
from .written import Stored


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


class _String(Codec):
    """One string."""

    def make_parts(self) -> tuple[Part, ...]:
        part = values_part(self.key, self.dtype, 1)
        if self.optional:
            text = self.default or ""
            part = replace(
                part, missing=text.encode() if isinstance(text, str) else text
            )
        return (part,)

    def store(self, value: Any) -> Sequence[Stored]:
        return ((self.convert(value),),)

    @property
    def expected(self) -> Expected | None:
        return self.parts[0].expected(optional=self.optional)

    def read(self, source: Source) -> Read:
        (part,) = self.parts
        found = source.read(part, part.text)
        found = found.text() if self.dtype == "string" else found
        return found, lambda: found.dense(self.dtype, ())


@dataclass(eq=False, kw_only=True)
class Text(_String):
    """One string, stored as UTF-8."""

    dtype: str = field(default="string", init=False)

    def convert(self, value: Any) -> bytes:
        if not isinstance(value, str):
            raise Problem(described(value), "a str")
        return encode_text(value)


@dataclass(eq=False, kw_only=True)
class Bytes(_String):
    """One value of opaque bytes.

    Attributes:
        transfer_encoding: "base64" for bytes that are stored as base64 text.
    """

    dtype: str = field(default="bytes", init=False)
    transfer_encoding: str | None = parameter(*TRANSFER, default=None)

    def make_parts(self) -> tuple[Part, ...]:
        (part,) = super().make_parts()
        return (replace(part, transfer_encoding=self.transfer_encoding),)

    def convert(self, value: Any) -> bytes:
        if not isinstance(value, bytes):
            raise Problem(described(value), "bytes")
        return value

    def store(self, value: Any) -> Sequence[Stored]:
        data = self.convert(value)
        return ((base64_text.encoded(data) if self.transfer_encoding else data,),)
