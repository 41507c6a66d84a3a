"""What templates see of a sequence of any length."""

from __future__ import annotations

from math import prod

from ...runtime.shared.values import RAW_ONLY, Numbers, item_size, shape_text
from ...spec.model import VarLenSpec
from ..literals import Code, literal
from .field import FieldView, Shape

_STRINGS = ("string", "bytes")
_LIMITS = {
    "error": ", at most {} items",
    "keep_head": ", of which the first {} items are kept",
    "keep_tail": ", of which the last {} items are kept",
}


class VarLenView(FieldView):
    """A sequence of any length, padded or ragged when read."""

    spec: VarLenSpec

    @property
    def dtype(self) -> str:
        return "string" if self.spec.dtype in _STRINGS else self.spec.dtype

    @property
    def shape(self) -> Shape:
        length = self.spec.max_length if self.filled_up else None
        return (length, *self.spec.item_shape)

    @property
    def filled_up(self) -> bool:
        """Whether what is stored has one length, `max_length`."""
        return self.spec.pad_on_disk

    @property
    def stored_padding(self) -> Code:
        """What fills rows up on disk, for the feature that does it."""
        return literal(self.spec.padding_value)

    @property
    def missing(self) -> bool:
        return super().missing and self.spec.fill_value is None

    @property
    def raw(self) -> bool:
        return self.spec.dtype in RAW_ONLY

    @property
    def required_sequence(self) -> bool:
        return not self.raw and not self.spec.optional and not self.filled_up

    @property
    def item_size(self) -> int | None:
        if self.filled_up:
            return None
        return prod(self.spec.item_shape) * (item_size(self.dtype) if self.raw else 1)

    @property
    def stored_filler(self) -> int | float | bytes | None:
        fill = self.spec.fill_value
        if fill is None:
            return None
        if isinstance(fill, str):
            return fill.encode()
        if self.raw:
            return self._raw(fill, prod(self.spec.item_shape))
        return fill if self.is_float else int(fill)

    def _raw(self, number: object, count: int) -> bytes:
        """Return the raw bytes of a number, so many times."""
        numbers = Numbers(self.dtype, finite=False)
        return numbers.raw(numbers.convert(number)).tobytes() * count

    @property
    def default_value(self) -> Code:
        if not self.filled_up:
            return literal(b"")  # of raw numbers; a list needs none
        padding = self.spec.padding_value
        if self.raw:
            return Code(f"{literal(self._raw(padding, 1))} * {self.size}")
        if isinstance(padding, str):
            return Code(f"[{literal(padding.encode())}] * {self.size}")
        dtype = "np.float32" if self.is_float else "np.int64"
        value = literal(padding if self.is_float else int(padding))
        return Code(f"np.full({literal(self.shape)}, {value}, {dtype})")

    @property
    def vocabulary(self) -> bool:
        """Whether the items are ids or words, not quantities."""
        single = not self.spec.item_shape
        return single and not self.is_float and self.dtype != "bool"

    @property
    def python_type(self) -> str:
        named = {"string": "Sequence[str]", "bytes": "Sequence[bytes]"}
        return named.get(self.spec.dtype, "ArrayLike")

    @property
    def wanted_value(self) -> str:
        text = f"{self.spec.dtype} {shape_text((None, *self.spec.item_shape))}"
        limit = self.spec.max_length
        if limit is not None:
            text += _LIMITS[self.spec.too_long].format(limit)
        if self.group is not None:
            text += f", as many as the others of {self.group!r}"
        return text

    @property
    def delivers_value(self) -> str:
        if self.filled_up:
            padding = self.spec.padding_value
            return f"{self.dtype} {self.batch_shape}, padded on disk with {padding!r}"
        sizes = ("B", "(T)" if self.spec.ragged else "T", *self.spec.item_shape)
        text = f"{self.dtype} [{', '.join(map(str, sizes))}]"
        if self.spec.ragged:
            return f"{text}, ragged"
        return f"{text}, padded with {self.spec.padding_value!r}"

    @property
    def missing_text(self) -> str:
        if self.filled_up:
            return "all padding"
        if self.spec.fill_value is not None:
            return f"{self.spec.fill_value!r} for each item of {self.spec.group!r}"
        return "empty"
