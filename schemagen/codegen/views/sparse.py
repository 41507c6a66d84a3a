"""What templates see of a sparse tensor."""

from __future__ import annotations

from ...runtime.shared.values import shape_text
from ...spec.model import SparseSpec
from ..literals import Code, literal
from .field import FieldView, Shape


class SparseView(FieldView):
    """A tensor that is zero but for a few values."""

    spec: SparseSpec

    @property
    def shape(self) -> Shape:
        return self.spec.shape

    @property
    def required_sequence(self) -> bool:
        return not self.spec.optional

    @property
    def further(self) -> tuple[tuple[str, Code], ...]:
        description = Code("tf.io.RaggedFeature(tf.int64, row_splits_dtype=tf.int64)")
        return tuple((key, description) for key in self.spec.index_key)

    @property
    def compound(self) -> bool:
        return True

    @property
    def sparse(self) -> bool:
        return not self.spec.dense

    @property
    def indices(self) -> Code:
        """The expression for the lists of indices, one for each dimension."""
        keys = [f"stored[{literal(key)}]" for key in self.spec.index_key]
        return Code(f"({', '.join(keys)}{',' if len(keys) == 1 else ''})")

    @property
    def python_type(self) -> str:
        return "tuple[ArrayLike, ArrayLike] | Mapping[Any, Any]"

    @property
    def wanted_value(self) -> str:
        index = "[N]" if len(self.shape) == 1 else f"[N, {len(self.shape)}]"
        return (
            f"indices {index} into {shape_text(self.shape)} and the {self.dtype} values "
            "[N] there, or a dict of them"
        )

    @property
    def delivers_value(self) -> str:
        return super().delivers_value + ("" if self.spec.dense else ", sparse")

    @property
    def missing_text(self) -> str:
        return "empty" if self.sparse else "zeros"
