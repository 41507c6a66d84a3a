"""Single strings: text as UTF-8, and bytes as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from ..cells.checks import Check, Checks, Constraints
from ..cells.faults import shown_bytes
from ..cells.part import Part, values_part
from ..cells.written import Stored
from ..shared import base64_text
from ..shared.errors import Problem
from ..shared.values import described
from .kind import Kind
from .parameters import declared


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


def _cause_of_bytes(value: bytes, _: float) -> str:
    if b"\0" in value:
        return "bytes that are not text: declare Scalar('bytes')"
    latin = value.decode("latin-1").encode()
    return f"text in Latin-1 or the like: {shown_bytes(latin)}?"


TEXT = Check(
    "SG531",
    "text is not UTF-8",
    "UTF-8",
    lambda cells, *_: cells.are_text(),
    found=shown_bytes,
    cause=_cause_of_bytes,
    parsed=False,
    plan=Constraints(text=True),
)
"""The check of text, which the parser does not decode."""


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
    def checks(self) -> Checks:
        return (*super().checks, *((TEXT,) if self.dtype == "string" else ()))

    def unpack(self, *cells: Any) -> Any:
        (found,) = cells
        return found.dense(self.dtype, ())


@declared
class Text(String):
    """One string, stored as UTF-8."""

    kind: ClassVar[str] = "Text"
    layers: ClassVar[tuple[str, ...]] = ("vocabulary",)
    holds: ClassVar[str] = "str"
    python_type: ClassVar[str] = "str"
    dtype = "string"

    def accepts(self, python_type: Any) -> bool:
        return python_type in (str, Any)

    def convert(self, value: Any) -> bytes:
        if not isinstance(value, str):
            raise Problem(described(value), "a str")
        return encode_text(value)
