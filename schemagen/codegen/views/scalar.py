"""What templates see of a single value."""

from __future__ import annotations

from ...spec.model import ScalarSpec
from .field import FieldView, Shape


class ScalarView(FieldView):
    """One number, bool or bytes value."""

    spec: ScalarSpec

    @property
    def dtype(self) -> str:
        return "string" if self.spec.dtype == "bytes" else self.spec.dtype

    @property
    def raw(self) -> bool:
        return self.spec.encoding == "raw"

    @property
    def nan_if_missing(self) -> bool:
        return self.missing and self.is_float

    @property
    def predicted_shape(self) -> Shape:
        return (1,)

    @property
    def python_type(self) -> str:
        named = {"bytes": "bytes", "bool": "bool"}.get(self.spec.dtype)
        return named or ("float" if self.is_float else "int")

    @property
    def wanted_value(self) -> str:
        dtype = self.spec.dtype
        return f"one {dtype}" if dtype != "bytes" else "opaque bytes"
