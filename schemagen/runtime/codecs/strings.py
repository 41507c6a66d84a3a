"""Single strings: text as UTF-8, and bytes as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from ..reading.decoding import Expected
from ..shared import base64_text
from ..shared.errors import Problem
from ..shared.values import described
from .kind import Kind
from .parameters import declared
from .part import Part, values_part
from .stored import Read, Source
from .written import Stored


def encode_text(text: str) -> bytes:
    """Encode as UTF-8.

    Raises:
        Problem: a lone surrogate, which UTF-8 cannot hold.
    """
    try:
        return str.encode(text)
    except UnicodeEncodeError as error:
        raise Problem(
            f"the lone surrogate {text[error.start]!r} at [{error.start}]",
            "text that UTF-8 can hold",
        ) from None


class String(Kind):
    """One string: text as UTF-8, or opaque bytes."""

    transfer_encoding: Any = None

    def make_parts(self) -> tuple[Part, ...]:
        part = values_part(
            self.key, self.dtype, 1, transfer_encoding=self.transfer_encoding
        )
        if self.optional:
            text = self.default or ""
            part = replace(
                part, missing=text.encode() if isinstance(text, str) else text
            )
        return (part,)

    def store(self, value: Any) -> Sequence[Stored]:
        data = self.convert(value)
        return ((base64_text.encoded(data) if self.transfer_encoding else data,),)

    @property
    def expected(self) -> Expected | None:
        return self.parts[0].expected(optional=self.optional)

    def read(self, source: Source) -> Read:
        (part,) = self.parts
        found = source.read(part, part.text)
        found = found.text() if self.dtype == "string" else found
        return found, lambda: found.dense(self.dtype, ())


@declared
class Text(String):
    """One string, stored as UTF-8."""

    kind: ClassVar[str] = "Text"
    holds: ClassVar[str] = "str"
    python_type: ClassVar[str] = "str"
    dtype = "string"

    def accepts(self, python_type: Any) -> bool:
        return python_type in (str, Any)

    def convert(self, value: Any) -> bytes:
        if not isinstance(value, str):
            raise Problem(described(value), "a str")
        return encode_text(value)
