"""What templates see of a tensor of fixed shape."""

from __future__ import annotations

from ...runtime.shared.values import FLOATS, shape_text
from ...spec.model import VectorSpec
from ..literals import Code, literal
from .field import FieldView, Shape


class VectorView(FieldView):
    """Numbers of a fixed shape."""

    spec: VectorSpec

    @property
    def dtype(self) -> str:
        return "float32" if self.spec.dequantize else self.spec.dtype

    @property
    def row_dtype(self) -> str:
        return self.spec.dtype

    @property
    def shape(self) -> Shape:
        return self.spec.shape

    @property
    def raw(self) -> bool:
        return self.spec.encoding == "raw"

    @property
    def nan_if_missing(self) -> bool:
        return self.missing and self.is_float

    def _number_default(self) -> Code:
        if self.spec.default is not None:
            return super()._number_default()
        floats = self.row_dtype in FLOATS
        filler = "np.nan" if floats else "0"
        dtype = "np.float32" if floats else "np.int64"
        return Code(f"np.full({literal(self.shape)}, {filler}, {dtype})")

    @property
    def head_name(self) -> str:
        """The name of the layer before the one that gives the target its shape."""
        return f"{self.name}_flat"

    @property
    def wanted_value(self) -> str:
        return f"{self.row_dtype} {shape_text(self.shape)}"

    @property
    def missing_text(self) -> str:
        text = super().missing_text
        given = self.spec.default is not None
        return f"{text}, dequantized," if given and self.spec.dequantize else text
