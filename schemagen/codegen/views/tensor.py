"""What templates see of a tensor of any shape."""

from __future__ import annotations

from ...runtime.shared.values import shape_text
from ...spec.model import TensorSpec
from ..literals import Code, literal
from .field import FieldView, Shape


class TensorView(FieldView):
    """Numbers of a shape some sizes of which may vary."""

    spec: TensorSpec

    @property
    def shape(self) -> Shape:
        return self.spec.shape

    @property
    def raw(self) -> bool:
        return self.spec.encoding != "list"

    @property
    def required_sequence(self) -> bool:
        return not self.raw and not self.spec.optional

    @property
    def default_value(self) -> Code:
        return literal(b"")  # of bytes; a list needs none

    @property
    def varies(self) -> bool:
        """Whether a size is known of each row only."""
        return None in self.spec.shape

    @property
    def item_size(self) -> int:
        """How many numbers stand in the fixed dimensions after those that vary."""
        size = 1
        for length in reversed(self.spec.shape):
            if length is None:
                break
            size *= length
        return size

    @property
    def sizes(self) -> Code:
        """The stored sizes as an expression: a tensor, or one for each dimension."""
        keys = self.spec.shape_key
        if not isinstance(keys, tuple):
            return Code(f"stored[{literal(keys)}]")
        each = [
            literal(size) if key is None else f"stored[{literal(key)}]"
            for key, size in zip(keys, self.spec.shape, strict=True)
        ]
        return Code(f"({', '.join(each)}{',' if len(each) == 1 else ''})")

    @property
    def further(self) -> tuple[tuple[str, Code], ...]:
        keys = self.spec.shape_key
        if keys is None:
            return ()
        if isinstance(keys, str):
            rank = len(self.spec.shape)
            return ((keys, self._sizes_description((rank,), (-1,) * rank)),)
        description = self._sizes_description((), -1)
        return tuple((key, description) for key in keys if key is not None)

    def _sizes_description(
        self, shape: tuple[int, ...], missing: int | tuple[int, ...]
    ) -> Code:
        default = f", default_value={literal(missing)}" if self.spec.optional else ""
        return Code(f"tf.io.FixedLenFeature({literal(shape)}, tf.int64{default})")

    @property
    def compound(self) -> bool:
        return self.spec.shape_key is not None

    @property
    def stored_text(self) -> str:
        if self.spec.encoding == "proto":
            return f"a serialized {self.dtype} tensor"
        return super().stored_text

    @property
    def wanted_value(self) -> str:
        return f"{self.dtype} {shape_text(self.shape)}"

    @property
    def delivers_value(self) -> str:
        sizes = ("B", *("?" if size is None else size for size in self.shape))
        text = f"{self.dtype} [{', '.join(map(str, sizes))}]"
        if not self.varies:
            return text
        return f"{text}, padded with {self.spec.padding_value!r}"

    @property
    def missing_text(self) -> str:
        return "only padding"

    @property
    def feature_class(self) -> str:
        return "SerializedTensor" if self.spec.encoding == "proto" else "SizedTensor"
