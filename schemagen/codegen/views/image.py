"""What templates see of an image."""

from __future__ import annotations

import numpy as np

from ...runtime.shared.values import shape_text
from ...spec.model import ImageSpec, ImagesSpec
from ..literals import Code, literal
from .field import FieldView, Shape

# numpy has no type of its own for it.
_NUMPY = {"bfloat16": "Any"}


def picture_text(encoding: str) -> str:
    """Name an encoded picture."""
    return "an encoded image" if encoding == "any" else f"a {encoding} image"


def delivered_shape(spec: ImageSpec | ImagesSpec) -> Shape:
    """Return the shape to which a picture is brought when read."""
    return (*(spec.resize or spec.shape[:2]), spec.shape[2])


def has_alpha(spec: ImageSpec | ImagesSpec) -> bool:
    """Tell whether the last channel is no colour: raw ones may be anything."""
    return spec.encoding != "raw" and spec.shape[2] == 4


def shape_names(shape: Shape) -> list[str]:
    """Write the shape of a picture, with letters for sizes that vary."""
    return [str(s or n) for s, n in zip(shape, ("H", "W", "C"), strict=True)]


class ImageView(FieldView):
    """A picture, raw or encoded."""

    spec: ImageSpec

    @property
    def raw(self) -> bool:
        return self.spec.encoding == "raw"

    @property
    def shape(self) -> Shape:
        return delivered_shape(self.spec)

    @property
    def stored_shape(self) -> Shape:
        return self.spec.shape

    @property
    def stored_dtype(self) -> Code:
        return Code("tf.string")

    @property
    def stored_text(self) -> str:
        if self.raw:
            return super().stored_text
        return f"bytes_list ({self.spec.encoding})"

    @property
    def default_value(self) -> Code:
        # Of any size there is nothing that could stand for a missing image but "".
        return literal(b"") if self.read_sizes else super().default_value

    @property
    def present(self) -> Code:
        return super().present if self.raw and not self.read_sizes else self.filled

    @property
    def pixel_scale(self) -> Code:
        """What brings a pixel to about [0, 1]."""
        if self.is_float:
            return Code("1.0")
        return Code(f"1 / {np.iinfo(self.dtype).max}")

    @property
    def alpha(self) -> bool:
        """Whether the last channel is no colour."""
        return has_alpha(self.spec)

    @property
    def companions(self) -> tuple[tuple[str, str], ...]:
        """The further keys that it is written under, by parameter."""
        spec = self.spec
        keys = {
            "height_key": spec.height_key,
            "width_key": spec.width_key,
            "channels_key": spec.channels_key,
            "format_key": spec.format_key,
        }
        return tuple((name, key) for name, key in keys.items() if key is not None)

    @property
    def read_sizes(self) -> tuple[tuple[str, str], ...]:
        """The parts of the shape that readers look up, with their keys."""
        if not self.raw:
            return ()
        spec = self.spec
        sizes = (
            ("height", spec.height_key),
            ("width", spec.width_key),
            ("channels", spec.channels_key),
        )
        return tuple(
            (name, key)
            for (name, key), size in zip(sizes, spec.shape, strict=True)
            if size is None and key is not None
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
    def python_type(self) -> str:
        if self.raw:
            return f"NDArray[{_NUMPY.get(self.dtype, f'np.{self.dtype}')}]"
        return f"bytes | NDArray[np.{self.dtype}]"

    @property
    def wanted_value(self) -> str:
        shape = shape_text(self.spec.shape)
        if self.raw:
            return f"{self.dtype} {shape}, [height, width, channels]"
        picture = picture_text(self.spec.encoding)
        return f"{picture} as bytes, or its pixels, {self.dtype} {shape}"

    @property
    def delivers_value(self) -> str:
        return f"{self.dtype} [{', '.join(('B', *shape_names(self.shape)))}]"


class ImagesView(FieldView):
    """A list of encoded pictures."""

    spec: ImagesSpec

    @property
    def dtype(self) -> str:
        return "uint8"

    @property
    def pixel_scale(self) -> Code:
        """What brings a pixel to about [0, 1]."""
        return Code("1 / 255")

    @property
    def alpha(self) -> bool:
        """Whether the last channel is no colour."""
        return has_alpha(self.spec)

    @property
    def shape(self) -> Shape:
        return (self.spec.count, *delivered_shape(self.spec))

    @property
    def stored_dtype(self) -> Code:
        return Code("tf.string")

    @property
    def stored_text(self) -> str:
        return f"bytes_list (each {self.spec.encoding})"

    @property
    def required_sequence(self) -> bool:
        return self.spec.count is None and not self.spec.optional

    @property
    def default_value(self) -> Code:
        return Code(f"{literal((b'',))} * {self.spec.count}")

    @property
    def missing_text(self) -> str:
        return "empty" if self.spec.count is None else "zeros"

    @property
    def python_type(self) -> str:
        return "Sequence[bytes | NDArray[np.uint8]] | NDArray[np.uint8]"

    @property
    def wanted_value(self) -> str:
        spec = self.spec
        limit = "" if spec.max_count is None else f"at most {spec.max_count} "
        count = limit if spec.count is None else f"{spec.count} "
        encoding = "encoded" if spec.encoding == "any" else spec.encoding
        shape = shape_text(spec.shape)
        return f"a list of {count}{encoding} images, as bytes or uint8 {shape}"

    @property
    def delivers_value(self) -> str:
        count, *shape = self.shape
        sizes = ("B", str(count or "T"), *shape_names(tuple(shape)))
        text = f"{self.dtype} [{', '.join(sizes)}]"
        return text if count else f"{text}, padded with zeros"
