"""What templates see of a segmentation mask."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Self

from ...runtime.shared.values import shape_text
from ...spec.model import MaskSpec
from ..literals import Code, literal
from .field import FieldView, Shape
from .image import ImageView


@dataclass(frozen=True)
class MaskView(FieldView):
    """A class id for each pixel; `ignore` stands for those of a missing one.

    Attributes:
        pictures: of a target, the inputs that are pictures of the same size.
    """

    spec: MaskSpec
    pictures: tuple[ImageView, ...] = ()

    def beside(self, inputs: Iterable[FieldView]) -> Self:
        pictures = [other for other in inputs if isinstance(other, ImageView)]
        same = [image for image in pictures if image.shape[:2] == self.shape]
        if None in self.shape:  # then only one can be the picture of this mask
            same = sorted(same, key=self._steps_to)[:1]
        return replace(self, pictures=tuple(same))

    def _steps_to(self, other: FieldView) -> int:
        """Count the steps of a field's path that are not those to this mask."""
        pairs = zip_longest(self.path[:-1], other.path[:-1])
        return sum(mine != theirs for mine, theirs in pairs)

    @property
    def in_band(self) -> bool:  # type: ignore[override]
        return self.spec.ignore is not None

    @property
    def raw(self) -> bool:
        return self.spec.encoding == "raw"

    @property
    def shape(self) -> Shape:
        return self.spec.resize or self.spec.shape

    @property
    def predicted_shape(self) -> Shape:
        return (*self.shape, self.spec.num_classes)

    @property
    def pictured(self) -> bool:
        return True

    @property
    def stored_dtype(self) -> Code:
        return Code("tf.string")

    @property
    def default_value(self) -> Code:
        return literal(b"")  # readers know what stands for none

    @property
    def present(self) -> Code:
        return self.filled

    @property
    def missing_text(self) -> str:
        return str(self.spec.ignore or 0)

    @property
    def stored_text(self) -> str:
        return super().stored_text if self.raw else "bytes_list (png)"

    @property
    def companions(self) -> tuple[tuple[str, str], ...]:
        """The further keys that it is written under, by parameter."""
        spec = self.spec
        keys = {
            "height": spec.height_key,
            "width": spec.width_key,
            "format": spec.format_key,
        }
        return tuple((name, key) for name, key in keys.items() if key is not None)

    @property
    def read_sizes(self) -> tuple[tuple[str, str], ...]:
        """The sizes that readers look up, with their keys: a PNG says its own."""
        sizes = dict(zip(("height", "width"), self.spec.shape, strict=True))
        return tuple(
            (name, key)
            for name, key in self.companions
            if self.raw and sizes.get(name, 0) is None
        )

    @property
    def further(self) -> tuple[tuple[str, Code], ...]:
        default = ", default_value=0" if self.spec.optional else ""
        code = Code(f"tf.io.FixedLenFeature((), tf.int64{default})")
        return tuple((key, code) for _, key in self.read_sizes)

    @property
    def compound(self) -> bool:
        return bool(self.companions)

    @property
    def feature_class(self) -> str:
        return "DescribedMask" if self.companions else "Mask"

    @property
    def python_type(self) -> str:
        array = f"NDArray[np.{self.dtype}]"
        return array if self.raw else f"bytes | {array}"

    @property
    def ids_text(self) -> str:
        """Which ids may stand in it, in words."""
        count, ignore = self.spec.num_classes, self.spec.ignore
        if count is None:
            return "any ids"
        words = f"class ids from 0 to {count - 1}"
        return words if ignore is None else f"{words}, or {ignore} to be ignored"

    @property
    def wanted_value(self) -> str:
        array = f"{self.dtype} {shape_text(self.spec.shape)}, {self.ids_text}"
        return array if self.raw else f"a png image as bytes, or its ids, {array}"

    @property
    def delivers_value(self) -> str:
        sizes = [s or n for s, n in zip(self.shape, ("H", "W"), strict=True)]
        return f"{self.dtype} [{', '.join(map(str, ('B', *sizes)))}], {self.ids_text}"
