"""What templates see of a field: names, shapes and choices, decided in code."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ..spec.model import (
    FieldSpec,
    ImageSpec,
    LabelSpec,
    ScalarSpec,
    TextSpec,
    VarLenSpec,
    VectorSpec,
)
from ..support.values import FLOATS, RAW_ONLY, Numbers, shape_text
from .literals import Code, literal

_STRINGS = ("string", "bytes")

# numpy has no type of its own for it.
_NUMPY = {"bfloat16": "Any"}


@dataclass(frozen=True)
class FieldView:
    """One field as templates see it; what its spec says is in `spec`."""

    spec: FieldSpec

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def macros(self) -> str:
        """The template of this kind's macros."""
        return f"kinds/{self.spec.kind.lower()}.jinja"

    @property
    def dtype(self) -> str:
        """The dtype of the parsed tensor, by its TensorFlow name."""
        match self.spec:
            case LabelSpec():
                return "int64"
            case TextSpec():
                return "string"
            case _:
                found: str = self.spec.dtype  # type: ignore[attr-defined]
                return "string" if found in _STRINGS else found

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The static shape of one record's tensor; None varies."""
        match self.spec:
            case ImageSpec(shape=shape, resize=resize):
                return (*(resize or shape[:2]), shape[2])
            case VarLenSpec(item_shape=item_shape):
                return (None, *item_shape)
            case VectorSpec(shape=shape):
                return shape
            case _:
                return ()

    @property
    def tf_dtype(self) -> Code:
        return Code(f"tf.{self.dtype}")

    @property
    def raw(self) -> bool:
        """Whether it is stored as raw little-endian bytes."""
        if isinstance(self.spec, (ImageSpec, VectorSpec, ScalarSpec)):
            return self.spec.encoding == "raw"
        return isinstance(self.spec, VarLenSpec) and self.spec.dtype in RAW_ONLY

    @property
    def stored_dtype(self) -> Code:
        """The dtype in which tensorflow parses the feature, before any cast."""
        encoded = isinstance(self.spec, ImageSpec)
        if self.raw or encoded or self.dtype == "string":
            return Code("tf.string")
        return Code("tf.float32" if self.dtype == "float32" else "tf.int64")

    @property
    def narrowed(self) -> bool:
        """Whether stored int64 values are cast to a narrower dtype."""
        return self.stored_dtype == "tf.int64" and self.dtype != "int64"

    @property
    def missing(self) -> bool:
        """Whether a missing value has no default that stands for it."""
        return self.spec.optional and self.spec.default is None

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS

    @property
    def nan_if_missing(self) -> bool:
        """Whether a missing value reads as NaN, which no mask needs to explain."""
        fixed = isinstance(self.spec, (ScalarSpec, VectorSpec))
        return self.missing and fixed and self.is_float

    @property
    def masked(self) -> bool:
        """Whether a mask of its own says which values are there."""
        in_band = self.nan_if_missing or isinstance(self.spec, LabelSpec)
        return self.missing and not in_band

    @property
    def mask_name(self) -> str:
        return f"{self.name}_present"

    @property
    def required_sequence(self) -> bool:
        """Whether tensorflow by itself would read it as empty where it is missing."""
        listed = isinstance(self.spec, VarLenSpec) and not self.raw
        return listed and not self.spec.optional

    @property
    def default_value(self) -> Code:
        """The `default_value` of the feature's description, as source code."""
        spec = self.spec
        shape = self.shape if isinstance(spec, VectorSpec) else ()
        if self.raw:
            return self._raw_default()
        if isinstance(spec, LabelSpec):
            return literal(-1 if spec.default is None else spec.default)
        if self.stored_dtype == "tf.string":
            text = spec.default or ""
            return literal(text.encode() if isinstance(text, str) else text)
        if spec.default is None:
            if shape:
                filler = "np.nan" if self.is_float else "0"
                kind = "np.float32" if self.is_float else "np.int64"
                return Code(f"np.full({literal(shape)}, {filler}, {kind})")
            return literal(float("nan") if self.is_float else 0)
        default: Any = spec.default
        if self.stored_dtype == "tf.int64":  # a bool is stored as 0 or 1
            return literal(_tuples(np.asarray(default, np.int64).tolist()))
        return literal(default)

    def _raw_default(self) -> Code:
        """Return the bytes that stand for a missing raw tensor."""
        spec = self.spec
        if isinstance(spec, VarLenSpec):
            return literal(b"")
        shape = tuple(size or 0 for size in self.shape)
        numbers = Numbers(self.dtype, finite=False)
        if spec.default is not None:
            values = np.asarray(spec.default)
            return literal(numbers.raw(numbers.convert(values)).tobytes())
        fill_nan = self.nan_if_missing
        one = np.array([np.nan if fill_nan else 0.0]).astype(
            "float64" if self.is_float else "uint8"
        )
        item = numbers.raw(numbers.convert(one)).tobytes()
        if set(item) == {0}:
            return Code(f"bytes({len(item) * prod(shape)})")
        return Code(f"{literal(item)} * {prod(shape)}" if shape else literal(item))

    @property
    def tokens(self) -> bool:
        """Whether a sequence's items are ids or words rather than quantities."""
        spec = self.spec
        single = isinstance(spec, VarLenSpec) and not spec.item_shape
        return single and not self.is_float and self.dtype != "bool"

    @property
    def adapts(self) -> bool:
        """Whether its encoder has a layer that learns from data first."""
        return not isinstance(self.spec, (ImageSpec, LabelSpec))

    @property
    def pixel_scale(self) -> Code:
        """What brings a pixel to about [0, 1]."""
        if self.is_float:
            return Code("1.0")
        return Code(f"1 / {np.iinfo(self.dtype).max}")

    @property
    def size(self) -> int:
        """How many numbers a row holds, of a field of fixed shape."""
        return prod(size or 0 for size in self.shape)

    @property
    def head_name(self) -> str:
        return f"{self.name}_flat"

    @property
    def batch_shape(self) -> str:
        return f"[{', '.join(map(str, ('B', *self.shape)))}]"

    @property
    def uses_numpy(self) -> bool:
        """Whether the parser's description of it needs numpy."""
        return self.spec.optional and self.default_value.startswith("np.")

    @property
    def takes(self) -> Code:
        """The type of the writer's keyword."""
        spec = self.spec
        match spec:
            case ImageSpec(encoding="raw"):
                text = f"NDArray[{_NUMPY.get(spec.dtype, f'np.{spec.dtype}')}]"
            case ImageSpec():
                text = "bytes | NDArray[np.uint8]"
            case LabelSpec(classes=classes):
                text = "int | str" if classes else "int"
            case TextSpec():
                text = "str"
            case ScalarSpec(dtype=dtype):
                text = {"bytes": "bytes", "bool": "bool"}.get(dtype, "")
                text = text or ("float" if self.is_float else "int")
            case VarLenSpec(dtype=dtype) if dtype in _STRINGS:
                text = f"Sequence[{'str' if dtype == 'string' else 'bytes'}]"
            case _:
                text = "ArrayLike"
        return Code(f"{text} | None" if spec.optional else text)

    @property
    def takes_column(self) -> Code:
        """The type of the batch writer's keyword."""
        if self.spec.optional:
            return Code("Column | None")
        return Code("Column")

    @property
    def wanted(self) -> str:
        """What the writer takes, in words."""
        spec = self.spec
        match spec:
            case ImageSpec(encoding="raw"):
                text = (
                    f"{spec.dtype} {shape_text(spec.shape)}, [height, width, channels]"
                )
            case ImageSpec():
                text = (
                    f"a {spec.encoding} image as bytes, or its pixels, uint8 "
                    f"{shape_text(spec.shape)}"
                )
            case LabelSpec():
                text = f"a class id from 0 to {spec.num_classes - 1}"
                text += ", or its name" if spec.classes else ""
            case TextSpec():
                text = "text"
            case ScalarSpec():
                text = f"one {spec.dtype}" if spec.dtype != "bytes" else "opaque bytes"
            case VarLenSpec():
                text = f"{spec.dtype} {shape_text(self.shape)}"
                if spec.max_length is not None:
                    text += f", at most {spec.max_length} items"
            case _:
                text = f"{self.dtype} {shape_text(self.shape)}"
        return f"{text}; None if missing" if spec.optional else text

    @property
    def delivers(self) -> str:
        """The parsed batch's tensor, in words."""
        spec = self.spec
        sizes: list[object] = ["B", *self.shape]
        if isinstance(spec, VarLenSpec):
            sizes[1] = "(T)" if spec.ragged else "T"
        elif isinstance(spec, ImageSpec):
            sizes[1:3] = [s or n for s, n in zip(self.shape, ("H", "W"), strict=False)]
        text = f"{self.dtype} [{', '.join(map(str, sizes))}]"
        if isinstance(spec, VarLenSpec):
            text += (
                ", ragged" if spec.ragged else f", padded with {spec.padding_value!r}"
            )
        if not spec.optional:
            return text
        return f"{text}; {self._missing_text} if missing"

    @property
    def _missing_text(self) -> str:
        """What a missing value reads as, in words."""
        spec = self.spec
        if isinstance(spec, VarLenSpec):
            return "empty"
        if spec.default is not None:
            return repr(spec.default)
        if self.nan_if_missing:
            return "NaN"
        if isinstance(spec, LabelSpec):
            return "-1"
        return "''" if self.dtype == "string" else "0"

    @property
    def feature_class(self) -> str:
        """The class in `_support.features` that stores the field."""
        match self.spec:
            case ImageSpec(encoding="raw") | VectorSpec():
                return "Tensor"
            case ImageSpec():
                return "EncodedImage"
            case ScalarSpec(dtype=dtype):
                return "Bytes" if dtype == "bytes" else "Tensor"
            case VarLenSpec(dtype=dtype):
                return "Strings" if dtype in _STRINGS else "VarLen"
            case _:
                return self.spec.kind


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
