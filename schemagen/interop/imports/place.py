"""Where an imported field stands, and the fields that can stand there."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from ...kinds.field import FieldSpec
from ...kinds.label import Label
from ...kinds.ragged import Ragged
from ...kinds.scalar import Scalar
from ...kinds.sparse import Sparse
from ...kinds.text import Text
from ...kinds.varlen import VarLen
from ...kinds.vector import Vector
from ...runtime.shared.values import FLOATS, RAW_ONLY
from ...schema_source import field_name

_OPAQUE = ("string", "bytes")


def prose(text: str, width: int = 80) -> str:
    """Return what a source says in words as a docstring has it, in short lines."""
    words = " ".join(text.encode("utf-8", "backslashreplace").decode().split())
    return "\n".join(textwrap.wrap(words, width))


def field_names(sources: Iterable[str], taken: set[str]) -> Iterator[str]:
    """Yield the names of the fields that are called so in a source; add them to `taken`."""
    for source in sources:
        name = field_name(source, taken)
        taken.add(name)
        yield name


def zero_of(dtype: str) -> bool | int | float | str:
    """Return what missing values of a dtype are filled up with."""
    if dtype == "bool":
        return False
    if dtype in _OPAQUE:
        return ""
    return 0.0 if dtype in FLOATS else 0


def _role(dtype: str) -> str:
    return "info" if dtype == "bytes" else "input"


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

    def next_to(self, suffix: str, key: str) -> Place:
        """Return the place of a field that says more of this one."""
        return replace(self, path=(*self.path[:-1], self.path[-1] + suffix), key=key)

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

    def array(
        self,
        dtype: str,
        shape: tuple[int | None, ...],
        *,
        role: str = "",
        max_length: int | None = None,
    ) -> FieldSpec:
        """Return values of a shape, flat where no kind has that shape.

        Args:
            dtype: of a value.
            shape: None for a size that varies.
            role: that of the dtype if empty.
            max_length: of a list.
        """
        known = tuple(size or 0 for size in shape)
        if not shape:
            return self.scalar(dtype, role)
        if dtype not in _OPAQUE and None not in shape:
            return self.vector(known, dtype, role=role)
        flat = dtype in _OPAQUE or None in shape[1:]
        items = () if flat else known[1:]
        return self.varlen(dtype, items, role=role, max_length=max_length)

    def scalar(self, dtype: str, role: str = "") -> FieldSpec:
        """Return one number, text or bytes value."""
        common = self.common(role or _role(dtype))
        if dtype == "string":
            return FieldSpec.of(Text, **common)
        encoding = "raw" if dtype in RAW_ONLY else "list"
        exact = dtype != "float32"  # as a plain float
        return FieldSpec.of(
            Scalar, **common, dtype=dtype, encoding=encoding, exact=exact
        )

    def vector(
        self, shape: tuple[int, ...], dtype: str, *, raw: bool = False, role: str = ""
    ) -> FieldSpec:
        """Return numbers of a fixed shape."""
        return FieldSpec.of(
            Vector,
            **self.common(role or _role(dtype)),
            shape=shape,
            dtype=dtype,
            encoding="raw" if raw else "list",
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
        return FieldSpec.of(
            VarLen,
            **self.common(role or _role(dtype)),
            dtype=dtype,
            item_shape=item_shape,
            max_length=max_length,
            padding_value=zero_of(dtype),
            exact=dtype != "float32" or bool(item_shape),  # as a plain list[float]
        )

    def ragged(self, dtype: str, row_lengths_key: str, role: str = "") -> FieldSpec:
        """Return a list of lists."""
        return FieldSpec.of(
            Ragged,
            **self.common(role or _role(dtype)),
            dtype=dtype,
            row_lengths_key=row_lengths_key,
            padding_value=zero_of(dtype),
            exact=dtype != "float32",  # as a plain list[list[float]]
        )

    def sparse(
        self, dtype: str, shape: tuple[int, ...], index_key: tuple[str, ...]
    ) -> FieldSpec:
        """Return a sparse tensor, which may be missing."""
        return FieldSpec.of(
            Sparse,
            **replace(self, optional=True).common("input"),
            shape=shape,
            index_key=index_key,
            dtype=dtype,
        )

    def label(self, role: str, count: int, **more: Any) -> FieldSpec:
        """Return a class id."""
        return FieldSpec.of(Label, **self.common(role), num_classes=count, **more)
