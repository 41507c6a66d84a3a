"""Where an imported field stands, and the fields that can stand there."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

from ...kinds.field import FieldSpec
from ...kinds.scalar import Scalar
from ...kinds.text import Text
from ...kinds.varlen import VarLen
from ...kinds.vector import Vector

FLOATS = ("float16", "bfloat16", "float32", "float64")
RAW_ONLY = ("uint64", "float16", "bfloat16", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")


def prose(text: str, width: int = 80) -> str:
    """Return what a source says in words as a docstring has it, in short lines."""
    words = " ".join(text.encode("utf-8", "backslashreplace").decode().split())
    return "\n".join(textwrap.wrap(words, width))


@dataclass(frozen=True)
class Place:
    """Where a field stands.

    Attributes:
        path: its names, from the outermost to its own.
        key: its wire key.
        doc: its description.
        optional: whether it may be missing.
        default: what is read where it is.
    """

    path: tuple[str, ...]
    key: str
    doc: str = ""
    optional: bool = False
    default: Any = None

    def common(self, role: str) -> dict[str, Any]:
        """Return what every spec says."""
        return {
            "name": "_".join(self.path),
            "key": self.key,
            "role": role,
            "optional": self.optional,
            "default": self.default,
            "doc": self.doc,
            "path": self.path if len(self.path) > 1 else (),
        }

    def scalar(self, dtype: str, role: str | None = None) -> FieldSpec:
        """Return one number, text or bytes value."""
        if dtype == "string":
            return FieldSpec.of(Text, **self.common(role or "input"))
        encoding = "raw" if dtype in RAW_ONLY else "list"
        default_role = "info" if dtype == "bytes" else "input"
        return FieldSpec.of(
            Scalar,
            **self.common(role or default_role),
            dtype=dtype,
            encoding=encoding,
            exact=dtype != "float32",  # as a plain float
        )

    def vector(
        self, shape: tuple[int, ...], dtype: str, *, raw: bool = False, role: str = ""
    ) -> FieldSpec:
        """Return numbers of a fixed shape."""
        return FieldSpec.of(
            Vector,
            **self.common(role or "input"),
            shape=shape,
            dtype=dtype,
            encoding="raw" if raw or dtype in RAW_ONLY else "list",
        )

    def varlen(
        self,
        dtype: str,
        item_shape: tuple[int, ...] = (),
        *,
        max_length: int | None = None,
        role: str = "",
    ) -> FieldSpec:
        """Return a list of any length, of single values or of items of a shape."""
        default_role = "info" if dtype == "bytes" else "input"
        return FieldSpec.of(
            VarLen,
            **self.common(role or default_role),
            dtype=dtype,
            item_shape=item_shape,
            max_length=max_length,
            padding_value=_padding(dtype),
            exact=dtype != "float32" or bool(item_shape),  # as a plain list[float]
        )


def _padding(dtype: str) -> bool | int | float | str:
    if dtype == "bool":
        return False
    if dtype in ("string", "bytes"):
        return ""
    return 0.0 if dtype in FLOATS else 0
