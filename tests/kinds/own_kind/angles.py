"""A kind that schemagen does not have: directions, stored as cosine and sine."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from schemagen.kinds.field import FieldSpec
from schemagen.kinds.kind import Kind
from schemagen.kinds.literals import Code, literal
from schemagen.kinds.storage import Entry, values
from schemagen.kinds.view import FieldView
from schemagen.runtime.encoding.base import Feature
from schemagen.runtime.encoding.tensor import Tensor
from schemagen.runtime.shared.errors import Problem


@dataclass(frozen=True)
class Angle(Kind):
    """A direction in degrees."""

    name: ClassVar[str] = "Angle"
    holds: ClassVar[str] = "float"

    def accepts(self, python_type: Any) -> bool:
        return python_type is float

    def problems(self) -> Iterator[Problem]:
        return iter(())

    def storage(self, key: str) -> tuple[Entry, ...]:
        return (values(key, "float32", 2),)

    def feature(self, name: str, *, optional: bool) -> Feature:
        return AngleCodec(name, key=self.key or name, optional=optional)

    def view(self, field: FieldSpec) -> FieldView:
        return AngleView(field)


class AngleView(FieldView[Angle]):
    """A direction in degrees, float32."""

    @property
    def dtype(self) -> str:
        return "float32"

    @property
    def default_value(self) -> Code:
        return literal((math.nan, math.nan))

    @property
    def nan_if_missing(self) -> bool:
        return self.missing

    @property
    def wanted_value(self) -> str:
        return "an angle in degrees"


class AngleCodec(Tensor):
    """Encodes degrees as their cosine and sine."""

    def __init__(self, name: str, *, key: str, optional: bool = False) -> None:
        super().__init__(name, key=key, shape=(2,), dtype="float32", optional=optional)

    def convert(self, value: Any) -> Any:
        if not isinstance(value, float):
            raise Problem(repr(value), "an angle in degrees")
        turned = math.radians(value)
        return super().convert([math.cos(turned), math.sin(turned)])

    _column = Feature._column


def degrees(stored: Any) -> Any:
    """Return the angles of cosines and sines, float32 [B, 2], in degrees."""
    import tensorflow as tf

    return tf.math.atan2(stored[:, 1], stored[:, 0]) * (180 / math.pi)
