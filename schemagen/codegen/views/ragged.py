"""What templates see of a list of lists."""

from __future__ import annotations

from ...runtime.shared.values import RAW_ONLY
from ...spec.model import RaggedSpec
from ..literals import Code, literal
from .field import FieldView, Shape

_STRINGS = ("string", "bytes")


class RaggedView(FieldView):
    """A list of lists of any lengths, ragged or padded when read."""

    spec: RaggedSpec

    @property
    def dtype(self) -> str:
        return "string" if self.spec.dtype in _STRINGS else self.spec.dtype

    @property
    def shape(self) -> Shape:
        return (None, None)

    @property
    def raw(self) -> bool:
        return self.spec.dtype in RAW_ONLY

    @property
    def required_sequence(self) -> bool:
        return not self.spec.optional

    @property
    def required_keys(self) -> tuple[str, ...]:
        lengths = (self.spec.row_lengths_key,) if self.required_sequence else ()
        return lengths if self.raw else (*super().required_keys, *lengths)

    @property
    def further(self) -> tuple[tuple[str, Code], ...]:
        description = Code("tf.io.RaggedFeature(tf.int64, row_splits_dtype=tf.int64)")
        return ((self.spec.row_lengths_key, description),)

    @property
    def compound(self) -> bool:
        return True

    @property
    def length_key(self) -> str:
        return self.spec.row_lengths_key

    @property
    def presence_key(self) -> str:
        return self.spec.row_lengths_key

    @property
    def default_value(self) -> Code:
        return literal(b"")  # of raw numbers; a list needs none

    @property
    def vocabulary(self) -> bool:
        """Whether the values are ids or words, not quantities."""
        return not self.is_float and self.dtype != "bool"

    @property
    def python_type(self) -> str:
        named = {"string": "Sequence[str]", "bytes": "Sequence[bytes]"}
        return f"Sequence[{named.get(self.spec.dtype, 'ArrayLike')}]"

    @property
    def wanted_value(self) -> str:
        text = f"lists of {self.spec.dtype}"
        if self.spec.max_length is not None:
            text += f", at most {self.spec.max_length} lists"
        if self.group is not None:
            text += f", as many as the others of {self.group!r}"
        return text

    @property
    def delivers_value(self) -> str:
        if self.spec.ragged:
            return f"{self.dtype} [B, (T), (N)], ragged"
        return f"{self.dtype} [B, T, N], padded with {self.spec.padding_value!r}"

    @property
    def missing_text(self) -> str:
        return "empty"
